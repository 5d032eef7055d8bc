"""The node table of the readers: values are numbers, and a `Node` is built on access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import overload

from shapeinf.graph.node import Node, NodeKind
from shapeinf.graph.rows import MISSING, UNUSED, Row, RowKey, ValueNumbers, kind_of, row_key

_KEY_OF_ROW: Callable[[Row], RowKey] = itemgetter(0)


class NodeTable(Sequence[Node]):
    """A sequence of nodes that shares one table of names: `values[n]` is the name of value n.

    Values are numbered on their first use. `early` are those read before a node produces them: inputs, constants and
    names of outer graphs, if the nodes are in order. `ordered`: no value is produced twice, or after it was read.
    """

    def __init__(self) -> None:
        """No nodes."""
        self.rows: list[Row] = []
        self.early: set[int] = set()
        self.ordered = True
        self.numbers: dict[str, int] = ValueNumbers(self.early)
        """The numbers by name; a look-up gives a new name its number, as a value that a node reads."""
        self._values: list[str] = []
        self._keys: frozenset[RowKey] = frozenset()
        self._keyed = 0
        """The number of rows that `_keys` is for; rows are only appended."""

    @property
    def values(self) -> Sequence[str]:
        """The names of all values."""
        if len(self._values) < len(self.numbers):
            self._values = list(self.numbers)
        return self._values

    def add_output(self, name: str) -> int:
        """Number a value that a node produces; returns the number, `UNUSED` for an empty name."""
        if not name:
            return UNUSED
        if name in self.numbers:
            self.ordered = False
            return self.numbers[name]
        number = self.numbers[name] = len(self.numbers)
        return number

    def add(self, kind: NodeKind, inputs: Iterable[str], outputs: Iterable[str], name: str) -> None:
        """Append a node."""
        read = tuple(map(self.numbers.__getitem__, inputs))
        written = tuple(map(self.add_output, outputs))
        self.rows.append((row_key(kind, written), read, written, name))

    def row_keys(self) -> frozenset[RowKey]:
        """The keys of all nodes."""
        if self._keyed < len(self.rows):
            self._keys, self._keyed = frozenset(map(_KEY_OF_ROW, self.rows)), len(self.rows)
        return self._keys

    def kinds(self) -> set[NodeKind]:
        """The kinds of all nodes."""
        return {key if isinstance(key, NodeKind) else kind_of(key) for key in self.row_keys()}

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        """One node, or a list of them for a slice."""
        return self._node(self.rows[index]) if isinstance(index, int) else [self._node(r) for r in self.rows[index]]

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Node]:
        """The nodes in order."""
        return map(self._node, self.rows)

    def _node(self, row: Row) -> Node:
        key, inputs, outputs, name = row
        values = self.values
        return Node(
            kind_of(key),
            tuple(["" if number == MISSING else values[number] for number in inputs]),
            tuple(["" if number == UNUSED else values[number] for number in outputs]),
            name,
        )


def count_kinds(nodes: Sequence[Node]) -> Counter[NodeKind]:
    """The number of nodes of each kind, in the order of the first nodes."""
    keys: Iterable[RowKey] = (
        map(_KEY_OF_ROW, nodes.rows) if isinstance(nodes, NodeTable) else (node.kind for node in nodes)
    )
    counts: Counter[NodeKind] = Counter()
    for key, count in Counter(keys).items():
        counts[kind_of(key)] += count
    return counts


def kinds_of(nodes: Sequence[Node]) -> set[NodeKind]:
    """The kinds of all nodes of a graph."""
    return nodes.kinds() if isinstance(nodes, NodeTable) else {node.kind for node in nodes}
