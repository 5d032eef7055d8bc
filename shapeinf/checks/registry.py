"""The registry of checks: each is a function over a checked model that yields diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.diagnostics import Diagnostic, Severity, register_code

Check = Callable[[CheckedModel], Iterable[Diagnostic]]

CHECKS: dict[str, Check] = {}
"""Every check of a model by the code of its diagnostics, in the order in which they run."""


def register_check(
    code: str, severities: Severity | tuple[Severity, ...], title: str, explanation: str = ""
) -> Callable[[Check], Check]:
    """Register a check and the code of its diagnostics (see `register_code`)."""

    def register(check: Check) -> Check:
        CHECKS[register_code(code, severities, title, explanation)] = check
        return check

    return register
