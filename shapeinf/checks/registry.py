"""The registry of checks: each is a function over a checked model that yields diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.diagnostics import Diagnostic, Severity, register_code

Check = Callable[[CheckedModel], Iterable[Diagnostic]]
"""A check of a model: all its diagnostics."""

CHECKS: dict[str, Check] = {}
"""The checks of shapes by the code of their diagnostics, in the order in which they run, also in what-if runs."""

STATIC_CHECKS: dict[str, Check] = {}
"""The checks that no change of a shape affects, such as that of misspelled operators: they run once."""


def register_check(
    code: str,
    severities: Severity | tuple[Severity, ...],
    title: str,
    explanation: str = "",
    *,
    static: bool = False,
) -> Callable[[Check], Check]:
    """A decorator that registers a check, and the code of its diagnostics (see `register_code`).

    `static`: no change of a shape affects the check, so that it does not run in what-if runs.
    """

    def register(check: Check) -> Check:
        checks = STATIC_CHECKS if static else CHECKS
        checks[register_code(code, severities, title, explanation, owner=check.__module__)] = check
        return check

    return register
