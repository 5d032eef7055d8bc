"""Outputs whose size depends on data: exact where the data are known, else unknowns with sound bounds."""

from __future__ import annotations

import numpy as np

from opdefs.rules.elements import known_dims
from shapeinf.algebra import Dim, Dimension
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def some(c: InferenceContext, all_of_them: Dim, lo: int = 0) -> Dim:
    """An unknown number of at most so many."""
    high = c.interval(all_of_them).hi
    count = c.fresh("count", lo, high)
    if high is None and isinstance(all_of_them, Dimension) and not all_of_them.is_anonymous:
        c.known_at_most(count, all_of_them, "some are no more than all")
    return count


def nonzero_count(c: InferenceContext, x: PartialTensor) -> Dim:
    """How many elements are not 0."""
    array = x.array()
    if array is not None:
        return int(np.count_nonzero(array))
    return c.fresh("count") if x.shape.dims is None else some(c, c.numel(x.shape))


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
    pairs = c.interval(c.numel((batch, classes))).hi
    if most == 0:
        return 0
    kept = c.fresh("count", 0, None if pairs is None or most is None else pairs * most)
    all_of_them = c.numel((batch, classes, count if most is None else most))
    if pairs is None and isinstance(all_of_them, Dimension) and not all_of_them.is_anonymous:
        c.known_at_most(kept, all_of_them, "some are no more than all")
    return kept


def _limit(c: InferenceContext, boxes: int | None, limit: PartialTensor | int | None) -> int | None:
    found = (limit,) if isinstance(limit, int) else known_dims(limit)
    high = c.interval(found[0]).hi if found and found[0] is not None else None
    known = [n for n in (boxes, high) if n is not None]
    return max(0, min(known)) if known else None
