"""Reductions of segments: rows with the same id."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.constants import number_of
from opdefs.rules.contents.elements import known_ints, to_dim
from opdefs.rules.contents.progressions import extremes
from opdefs.rules.contents.rearrangement import choose_slices
from opdefs.rules.contents.segments import reduce_rows
from opdefs.rules.contents.text import known_texts
from opdefs.rules.reduction import reduce_group
from opdefs.tf.common import size_from_scalar
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.lattice.dtypes import INTEGER_RANGES
from shapeinf.ops import Value


def _replace_rows(c: TensorFlowContext, data: Shape, rows: DimSize) -> Shape:
    """[n, *S] -> [rows, *S]."""
    return c.concatenate(c.vector(rows), c.subshape(data, 1))


def _sorted_segments(c: TensorFlowContext, ids: PartialTensor) -> DimSize:
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
def segments(c: TensorFlowContext, data: Value, segment_ids: Value) -> PartialTensor:
    """[N, *S], sorted ids [N] -> [segments, *S]; segments without rows are 0, products 1."""
    rows, ids = c.with_rank_at_least(data.shape, 1), c.with_rank(segment_ids.shape, 1)
    if rows.dims is not None:
        c.expect(ids[0], rows[0], "segment_ids should be the same size as dimension 0 of input")
    shape = _replace_rows(c, rows, _sorted_segments(c, segment_ids))
    operation = c.op_def.name.removeprefix("Segment")
    return _reduce_segments(c, data, segment_ids, shape, operation, number_of(data.dtype, int(operation == "Prod")))


def _reduce_segments(
    c: TensorFlowContext, data: PartialTensor, ids: PartialTensor, shape: Shape, operation: str, empty: Element
) -> PartialTensor:
    """The segments, of `shape`, reduced by an operation; `empty` fills those without rows."""
    numbers = None if data.elements is None or c.warnings else known_ints(ids)
    if numbers is None:
        return PartialTensor(data.dtype, shape, None)

    def reduce(column: Sequence[Element]) -> Element:
        return reduce_group(c, data.dtype, operation, column)

    return reduce_rows(data, numbers, shape, reduce, empty)


@tf("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")
def unsorted_segments(c: TensorFlowContext, data: Value, segment_ids: Value, num_segments: Value) -> PartialTensor:
    """[*N, *S], ids [*N], num_segments [] -> [num_segments, *S]; rows with negative ids are dropped.

    Segments without rows are 0, products 1, maxima and minima of integers the limits of their type.
    """
    shape = counted_segments(c, data.shape, segment_ids.shape, num_segments)
    operation = c.op_def.name.removeprefix("UnsortedSegment")
    least, most = INTEGER_RANGES.get(data.dtype or "", (None, None))
    empty = {"Max": least, "Min": most}.get(operation, number_of(data.dtype, int(operation == "Prod")))
    return _reduce_segments(c, data, segment_ids, shape, operation, empty)


@tf("UnsortedSegmentJoin")
def joined_segments(
    c: TensorFlowContext, data: Value, segment_ids: Value, num_segments: Value, *, separator: str = ""
) -> PartialTensor:
    """[*N, *S], ids [*N], num_segments [] -> [num_segments, *S]: the strings of each segment, joined."""
    shape = counted_segments(c, data.shape, segment_ids.shape, num_segments)
    numbers = known_ints(segment_ids)
    if known_texts(data) is None or numbers is None:
        return PartialTensor(data.dtype, shape, None)
    return reduce_rows(data, numbers, shape, lambda column: separator.join(map(str, column)), "")


@tf("SegmentMaxV2", "SegmentMinV2", "SegmentProdV2", "SegmentSumV2")
def counted_segments(c: TensorFlowContext, data: Shape, segment_ids: Shape, num_segments: Value) -> Shape:
    """[*N, *S], ids [*N], num_segments [] -> [num_segments, *S]."""
    c.with_rank(num_segments.shape, 0)
    data, ids = c.merge_prefix(data, segment_ids)
    count = size_from_scalar(c, num_segments, 2)
    if data.dims is None or ids.dims is None:
        return c.unknown_shape()
    return c.concatenate(c.vector(count), c.subshape(data, len(ids)))


def _gathered_rows(c: TensorFlowContext, data: Shape, indices: Shape, segment_ids: Shape) -> tuple[Shape, Shape]:
    """The data [N, *S] and the indices [K] of its rows, each of which has a segment."""
    data = c.with_rank_at_least(data, 1)
    return data, c.store.canon_shape(c.merge(c.with_rank(indices, 1), c.with_rank(segment_ids, 1)))


@tf("SparseSegmentSum")
def sparse_segment_sums(c: TensorFlowContext, data: Value, indices: Value, segment_ids: Value) -> PartialTensor:
    """[N, *S], indices [K], sorted ids [K] -> [segments, *S]: the sums of the rows at the indices."""
    return _sum_rows(c, data, indices, segment_ids, sparse_segments(c, data.shape, indices.shape, segment_ids))


def _sum_rows(
    c: TensorFlowContext, data: PartialTensor, indices: PartialTensor, segment_ids: PartialTensor, shape: Shape
) -> PartialTensor:
    """The sums of the rows at the indices, of `shape`: one for each segment."""
    rows = known_ints(indices)
    if data.elements is None or rows is None or any(not 0 <= row < int(data.shape[0]) for row in rows):
        return PartialTensor(data.dtype, shape, None)
    chosen = choose_slices(data, rows, 0, Shape((len(rows), *data.shape[1:])))
    return _reduce_segments(c, chosen, segment_ids, shape, "Sum", number_of(data.dtype, 0))


@tf("SparseSegmentMean", "SparseSegmentSqrtN")
def sparse_segments(c: TensorFlowContext, data: Shape, indices: Shape, segment_ids: Value) -> Shape:
    """[N, *S], indices [K], sorted ids [K] -> [segments, *S]."""
    data, _ = _gathered_rows(c, data, indices, segment_ids.shape)
    return _replace_rows(c, data, _sorted_segments(c, segment_ids))


@tf("SparseSegmentSumWithNumSegments")
def counted_segment_sums(
    c: TensorFlowContext, data: Value, indices: Value, segment_ids: Value, num_segments: Value
) -> PartialTensor:
    """As SparseSegmentSum, with `num_segments` [] segments."""
    shape = counted_sparse_segments(c, data.shape, indices.shape, segment_ids.shape, num_segments)
    return _sum_rows(c, data, indices, segment_ids, shape)


@tf("SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments")
def counted_sparse_segments(
    c: TensorFlowContext, data: Shape, indices: Shape, segment_ids: Shape, num_segments: Value
) -> Shape:
    """[N, *S], indices [K], sorted ids [K], num_segments [] -> [num_segments, *S]."""
    data, _ = _gathered_rows(c, data, indices, segment_ids)
    return _replace_rows(c, data, _row_count(c, num_segments, 3))


@tf("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad", "SparseSegmentSumGrad")
def sparse_segment_gradient(
    c: TensorFlowContext, grad: Shape, indices: Shape, segment_ids: Shape, output_dim0: Value
) -> Shape:
    """[segments, *S], indices [K], ids [K], output_dim0 [] -> [output_dim0, *S]."""
    grad, _ = _gathered_rows(c, grad, indices, segment_ids)
    return _replace_rows(c, grad, _row_count(c, output_dim0, 3))


@tf("SparseSegmentMeanGradV2", "SparseSegmentSqrtNGradV2", "SparseSegmentSumGradV2")
def compact_sparse_segment_gradient(
    c: TensorFlowContext, grad: Shape, indices: Shape, segment_ids: Shape, dense_output_dim0: Shape
) -> tuple[Shape, Shape]:
    """[segments, *S], indices [K], ids [K], [] -> rows [U, *S] and indices [U]: a row for each distinct index."""
    c.with_rank(dense_output_dim0, 0)
    grad, rows = _gathered_rows(c, grad, indices, segment_ids)
    distinct = c.fresh_at_most(rows[0], "distinct")
    return _replace_rows(c, grad, distinct), c.vector(distinct)


def _row_count(c: TensorFlowContext, size: PartialTensor, index: int) -> DimSize:
    """The number of rows in scalar input `index`. Raises ShapeError if it is negative."""
    c.with_rank(size.shape, 0)
    known = size.elements[0] if size.elements else None
    if isinstance(known, int) and known < 0:
        raise ShapeError(f"Cannot specify a negative value for the number of rows: {known}")
    return size_from_scalar(c, size, index)
