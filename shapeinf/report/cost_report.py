"""Reports of the cost of a model: as text, as JSON and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from shapeinf.cost import Amounts, Cost, CostAt, CostTable, Uncounted
from shapeinf.csv_text import csv_text
from shapeinf.errors import MissingSizeError
from shapeinf.expr import DimSize, evaluate
from shapeinf.schemas import json_record
from shapeinf.texts import exact_bytes, format_bytes, format_count, qualify, shorten_end

By = Literal["operator", "module", "node"]

AMOUNTS = ("macs", "operations", "flops", "bytes_read", "bytes_written", "parameters")
MAX_TERMS = 30
"""Terms of a formula; the others are counted. JSON has all."""
MAX_FORMULA = 400
"""Characters of a formula in the text; JSON and CSV have all of it."""
TYPICAL = 64
"""The size that unbound dims have where rows are sorted."""
MAX_CELL = 60
"""Characters of a formula in a table."""


@attrs.frozen
class CostSummary:
    """The cost of a model, with symbols and at the user's sizes.

    Args:
        cost: with symbols for all dims that have no size.
        sizes: the user's sizes.
        at: the cost at these sizes; None where some are missing.
    """

    cost: Cost
    sizes: dict[str, int]
    at: CostAt | None

    @property
    def table(self) -> CostTable:
        """The costs that the report lists: at sizes where all dims have one, else with symbols."""
        return self.cost.table if self.at is None else self.at

    @property
    def binding(self) -> str:
        """The user's sizes as text."""
        return ", ".join(f"{name}={size}" for name, size in self.sizes.items())


@attrs.frozen
class CostRow:
    """A line of a table: a node, an operator or a module, with its amounts as dims and at the sizes."""

    name: str
    op: str
    nodes: int
    uncounted: int
    amounts: Amounts
    at: Amounts | None


def summarize_cost(cost: Cost, sizes: dict[str, int], infer_bound: Callable[[], Cost]) -> CostSummary:
    """The cost at these sizes.

    `infer_bound` infers with the sizes bound, which counts amounts that are no polynomials, and bounds more sizes that
    depend on data.
    """
    try:
        at = cost.at(sizes)
    except MissingSizeError:
        return CostSummary(infer_bound() if sizes else cost, sizes, None)
    if sizes and (at.uncounted or at.at_most):
        bound = infer_bound()
        return CostSummary(cost, sizes, bound.at())
    return CostSummary(cost, sizes, at)


def least_depth(summary: CostSummary) -> int:
    """The least depth at which the nodes are in several modules; exporters put all below the name of the model."""
    longest = max((len(node.module) for node in summary.cost.table.nodes), default=1)
    return next((depth for depth in range(1, longest + 1) if len(summary.table.by_module(depth).keys() - {""}) > 1), 1)


def cost_rows(summary: CostSummary, by: By, depth: int) -> list[CostRow]:
    """The rows of a table, the most operations first; without sizes, the operations where every dim is 64."""
    symbolic, at = _groups(summary.cost.table, by, depth), summary.at
    concrete = None if at is None else _groups(at, by, depth)
    rows = []
    for key in dict.fromkeys([*symbolic, *(concrete or ())]):
        op, nodes, uncounted, amounts = (symbolic if key in symbolic else concrete or {})[key]
        rows.append(
            CostRow(key, op, nodes, uncounted, amounts, None if concrete is None else _amounts_of(concrete, key))
        )
    rows.sort(key=lambda row: -_weight(row.amounts.flops) if concrete is None else -_flops(row))
    return rows


def _weight(formula: DimSize) -> int:
    """The value of a formula where every dim is 64, to sort by."""
    if isinstance(formula, int):
        return formula
    try:
        return int(evaluate(formula, dict.fromkeys([symbol.name for symbol in formula.symbols()], TYPICAL)))
    except ZeroDivisionError:
        return 0


_Group = tuple[str, int, int, Amounts]


def _groups(table: CostTable, by: By, depth: int) -> dict[str, _Group]:
    if by == "node":
        return {node.name: (node.op, 1, 0, node) for node in table.nodes}
    groups = table.by_operator if by == "operator" else table.by_module(depth)
    return {name: ("", group.nodes, group.uncounted, group) for name, group in groups.items()}


def _amounts_of(groups: Mapping[str, _Group], key: str) -> Amounts | None:
    return groups[key][3] if key in groups else None


