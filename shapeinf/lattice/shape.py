"""Shapes: a tuple of dimensions, or an unknown rank with an identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import overload

from shapeinf.errors import NotKnown, ShapeError
from shapeinf.expr import Dim, Dimension


class Shape:
    """The dimensions of a tensor, or an unknown rank.

    Ranked shapes are equal when their dims are identical. An unknown rank equals only itself: two different unknowns
    are never the same thing.

    >>> Shape((2, 3))
    Shape([2, 3])
    >>> Shape.unknown() == Shape.unknown()
    False
    """

    __slots__ = ("dims",)

    dims: tuple[Dim, ...] | None

    def __init__(self, dims: Iterable[Dim] | None) -> None:
        """`dims` is None for an unknown rank."""
        self.dims = None if dims is None else tuple(dims)

    @classmethod
    def unknown(cls) -> Shape:
        """A new unknown rank."""
        return cls(None)

    @property
    def rank(self) -> int | None:
        """Number of axes, or None when not known."""
        return None if self.dims is None else len(self.dims)

    @property
    def is_concrete(self) -> bool:
        """True when every dim is an int."""
        return self.dims is not None and all(type(d) is int for d in self.dims)

    def require(self) -> tuple[Dim, ...]:
        """The dims; raises NotKnown when the rank is not known."""
        if self.dims is None:
            raise NotKnown("the rank of an input is not known")
        return self.dims

    @overload
    def __getitem__(self, index: int) -> Dim: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Dim, ...]: ...
    def __getitem__(self, index: int | slice) -> Dim | tuple[Dim, ...]:
        """One dim, or a tuple of dims for a slice. Raises ShapeError for an axis that there is not."""
        try:
            return self.require()[index] if self.dims is None else self.dims[index]
        except IndexError:
            raise ShapeError(f"there is no axis {index}", operands=(str(self),)) from None

    def __iter__(self) -> Iterator[Dim]:
        """The dims in order."""
        return iter(self.require() if self.dims is None else self.dims)

    def __len__(self) -> int:
        """The rank; raises NotKnown when it is not known."""
        return len(self.require() if self.dims is None else self.dims)

    def __bool__(self) -> bool:
        """Always true, so that `x or default` never drops a scalar."""
        return True

    def __eq__(self, other: object) -> bool:
        """Same dims, or the very same unknown."""
        if self is other:
            return True
        if not isinstance(other, Shape) or self.dims is None:
            return False
        return self.dims == other.dims

    def __hash__(self) -> int:
        """Consistent with equality."""
        return id(self) if self.dims is None else hash(self.dims)

    def symbols(self) -> frozenset[Dimension]:
        """All symbols that the dims are made of."""
        if self.dims is None:
            return frozenset()
        found = [d.symbols() for d in self.dims if not isinstance(d, int)]
        return found[0].union(*found[1:]) if found else frozenset()

    def __str__(self) -> str:
        """`[B, 128, 768]`, or `?` for an unknown rank."""
        return "?" if self.dims is None else "[" + ", ".join(map(str, self.dims)) + "]"

    def __repr__(self) -> str:
        """The text form in `Shape(...)`."""
        return f"Shape({self})"


class OptionalAxes(Shape):
    """An unknown rank of which the axes are known, but not whether all of them are there: some may be left out.

    >>> some = OptionalAxes([(2, False), (3, True)])
    >>> some.of_rank(1), some.of_rank(2), some.of_rank(3)
    (Shape([2]), Shape([2, 3]), None)
    """

    __slots__ = ("axes",)

    axes: tuple[tuple[Dim, bool], ...]

    def __init__(self, axes: Iterable[tuple[Dim, bool]]) -> None:
        """Each axis with whether it may be missing: those that are have size 1."""
        super().__init__(None)
        self.axes = tuple(axes)

    @property
    def doubtful(self) -> tuple[Dim, ...]:
        """The sizes of the axes that may be missing."""
        return tuple(d for d, doubtful in self.axes if doubtful)

    def allows(self, rank: int) -> bool:
        """Whether there may be so many axes."""
        return len(self.axes) - len(self.doubtful) <= rank <= len(self.axes)

    def of_rank(self, rank: int) -> Shape | None:
        """The shape where there are so many axes, None where that does not say which."""
        if rank == len(self.axes):
            return Shape(d for d, _ in self.axes)
        if rank == len(self.axes) - len(self.doubtful):
            return Shape(d for d, doubtful in self.axes if not doubtful)
        return None


class RankNotKnown(NotKnown):
    """Raised inside a rule: which axes the output may have is known, but not which it has."""

    def __init__(self, reason: str, shape: OptionalAxes) -> None:
        """Keep the reason and the axes."""
        super().__init__(reason)
        self.shape = shape


SCALAR = Shape(())
