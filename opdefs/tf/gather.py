"""Gathering: slices at indices, and tensors that are built from indices."""

from __future__ import annotations

from math import prod

from opdefs.rules.contents.elements import element_array, is_listable, known_ints
from opdefs.rules.contents.ordering import insertion_position
from opdefs.rules.contents.rearrangement import index_array, take_batches
from opdefs.rules.gathering import constrain_index_tuples, constrain_indices, one_hot_tensor, pick_tuples, take_axis
from opdefs.tf.common import require_scalars, size_from_scalar
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.shapes import variable
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.lattice.dtypes import INT64_MAX
from shapeinf.ops import Value


@tf("Gather")
def gather(c: TensorFlowContext, params: Value, indices: Value) -> PartialTensor:
    """[n, *Q], [*I] -> [*I, *Q]."""
    c.with_rank_at_least(params.shape, 1)
    return _gather(c, params, indices, 0)


@tf("GatherV2")
def gather_v2(
    c: TensorFlowContext, params: Value, indices: Value, axis: Value, *, batch_dims: int = 0
) -> PartialTensor:
    """[*B, *P, n, *Q], [*B, *I], axis [] -> [*B, *P, *I, *Q]."""
    c.with_rank_at_least(params.shape, 1)
    c.with_rank(axis.shape, 0)
    named = known_ints(axis)
    if named is None:
        return PartialTensor(params.dtype, _gather_along_any(c, params.shape, indices.shape, batch_dims), None)
    least = named[0] + 1 if named[0] >= 0 else -named[0]
    rank = len(c.with_rank_at_least(params.shape, least))
    return _gather(c, params, indices, named[0] % rank, _batch_axes(c, indices.shape, batch_dims))


def _gather_along_any(c: TensorFlowContext, params: Shape, indices: Shape, batch_dims: int) -> Shape:
    """The shape of a gather along an unknown axis: only its rank is known."""
    batch = _batch_axes(c, indices, batch_dims) if batch_dims else 0
    rank = len(params) + len(indices) - 1 - batch
    if rank < 0:
        c.fail("batch_dims must be at most the rank of the indices", batch_dims)
    if len(params) == 1 and not batch:
        return indices
    return Shape(c.fresh(f"gather.{i}") for i in range(rank))


def _batch_axes(c: TensorFlowContext, indices: Shape, batch_dims: int) -> int:
    """The number of batch axes: a negative one counts from the rank of the indices."""
    if batch_dims == 0:
        return 0
    rank = len(indices)
    if not -rank <= batch_dims <= rank:
        c.fail("batch_dims must lie between minus the rank and the rank of the indices", batch_dims, indices)
    return batch_dims + rank if batch_dims < 0 else batch_dims


def _gather(
    c: TensorFlowContext, params: PartialTensor, indices: PartialTensor, axis: int, batch: int = 0
) -> PartialTensor:
    """[*B, *P, n, *Q], [*B, *I] -> [*B, *P, *I, *Q], where `axis` is that of n and `batch` the number of axes B."""
    x = params.shape
    if batch > axis:
        c.fail("batch_dims must be less than or equal to axis", batch, axis)
    if all(c.prove_le(1, d) is True for i, d in enumerate(x) if i != axis):  # indices into empty slices are not read
        constrain_indices(c, indices, x[axis], from_end=False)
    elif not _lie_inside(indices, x[axis]):
        indices = PartialTensor(indices.dtype, indices.shape, None)
    if not batch:
        return take_axis(params, indices, axis)
    merged = [c.merge(a, b) for a, b in zip(x[:batch], indices.shape[:batch], strict=True)]
    shape = Shape((*merged, *x[batch:axis], *indices.shape[batch:], *x[axis + 1 :]))
    known = None if params.elements is None else known_ints(indices)
    if known is None or not _lie_inside(indices, x[axis]):
        return PartialTensor(params.dtype, shape, None)
    return take_batches(params, index_array(indices, known), axis, batch, shape)


def _lie_inside(indices: PartialTensor, size: DimSize) -> bool:
    """Whether indices lie inside an axis of this size, or are unknown."""
    known = known_ints(indices)
    return known is None or (isinstance(size, int) and all(0 <= index < size for index in known))


@tf("ResourceGather")
def resource_gather(
    c: TensorFlowContext, resource: TensorType, indices: Value, *, batch_dims: int = 0
) -> PartialTensor:
    """A variable [*B, n, *Q], [*B, *I] -> [*B, *I, *Q]."""
    params = variable(c, resource)
    shape = c.with_rank_at_least(params.shape, batch_dims + 1)
    return _gather(c, PartialTensor(None, shape, None), indices, batch_dims, _batch_axes(c, indices.shape, batch_dims))


