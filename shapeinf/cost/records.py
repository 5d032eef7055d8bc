"""The records of a cost: amounts by node, and their sums by operator and module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import attrs

from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import module_path
from shapeinf.sharing import cached_property
from shapeinf.solver.long_dims import sum_multiples
from shapeinf.texts import bound_note


def add_dims(dims: Iterable[DimSize]) -> DimSize:
    """The sum of ints and dims, of any length.

    >>> add_dims([1, 2])
    3
    """
    return add_multiples(Counter(dims))


def add_multiples(counts: Mapping[DimSize, int]) -> DimSize:
    """The sum of ints and dims, each as often as its count."""
    scope = next((d.scope for d in counts if isinstance(d, Dimension)), None)
    if scope is None:
        return sum(d * count for d, count in counts.items() if isinstance(d, int))
    return sum_multiples(scope, counts)


@attrs.frozen(kw_only=True)
class Amounts:
    """The cost of some nodes.

    Args:
        macs: multiply-accumulates.
        operations: other operations, such as additions, comparisons and exponentials: one per element.
        bytes_read: the bytes of the inputs that are read.
        bytes_written: the bytes of the outputs.
        parameters: the elements of weights; each weight counts at the first node that reads it.
    """

    macs: DimSize = 0
    operations: DimSize = 0
    bytes_read: DimSize = 0
    bytes_written: DimSize = 0
    parameters: DimSize = 0

    @property
    def flops(self) -> DimSize:
        """The operations, where a multiply-accumulate is two: `2*macs + operations`."""
        return add_dims([self.macs, self.macs, self.operations])

    @property
    def bytes(self) -> DimSize:
        """The bytes moved: read and written."""
        return add_dims([self.bytes_read, self.bytes_written])

    @property
    def intensity(self) -> float | None:
        """The arithmetic intensity in operations per byte; None where nothing is moved, or sizes are symbolic."""
        flops, moved = self.flops, self.bytes
        return flops / moved if isinstance(flops, int) and isinstance(moved, int) and moved else None


FIELDS = ("macs", "operations", "bytes_read", "bytes_written", "parameters")
"""The amounts from which all others are computed."""
MOVED = {"bytes_read", "bytes_written"}
"""The amounts that are bytes."""
values_of = attrgetter(*FIELDS)
"""These amounts of some nodes, as a tuple."""


def sum_amounts(items: Iterable[Amounts]) -> Amounts:
    """The sums of all amounts; equal ones are added once.

    >>> sum_amounts([Amounts(macs=2), Amounts(macs=1, operations=3)]).flops
    9
    """
    sums: dict[str, Counter[DimSize]] = {name: Counter() for name in FIELDS}
    for values, count in Counter(map(values_of, items)).items():
        for name, value in zip(FIELDS, values, strict=True):
            sums[name][value] += count
    return Amounts(**{name: add_multiples(counts) for name, counts in sums.items()})


@attrs.frozen(kw_only=True)
class NodeCost(Amounts):
    """The cost of one node; one of a body or function is named by its path, and counts all of its runs.

    Args:
        name: the node.
        op: its operator.
        module: the modules that the node belongs to, the outermost first; see `shapeinf.graph.module_path`.
        bounded: the amounts are upper bounds: the node may not run, or sizes depend on data.
    """

    name: str
    op: str
    module: tuple[str, ...] = ()
    bounded: bool = False


@attrs.frozen
class Uncounted:
    """A node, or an amount of a node, that no sum counts.

    Args:
        node: the node.
        op: its operator.
        reason: why it is not counted.
        amount: "bytes" where only the bytes that the node moves are not counted; "rest" where a lower bound of the node
            is; empty where the entire node is not counted.
        parameters: the elements of weights that the node is the first to read, which are counted.
    """

    node: str
    op: str
    reason: str
    amount: str = ""
    parameters: DimSize = 0

    def __str__(self) -> str:
        """One line."""
        return f"{self.op} '{self.node}': {self.amount and self.amount + ': '}{self.reason}"


@attrs.frozen
class Branches:
    """The costs of the branches of a node of which one runs; the node counts the maximum of each amount."""

    node: str
    op: str
    branches: Mapping[str, Amounts]


@attrs.frozen(kw_only=True)
class CostGroup(Amounts):
    """The costs of the nodes of one operator or module.

    Args:
        name: the operator, or the path of the module with `/`; empty for nodes of no module.
        nodes: the number of counted nodes.
        uncounted: the number of nodes that are not counted.
    """

    name: str
    nodes: int
    uncounted: int = 0


@attrs.frozen(slots=False)
class CostTable:
    """The costs of all nodes, in the order of the graph, with their sums."""

    nodes: tuple[NodeCost, ...]
    uncounted: tuple[Uncounted, ...] = ()
    branches: tuple[Branches, ...] = ()

    @cached_property
    def total(self) -> Amounts:
        """The sums over all nodes; nodes in `uncounted` contribute their parameters only."""
        return sum_amounts([*self.nodes, *_parameters(self.uncounted)])

    @property
    def at_least(self) -> bool:
        """Whether something is not counted."""
        return bool(self.uncounted)

    @property
    def at_most(self) -> bool:
        """Whether some nodes count with upper bounds."""
        return any(node.bounded for node in self.nodes)

    def note_of_macs(self) -> str:
        """The note of the multiply-accumulates: whether nodes are not counted, or counted with upper bounds.

        A node without multiply-accumulates is exact in these, whatever else of it is a bound.
        """
        at_least = any(item.amount != "bytes" for item in self.uncounted)
        return bound_note(at_least, any(node.bounded and node.macs != 0 for node in self.nodes))

    @cached_property
    def by_operator(self) -> dict[str, CostGroup]:
        """The sums by operator."""
        return self._groups(lambda node, op: op)

    def by_module(self, depth: int = 1) -> dict[str, CostGroup]:
        """The sums by the first `depth` modules in the names of nodes."""
        return self._groups(lambda node, op: "/".join(module_path(node)[:depth]))

    def _groups(self, key: Callable[[str, str], str]) -> dict[str, CostGroup]:
        counted: dict[str, list[NodeCost]] = {}
        missing: dict[str, list[Uncounted]] = {}
        for node in self.nodes:
            counted.setdefault(key(node.name, node.op), []).append(node)
        for item in self.uncounted:
            missing.setdefault(key(item.node, item.op), []).append(item)
        return {
            name: _group(name, counted.get(name, ()), missing.get(name, ()))
            for name in dict.fromkeys([*counted, *missing])
        }


def _group(name: str, nodes: Sequence[NodeCost], uncounted: Sequence[Uncounted]) -> CostGroup:
    total = sum_amounts([*nodes, *_parameters(uncounted)])
    missing = sum(not item.amount for item in uncounted)
    return CostGroup(name=name, nodes=len(nodes), uncounted=missing, **{f: getattr(total, f) for f in FIELDS})


def _parameters(uncounted: Iterable[Uncounted]) -> Iterator[Amounts]:
    return (Amounts(parameters=item.parameters) for item in uncounted)
