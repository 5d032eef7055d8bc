"""Tuples of indices that grow evenly: the operand of GatherND and ScatterND that exporters make of ranges."""

from __future__ import annotations

from collections.abc import Iterable

from shapeinf.expr import DimSize
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.types import PartialTensor, Progression, TensorType

Part = tuple[DimSize, tuple[int, ...]]
"""The first element and the steps of a progression."""


class IndexTuples(PartialTensor):
    """Tuples along the last axis; the integers at each position of the tuple are a progression, or unknown.

    >>> tuples = IndexTuples("int64", Shape((4, 9, 2)), [(0, (1, 0)), (3, (0, 2))])
    >>> tuples
    int64[4, 9, 2]{(0 + 1*i0, 3 + 2*i1)}
    >>> tuples.positions()[0]
    int64[4, 9]{0 + 1*i0}
    """

    __slots__ = ("parts",)

    def __init__(self, dtype: str | None, shape: Shape, parts: Iterable[Part | None]) -> None:
        """`parts` has the first element and the steps for each position; None where the elements are unknown."""
        super().__init__(dtype, shape, None)
        self.parts = tuple(parts)

    def positions(self) -> tuple[PartialTensor, ...]:
        """The tensor at each position of the tuples, without the last axis."""
        shape = Shape(self.shape[:-1])
        return tuple([_part_tensor(self.dtype, shape, part) for part in self.parts])

    @property
    def contents(self) -> tuple[object, ...]:
        """The first elements and the steps."""
        return IndexTuples, self.parts

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """See `TensorType.with_type`."""
        return IndexTuples(dtype, shape, self.parts)

    def __eq__(self, other: object) -> bool:
        """Same dtype and shape, and the same parts."""
        return isinstance(other, IndexTuples) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.parts))

    @property
    def contents_text(self) -> str:
        """`(0 + 1*i0, ?)`, the tuple at the index `i0`."""
        return f"({', '.join(position.contents_text or '?' for position in self.positions())})"


def _part_tensor(dtype: str | None, shape: Shape, part: Part | None) -> PartialTensor:
    return PartialTensor(dtype, shape, None) if part is None else Progression(dtype, shape, *part)
