"""Concatenation, repetition and broadcasting of tensors with their contents."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import (
    Elements,
    broadcast_list,
    concatenate_elements,
    element_array,
    is_listable,
    move_elements,
)
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import broadcast_progression, to_progression
from opdefs.rules.operands import is_unit
from shapeinf.expr import DimSize
from shapeinf.lattice import ChosenIndices, Element, IndexTuples, PartialTensor, Progression, Shape
from shapeinf.ops import InferenceContext


def concat(c: InferenceContext, xs: Sequence[PartialTensor], axis: int) -> PartialTensor:
    """[*P, n, *Q], [*P, m, *Q]... -> [*P, n + m + ..., *Q] along `axis`."""
    rows = _aligned_dims(c, [x.shape for x in xs])
    rank = len(rows[0])
    at = c.axis(axis, rank)
    dims = list(rows[0])
    for row in rows[1:]:
        for i, d in enumerate(row):
            if i == at:
                dims[i] = dims[i] + d
            elif d is not dims[i] and d != dims[i]:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    shape = Shape(dims)
    if all([x.elements is None for x in xs]) or not is_listable(shape):
        are_tuples = rank > 1 and at == rank - 1 and all([is_unit(row[at]) for row in rows])
        return _join_tuples(xs, shape) if are_tuples else _join_choices(xs, shape)
    if not all([isinstance(row[at], int) for row in rows]):
        return PartialTensor(xs[0].dtype, shape, None)
    if rank == 1:
        elements: list[Element] = []
        for x, (size,) in zip(xs, rows, strict=True):
            elements += x.elements or (None,) * int(size)
        return PartialTensor(xs[0].dtype, shape, elements)
    parts = [_elements_or_unknown(x, [*dims[:at], row[at], *dims[at + 1 :]]) for x, row in zip(xs, rows, strict=True)]
    return PartialTensor(xs[0].dtype, shape, concatenate_elements(parts, at).reshape(-1).tolist())


def _join_tuples(xs: Sequence[PartialTensor], shape: Shape) -> PartialTensor:
    """Tensors [*I, 1] joined along the last axis: tuples of progressions, if one of them is a progression."""
    parts = [to_progression(x) for x in xs]
    if any(part is not None for part in parts):
        return IndexTuples(xs[0].dtype, shape, [_drop_last_axis(part) for part in parts])
    return _join_choices(xs, shape)


def _drop_last_axis(part: Progression | None) -> tuple[DimSize, tuple[int, ...]] | None:
    return None if part is None else (part.base, part.steps[:-1])


def _join_choices(xs: Sequence[PartialTensor], shape: Shape) -> PartialTensor:
    """Joined tensors of unknown elements; indices that data chooses if some are."""
    chosen = {x.size for x in xs if isinstance(x, ChosenIndices)}
    if not chosen:
        return PartialTensor(xs[0].dtype, shape, None)
    same = len(chosen) == 1 and all(isinstance(x, ChosenIndices) for x in xs)
    return ChosenIndices(xs[0].dtype, shape, chosen.pop() if same else None)


def _aligned_dims(c: InferenceContext, shapes: Sequence[Shape]) -> list[tuple[DimSize, ...]]:
    """The dims of shapes of equal rank. Requires it of shapes of unknown rank; raises NotKnown if all are unknown."""
    rows = [s.dims for s in shapes if s.dims is not None]
    if rows and len(rows) < len(shapes):
        rank = len(rows[0])
        shapes = [c.require_rank(s, rank) if s.dims is None else s for s in shapes]
    if len(rows) < len(shapes) or len(set(map(len, rows))) > 1:
        c.same_rank(*shapes)
        rows = [s.require() for s in shapes]
    return rows


def _elements_or_unknown(x: PartialTensor, sizes: Sequence[DimSize]) -> Elements:
    """The elements as an array; unknown elements of `sizes` where there are none."""
    array = element_array(x)
    if array is not None:
        return array
    import numpy as np

    return np.full([d for d in sizes if isinstance(d, int)], None, dtype=object)


def repeat_size(c: InferenceContext, size: DimSize, count: DimSize | None, axis: int) -> DimSize:
    """The size of an axis that is repeated `count` times (None: unknown)."""
    if isinstance(count, int) and count < 0:
        c.fail("the number of repeats must be at least 0", count)
    return c.fresh(f"tile.{axis}") if count is None or c.prove_le(0, count) is not True else size * count


def tile(c: InferenceContext, x: PartialTensor, counts: Sequence[DimSize | None]) -> PartialTensor:
    """[*S] -> [*S * counts]: each axis repeated; a count of None is unknown."""
    dims = [repeat_size(c, d, n, i) for i, (d, n) in enumerate(zip(x.shape, counts, strict=True))]
    shape, known = Shape(dims), [n for n in counts if isinstance(n, int)]
    if x.contents is None:
        return PartialTensor(x.dtype, shape, None)
    if is_listable(shape) and len(known) == len(counts) and x.elements is not None:
        return move_elements(x, shape, lambda array: numpy_function("tile")(array, known))
    repeats = (is_unit(size) or count == 1 for size, count in zip(x.shape, counts, strict=True))
    return broadcast_progression(x, shape) if all(repeats) else x.rearranged(shape)


def broadcast_elements(x: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor broadcast to a shape, with its contents."""
    if x.contents is None:
        return PartialTensor(x.dtype, shape, None)
    if isinstance(x, Progression) or not is_listable(shape):
        return broadcast_progression(x, shape)
    return x.rearranged(shape) if x.elements is None else PartialTensor(x.dtype, shape, broadcast_list(x, shape))
