"""Types of values in memory: arrays with a layout, tuples of them, tokens and opaque values."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import attrs

from shapeinf.errors import LayoutError, LimitError, NotKnown
from shapeinf.expr import Dimension, DimSize, interval
from shapeinf.layout.element_types import ElementType, element_type
from shapeinf.layout.layout import MAX_INT, MAX_RANK, Layout, integer

MAX_NESTING = 64
"""Limit on the nesting of tuples."""


@attrs.frozen(init=False, repr=False)
class ArrayType:
    """An array in memory: element type, dims and layout.

    A dim is an int or a symbolic `Dimension`. A dynamic dim is a bound: the array may be smaller at run time. None is
    a dynamic dim without a bound. An array whose elements or bytes pass 63 bits is refused.

    Args:
        dtype: the element type, by its name in shapeinf or in XLA (`float32`, `f32`).
        dims: the sizes, or a `Shape`.
        layout: the layout; row-major where None.
        dynamic: which dims are bounds; where None, those that have none.

    >>> ArrayType("float32", (2, 3))
    f32[2,3]{1,0}
    >>> ArrayType("s4", (10, None), Layout((0, 1), element_size_in_bits=4), dynamic=(True, True))
    s4[<=10,?]{0,1:E(4)}
    """

    dtype: str
    dims: tuple[DimSize | None, ...]
    layout: Layout
    dynamic: tuple[bool, ...]

    def __init__(
        self,
        dtype: str,
        dims: Iterable[DimSize | None],
        layout: Layout | None = None,
        dynamic: Iterable[bool] | None = None,
    ) -> None:
        """Check all arguments; see the class."""
        try:
            sizes = tuple(map(_size, dims))
        except NotKnown:
            raise LayoutError("an array in memory needs a known rank") from None
        if len(sizes) > MAX_RANK:
            raise LimitError(f"an array has {len(sizes)} dims; at most {MAX_RANK} are supported")
        layout = Layout.descending(len(sizes)) if layout is None else layout
        flags = tuple(d is None for d in sizes) if dynamic is None else tuple(map(bool, dynamic))
        if layout.rank != len(sizes):
            raise LayoutError(f"minor_to_major has {layout.rank} dims, but the array has {len(sizes)}")
        if len(flags) != len(sizes):
            raise LayoutError(f"dynamic has {len(flags)} flags, but the array has {len(sizes)} dims")
        if any(d is None and not flag for d, flag in zip(sizes, flags, strict=True)):
            raise LayoutError("a dim without a bound must be dynamic")
        for split in layout.splits:
            size = sizes[split.dimension]
            if isinstance(size, int) and split.indices[-1] >= size:
                raise LayoutError(f"a split at {split.indices[-1]} is outside of a dim of {size}")
        element = element_type(dtype)
        _check_overflow(sizes, element)
        self.__attrs_init__(element.dtype, sizes, layout, flags)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dims)

    @property
    def element(self) -> ElementType:
        """The element type."""
        return element_type(self.dtype)

    @property
    def sizes(self) -> tuple[DimSize, ...]:
        """The dims, dynamic ones by their bound; LayoutError where one has none."""
        sizes = tuple(d for d in self.dims if d is not None)
        if len(sizes) != self.rank:
            raise LayoutError(f"{self} has a dim without a bound: its size is not known")
        return sizes

    @property
    def elements(self) -> DimSize:
        """The number of elements, dynamic dims counted by their bound; 1 for a scalar.

        >>> ArrayType("f32", (3, 5)).elements, ArrayType("f32", ()).elements
        (15, 1)
        """
        return product(self.sizes)

    def dimension_number(self, dimension: int) -> int:
        """The index of a dim, negative ones counted from the end (XLA checks only one side of the range).

        >>> ArrayType("f32", (2, 3)).dimension_number(-1)
        1
        """
        rank = self.rank
        if rank == 0:
            raise LayoutError(f"{self} has no dims")
        return integer(dimension, f"a dim of {self}", -rank, rank - 1) % rank

    def __str__(self) -> str:
        """The text form; a scalar shows its layout only where it has more than dims."""
        dims = ",".join(map(_dim_text, self.dims, self.dynamic))
        layout = str(self.layout) if self.dims or self.layout.suffix else ""
        return f"{self.element.name}[{dims}]{layout}"

    __repr__ = __str__


def _elements(elements: Iterable[PhysicalType]) -> tuple[PhysicalType, ...]:
    return tuple(elements)


@attrs.frozen(repr=False)
class TupleType:
    """Several values in memory, behind a table of pointers.

    >>> TupleType([ArrayType("f32", (2,)), TOKEN])
    (f32[2]{0}, token[])
    """

    elements: tuple[PhysicalType, ...] = attrs.field(converter=_elements)

    def __attrs_post_init__(self) -> None:
        """Refuse deep nesting; levels are counted without recursion."""
        level: list[PhysicalType] = [self]
        for _ in range(MAX_NESTING):
            level = [e for t in level if isinstance(t, TupleType) for e in t.elements]
            if not level:
                return
        raise LimitError(f"tuples nest deeper than {MAX_NESTING}")

    def __str__(self) -> str:
        """The text form."""
        return "(" + ", ".join(map(str, self.elements)) + ")"

    __repr__ = __str__


@attrs.frozen(repr=False)
class OpaqueType:
    """A value that only orders effects (`token`), or of unknown contents (`opaque`); see TOKEN and OPAQUE."""

    name: str

    def __str__(self) -> str:
        """The text form."""
        return f"{self.name}[]"

    __repr__ = __str__


TOKEN = OpaqueType("token")
"""A value without contents, which orders effects."""

OPAQUE = OpaqueType("opaque")
"""A value of unknown contents."""

PhysicalType = ArrayType | TupleType | OpaqueType
"""A type of a value in memory."""


def product(sizes: Iterable[DimSize]) -> DimSize:
    """The product of sizes; 1 for none.

    >>> product([2, 3])
    6
    """
    total: DimSize = 1
    for size in sizes:
        total = total * size
    return total


def _size(d: DimSize | None) -> DimSize | None:
    if d is None:
        return None
    if isinstance(d, Dimension):
        high = interval(d).hi
        if high is not None and high < 0:
            raise LayoutError(f"a dim is negative: {d}")
        return d
    try:
        number = operator.index(d)
    except TypeError:
        raise LayoutError(f"a dim must be an int, a symbolic dimension or None, not {d!r}") from None
    if not 0 <= number <= MAX_INT:
        raise LayoutError(f"a dim is negative: {number}" if number < 0 else f"a dim passes 63 bits: {number}")
    return number


def _check_overflow(sizes: tuple[DimSize | None, ...], element: ElementType) -> None:
    """Multiply the least values in order, as XLA does: an overflow before a 0 is an error."""
    least = element.bytes
    for size in sizes:
        least *= 0 if size is None else max(interval(size).lo or 0, 0)
        if least > MAX_INT:
            raise LayoutError("the bytes of the array pass 63 bits")


def _dim_text(size: DimSize | None, dynamic: bool) -> str:
    return "?" if size is None else f"<={size}" if dynamic else str(size)
