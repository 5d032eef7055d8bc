"""The differences of two models as text and JSON, with the totals that differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from shapeinf.edit.comparison import Difference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.expr import Dimension
from shapeinf.report.summary import Amount, Summary, summarize
from shapeinf.report.usual_sizes import usual_sizes
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.texts import exact_bytes, exact_count, shorten_end

MAX_SINGLE = 10
"""Limit on the listed tensors that only one of two models has, for each of the two."""
MAX_OPERATORS = 12
"""Limit on the listed operators whose number differs."""
MAX_FORMULA = 100
"""Characters of a formula; the JSON has all."""


@attrs.frozen
class TotalDifference:
    """A total of two models that differs: "nodes", "parameters", "MACs" or "peak" (bytes)."""

    name: str
    before: Amount
    after: Amount

    @property
    def differs(self) -> bool:
        """Whether the numbers differ; formulas of models with other names of dims differ where there are no numbers."""
        if self.before.value is None or self.after.value is None:
            return self.before != self.after
        return (self.before.value, self.before.note) != (self.after.value, self.after.note)


@attrs.frozen
class OperatorDifference:
    """The number of nodes with an operator in two models, bodies and functions included."""

    op: str
    before: int
    after: int


@json_record("shapeinf.diff/1")
@attrs.frozen
class DiffReport:
    """The differences of two models: the output of `shapeinf diff --json`.

    Args:
        before: the path of the first model.
        after: the path of the second model.
        differences: those of inputs, outputs and other tensors, then those of dims and preconditions.
        totals: those that differ.
        operators: those whose number of nodes differs, the largest change first; none for models of different dialects.
        sizes_before: the sizes at which totals of the first model have values.
        sizes_after: those of the second model.
    """

    before: str
    after: str
    differences: tuple[Difference, ...]
    totals: tuple[TotalDifference, ...] = ()
    operators: tuple[OperatorDifference, ...] = ()
    sizes_before: Mapping[str, int] = attrs.Factory(dict)
    sizes_after: Mapping[str, int] = attrs.Factory(dict)


def report_differences(
    models: tuple[str, str], results: tuple[Result, Result], differences: Sequence[Difference], bind: Mapping[str, int]
) -> DiffReport:
    """The report of two results; totals have values at usual sizes of each model, `bind` among them.

    An axis of an input that is a number in the other model has this size, where that is legal.
    """
    before, after = (
        summarize(result, usual_sizes(result, {**_fixed_sizes(result, other), **bind}) or usual_sizes(result, bind))
        for result, other in zip(results, reversed(results), strict=True)
    )
    same_vocabulary = results[0].graph.dialect == results[1].graph.dialect
    totals = (TotalDifference(name, amount(before), amount(after)) for name, amount in _AMOUNTS.items())
    return DiffReport(
        *models,
        tuple(differences),
        tuple([total for total in totals if total.differs]),
        _compare_operators(before, after) if same_vocabulary else (),
        before.sizes,
        after.sizes,
    )


def _fixed_sizes(result: Result, other: Result) -> dict[str, int]:
    """The sizes of dims that are numbers at the same places of the inputs of another model."""
    sizes: dict[str, int] = {}
    labels = input_symbols(result.engine.inference)
    for info, fixed in zip(result.inputs.values(), other.inputs.values(), strict=False):
        for dim, size in zip(info.shape.dims or (), fixed.shape.dims or (), strict=False):
            if isinstance(dim, Dimension) and dim in labels and isinstance(size, int):
                sizes.setdefault(labels[dim], size)
    return sizes


_AMOUNTS: dict[str, Callable[[Summary], Amount]] = {
    "nodes": lambda summary: Amount(str(summary.nodes), summary.nodes),
    "parameters": lambda summary: summary.parameters,
    "MACs": lambda summary: summary.macs,
    "peak": lambda summary: summary.peak_bytes,
}


def _compare_operators(before: Summary, after: Summary) -> tuple[OperatorDifference, ...]:
    old, new = ({item.name: item.count for item in summary.operators} for summary in (before, after))
    counts = (OperatorDifference(op, old.get(op, 0), new.get(op, 0)) for op in sorted({*old, *new}))
    different = [item for item in counts if item.before != item.after]
    return tuple(sorted(different, key=lambda item: -abs(item.after - item.before)))


def difference_lines(report: DiffReport, *, every: bool) -> Iterator[str]:
    """The differences; tensors that only one model has, limited in number unless `every`, then totals."""
    if not report.differences:
        yield "no difference" if not (report.totals or report.operators) else "no difference of shapes and contracts"
    single: dict[str, list[Difference]] = {"removed": [], "added": []}
    for difference in report.differences:
        if difference.part == "tensor" and difference.change != "changed":
            single[difference.change].append(difference)
        else:
            yield str(difference)
    for how, group in single.items():
        yield from map(str, group if every else group[:MAX_SINGLE])
        if len(group) > MAX_SINGLE and not every:
            yield f"and {len(group) - MAX_SINGLE:,} more {how} tensors: --all lists them"
    yield from _total_lines(report)


def _total_lines(report: DiffReport) -> Iterator[str]:
    before, after = (_sizes_text(sizes) for sizes in (report.sizes_before, report.sizes_after))
    for total in report.totals:
        display = exact_bytes if total.name == "peak" else exact_count
        old, new = _amount_text(total.before, display), _amount_text(total.after, display)
        if total.name in ("MACs", "peak"):
            old, new = f"{old}{before if before != after else ''}", f"{new}{after}"
        yield f"{total.name}: {old} -> {new}"
    listed = [f"{item.op} {item.before} -> {item.after}" for item in report.operators[:MAX_OPERATORS]]
    more = len(report.operators) - len(listed)
    if listed:
        yield f"operators: {', '.join(listed)}{f', {more} more' if more else ''}"


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return f" at {', '.join(f'{name}={size}' for name, size in sizes.items())}" if sizes else ""


def _amount_text(amount: Amount, display: Callable[[int], str]) -> str:
    """The number, else the formula, else why there is neither."""
    if amount.value is None:
        return shorten_end(amount.formula, MAX_FORMULA) or amount.note
    return f"{amount.note} {display(amount.value)}".strip()
