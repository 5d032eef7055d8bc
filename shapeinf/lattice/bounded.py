"""Large tensors of ints of which only the least and the greatest element are known."""

from __future__ import annotations

from shapeinf.lattice.shape import Shape
from shapeinf.lattice.types import PartialTensor


class BoundedTensor(PartialTensor):
    """Whole numbers from `least` to `most`; both are among the elements, which are never listed.

    >>> BoundedTensor("int64", Shape((5000,)), 0, 511)
    int64[5000]{0..511}
    """

    __slots__ = ("least", "most")

    def __init__(self, dtype: str | None, shape: Shape, least: int, most: int) -> None:
        """A tensor with an element at the least."""
        super().__init__(dtype, shape, None)
        self.least = least
        self.most = most

    @property
    def contents(self) -> tuple[object, ...]:
        """The range, which no list of elements is equal to."""
        return (range(self.least, self.most + 1),)

    def __eq__(self, other: object) -> bool:
        """Same dtype, shape and range."""
        return isinstance(other, BoundedTensor) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.least, self.most))

    def __repr__(self) -> str:
        """`int64[5000]{0..511}`."""
        return f"{super().__repr__()}{{{self.least}..{self.most}}}"
