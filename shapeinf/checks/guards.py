"""Checks of the guards of an exported program: one that is missing, and those that no operator needs."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import Diagnostic
from shapeinf.formats import FORMATS
from shapeinf.guards import GuardReport, examine_guards

SHARE = 4
"""The part of the remaining budget of a check that guards may take, as a divisor."""
MORE = "`shapeinf guards` lists the verdict on each guard, and what to write for dynamic_shapes"


def _report(model: CheckedModel) -> GuardReport | None:
    """The report on the guards of a model; None for a model without guards."""
    session = model.result.engine.session
    if session is None or FORMATS.input_guards(model.graph) is None:
        return None
    return examine_guards(session, model.budget.remaining // SHARE)


@register_check(
    "C107",
    ("warning", "note"),
    "guards of a program that differ from what its operators need",
    "A warning where sizes that all guards of the program accept fail in an operator: export with the bound that the "
    "message names. A note where a guard refuses sizes that the operators accept: torch treated a size, often 0 or 1, "
    "apart while it exported, or the Python code has a branch for it.",
    static=True,
)
def differing_guards(model: CheckedModel) -> Iterator[Diagnostic]:
    """A warning for each missing guard, and one note for all that no operator needs."""
    report = _report(model)
    if report is None:
        return
    for missing in report.missing:
        sizes = ", ".join(f"{name} = {size}" for name, size in missing.sizes.items())
        message = f"the guards accept {sizes}, and an operator refuses these sizes"
        yield Diagnostic("warning", "C107", message, because=missing.requirement, help=MORE)
    artifacts = [guard for guard in report if guard.verdict == "artifact" and guard.checked]
    if artifacts and artifacts[0].accepted is not None:
        sizes = ", ".join(f"{name} = {size}" for name, size in artifacts[0].accepted.items())
        subject = "a guard refuses" if len(artifacts) == 1 else f"{len(artifacts)} guards refuse"
        message = f"{subject} sizes that the operators accept: {artifacts[0].condition} refuses {sizes}"
        yield Diagnostic("note", "C107", message, help=MORE)
