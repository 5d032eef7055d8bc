"""tract's operations that gather, scatter, slice, select and reduce."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, flatten, read_front_axes, read_front_axis
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_elementwise import read_dtype
from opdefs.nnef.tract_shapes import read_extent
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.contents.ordering import extreme_positions, top_elements
from opdefs.rules.contents.rearrangement import keep_band
from opdefs.rules.contents.truth import nonzero_flags, nonzero_positions
from opdefs.rules.gathering import gather, gather_elements, gather_nd, scatter_elements, scatter_nd
from opdefs.rules.numbers import read_ints
from opdefs.rules.parts import HUGE, slice_axes, slice_size
from opdefs.rules.reduction import reduce_elements
from opdefs.rules.reshaping import transpose
from opdefs.rules.unknowns import box_count, fresh_count, nonzero_count, top_k_shape
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

nnef("tract_core_scatter_nd")(scatter_nd)


def replace_axis(shape: Shape, axis: int, new: DimSize) -> Shape:
    """The shape with the size of one axis replaced."""
    return Shape((*shape[:axis], new, *shape[axis + 1 :]))


@nnef("tract_core_gather")
def tract_gather(
    c: InferenceContext, input: Value, indices: Value, *, axis: int, datum_type: str = ""
) -> PartialTensor:
    """[*A, d, *B], indices [*I] -> [*A, *I, *B]; `datum_type` is the type of unpacked elements."""
    gathered = gather(c, input, indices, axis=read_front_axis(c, axis, len(input.shape)))
    return PartialTensor(read_dtype(c, datum_type), gathered.shape, None) if datum_type else gathered


@nnef("tract_core_gather_elements")
def tract_gather_elements(c: InferenceContext, input: Value, indices: Value, *, axis: int) -> PartialTensor:
    """[*S], indices [*T] -> [*T]."""
    return gather_elements(c, input, indices, axis=read_front_axis(c, axis, len(input.shape)))


@nnef("tract_core_gather_nd")
def tract_gather_nd(c: InferenceContext, input: Value, indices: Value, *, batch_dims: int = 0) -> PartialTensor:
    """[*B, *I, k] indices into [*B, *D] -> [*B, *I, *D[k:]]."""
    (batches,) = read_ints(c, batch_dims, "batch_dims", 0)
    if batches > min(len(input.shape), len(indices.shape) - 1):
        c.fail("input must have at least batch_dims axes, and indices at least one more", input.shape, indices.shape)
    return gather_nd(c, input, indices, batch_dims=batches)


@nnef("tract_core_scatter_elements", in_place=(0,))
def tract_scatter_elements(
    c: InferenceContext, input: Value, indices: Value, updates: Value, *, axis: int, reduction: str = "none"
) -> PartialTensor:
    """[*S], indices and updates [*T] -> [*S]; tract checks the updates at run time: a warning."""
    at = read_front_axis(c, axis, len(input.shape))
    c.expect(indices.shape, updates.shape, "indices and updates must have the same shape")
    if c.warnings:
        return PartialTensor(input.dtype, input.shape, None)
    return scatter_elements(c, input, indices, updates, axis=at, reduction=reduction)


@nnef("tract_core_downsample")
def downsample(c: InferenceContext, input: Value, *, axis: int, stride: int, modulo: int = 0) -> PartialTensor:
    """[*A, d, *B] -> [*A, ceil((d - modulo) / stride), *B]: every `stride`-th slice from `modulo` on."""
    (step,), (first,) = read_ints(c, stride, "stride"), read_ints(c, modulo, "modulo", 0)
    if step == 0:
        c.fail("stride must not be 0")
    at = read_front_axis(c, axis, len(input.shape))
    shape = replace_axis(input.shape, at, slice_size(c, input.shape[at], first, HUGE, abs(step)))
    if input.elements is None or step < 0:
        return PartialTensor(input.dtype, shape, None)
    return slice_axes(c, input, [at], [first], [HUGE], [step])


@nnef("tract_core_dyn_slice")
def dyn_slice(c: InferenceContext, input: Shape, *, start: object, end: object, len_: object, axis: int) -> TensorType:
    """[*A, d, *B] -> [*A, len, *B]: `start:end` of an axis."""
    at = read_front_axis(c, axis, len(input))
    length = read_extent(c, len_, "len")
    first, last = flatten((start,)), flatten((end,))
    if len(first) != 1 or len(last) != 1:
        c.fail("start and end must each be one number", first, last)
    low, high = (bound if isinstance(bound, (int, Dimension)) else None for bound in (*first, *last))
    if low is not None and high is not None:
        c.expect(length, high - low, "end - start must equal len")
    return TensorType(c.dtype(0), replace_axis(input, at, length))


@nnef("tract_core_topk")
def top_k(
    c: InferenceContext, input: Value, *, k: object, axis: int, largest: object = None
) -> tuple[PartialTensor, PartialTensor]:
    """[*A, d, *B] -> values and indices [*A, k, *B]."""
    at = read_front_axis(c, axis, len(input.shape))
    known = all(item is not None for item in flatten((k,)))
    if known:
        shape = top_k_shape(c, input.shape, at, read_extent(c, k, "k"))
    else:
        shape = replace_axis(input.shape, at, fresh_count(c, input.shape[at]))
    values = top_elements(c, input, at, shape, largest=largest)[0] if isinstance(largest, bool) else None
    return PartialTensor(input.dtype, shape, values), PartialTensor("int64", shape, None)


@nnef("tract_core_trilu", in_place=(0,))
def triangle(c: InferenceContext, input: Value, k: Value, *, upper: object = None) -> PartialTensor:
    """[*B, M, N] -> [*B, M, N]: zeros below, or without `upper` above, the diagonal `k`."""
    if input.shape.dims is not None and len(input.shape) < 2:
        c.fail("the input must have rank 2 or more", input.shape)
    named = known_ints(k)
    if input.elements is None or not named or not isinstance(upper, bool):
        return PartialTensor(input.dtype, input.shape, None)
    return keep_band(input, -named[0], None) if upper else keep_band(input, None, named[0])


@nnef("tract_core_one_hot")
def one_hot(c: InferenceContext, input: Shape, *, axis: int, dim: object) -> TensorType:
    """[*A, *B] -> [*A, dim, *B] with the new axis at `axis`."""
    at = read_front_axis(c, axis, len(input) + 1)
    return TensorType("float32", Shape((*input[:at], read_extent(c, dim, "dim"), *input[at:])))


@nnef("tract_onnx_non_zero")
def non_zero(c: InferenceContext, input: Value, *, count_symbol: str = "") -> TensorType:
    """[*S] -> [rank, count]; `count_symbol` names the count."""
    positions = nonzero_positions(input, nonzero_flags(c, input)) if input.shape.dims else None
    if positions is not None and not count_symbol:
        return transpose(positions, (1, 0))
    count = nonzero_count(c, input)
    if not count_symbol:
        return TensorType("int64", Shape((len(input.shape), count)))
    bounds = c.interval(count)
    named = c.store.scope.symbol(count_symbol, 0, bounds.hi)
    c.created_unknowns = True  # symbols belong to one inference: the result must not be memoized
    count = c.merge(named, count, "the number of nonzero elements must equal count_symbol")
    return TensorType("int64", Shape((len(input.shape), count)))


@nnef("tract_onnx_non_max_suppression")
def non_max_suppression(
    c: InferenceContext,
    boxes: Shape,
    scores: Shape,
    max_output_boxes_per_class: Value | None = None,
    iou_threshold: Shape | None = None,
    score_threshold: Shape | None = None,
) -> TensorType:
    """[B, N, 4] boxes, [B, C, N] scores -> [count, 3] positions; unlike in ONNX, a limit of 0 is no limit."""
    limit = max_output_boxes_per_class
    unlimited = limit is None or not limit.elements or limit.elements[0] == 0
    return TensorType("int64", Shape((box_count(c, boxes, scores, None if unlimited else limit), 3)))


@nnef("tract_core_argmax_reduce_last", "tract_core_argmin_reduce_last")
def extreme_index(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """The sizes of the axes become 1; contents for a single axis: of equal elements, the last one counts."""
    shape, reduced = _reduce(c, input.shape, axes), read_front_axes(c, axes, len(input.shape))
    if input.elements is None or len(set(reduced)) != 1:
        return PartialTensor("int64", shape, None)
    largest = "argmax" in c.op_def.name
    return PartialTensor("int64", shape, extreme_positions(c, input, reduced[0], shape, largest=largest, last=True))


@nnef("tract_core_product_reduce")
def product(c: InferenceContext, input: Value, *, axes: Listed) -> PartialTensor:
    """The sizes of the axes become 1."""
    shape = _reduce(c, input.shape, axes)
    if input.elements is None or not axes:
        return PartialTensor(input.dtype, shape, None)
    return reduce_elements(c, input, set(read_front_axes(c, axes, len(input.shape))), shape, "Prod")


def _reduce(c: InferenceContext, x: Shape, axes: Listed) -> Shape:
    reduced = set(read_front_axes(c, axes, len(x)))
    return Shape(1 if i in reduced else d for i, d in enumerate(x))
