"""Checks of the guards of an exported program: one that is missing, and those that no operator needs."""

from __future__ import annotations

from collections.abc import Iterator

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.registry import register_check
from shapeinf.diagnostics import Diagnostic
from shapeinf.guards.sizes import Sizes

MORE = "`shapeinf guards` lists the verdict on each guard, and what to write for dynamic_shapes"


@register_check(
    "C107",
    "warning",
    "a requirement that no guard of a program states",
    "Sizes that all guards of the program accept fail in an operator: export with the bound that the message names.",
    static=True,
)
def missing_guards(model: CheckedModel) -> Iterator[Diagnostic]:
    """A warning for each missing guard."""
    report = model.guard_report
    for missing in () if report is None else report.missing:
        message = f"the guards accept {_text(missing.sizes)}, and an operator refuses these sizes"
        yield Diagnostic("warning", "C107", message, because=missing.requirement, help=MORE)


@register_check(
    "C108",
    "note",
    "guards of a program that its operators do not need",
    "Torch treated a size, often 0 or 1, apart while it exported, or the Python code has a branch for it.",
    static=True,
)
def unneeded_guards(model: CheckedModel) -> Iterator[Diagnostic]:
    """One note for all guards that refuse sizes which the operators accept."""
    report = model.guard_report
    artifacts = [] if report is None else [g for g in report if g.verdict == "artifact" and g.checked]
    if artifacts and artifacts[0].accepted is not None:
        subject = "a guard refuses" if len(artifacts) == 1 else f"{len(artifacts)} guards refuse"
        example = f"{artifacts[0].condition} refuses {_text(artifacts[0].accepted)}"
        yield Diagnostic("note", "C108", f"{subject} sizes that the operators accept: {example}", help=MORE)


def _text(sizes: Sizes) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
