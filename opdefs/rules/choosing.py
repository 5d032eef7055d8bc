"""Outputs whose size depends on data: exact where the data are known, else unknowns with sound bounds."""

from __future__ import annotations

import numpy as np

from opdefs.rules.elements import known_dims
from opdefs.rules.progressions import without_zeros
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def some(c: InferenceContext, all_of_them: Dim, lo: int = 0) -> Dim:
    """An unknown number of at most so many."""
    return c.fresh_at_most(all_of_them, "count", lo)


def nonzero_count(c: InferenceContext, x: PartialTensor) -> Dim:
    """How many elements are not 0."""
    array = x.array()
    if array is not None:
        return int(np.count_nonzero(array))
    if x.shape.dims is None:
        return c.fresh("count")
    all_of_them = without_zeros(c, x)
    if all_of_them is None:
        return some(c, c.numel(x.shape))
    return c.numel(x.shape) if all_of_them else 0


def top(c: InferenceContext, x: Shape, axis: int, k: Dim) -> Shape:
    """The shape of the k largest or smallest elements along an axis."""
    c.at_least(k, 0, "k must be at least 0")
    c.at_most(k, x[axis], f"k must be at most the size of axis {axis}")
    return Shape((*x[:axis], k, *x[axis + 1 :]))


def boxes_kept(c: InferenceContext, boxes: Shape, scores: Shape, limit: PartialTensor | int | None) -> Dim:
    """[B, N, 4] boxes, [B, C, N] scores: for each batch and class at most all boxes and at most the limit."""
    batch, count, _ = c.require_rank(boxes, 3, "boxes")
    batches, classes, counts = c.require_rank(scores, 3, "scores")
    c.expect(batch, batches, "boxes and scores must be of equal batch size")
    c.expect(count, counts, "there must be a score for each box")
    most = _limit(c, c.interval(count).hi, limit)
    return 0 if most == 0 else c.fresh_at_most(c.numel((batch, classes, count if most is None else most)), "count")


def _limit(c: InferenceContext, boxes: int | None, limit: PartialTensor | int | None) -> int | None:
    found = (limit,) if isinstance(limit, int) else known_dims(limit)
    high = c.interval(found[0]).hi if found and found[0] is not None else None
    known = [n for n in (boxes, high) if n is not None]
    return max(0, min(known)) if known else None
