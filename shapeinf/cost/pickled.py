"""`PickledCost`, which a pickle of a `Cost` contains, and the texts that both show in a console and a notebook."""

from __future__ import annotations

from typing import ClassVar

import attrs

from shapeinf.cost.records import Amounts, CostGroup, CostTable
from shapeinf.expr import DimSize
from shapeinf.html import html_block, html_details, html_rows
from shapeinf.pickling import Pickled, versioned_pickle
from shapeinf.texts import format_count, object_text


@versioned_pickle
@attrs.frozen(slots=False, repr=False)
class PickledCost(CostTable, Pickled):
    """The amounts of a `Cost` that was pickled, with their sums; `at` needs the inference, and raises."""

    kind: ClassVar[str] = "cost"

    def __repr__(self) -> str:
        """The sums."""
        return cost_text("PickledCost", self)

    def _repr_html_(self) -> str:
        """The sums, in all and by operator."""
        return cost_html("PickledCost", self)


def cost_text(title: str, table: CostTable) -> str:
    """The `repr` of a cost."""
    lines = [f"{name:12}{_text(amount)}" for name, amount in _amounts(table.total)]
    return object_text(_title(title, table), lines, limit=len(lines))


def cost_html(title: str, table: CostTable) -> str:
    """The HTML that a notebook shows: the sums, those of each operator, and what is not counted."""
    total = html_rows(["", "amount"], [(name, _text(amount)) for name, amount in _amounts(table.total)])
    groups = [_group_row(group) for group in table.by_operator.values()]
    headers = ["operator", "nodes", *(name for name, _ in _amounts(table.total))]
    parts = [total, html_details("by operator", html_rows(headers, groups))]
    if table.uncounted:
        rows = [(f"{item.op} {item.node}", item.amount or "everything", item.reason) for item in table.uncounted]
        parts.append(html_details("not counted", html_rows(["node", "amount", "because"], rows)))
    return html_block(_title(title, table), *parts)


def _title(title: str, table: CostTable) -> str:
    missing = f", {len(table.uncounted)} not counted" if table.uncounted else ""
    return f"{title} of {format_count(len(table.nodes), 'node')}{missing}"


def _amounts(amounts: Amounts) -> list[tuple[str, DimSize]]:
    return [
        ("macs", amounts.macs),
        ("flops", amounts.flops),
        ("bytes", amounts.bytes),
        ("parameters", amounts.parameters),
    ]


def _group_row(group: CostGroup) -> list[str]:
    return [group.name, str(group.nodes), *(_text(amount) for _, amount in _amounts(group))]


def _text(amount: DimSize) -> str:
    return f"{amount:,}" if isinstance(amount, int) else str(amount)