def _flops(row: CostRow) -> int:
    flops = None if row.at is None else row.at.flops
    return flops if isinstance(flops, int) else -1


# -- text --------------------------------------------------------------------------------------------------------------

_TITLES = {
    "macs": "MACs",
    "operations": "operations",
    "flops": "flops",
    "bytes_read": "read",
    "bytes_written": "written",
    "parameters": "parameters",
}


def cost_lines(summary: CostSummary, by: By, depth: int, top: int) -> Iterator[str]:
    """The totals, a table of `top` rows, and what is not counted."""
    cost, at = summary.cost, summary.at
    for name, title in _TITLES.items():
        unit = " bytes" if name.startswith("bytes") else ""
        yield f"{title:<13}{shorten_end(_text(cost, getattr(cost.total, name)), MAX_FORMULA)}{unit}"
    if at is not None:
        yield f"  {summary.binding or 'always'}: {_totals_at(at)}"
    elif summary.sizes:
        yield f"  with {summary.binding}; specify sizes of the other dims for numbers: --bind"
    rows = cost_rows(summary, by, depth)
    yield ""
    yield from _table(summary, rows[:top], by)
    if len(rows) > top:
        yield f"  {len(rows) - top} more (--top)"
    for branch in cost.branches:
        listed = ", ".join(
            f"{label} {shorten_end(_text(cost, amounts.flops), MAX_CELL)} flops"
            for label, amounts in branch.branches.items()
        )
        yield f"branches     {branch.op} '{branch.node}' counts the maximum of {listed}"
    uncounted = summary.table.uncounted
    for item in uncounted[:top]:
        yield f"not counted  {item}"
    if len(uncounted) > top:
        yield f"not counted  {format_count(len(uncounted) - top, 'more node')} (--json has all)"


def _totals_at(at: CostAt) -> str:
    total = at.total
    assert isinstance(total.bytes, int) and isinstance(total.flops, int) and isinstance(total.macs, int)
    intensity = "" if total.intensity is None else f", {total.intensity:.3g} flops a byte"
    text = f"{total.macs:,} MACs, {total.flops:,} flops, {exact_bytes(total.bytes)} moved{intensity}"
    return qualify(text, at.at_least, at.at_most)


def _table(summary: CostSummary, rows: Sequence[CostRow], by: By) -> Iterator[str]:
    heads = ["node", "operator"] if by == "node" else [by, "nodes"]
    if summary.at is None:
        lines = [[*heads, "parameters", "flops"]]
        lines += [[*_key(row, by), *_symbolic_cells(summary.cost, row)] for row in rows]
        yield from _align(lines, "<<><" if by == "node" else "<>><")
        return
    total = summary.at.total.flops
    assert isinstance(total, int)
    lines = [[*heads, "MACs", "flops", "share", "moved", "flops/byte", "parameters"]]
    lines += [[*_key(row, by), *_cells_at(row, total)] for row in rows]
    yield from _align(lines, ("<<" if by == "node" else "<>") + ">>>>>>")


def _key(row: CostRow, by: By) -> list[str]:
    if by == "node":
        return [row.name, row.op]
    return [row.name or "-", f"{row.nodes}{f' of {row.nodes + row.uncounted}' if row.uncounted else ''}"]


def _symbolic_cells(cost: Cost, row: CostRow) -> list[str]:
    return [_text(cost, row.amounts.parameters), shorten_end(_text(cost, row.amounts.flops), MAX_CELL)]


def _cells_at(row: CostRow, total: int) -> list[str]:
    at = row.at
    if at is None:
        return ["-"] * 6
    assert isinstance(at.flops, int) and isinstance(at.bytes, int)
    share = f"{100 * at.flops / max(total, 1):.1f}%"
    intensity = "-" if at.intensity is None else f"{at.intensity:.3g}"
    return [f"{at.macs:,}", f"{at.flops:,}", share, format_bytes(at.bytes), intensity, f"{at.parameters:,}"]


