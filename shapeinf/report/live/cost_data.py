"""The cost of a model as data of a live page: distinct costs, and for each node the number of its own."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from shapeinf.cost import Cost
from shapeinf.cost.records import values_of
from shapeinf.expr import Dimension, DimSize
from shapeinf.report.live.amounts import AmountTable
from shapeinf.report.live.names import Numbers, TextTable
from shapeinf.solver.long_dims import canonical_form


def cost_symbols(cost: Cost) -> list[Dimension]:
    """All symbols in the costs of nodes, such as the trip count of a loop."""
    amounts = dict.fromkeys(itertools.chain.from_iterable(dict.fromkeys(map(values_of, cost.nodes))))
    amounts.update(dict.fromkeys(item.parameters for item in cost.uncounted))
    symbols: dict[Dimension, None] = {}
    for amount in amounts:
        form = canonical_form(cost.store, amount)
        if isinstance(form, Dimension):
            symbols.update(dict.fromkeys(sorted(form.symbols() - symbols.keys(), key=str)))
    return list(symbols)


class CostData:
    """The costs of all nodes, each distinct one once."""

    def __init__(self, cost: Cost, amounts: AmountTable) -> None:
        """Adds the amounts to those of the page."""
        self.cost = cost
        self._amounts = amounts
        self._rows = Numbers()
        self._numbers = self._number_nodes()
        self._by_name = dict(zip((node.name for node in cost.nodes), range(len(cost.nodes)), strict=True))
        repeated = Counter(node.name for node in cost.nodes)
        self._ambiguous = {name for name, count in repeated.items() if count > 1}

    def _number_nodes(self) -> list[int]:
        """The number of the cost of each node."""
        distinct = [(values_of(node), node.bounded) for node in self.cost.nodes]
        numbers = {cost: self._row(*cost) for cost in dict.fromkeys(distinct)}
        return [numbers[cost] for cost in distinct]

    def _row(self, amounts: Iterable[DimSize], bounded: bool) -> int:
        counted = [self._amounts.dim_or_lower_bound(amount) for amount in amounts]
        least = sum(1 << k for k, (_, is_lower) in enumerate(counted) if is_lower)
        return self._rows[(*(self._amounts.number(amount) for amount, _ in counted), int(bounded), least)]

    @property
    def names(self) -> list[str]:
        """The names of all nodes."""
        return [node.name for node in self.cost.nodes]

    def node(self, name: str) -> int:
        """The number of a node; -1 where none has this name, or several have."""
        return -1 if name in self._ambiguous else self._by_name.get(name, -1)

    def columns(self, texts: TextTable, types: Numbers) -> dict[str, Any]:
        """The distinct costs, and the columns of the nodes.

        A cost has the numbers of `FIELDS`, whether they are upper bounds, and a bit for each that is a lower bound.

        Of nodes that are not counted, the operator and the parameters.
        """
        parameters = [
            [types[item.op], self._amounts.number(self._amounts.dim(item.parameters))] for item in self.cost.uncounted
        ]
        return {
            "rows": [list(row) for row in self._rows],
            "name": [texts[node.name] for node in self.cost.nodes],
            "op": [types[node.op] for node in self.cost.nodes],
            "row": self._numbers,
            "uncounted": parameters,
        }
