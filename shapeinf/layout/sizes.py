"""Bytes and strides of values in memory; symbolic for symbolic dims."""

from __future__ import annotations

from itertools import pairwise

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError
from shapeinf.expr import DimSize, ceildiv
from shapeinf.layout.array_type import TOKEN, ArrayType, PhysicalType, TupleType, product
from shapeinf.layout.counting import is_empty
from shapeinf.layout.layout import integer
from shapeinf.layout.tiling import tile_steps

POINTER_SIZE = 8
"""Default bytes of a pointer."""


def stored_bits(array: ArrayType) -> int:
    """The bits of one element in memory: full bytes, unless the layout packs elements.

    >>> stored_bits(ArrayType("s4", (2,)))
    8
    """
    return array.layout.element_size_in_bits or 8 * array.element.bytes


def byte_size(value: PhysicalType, pointer_size: int = POINTER_SIZE) -> DimSize:
    """The bytes of the elements without padding; of a tuple, those of its table of pointers.

    Tiles and tail padding do not count, as in XLA: `physical_byte_size` counts them. Dynamic dims count their bound,
    without the bytes that a runtime adds to store their true sizes.

    >>> byte_size(ArrayType("f32", (3, 5))), byte_size(TupleType([TOKEN, TOKEN])), byte_size(TOKEN)
    (60, 16, 0)
    """
    integer(pointer_size, "pointer_size", 1)
    if isinstance(value, ArrayType):
        return _bytes(value.elements, stored_bits(value))
    if isinstance(value, TupleType):
        return pointer_size * len(value.elements)
    return 0 if value == TOKEN else pointer_size


def physical_elements(array: ArrayType) -> DimSize:
    """The number of elements that fit the memory: all tiles full, and the tail padding.

    XLA applies the first tile only and has no `*`; here every tile is padded.

    >>> from shapeinf.layout.layout import Layout
    >>> physical_elements(ArrayType("f32", (3, 5), Layout((1, 0), tiles=[(2, 2)])))
    24
    """
    _, dims = tile_steps(array)
    tail = array.layout.tail_padding_alignment_in_elements
    elements = product(dims)
    return elements if tail == 1 else ceildiv(elements, tail) * tail


def physical_byte_size(array: ArrayType) -> DimSize:
    """The bytes of the array in memory, with all padding.

    >>> from shapeinf.layout.layout import Layout
    >>> physical_byte_size(ArrayType("f32", (8,), Layout((0,), tail_padding_alignment_in_elements=1024)))
    4096
    """
    return _bytes(physical_elements(array), stored_bits(array))


def data_byte_size(array: ArrayType, store: ConstraintStore | None = None) -> DimSize:
    """The bytes up to the end of the last element that is not padding.

    XLA applies the first tile only. LayoutError where it is not known whether the array has elements, and where a tile
    covers more dims than the tile before it creates: then the element of the largest index may not be last.

    >>> from shapeinf.layout.layout import Layout
    >>> data_byte_size(ArrayType("f32", (3, 5), Layout((1, 0), tiles=[(2, 2)])))
    84
    """
    empty = is_empty(array, store)
    if empty is None:
        raise LayoutError(f"whether {array} has elements is not known: declare its dims to be at least 1")
    if empty:
        return 0
    if any(len(after) > len(before) - before.count("*") for before, after in pairwise(array.layout.tiles)):
        raise LayoutError(f"the tiles of {array} overlap in dims: which element is last is not known")
    tiles, dims = tile_steps(array)
    index: list[DimSize] = [array.sizes[d] - 1 for d in array.layout.major_to_minor]
    for tile in tiles:
        index = tile.apply(index)
    last: DimSize = 0
    for size, along in zip(dims, index, strict=True):
        last = last * size + along
    return _bytes(last + 1, stored_bits(array))


def strides(array: ArrayType) -> tuple[DimSize, ...]:
    """The distance of neighbors along each dim, in elements.

    LayoutError where the layout has tiles, since the distance then varies.

    >>> strides(ArrayType("f32", (2, 3)))
    (3, 1)
    """
    if array.layout.tiles:
        raise LayoutError(f"{array} is tiled: its elements have no strides")
    sizes = array.sizes
    distances: list[DimSize] = [1] * array.rank
    stride: DimSize = 1
    for d in array.layout.minor_to_major:
        distances[d] = stride
        stride = stride * sizes[d]
    return tuple(distances)


def byte_strides(array: ArrayType) -> tuple[DimSize, ...]:
    """The distance of neighbors along each dim, in bytes, as in numpy.

    LayoutError where elements are packed into parts of bytes, or tiled.

    >>> byte_strides(ArrayType("bf16", (2, 3)))
    (6, 2)
    """
    bits = stored_bits(array)
    if bits % 8:
        raise LayoutError(f"{array} has elements of {bits} bits: they have no strides in bytes")
    return tuple(stride * (bits // 8) for stride in strides(array))


def _bytes(elements: DimSize, bits: int) -> DimSize:
    return ceildiv(elements * bits, 8)
