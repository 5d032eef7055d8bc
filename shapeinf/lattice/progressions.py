"""Tensors too large, or of unknown size, whose contents grow evenly along their axes."""

from __future__ import annotations

from collections.abc import Iterable

from shapeinf.expr import Dim
from shapeinf.lattice.shape import Shape
from shapeinf.lattice.types import PartialTensor, TensorType


class Progression(PartialTensor):
    """Whole numbers: the element at `[i, j, ...]` is `base + steps[0]*i + steps[1]*j + ...`.

    So the first and the last element are known where a size is not: positions in a sequence are of this kind. Its
    elements are never listed.

    >>> Progression("int64", Shape((1, 4)), 3, (0, 2))
    int64[1, 4]{3 + 2*i1}
    """

    __slots__ = ("base", "steps")

    def __init__(self, dtype: str | None, shape: Shape, base: Dim, steps: Iterable[int]) -> None:
        """Raises ValueError where there is not one step for each axis."""
        super().__init__(dtype, shape, None)
        self.base = base
        self.steps = tuple(steps)
        if len(self.steps) != len(shape):
            raise ValueError(f"{len(self.steps)} steps for {shape}")

    @property
    def contents(self) -> tuple[object, ...]:
        """The first element and the steps."""
        return self.base, self.steps

    def retyped(self, dtype: str | None, shape: Shape) -> TensorType:
        """The same contents under dims that are equal to those before."""
        return Progression(dtype, shape, self.base, self.steps)

    def __eq__(self, other: object) -> bool:
        """Same dtype, shape, first element and steps."""
        return isinstance(other, Progression) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.base, self.steps))

    def __repr__(self) -> str:
        """`int64[seq]{past + 1*i0}`."""
        parts = [str(self.base), *(f"{step}*i{axis}" for axis, step in enumerate(self.steps) if step)]
        return f"{super().__repr__()}{{{' + '.join(parts)}}}"
