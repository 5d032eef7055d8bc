"""Reductions of segments: rows with the same id."""

from __future__ import annotations

from opdefs.rules.contents.elements import to_dim
from opdefs.rules.contents.progressions import extremes
from opdefs.tf.common import size_from_scalar
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


def _replace_rows(c: InferenceContext, data: Shape, rows: Dim) -> Shape:
    """[n, *S] -> [rows, *S]."""
    return c.concatenate(c.vector(rows), c.subshape(data, 1))


def _sorted_segments(c: InferenceContext, ids: PartialTensor) -> Dim:
    """The number of segments of sorted ids: one more than the last id, or an unknown."""
    size = c.concrete(ids.shape[0]) if ids.shape.rank == 1 else None
    if size == 0:
        return 0
    last = to_dim(ids.elements[-1]) if ids.elements else None
    if ids.elements is None and ids.shape.dims is not None:
        most = extremes(c, ids)[1]
        last = most[0] if len(most) == 1 else None
    return c.fresh("segments") if last is None or c.prove_le(0, last) is not True else last + 1


@tf("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
def segments(c: InferenceContext, data: Shape, segment_ids: Value) -> Shape:
    """[N, *S], sorted ids [N] -> [segments, *S]."""
    data, ids = c.with_rank_at_least(data, 1), c.with_rank(segment_ids.shape, 1)
    if data.dims is not None:
        c.expect(ids[0], data[0], "segment_ids should be the same size as dimension 0 of input")
    return _replace_rows(c, data, _sorted_segments(c, segment_ids))


@tf(
    *("SegmentMaxV2", "SegmentMinV2", "SegmentProdV2", "SegmentSumV2"),
    *("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum", "UnsortedSegmentJoin"),
)
def counted_segments(c: InferenceContext, data: Shape, segment_ids: Shape, num_segments: Value) -> Shape:
    """[*N, *S], ids [*N], num_segments [] -> [num_segments, *S]."""
    c.with_rank(num_segments.shape, 0)
    data, ids = c.merge_prefix(data, segment_ids)
    count = size_from_scalar(c, num_segments, 2)
    if data.dims is None or ids.dims is None:
        return c.unknown_shape()
    return c.concatenate(c.vector(count), c.subshape(data, len(ids)))


def _gathered_rows(c: InferenceContext, data: Shape, indices: Shape, segment_ids: Shape) -> tuple[Shape, Shape]:
    """The data [N, *S] and the indices [K] of its rows, each of which has a segment."""
    data = c.with_rank_at_least(data, 1)
    return data, c.store.canon_shape(c.merge(c.with_rank(indices, 1), c.with_rank(segment_ids, 1)))


@tf("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
def sparse_segments(c: InferenceContext, data: Shape, indices: Shape, segment_ids: Value) -> Shape:
    """[N, *S], indices [K], sorted ids [K] -> [segments, *S]."""
    data, _ = _gathered_rows(c, data, indices, segment_ids.shape)
    return _replace_rows(c, data, _sorted_segments(c, segment_ids))


@tf("SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments")
def counted_sparse_segments(
    c: InferenceContext, data: Shape, indices: Shape, segment_ids: Shape, num_segments: Value
) -> Shape:
    """[N, *S], indices [K], sorted ids [K], num_segments [] -> [num_segments, *S]."""
    data, _ = _gathered_rows(c, data, indices, segment_ids)
    return _replace_rows(c, data, _row_count(c, num_segments, 3))


@tf("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad", "SparseSegmentSumGrad")
def sparse_segment_gradient(
    c: InferenceContext, grad: Shape, indices: Shape, segment_ids: Shape, output_dim0: Value
) -> Shape:
    """[segments, *S], indices [K], ids [K], output_dim0 [] -> [output_dim0, *S]."""
    grad, _ = _gathered_rows(c, grad, indices, segment_ids)
    return _replace_rows(c, grad, _row_count(c, output_dim0, 3))


@tf("SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2", "SparseSegmentSumGradV2")
def compact_sparse_segment_gradient(
    c: InferenceContext, grad: Shape, indices: Shape, segment_ids: Shape, dense_output_dim0: Shape
) -> tuple[Shape, Shape]:
    """[segments, *S], indices [K], ids [K], [] -> rows [U, *S] and indices [U]: a row for each distinct index."""
    c.with_rank(dense_output_dim0, 0)
    grad, rows = _gathered_rows(c, grad, indices, segment_ids)
    distinct = c.fresh_at_most(rows[0], "distinct")
    return _replace_rows(c, grad, distinct), c.vector(distinct)


def _row_count(c: InferenceContext, size: PartialTensor, index: int) -> Dim:
    """The number of rows in scalar input `index`. Raises ShapeError if it is negative."""
    c.with_rank(size.shape, 0)
    known = size.elements[0] if size.elements else None
    if isinstance(known, int) and known < 0:
        raise ShapeError(f"Cannot specify a negative value for the number of rows: {known}")
    return size_from_scalar(c, size, index)
