"""Reductions along axes, positions of extremes, and reductions of segments."""

from __future__ import annotations

from opdefs.rules.contents.constants import number_of
from opdefs.rules.contents.elements import known_ints, name_scalar
from opdefs.rules.contents.ordering import extreme_positions
from opdefs.rules.contents.segments import reduce_rows
from opdefs.rules.operands import require_elements
from opdefs.rules.reduction import IDENTITIES, reduce_elements, reduce_group, reduce_unknown_axes, reduced_shape
from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.rules.unknowns import cover_dim
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.segment import segments as sorted_segments
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import (
    axis_of,
    drop_quantized,
    output_type,
    refuse_warnings,
    require_rank_between,
    scalar_value,
)
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

_OPERATIONS = {
    "MEAN": "Mean",
    "REDUCE_ALL": "All",
    "REDUCE_ANY": "Any",
    "REDUCE_MAX": "Max",
    "REDUCE_MIN": "Min",
    "REDUCE_PROD": "Prod",
    "SUM": "Sum",
}


@tflite(*_OPERATIONS)
def reduce(c: TensorFlowContext, x: Value, axes: Value, *, keep_dims: bool = False) -> PartialTensor:
    """[*P, n, *Q], axes -> [*P, *Q], or [*P, 1, *Q] with `keep_dims`; of a scalar the axes are not read."""
    rank, listed = len(x.shape), known_ints(axes)
    if rank == 0:
        listed = ()
    if listed is None:
        count = c.concrete(c.numel(axes.shape)) if axes.shape.dims is not None else None
        count = count if count in (0, 1) else None  # the kernel accepts an axis twice
        if count is None and not keep_dims:
            return PartialTensor(x.dtype, c.unknown_shape(), None)
        return PartialTensor(x.dtype, reduce_unknown_axes(c, x.shape, count, keep_dims), None)
    gone = {axis_of(c, axis, rank) for axis in listed}
    shape = reduced_shape(x.shape, gone, keep_dims)
    return name_scalar(c, reduce_elements(c, drop_quantized(x), gone, shape, _OPERATIONS[c.op_def.name]))


@tflite("ARG_MAX", "ARG_MIN")
def arg_extreme(c: TensorFlowContext, x: Value, axis: Value) -> PartialTensor:
    """[*P, n, *Q], axis [] -> [*P, *Q]: the position of the largest or smallest element."""
    rank, known = len(require_rank_between(c, x.shape, 1)), scalar_value(c, axis, "axis")
    if not isinstance(known, int):
        dims = (cover_dim(c, x.shape[at : at + 2], f"axis.{at}") for at in range(rank - 1))
        return PartialTensor(None, Shape(dims), None)
    at = axis_of(c, known, rank)
    require_elements(c, [x.shape[at]], "the axis must not be empty")
    shape = reduced_shape(x.shape, {at}, False)
    if x.elements is None:
        return PartialTensor(None, shape, None)
    positions = extreme_positions(c, x, at, shape, largest=c.op_def.name == "ARG_MAX")
    return PartialTensor(output_type(c), shape, positions)


@tflite("SEGMENT_SUM")
def segment_sum(c: TensorFlowContext, data: Value, ids: Value) -> PartialTensor:
    """[N, *S], sorted ids [N] -> [segments, *S]: one segment more than the last id."""
    require_rank_between(c, data.shape, 1, name="the data")
    c.merge(c.require_rank(ids.shape, 1, "the ids")[0], data.shape[0], "each row of the data must have one id")
    known = known_ints(ids)
    if known is not None and any(b - a not in (0, 1) for a, b in zip((0, *known), known, strict=False)):
        c.fail("the ids must be sorted, without gaps", list(known))
    shape = refuse_warnings(sorted_segments)(c, PartialTensor(data.dtype, data.shape, None), ids)
    assert isinstance(shape, PartialTensor)
    if data.elements is None or known is None:
        return shape
    return reduce_rows(
        data, known, shape.shape, lambda column: reduce_group(c, data.dtype, "Sum", column), number_of(data.dtype, 0)
    )


@tflite("UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM")
def unsorted_segments(c: TensorFlowContext, data: Value, ids: Value, count: Value) -> PartialTensor:
    """[*N, *S], ids [*N], count [] -> [count, *S]."""
    lead, dims = len(ids.shape), data.shape
    if lead > len(dims):
        c.fail("the ids must not have more axes than the data", ids.shape, dims)
    for axis, (a, b) in enumerate(zip(ids.shape, dims, strict=False)):
        c.merge(a, b, f"axis {axis} of ids and data must be equal")
    scalar_value(c, count, "the number of segments")
    known, numbers = known_ints(count), known_ints(ids)
    if known and known[0] < 0:
        c.fail("the number of segments must be at least 0", known[0])
    size = scalar_size_or_fresh(c, count, "segments")
    if numbers:
        c.at_least(size, max(numbers) + 1, "the number of segments must be larger than each id")
    shape = Shape((size, *dims[lead:]))
    operation = c.op_def.name.removeprefix("UNSORTED_SEGMENT_").capitalize()
    if data.elements is None or numbers is None or operation not in IDENTITIES:
        return PartialTensor(data.dtype, shape, None)
    empty = number_of(data.dtype, int(operation == "Prod"))
    return reduce_rows(data, numbers, shape, lambda column: reduce_group(c, data.dtype, operation, column), empty)
