"""Rows of a node table, the keys that equal rows share, and the numbers of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shapeinf.graph.node import NodeKind

MISSING = -1
"""The number of an absent input."""

UNUSED = -2
"""The number of an unused output."""

RowKey = NodeKind | tuple[NodeKind | bool, ...]
"""The shared key of equal rows: the kind of a node with one output, else the kind and whether each output is used."""

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


_NO_TEXT: Any = None


class ValueNumbers(dict[str, int]):
    """The numbers of values by their names. A name that is looked up for the first time is read before it is produced.

    The empty name is that of an absent input. (A subclass of `dict` for speed: readers look up every input.)
    """

    def __init__(self, early: set[int]) -> None:
        """No names; `early` collects the numbers of values that are read first."""
        # A key that is no text makes Python store hashes in the table. Without them each collision reads another name,
        # which in a model of 500,000 nodes is not in the cache.
        super().__init__({_NO_TEXT: 0})
        del self[_NO_TEXT]
        self.early = early

    def __missing__(self, name: str) -> int:
        if not name:
            return MISSING
        number = len(self)
        self[name] = number
        self.early.add(number)
        return number
