"""The report on guards as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shapeinf.guards.report import GuardInModel, GuardReport, GuardVerdict, Presence, Verdict
from shapeinf.report.pull_request import code_cell
from shapeinf.solver.budget import NEEDS_ISL

HEADINGS: Mapping[Verdict, str] = {
    "needed": "needed: the operators refuse what these guards refuse",
    "too strong": "too strong: the operators refuse only some of the sizes that these guards refuse",
    "artifact": "artifacts: the operators accept sizes that these guards refuse",
    "implied": "implied: by other guards, or by sizes of at least 1",
    "unknown": "unknown: no proof that these are needed, and no sizes that the operators accept were found",
}
MISSING = "missing: no guard implies these requirements of operators"
IN_OTHER: Mapping[Presence, str] = {
    "lost": "{model} lost these guards: it accepts sizes that they and the program's operators refuse",
    "kept": "{model} keeps these guards",
    "relaxed": "{model} relaxed these guards: it accepts sizes that they refuse and the program's operators accept",
    "unknown": "unknown whether {model} keeps these guards",
}
ADDED = "{model} requires in addition"
BRANCHES = (
    "A guard that no operator needs may still choose a branch of the Python code, which the program does not have."
)


def guard_lines(report: GuardReport) -> Iterator[str]:
    """The report as lines of text, the verdicts by kind."""
    for verdict, heading in HEADINGS.items():
        listed = [guard for guard in report if guard.verdict == verdict]
        if listed:
            yield f"{heading} ({len(listed)})"
        for guard in listed:
            yield f"  {guard.condition or guard.text}{'' if guard.checked else '  (declared, not checked)'}"
            yield from (f"      {line}" for line in _evidence(guard, report))
    if report.missing:
        yield f"{MISSING} ({len(report.missing)})"
    for missing in report.missing:
        yield f"  {missing.requirement}"
        yield f"      the guards accept {changed_sizes(missing.sizes, report.example)}"
    yield from _other_lines(report)
    yield f"dynamic_shapes={report.dynamic_shapes}"
    if any(guard.verdict in ("artifact", "too strong") for guard in report):
        yield f"note: {BRANCHES}"
    if report.cut:
        yield "note: the budget is exhausted: with more work, some unknown guards may be decided"
    if report.needs_isl or (report.other is not None and report.other.needs_isl):
        yield f"note: {NEEDS_ISL}"


def _evidence(guard: GuardVerdict, report: GuardReport) -> Iterator[str]:
    """The requirements and the sizes behind a verdict."""
    if guard.accepted is not None:
        yield f"the operators accept {changed_sizes(guard.accepted, report.example)}"
    if guard.refused is not None:
        yield f"the operators refuse {changed_sizes(guard.refused, report.example)}"
    yield from guard.reasons


def _other_lines(report: GuardReport) -> Iterator[str]:
    """The guards that another model lost, keeps, or may keep, and what it requires in addition."""
    if report.other is None:
        return
    model = report.other.model or "the other model"
    for presence, heading in IN_OTHER.items():
        listed = [pair for pair in report.in_other() if pair[1].presence == presence]
        if listed:
            yield f"{heading.format(model=model)} ({len(listed)})"
        for guard, there in listed:
            yield f"  {guard.condition}"
            yield from (f"      {line}" for line in _evidence_in_other(there, report))
    if report.other.added:
        yield f"{ADDED.format(model=model)} ({len(report.other.added)})"
    for added in report.other.added:
        yield f"  {added.requirement}"
        yield f"      the program accepts {changed_sizes(added.sizes, report.example)}"
    if report.other.cut:
        yield f"note: the budget of {model} is exhausted: with more work, more may be decided"


def _evidence_in_other(there: GuardInModel, report: GuardReport) -> Iterator[str]:
    if there.accepted is not None:
        yield f"it accepts {changed_sizes(there.accepted, report.example)}"
    yield from there.reasons


def changed_sizes(sizes: Mapping[str, int], example: Mapping[str, int]) -> str:
    """The sizes that are not those of the example.

    >>> changed_sizes({"x_0": 1, "x_1": 3}, {"x_0": 2, "x_1": 3})
    'x_0 = 1'
    """
    changed = {name: size for name, size in sizes.items() if example.get(name) != size}
    return ", ".join(f"{name} = {size}" for name, size in changed.items()) or "the sizes of the example"


def guards_as_markdown(report: GuardReport) -> str:
    """The report as a table of Markdown."""
    rows = ["| guard | verdict | evidence |", "|---|---|---|"]
    for guard in report:
        evidence = "; ".join(_evidence(guard, report))
        cells = code_cell(guard.condition or guard.text), guard.verdict, code_cell(evidence) if evidence else ""
        rows.append(f"| {' | '.join(cells)} |")
    for missing in report.missing:
        evidence = f"the guards accept {changed_sizes(missing.sizes, report.example)}"
        rows.append(f"| {code_cell(missing.requirement)} | missing | {code_cell(evidence)} |")
    rows.extend(_other_rows(report))
    return "\n".join([*rows, "", code_cell(f"dynamic_shapes={report.dynamic_shapes}")])


def _other_rows(report: GuardReport) -> Iterator[str]:
    """The guards in another model, as a second table of Markdown."""
    if report.other is None:
        return
    yield from ("", f"| guard | in {code_cell(report.other.model or 'the other model')} | evidence |", "|---|---|---|")
    for guard, there in report.in_other():
        evidence = "; ".join(_evidence_in_other(there, report))
        cells = code_cell(str(guard.condition)), there.presence, code_cell(evidence) if evidence else ""
        yield f"| {' | '.join(cells)} |"
    for added in report.other.added:
        evidence = f"the program accepts {changed_sizes(added.sizes, report.example)}"
        yield f"| {code_cell(added.requirement)} | added | {code_cell(evidence)} |"
