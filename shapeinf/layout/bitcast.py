"""Whether a reshape or a transpose is a bitcast: whether every element stays at its position in memory.

The row-major number of an element has digits, its indices along the dims. Without padding, each digit has a stride in
memory. Adjacent digits whose strides continue each other are merged; then two arrays have the same memory exactly when
they have the same digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from shapeinf.constraints import ConstraintStore
from shapeinf.expr import DimSize
from shapeinf.layout.array_type import ArrayType, product
from shapeinf.layout.counting import is_empty
from shapeinf.layout.edits import permute_dims
from shapeinf.layout.indexing import unchecked_linear_index
from shapeinf.layout.layout import MAX_INT, permutation
from shapeinf.layout.proofs import Proofs, every
from shapeinf.layout.sizes import physical_elements, stored_bits
from shapeinf.layout.tiling import Index

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_COMPARED = 1 << 16
"""Padded arrays of more elements are compared at a few of them, which can only prove a difference."""

Parts = list[tuple[int, tuple[int, ...], DimSize]]
"""A physical dim as parts of logical dims, major first: the dim, the path of its splits, and the size."""


@attrs.frozen
class Digit:
    """One digit of the number of an element: its values are `0..size-1`, each `stride` elements apart in memory."""

    size: DimSize
    stride: DimSize


def reshape_is_bitcast(
    source: ArrayType, target: ArrayType, *, ignore_dtype: bool = False, store: ConstraintStore | None = None
) -> bool | None:
    """Whether a reshape leaves every element at its position: always, never, or not decided.

    Memory must also be of the same size. Arrays without elements are always the same. With `ignore_dtype`, positions
    are compared in elements, whatever their types and widths. Tiles and packed elements count (XLA ignores tiles
    here); memory spaces do not.

    >>> from shapeinf.layout.layout import Layout
    >>> reshape_is_bitcast(ArrayType("f32", (3, 4)), ArrayType("f32", (6, 2)))
    True
    >>> reshape_is_bitcast(ArrayType("f32", (3, 4), Layout((0, 1))), ArrayType("f32", (6, 2)))
    False
    """
    return _same_memory(source, target, tuple(range(source.rank)), ignore_dtype, store)


def transpose_is_bitcast(
    source: ArrayType,
    target: ArrayType,
    dims: Sequence[int],
    *,
    ignore_dtype: bool = False,
    store: ConstraintStore | None = None,
) -> bool | None:
    """Whether a transpose, where dim i of the target is dim `dims[i]` of the source, is a bitcast.

    Always, never, or not decided. Where only dims of size 1 differ in the layouts, memory is the same and the answer
    is yes; XLA answers no.

    >>> from shapeinf.layout.layout import Layout
    >>> transpose_is_bitcast(ArrayType("f32", (10, 5)), ArrayType("f32", (5, 10), Layout((0, 1))), (1, 0))
    True
    """
    order = permutation(dims, "the dims of a transpose", source.rank)
    if target.rank != source.rank:
        return False
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    sizes = every(proofs.equal(source.sizes[d], size) for d, size in zip(order, target.sizes, strict=True))
    if sizes is False:
        return False
    same = _same_memory(source, target, order, ignore_dtype, store)
    return same if sizes or same is False else None


def deduce_transpose(
    source: ArrayType, target: ArrayType, store: ConstraintStore | None = None
) -> tuple[int, ...] | None:
    """The transpose that is a bitcast from the source to the target: dim i of the target is that dim of the source.

    None where no transpose provably is. Of several (with dims of size 1) the one that pairs dims by their order in
    memory.

    >>> from shapeinf.layout.layout import Layout
    >>> deduce_transpose(ArrayType("f32", (5, 3)), ArrayType("f32", (3, 5), Layout((0, 1))))
    (1, 0)
    """
    if source.rank != target.rank:
        return None
    order = [0] * target.rank
    for source_dim, target_dim in zip(source.layout.minor_to_major, target.layout.minor_to_major, strict=True):
        order[target_dim] = source_dim
    known = transpose_is_bitcast(source, target, order, ignore_dtype=True, store=store)
    return tuple(order) if known else None


def _same_memory(
    source: ArrayType, target: ArrayType, order: tuple[int, ...], ignore_dtype: bool, store: ConstraintStore | None
) -> bool | None:
    """Whether the elements of the source, its dims in this order, have the positions of the target's."""
    if not ignore_dtype and (source.dtype != target.dtype or stored_bits(source) != stored_bits(target)):
        return False
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    count = proofs.equal(source.elements, target.elements)
    if count is False:
        return False
    if is_empty(source, store) and is_empty(target, store):
        return True
    room = proofs.equal(physical_elements(source), physical_elements(target))
    filled = every(is_empty(a, store) is False for a in (source, target))
    if room is False:
        return False if filled else None
    before, after = index_digits(source, order, proofs), index_digits(target, tuple(range(target.rank)), proofs)
    if before is not None and after is not None:
        same = _same_digits(before, after, proofs)
    else:
        same = _same_with_padding(source, target, order, store)
    if same is False:
        return False if filled else None
    return same if same and room else None


