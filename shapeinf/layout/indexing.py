"""Multi-dimensional indices of elements and their linear indices in memory: conversion and iteration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapeinf.constraints import ConstraintStore
from shapeinf.errors import LayoutError
from shapeinf.expr import Dimension, DimSize
from shapeinf.layout.array_type import ArrayType
from shapeinf.layout.counting import is_empty
from shapeinf.layout.layout import integer
from shapeinf.layout.proofs import Proofs
from shapeinf.layout.sizes import physical_elements
from shapeinf.layout.tiling import Index, tile_steps


def linear_index(array: ArrayType, index: Sequence[DimSize], store: ConstraintStore | None = None) -> DimSize:
    """The linear index in memory, counted in elements, of the element at an index, through all tiles of the layout.

    Index and dims may be symbolic; LayoutError where the index is certainly outside. XLA checks this in debug builds
    only and never for negative ones, applies only the first tile, and ignores the tiles of an array of one dim.

    >>> from shapeinf.layout.layout import Layout
    >>> linear_index(ArrayType("f32", (3, 5), Layout((1, 0), tiles=[(2, 2)])), (2, 3))
    17
    """
    linear: DimSize = unchecked_linear_index(array, check_index(array, index, store))
    return linear


def check_index(array: ArrayType, index: Sequence[DimSize], store: ConstraintStore | None = None) -> list[DimSize]:
    """The index of an element. Raises LayoutError where it is certainly outside of the array."""
    if len(index) != array.rank:
        raise LayoutError(f"an index of {array} has {array.rank} numbers, not {len(index)}")
    logical = [_check_number(i) for i in index]
    proofs = Proofs(store, (*array.sizes, *logical))
    for d, (along, size) in enumerate(zip(logical, array.sizes, strict=True)):
        if proofs.less_equal(0, along) is False or proofs.less_equal(size, along):
            raise LayoutError(f"index {along} is outside of dim {d} of {array}")
    return logical


def unchecked_linear_index(array: ArrayType, index: Sequence[Index]) -> Index:
    """`linear_index` without checks, also of numpy arrays of indices."""
    tiles, dims = tile_steps(array)
    physical = [index[d] for d in array.layout.major_to_minor]
    for tile in tiles:
        physical = tile.apply(physical)
    total: Index = 0
    for size, along in zip(dims, physical, strict=True):
        total = total * size + along
    return total


def multi_index(array: ArrayType, linear: DimSize, store: ConstraintStore | None = None) -> tuple[DimSize, ...] | None:
    """The index of the element at a linear index in memory; None for padding.

    LayoutError where it is certainly outside of the memory of the array. On symbolic sizes, a position that may be
    padding is taken to hold an element.

    >>> multi_index(ArrayType("f32", (2, 3)), 4)
    (1, 1)
    """
    sizes = array.sizes
    linear = _check_number(linear)
    if is_empty(array, store):
        raise LayoutError(f"{array} has no elements")
    room = physical_elements(array)
    proofs = Proofs(store, (*sizes, linear))
    if proofs.less_equal(0, linear) is False or proofs.less_equal(room, linear):
        raise LayoutError(f"linear index {linear} is outside of the {room} elements of {array}")
    tiles, dims = tile_steps(array)
    physical: list[Index] = []
    rest: Index = linear
    for size in reversed(dims[1:]):
        physical.append(rest % size)
        rest = rest // size
    if dims:
        physical.append(rest)
        if proofs.less_equal(dims[0], rest):
            return None  # the tail padding
    elif proofs.equal(rest, 0) is False:
        return None
    physical.reverse()
    for tile in reversed(tiles):
        joined = tile.undo(physical)
        if any(proofs.less_equal(size, along) for size, along in zip(tile.group_sizes, joined, strict=True)):
            return None
        physical = tile.ungroup(joined)
    index: list[DimSize] = [0] * array.rank
    for d, along in zip(array.layout.major_to_minor, physical, strict=True):
        index[d] = along
    return tuple(index)


def next_index(array: ArrayType, index: Sequence[int]) -> tuple[int, ...] | None:
    """The next index, the last dim fastest whatever the layout; None after the last one.

    >>> next_index(ArrayType("f32", (2, 2)), (0, 1))
    (1, 0)
    """
    sizes = _known_sizes(array)
    linear_index(array, index)
    following = list(index)
    for d in reversed(range(array.rank)):
        following[d] += 1
        if following[d] < sizes[d]:
            return tuple(following)
        following[d] = 0
    return None


def indices(
    array: ArrayType,
    base: Sequence[int] | None = None,
    count: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """All indices in the order of the layout, the most minor dim fastest; a scalar has one, an empty array none.

    Along each dim from `base`, less than `count` further, by `step`. Count 0 and step 0 together fix a dim at its
    base; a count of 0 alone visits nothing (XLA visits the base), and indices outside of the array are refused (XLA
    does not check).

    >>> list(indices(ArrayType("f32", (10, 10)), base=(2, 3), count=(3, 1), step=(2, 1)))
    [(2, 3), (4, 3)]
    """
    sizes = _known_sizes(array)
    bases = _dim_values(array, base, "base", [0] * array.rank)
    counts = _dim_values(array, count, "count", [s - b for s, b in zip(sizes, bases, strict=True)])
    strides = _dim_values(array, step, "step", [1] * array.rank)
    if 0 in sizes:
        return iter(())
    ranges = []
    for d, (size, first, length, stride) in enumerate(zip(sizes, bases, counts, strides, strict=True)):
        if stride == 0 and length != 0:
            raise LayoutError(f"a step of 0 along dim {d} needs a count of 0")
        visited = range(first, first + 1) if stride == 0 else range(first, first + length, stride)
        if visited and visited[-1] >= size:
            raise LayoutError(f"indices up to {visited[-1]} leave dim {d} of {array}")
        ranges.append(visited)
    return _walk(ranges, array.layout.minor_to_major)


def _walk(ranges: list[range], order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All combinations; only the current one is stored, so that large arrays need no memory."""
    if not all(ranges):
        return
    at = [0] * len(ranges)
    while True:
        yield tuple(r[i] for r, i in zip(ranges, at, strict=True))
        for d in order:
            at[d] += 1
            if at[d] < len(ranges[d]):
                break
            at[d] = 0
        else:
            return


def _known_sizes(array: ArrayType) -> tuple[int, ...]:
    sizes = tuple(s for s in array.sizes if isinstance(s, int))
    if len(sizes) != array.rank:
        raise LayoutError(f"{array} has symbolic dims: its indices cannot be listed")
    return sizes


def _dim_values(array: ArrayType, values: Sequence[int] | None, name: str, default: list[int]) -> list[int]:
    if values is None:
        values = [max(v, 0) for v in default]
    if len(values) != array.rank:
        raise LayoutError(f"{name} of {array} needs {array.rank} numbers, not {len(values)}")
    return [integer(v, name, 0) for v in values]


def _check_number(index: DimSize) -> DimSize:
    return index if isinstance(index, Dimension) else integer(index, "an index", -(1 << 63))