def _align(lines: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    widths = [max(len(line[k]) for line in lines) for k in range(len(sides))]
    for line in lines:
        yield "  ".join(
            cell.ljust(width) if side == "<" else cell.rjust(width)
            for cell, width, side in zip(line, widths, sides, strict=True)
        ).rstrip()


def _text(cost: Cost, amount: DimSize) -> str:
    return f"{amount:,}" if isinstance(amount, int) else cost.format(amount, MAX_TERMS)


# -- JSON and CSV ------------------------------------------------------------------------------------------------------


@attrs.frozen
class Formulas:
    """Amounts as texts in the grammar of dims; docs/cost.md has the conventions."""

    macs: str
    operations: str
    flops: str
    bytes_read: str
    bytes_written: str
    parameters: str


@attrs.frozen
class Numbers:
    """Amounts as numbers.

    Args:
        intensity: flops a byte; None where nothing is moved.
    """

    macs: int
    operations: int
    flops: int
    bytes_read: int
    bytes_written: int
    parameters: int
    intensity: float | None


@attrs.frozen
class BothAmounts:
    """The amounts of some nodes.

    Args:
        formulas: with symbols.
        numbers: at the sizes of `--bind`; None where sizes are missing, or the nodes are not counted there.
    """

    formulas: Formulas
    numbers: Numbers | None


@attrs.frozen
class RowRecord(BothAmounts):
    """A node, an operator or a module.

    Args:
        name: its name.
        op: the operator of a node; else empty.
        nodes: the number of counted nodes.
        uncounted: the number of nodes that are not counted.
    """

    name: str
    op: str
    nodes: int
    uncounted: int


@attrs.frozen
class BranchFormulas:
    """A node that counts the maximum of its branches."""

    node: str
    op: str
    branches: Mapping[str, Formulas]


@json_record("shapeinf.cost/1")
@attrs.frozen
class CostReport:
    """The cost of a model: the output of `shapeinf cost --json`.

    Args:
        model: the path of the model.
        sizes: those of `--bind`.
        by: what a row is.
        total: the sums of all nodes.
        rows: those with the most flops first.
        branches: the nodes that count the maximum of their branches.
        uncounted: the nodes, or amounts of nodes, that no sum counts.
        at_least: something is not counted.
        at_most: some amounts are upper bounds: of branches, and of sizes that depend on data.
    """

    model: str
    sizes: Mapping[str, int]
    by: By
    total: BothAmounts
    rows: tuple[RowRecord, ...]
    branches: tuple[BranchFormulas, ...]
    uncounted: tuple[Uncounted, ...]
    at_least: bool
    at_most: bool


def report_cost(model: str, summary: CostSummary, by: By, depth: int) -> CostReport:
    """The cost of a model with its rows as plain data."""
    cost, at, table = summary.cost, summary.at, summary.table
    rows = cost_rows(summary, by, depth)
    return CostReport(
        model,
        summary.sizes,
        by,
        BothAmounts(_formulas(cost, cost.total), _numbers(None if at is None else at.total)),
        tuple(
            RowRecord(_formulas(cost, row.amounts), _numbers(row.at), row.name, row.op, row.nodes, row.uncounted)
            for row in rows
        ),
        tuple(
            BranchFormulas(item.node, item.op, {name: _formulas(cost, a) for name, a in item.branches.items()})
            for item in cost.branches
        ),
        table.uncounted,
        table.at_least,
        table.at_most,
    )


def _formulas(cost: Cost, amounts: Amounts) -> Formulas:
    return Formulas(*(cost.format(getattr(amounts, name)) for name in AMOUNTS))


def _numbers(amounts: Amounts | None) -> Numbers | None:
    if amounts is None:
        return None
    return Numbers(**{name: getattr(amounts, name) for name in (*AMOUNTS, "intensity")})


def cost_as_csv(summary: CostSummary) -> str:
    """Every node in a row: ints at the user's sizes, else formulas. A node that is not counted has empty cells."""
    rows: list[Sequence[object]] = [("node", "operator", "module", *AMOUNTS, "intensity", "not counted")]
    reasons = {item.node: item.reason for item in summary.table.uncounted}
    for node in summary.table.nodes:
        amounts = [getattr(node, name) for name in AMOUNTS]
        cells = [amount if isinstance(amount, int) else summary.cost.format(amount) for amount in amounts]
        reason = reasons.pop(node.name, "")
        rows.append((node.name, node.op, "/".join(node.module), *cells, node.intensity, reason))
    missing = [item for item in summary.table.uncounted if item.node in reasons]
    rows += [(item.node, item.op, "", *[None] * (len(AMOUNTS) + 1), item.reason) for item in missing]
    return csv_text(rows)