def index_digits(array: ArrayType, order: tuple[int, ...], proofs: Proofs) -> list[Digit] | None:
    """The digits of the numbers of elements, major first, dims taken in this order; None where a tile may pad."""
    physical: list[Parts] = [[(d, (), array.sizes[d])] for d in array.layout.major_to_minor]
    for tile in array.layout.tiles:
        if len(tile) > len(physical):
            physical = [[] for _ in range(len(tile) - len(physical))] + physical
        outside = len(physical) - len(tile)
        outer, inner, joined = physical[:outside], list[Parts](), Parts()
        for size, parts in zip(tile, physical[outside:], strict=True):
            joined = joined + parts
            if isinstance(size, str):
                continue
            cut = _cut(joined, size, proofs)
            if cut is None:
                return None
            outer.append(cut[0])
            inner.append(cut[1])
            joined = []
        physical = outer + inner
    unsorted = []
    stride: DimSize = 1
    for d, path, values in reversed([part for parts in physical for part in parts]):
        if not proofs.equal(values, 1):
            unsorted.append(((order.index(d), path), Digit(values, stride)))
        stride = stride * values
    unsorted.sort(key=lambda pair: pair[0])
    return _merge([digit for _, digit in unsorted], proofs)


def _cut(parts: Parts, size: int, proofs: Proofs) -> tuple[Parts, Parts] | None:
    """The parts of a dim as the number of tiles of this size and the index in one; None where a tile may be partial."""
    outer, inner = list(parts), Parts()
    while size > 1:
        if not outer:
            return None
        d, path, part = outer.pop()
        if isinstance(part, int) and part and size % part == 0:
            inner.insert(0, (d, path, part))
            size //= part
            continue
        times = proofs.quotient(part, size)
        if times is None:
            return None
        outer.append((d, (*path, 0), times))
        inner.insert(0, (d, (*path, 1), size))
        size = 1
    return outer, inner


def _merge(digits: list[Digit], proofs: Proofs) -> list[Digit]:
    merged: list[Digit] = []
    for digit in digits:
        if merged and proofs.equal(merged[-1].stride, digit.size * digit.stride):
            merged[-1] = Digit(merged[-1].size * digit.size, digit.stride)
        else:
            merged.append(digit)
    return merged


def _same_digits(before: list[Digit], after: list[Digit], proofs: Proofs) -> bool | None:
    """Compare from the minor end; the first certain difference is one in memory."""
    for position, (source, target) in enumerate(zip(reversed(before), reversed(after), strict=False), 1):
        size, stride = proofs.equal(source.size, target.size), proofs.equal(source.stride, target.stride)
        if size and stride:
            continue
        if _all_ints(before) and _all_ints(after):
            return False
        if stride is False:
            return False if every(proofs.less_equal(2, digit.size) for digit in (source, target)) else None
        if stride is None:
            return None
        ends = _ends_first(before, after, position, proofs) or _ends_first(after, before, position, proofs)
        return False if ends else None
    return True if len(before) == len(after) else None


def _ends_first(short: list[Digit], long: list[Digit], position: int, proofs: Proofs) -> bool:
    """Whether the digit at this position (from the end) of `short` ends first, and its next one has another stride."""
    if len(short) == position:
        return False
    digit, following = short[-position], short[-position - 1]
    return (
        proofs.less_equal(digit.size + 1, long[-position].size) is True
        and proofs.less_equal(2, following.size) is True
        and proofs.differ(digit.size * digit.stride, following.stride) is True
    )


def _all_ints(digits: list[Digit]) -> bool:
    return all(isinstance(d.size, int) and isinstance(d.stride, int) for d in digits)


def _same_with_padding(
    source: ArrayType, target: ArrayType, order: tuple[int, ...], store: ConstraintStore | None
) -> bool | None:
    """Whether both have the same tiles on the same dims; of known sizes, whether elements have the same positions."""
    moved = permute_dims(source, order)
    proofs = Proofs(store, (*source.sizes, *target.sizes))
    if (
        moved.rank == target.rank
        and moved.layout.minor_to_major == target.layout.minor_to_major
        and moved.layout.tiles == target.layout.tiles
        and every(map(proofs.equal, moved.sizes, target.sizes))
    ):
        return True
    sizes = [s for s in (*moved.sizes, *target.sizes, physical_elements(moved)) if isinstance(s, int)]
    if len(sizes) != moved.rank + target.rank + 1 or sizes[-1] > MAX_INT:
        return None
    count = product(sizes[: moved.rank])
    assert isinstance(count, int)
    import numpy as np  # padded arrays alone need numpy, which takes long to import

    if count <= MAX_COMPARED:
        numbers = np.arange(count)
        return bool(np.array_equal(_linear_indices(moved, numbers), _linear_indices(target, numbers)))
    units = {product(array.sizes[d + 1 :]) for array in (moved, target) for d in range(array.rank)}
    numbers = np.array([n for n in (*units, count - 1) if isinstance(n, int) and n < count])
    return None if np.array_equal(_linear_indices(moved, numbers), _linear_indices(target, numbers)) else False


def _linear_indices(array: ArrayType, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The linear indices of the elements with these row-major numbers."""
    import numpy as np

    index: list[Index] = []
    rest: Index = numbers
    for size in reversed(array.sizes):
        index.insert(0, rest % size)
        rest = rest // size
    return np.broadcast_to(unchecked_linear_index(array, index), numbers.shape)
