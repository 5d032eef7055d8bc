"""Bytes and strides of what lies in memory; on symbolic dims the answers are symbolic."""

from __future__ import annotations

from itertools import pairwise

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError
from shapeinf.expr import Dim, ceildiv
from shapeinf.layout.array_type import TOKEN, ArrayType, PhysicalType, TupleType, product
from shapeinf.layout.counting import is_empty
from shapeinf.layout.layout import integer
from shapeinf.layout.tiling import steps

POINTER_SIZE = 8
"""Bytes of a pointer where nothing else is said."""


def stored_bits(array: ArrayType) -> int:
    """The bits that one element takes in memory: whole bytes, but where the layout packs elements.

    >>> stored_bits(ArrayType("s4", (2,)))
    8
    """
    return array.layout.element_size_in_bits or 8 * array.element.bytes


def byte_size(type: PhysicalType, pointer_size: int = POINTER_SIZE) -> Dim:
    """The bytes of the elements without padding; of a tuple, those of its table of pointers.

    Tiles and tail padding do not count, as in XLA: `physical_byte_size` counts them. Dynamic dims count their bound,
    and no bytes for what a runtime adds to store their true sizes.

    >>> byte_size(ArrayType("f32", (3, 5))), byte_size(TupleType([TOKEN, TOKEN])), byte_size(TOKEN)
    (60, 16, 0)
    """
    integer(pointer_size, "pointer_size", 1)
    if isinstance(type, ArrayType):
        return _bytes(type.elements, stored_bits(type))
    if isinstance(type, TupleType):
        return pointer_size * len(type.elements)
    return 0 if type == TOKEN else pointer_size


def physical_elements(array: ArrayType) -> Dim:
    """The number of elements that memory has room for: all tiles whole, and the tail padding.

    XLA looks at the first tile only and knows no `*`; here every tile is padded.

    >>> from shapeinf.layout.layout import Layout
    >>> physical_elements(ArrayType("f32", (3, 5), Layout((1, 0), tiles=[(2, 2)])))
    24
    """
    _, dims = steps(array)
    tail = array.layout.tail_padding_alignment_in_elements
    elements = product(dims)
    return elements if tail == 1 else ceildiv(elements, tail) * tail


def physical_byte_size(array: ArrayType) -> Dim:
    """The bytes of the array in memory, with all padding.

    >>> from shapeinf.layout.layout import Layout
    >>> physical_byte_size(ArrayType("f32", (8,), Layout((0,), tail_padding_alignment_in_elements=1024)))
    4096
    """
    return _bytes(physical_elements(array), stored_bits(array))


def data_byte_size(array: ArrayType, store: ConstraintStore | None = None) -> Dim:
    """The bytes up to the end of the last element that is not padding.

    XLA follows the first tile only. LayoutError where it is not known whether the array has elements at all, and where
    a tile reaches over more dims than the tile before it made: then the element of the largest index may not be last.

    >>> from shapeinf.layout.layout import Layout
    >>> data_byte_size(ArrayType("f32", (3, 5), Layout((1, 0), tiles=[(2, 2)])))
    84
    """
    empty = is_empty(array, store)
    if empty is None:
        raise LayoutError(f"whether {array} has elements is not known: say that its dims are at least 1")
    if empty:
        return 0
    tiles = array.layout.tiles
    if any(len(after) > len(before) - before.count("*") for before, after in pairwise(tiles)):
        raise LayoutError(f"the tiles of {array} reach over each other: which element is last is not known")
    found, dims = steps(array)
    index: list[Dim] = [array.sizes[d] - 1 for d in array.layout.major_to_minor]
    for step in found:
        index = step.apply(index)
    last: Dim = 0
    for size, place in zip(dims, index, strict=True):
        last = last * size + place
    return _bytes(last + 1, stored_bits(array))


def strides(array: ArrayType) -> tuple[Dim, ...]:
    """How far apart neighbours along each dim are, in elements.

    LayoutError where the layout has tiles: then there is no one distance.

    >>> strides(ArrayType("f32", (2, 3)))
    (3, 1)
    """
    if array.layout.tiles:
        raise LayoutError(f"{array} is tiled: its elements have no strides")
    sizes = array.sizes
    found: list[Dim] = [1] * array.rank
    stride: Dim = 1
    for d in array.layout.minor_to_major:
        found[d] = stride
        stride = stride * sizes[d]
    return tuple(found)


def byte_strides(array: ArrayType) -> tuple[Dim, ...]:
    """How far apart neighbours along each dim are, in bytes, as numpy has it.

    LayoutError where elements are packed into parts of bytes, or tiled.

    >>> byte_strides(ArrayType("bf16", (2, 3)))
    (6, 2)
    """
    bits = stored_bits(array)
    if bits % 8:
        raise LayoutError(f"{array} has elements of {bits} bits: they have no strides in bytes")
    return tuple(stride * (bits // 8) for stride in strides(array))


def _bytes(elements: Dim, bits: int) -> Dim:
    return ceildiv(elements * bits, 8)