IGNORES = "IGNORE"
"""The value of `bad_indices_policy` for which operators skip indices out of range."""


@tf("GatherNd")
def gather_nd(c: TensorFlowContext, params: Value, indices: Value, *, bad_indices_policy: str = "") -> PartialTensor:
    """[*D], [*I, k] -> [*I, *D[k:]]."""
    c.with_rank_at_least(indices.shape, 1)
    x, (*lead, depth) = params.shape.require(), indices.shape.require()
    length = c.concrete(depth)
    if length is None:
        raise c.unknowable("the length of an index (the last axis of `indices`) is unknown")
    if length > len(x):
        c.fail(f"indices.shape[-1] must be <= params.rank, but saw indices.shape: {indices.shape}", params.shape)
    if bad_indices_policy != IGNORES:
        constrain_index_tuples(c, indices, x[:length], from_end=False)
        return pick_tuples(params, indices, length)
    return PartialTensor(params.dtype, Shape((*lead, *x[length:])), None)


@tf("ResourceGatherNd")
def resource_gather_nd(c: TensorFlowContext, resource: TensorType, indices: Value) -> PartialTensor:
    """A variable [*D], [*I, k] -> [*I, *D[k:]]."""
    return gather_nd(c, PartialTensor(None, variable(c, resource).shape, None), indices)


@tf("OneHot")
def one_hot(
    c: TensorFlowContext, indices: Value, depth: Value, on_value: Value, off_value: Value, *, axis: int = -1
) -> PartialTensor:
    """[*P, *Q], depth [], [], [] -> [*P, depth, *Q]: on at each index, off elsewhere; indices may be out of range."""
    if axis < -1:
        c.fail("axis must be >= -1", axis)
    require_scalars(c, on_value.shape, off_value.shape)
    known = known_ints(depth)
    if depth.shape.dims is not None and depth.shape.dims != () and known is not None:
        c.fail(f"Input must be scalar but has rank {len(depth.shape)}")
    c.with_rank(depth.shape, 0)
    if known and known[0] < 0:
        c.fail("depth must be non-negative", known[0])
    rank = len(indices.shape)
    at = c.axis(axis, rank + 1)
    size = size_from_scalar(c, depth, 1)
    shape = Shape((*indices.shape[:at], size, *indices.shape[at:]))
    hot = known_ints(indices)
    if hot is None or not is_listable(shape) or on_value.elements is None or off_value.elements is None:
        return PartialTensor(on_value.dtype, shape, None)
    return one_hot_tensor(on_value.dtype, shape, at, hot, on_value.elements[0], off_value.elements[0])


@tf("LowerBound", "UpperBound")
def search_sorted(c: TensorFlowContext, sorted_inputs: Value, values: Value) -> PartialTensor:
    """Sorted rows [B, n], [B, m] -> [B, m]: a position for each value."""
    rows, queries = c.with_rank(sorted_inputs.shape, 2), c.with_rank(values.shape, 2)
    shape = Shape((c.merge(rows[0], queries[0]), queries[1]))
    ordered, sought = element_array(sorted_inputs), element_array(values)
    if ordered is None or sought is None or len(ordered) != len(sought) or not is_listable(shape):
        return PartialTensor(None, shape, None)
    after = c.op_def.name == "UpperBound"
    pairs = zip(ordered.tolist(), sought.tolist(), strict=True)
    positions = [insertion_position(c, row, value, after_equal=after) for row, many in pairs for value in many]
    return PartialTensor(None, shape, positions)


@tf("UnravelIndex")
def unravel_index(c: TensorFlowContext, indices: Value, dims: Value) -> PartialTensor:
    """[] or [N], dims [R] -> [R] or [R, N]: a column of coordinates for each index."""
    count = c.with_rank(dims.shape, 1)[0]
    if indices.shape.dims is None:
        raise c.unknowable("the rank of the indices is unknown")
    shape = c.vector(count) if not indices.shape.dims else Shape((count, c.numel(indices.shape)))
    numbers, sizes = known_ints(indices), known_ints(dims)
    if numbers is None or not sizes or not is_listable(shape) or prod(sizes) > INT64_MAX:
        return PartialTensor(None, shape, None)
    if any(not 0 <= number < prod(sizes) for number in numbers):
        c.fail("indices must lie inside the array", list(numbers), list(sizes))
    import numpy as np

    columns = np.array(np.unravel_index(np.array(numbers, np.int64), sizes))
    return PartialTensor(None, shape, columns.reshape(-1).tolist())
