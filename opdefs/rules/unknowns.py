"""Sizes that are not known exactly, with sound bounds: of one of several shapes, and of counts that depend on data."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contents.progressions import has_no_zeros
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def cover_shape(c: InferenceContext, shapes: Sequence[Shape]) -> Shape:
    """A shape that may be any of these; of unknown rank if the ranks differ."""
    ranked = [s.dims for s in shapes if s.dims is not None]
    if len(ranked) < len(shapes) or len({len(dims) for dims in ranked}) != 1:
        return c.unknown_shape()
    return Shape(cover_dim(c, axis, f"any.{i}") for i, axis in enumerate(zip(*ranked, strict=True)))


def cover_dim(c: InferenceContext, dims: Sequence[DimSize], hint: str = "any") -> DimSize:
    """A dim that may be any of these : their common value, else an unknown with the hull of their bounds."""
    if all(d == dims[0] or c.prove_eq(d, dims[0]) is True for d in dims):
        return dims[0]
    bounds = [c.interval(d) for d in dims]
    low = min(0 if b.lo is None else b.lo for b in bounds)
    highs = [b.hi for b in bounds if b.hi is not None]
    cover = c.fresh(hint, low, max(highs) if len(highs) == len(bounds) else None)
    c.limit(cover, maximum(*dims))
    return cover


def element_shape(c: InferenceContext, shape: Shape) -> Shape:
    """The shape of one element of a sequence: sizes that may differ between elements become fresh unknowns."""
    if shape.dims is None:
        return c.unknown_shape()
    return Shape(_element_dim(c, d, i) for i, d in enumerate(shape.dims))


def is_steady(c: InferenceContext, d: DimSize) -> bool:
    """Whether a size is constant during a run: a number, or an expression of named dims and sizes of inputs."""
    if isinstance(d, int) or not d.is_anonymous:
        return True
    return all(not s.symbol.anonymous or s in c.store.assumable for s in d.symbols())


def _element_dim(c: InferenceContext, d: DimSize, axis: int) -> DimSize:
    if isinstance(d, int) or is_steady(c, d):
        return d
    bounds = c.interval(d)
    size = c.fresh(f"element.{axis}", bounds.lo, bounds.hi)
    most = c.limit_of(d)
    if most is not None:
        c.limit(size, most)
    return size


def fresh_count(c: InferenceContext, most: DimSize, lo: int = 0) -> DimSize:
    """An unknown count of at most `most`; 0 where that is the only one."""
    return 0 if c.interval(most).hi == 0 else c.fresh_at_most(most, "count", lo)


def nonzero_count(c: InferenceContext, x: PartialTensor) -> DimSize:
    """The number of elements that are not 0; an unknown where it depends on data."""
    array = x.array()
    if array is not None:
        import numpy as np

        return int(np.count_nonzero(array))
    if x.shape.dims is None:
        return c.fresh("count")
    no_zeros = has_no_zeros(c, x)
    if no_zeros is None:
        return fresh_count(c, c.numel(x.shape))
    return c.numel(x.shape) if no_zeros else 0


def top_k_shape(c: InferenceContext, x: Shape, axis: int, k: DimSize) -> Shape:
    """[*P, n, *Q] -> [*P, k, *Q]: the k largest or smallest elements along an axis, counted from the front."""
    c.at_least(k, 0, "k must be at least 0")
    c.at_most(k, x[axis], f"k must be at most the size of axis {axis}")
    return Shape((*x[:axis], k, *x[axis + 1 :]))


def box_count(c: InferenceContext, boxes: Shape, scores: Shape, limit: PartialTensor | int | None) -> DimSize:
    """The number of selected boxes, for boxes [B, N, 4] and scores [B, C, N]: at most B * C * min(N, limit)."""
    batch, count, _ = c.require_rank(boxes, 3, "boxes")
    batches, classes, counts = c.require_rank(scores, 3, "scores")
    c.expect(batch, batches, "boxes and scores must have the same batch size")
    c.expect(count, counts, "scores must have a score for each box")
    most = _box_limit(c, c.interval(count).hi, limit)
    return fresh_count(c, c.numel((batch, classes, count if most is None else most)))


def _box_limit(c: InferenceContext, boxes: int | None, limit: PartialTensor | int | None) -> int | None:
    limits = (limit,) if isinstance(limit, int) else known_dims(limit)
    high = c.interval(limits[0]).hi if limits and limits[0] is not None else None
    known = [n for n in (boxes, high) if n is not None]
    return max(0, min(known)) if known else None
