"""Shapes: a tuple of dimensions, or an unknown rank with an identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import overload

from shapeinf.algebra import Dim, Dimension
from shapeinf.errors import NotKnown, ShapeError


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


SCALAR = Shape(())
