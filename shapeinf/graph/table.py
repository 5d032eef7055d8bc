"""The node table of the readers: values are numbers, and a `Node` is built on access."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from shapeinf.compilation import mypyc_attr
from shapeinf.graph.model import Node, NodeKind

MISSING = -1
"""The number of an absent input."""

UNUSED = -2
"""The number of an unused output."""

RowKey = NodeKind | tuple[NodeKind | bool, ...]
"""The shared key of equal rows: the kind of a node with one output, else the kind and for each output if it is used."""

Row = tuple[RowKey, tuple[int, ...], tuple[int, ...], str]
"""Key, numbers of inputs, numbers of outputs, name."""


def row_key(kind: NodeKind, outputs: Sequence[int]) -> RowKey:
    """The key of a node of this kind with these outputs."""
    if len(outputs) == 1 and outputs[0] != UNUSED:
        return kind
    return (kind, *(number != UNUSED for number in outputs))


def kind_of(key: RowKey) -> NodeKind:
    """The kind in a key."""
    kind = key if isinstance(key, NodeKind) else key[0]
    assert isinstance(kind, NodeKind)
    return kind


@mypyc_attr(native_class=False)  # as a native one, all sequences would be instances of it
class NodeTable(Sequence[Node]):
    """A sequence of nodes that shares one table of names: `values[n]` is the name of value n.

    Values are numbered on their first use. `early` are those read before a node produces them: inputs, constants and
    names of outer graphs, if the nodes are in order. `ordered`: no value is produced twice, or after it was read.
    """

    def __init__(self) -> None:
        """No nodes."""
        self.rows: list[Row] = []
        self.values: list[str] = []
        self.early: set[int] = set()
        self.ordered = True
        self.numbers: dict[bytes, int] = {}

    def input(self, name: bytes) -> int:
        """The number of a value that a node reads."""
        number = self.numbers.get(name)
        if number is None:
            if not name:
                return MISSING
            number = self.numbers[name] = len(self.values)
            self.values.append(name.decode("utf-8", "replace"))
            self.early.add(number)
        return number

    def output(self, name: bytes) -> int:
        """The number of a value that a node produces."""
        if not name:
            return UNUSED
        number = self.numbers.get(name)
        if number is not None:
            self.ordered = False
            return number
        number = self.numbers[name] = len(self.values)
        self.values.append(name.decode("utf-8", "replace"))
        return number

    def add(self, kind: NodeKind, inputs: Iterable[bytes], outputs: Iterable[bytes], name: str) -> None:
        """Append a node."""
        read = tuple(map(self.input, inputs))
        written = tuple(map(self.output, outputs))
        self.rows.append((row_key(kind, written), read, written, name))

    def keys(self) -> set[RowKey]:
        """The keys of all nodes."""
        return {row[0] for row in self.rows}

    def kinds(self) -> set[NodeKind]:
        """The kinds of all nodes."""
        return set(map(kind_of, self.keys()))

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
