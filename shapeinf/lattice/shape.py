"""Shapes: a tuple of dimensions, or an unknown rank with an identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import overload

from shapeinf.errors import AxisError, NotKnown
from shapeinf.expr import Dimension, DimSize

_INT = frozenset({int})


class Shape:
    """The dimensions of a tensor, or an unknown rank.

    Ranked shapes are equal when their dims are identical. A ranked shape also equals the tuple of its dims, and has its
    hash; it equals no list. An unknown rank equals only itself: two unknown ranks are never equal.

    >>> Shape((2, 3))
    Shape([2, 3])
    >>> Shape((2, 3)) == (2, 3), hash(Shape((2, 3))) == hash((2, 3))
    (True, True)
    >>> Shape.unknown() == Shape.unknown()
    False
    """

    __slots__ = ("dims",)

    dims: tuple[DimSize, ...] | None

    def __init__(self, dims: Iterable[DimSize] | None) -> None:
        """`dims` is None for an unknown rank."""
        self.dims = None if dims is None else tuple(dims)

    @classmethod
    def unknown(cls) -> Shape:
        """A new unknown rank."""
        return cls(None)

    @property
    def rank(self) -> int | None:
        """Number of axes, None when unknown."""
        return None if self.dims is None else len(self.dims)

    @property
    def is_concrete(self) -> bool:
        """True when every dim is an int."""
        return self.dims is not None and _INT.issuperset(map(type, self.dims))

    def require(self) -> tuple[DimSize, ...]:
        """The dims; raises NotKnown when the rank is unknown."""
        if self.dims is None:
            raise NotKnown("the rank of an input is not known")
        return self.dims

    @overload
    def __getitem__(self, index: int) -> DimSize: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[DimSize, ...]: ...
    def __getitem__(self, index: int | slice) -> DimSize | tuple[DimSize, ...]:
        """One dim, or a tuple of dims for a slice.

        Raises AxisError, an IndexError, for an axis out of range, NotKnown for a shape of unknown rank.
        """
        try:
            return self.require()[index] if self.dims is None else self.dims[index]
        except IndexError:
            raise AxisError(f"axis {index} is out of range", operands=(str(self),)) from None

    def __iter__(self) -> Iterator[DimSize]:
        """The dims in order."""
        return iter(self.require() if self.dims is None else self.dims)

    def __len__(self) -> int:
        """The rank; raises NotKnown when it is unknown."""
        return len(self.require() if self.dims is None else self.dims)

    def __bool__(self) -> bool:
        """Always true, so that `x or default` never drops a scalar."""
        return True

    def __eq__(self, other: object) -> bool:
        """Same dims, also as a tuple, or the same unknown rank."""
        if self is other:
            return True
        if isinstance(other, Shape):
            return self.dims is not None and self.dims == other.dims
        return self.dims == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        """That of the tuple of its dims: it equals that tuple."""
        return id(self) if self.dims is None else hash(self.dims)

    def __copy__(self) -> Shape:
        """Itself: it is immutable, and an unknown rank equals only itself."""
        return self

    def __deepcopy__(self, memo: object) -> Shape:
        """Itself."""
        return self

    def __reduce__(self) -> tuple[type[Shape], tuple[object, ...]]:
        """A pickle has the dims."""
        return Shape, (self.dims,)

    def symbols(self) -> frozenset[Dimension]:
        """All symbols in the dims."""
        if self.dims is None:
            return frozenset()
        symbols = [d.symbols() for d in self.dims if not isinstance(d, int)]
        return symbols[0].union(*symbols[1:]) if symbols else frozenset()

    def __str__(self) -> str:
        """`[B, 128, 768]`, or `?` for an unknown rank."""
        return "?" if self.dims is None else "[" + ", ".join(map(str, self.dims)) + "]"

    def __repr__(self) -> str:
        """The text form in `Shape(...)`."""
        return f"Shape({self})"


class OptionalAxes(Shape):
    """An unknown rank whose possible axes are known: some of them may be absent, as after removing axes of size 1.

    >>> some = OptionalAxes([(2, False), (3, True)])
    >>> some.with_rank(1), some.with_rank(2), some.with_rank(3)
    (Shape([2]), Shape([2, 3]), None)
    """

    __slots__ = ("axes",)

    axes: tuple[tuple[DimSize, bool], ...]

    def __init__(self, axes: Iterable[tuple[DimSize, bool]]) -> None:
        """(size, whether the axis may be absent) of each axis; an absent axis has size 1."""
        super().__init__(None)
        self.axes = tuple(axes)

    def __reduce__(self) -> tuple[type[Shape], tuple[object, ...]]:
        """A pickle has the axes."""
        return OptionalAxes, (self.axes,)

    @property
    def optional_sizes(self) -> tuple[DimSize, ...]:
        """The sizes of the axes that may be absent."""
        return tuple(d for d, optional in self.axes if optional)

    def allows(self, rank: int) -> bool:
        """Whether the shape may have this rank."""
        return len(self.axes) - len(self.optional_sizes) <= rank <= len(self.axes)

    def with_rank(self, rank: int) -> Shape | None:
        """The shape of this rank, None where the rank leaves the axes undecided."""
        if rank == len(self.axes):
            return Shape(d for d, _ in self.axes)
        if rank == len(self.axes) - len(self.optional_sizes):
            return Shape(d for d, optional in self.axes if not optional)
        return None


SCALAR = Shape(())
