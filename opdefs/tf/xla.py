"""XLA's operators in TensorFlow graphs, with the shapes of the instructions that they become."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.contraction import einsum
from opdefs.rules.operands import require_broadcast_size
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import declared_shape
from shapeinf.expr import DimSize, minimum
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Ints, Value


@tf("XlaDynamicSlice")
def dynamic_slice(c: TensorFlowContext, x: Value, start_indices: Shape, size_indices: Value) -> PartialTensor:
    """[*S], [R], sizes [R] -> [*sizes]; begins are clamped so that the slice fits."""
    c.with_rank(start_indices, 1)
    count = c.with_rank(size_indices.shape, 1)[0]
    sizes = known_dims(size_indices)
    rank = len(sizes) if sizes is not None else c.concrete(count) if x.shape.dims is None else len(x.shape.dims)
    if rank is None:
        raise c.unknowable("neither the rank of the input nor the sizes are known")
    shape = c.with_rank(x.shape, rank)
    if sizes is not None and len(sizes) != rank:
        c.fail(f"Shape must be rank {rank} but is rank {len(sizes)}")
    dims = [_slice_size(c, d, size) for d, size in zip(shape, sizes or (None,) * rank, strict=True)]
    return PartialTensor(x.dtype, Shape(dims), None)


def _slice_size(c: TensorFlowContext, d: DimSize, size: DimSize | None) -> DimSize:
    """The size of one axis of a slice, at most that of the axis."""
    if size is None or c.prove_le(0, size) is False:
        return c.fresh_at_most(d, "slice")
    if c.prove_le(size, d) is not True:
        c.at_most(size, d, "a slice must not be larger than the input")
    return size


@tf("XlaDynamicUpdateSlice", in_place=(0,))
def dynamic_update_slice(c: TensorFlowContext, x: Shape, update: Shape, indices: Shape) -> Shape:
    """[*S], [*T] of the same rank, [R] -> [*S]."""
    c.with_rank(indices, 1)
    if x.dims is not None and update.dims is not None:
        for size, most in zip(c.with_rank(update, len(x.dims)), x.dims, strict=True):
            if c.prove_le(size, most) is not True:
                c.at_most(size, most, "the update must not be larger than the input")
    return x


@tf("XlaPad")
def pad(
    c: TensorFlowContext,
    x: Shape,
    padding_value: Shape,
    padding_low: Value,
    padding_high: Value,
    padding_interior: Value,
) -> Shape:
    """[*S], [], low [R], high [R], interior [R] -> [*(S + low + high + (S - 1) * interior)]."""
    c.with_rank(padding_value, 0)
    vectors = padding_low, padding_high, padding_interior
    lengths = [c.with_rank(v.shape, 1)[0] for v in vectors]
    rank = c.concrete(c.merge(c.merge(lengths[0], lengths[1]), lengths[2]))
    shape = x if rank is None else c.with_rank(x, rank)
    amounts = [known_dims(v) or (None,) * len(shape) for v in vectors]
    return Shape(_padded_size(c, d, *along) for d, *along in zip(shape, *amounts, strict=True))


def _padded_size(
    c: TensorFlowContext, size: DimSize, low: DimSize | None, high: DimSize | None, interior: DimSize | None
) -> DimSize:
    """The size of a padded axis. Requires that it is not negative."""
    if low is None or high is None or interior is None:
        return c.fresh("pad")
    if isinstance(interior, int) and interior < 0:
        c.fail("the padding between elements must be at least 0", interior)
    gaps: DimSize = 0
    if interior != 0:
        if c.prove_le(1, size) is not True:
            return c.fresh("pad")
        gaps = (size - 1) * interior
    grown = size + low + high + gaps
    if c.prove_le(0, grown) is not True:
        c.at_least(grown, 0, "negative padding must not exceed the size of the axis")
    return grown


@tf("XlaEinsum")
def product(c: TensorFlowContext, a: Shape, b: Shape, *, equation: str) -> Shape:
    """The shape of the result of an Einstein sum."""
    return einsum(c, equation, (a, b))


@tf("XlaBroadcastHelper")
def insert_axes_to_broadcast(
    c: TensorFlowContext, lhs: Shape, rhs: Shape, broadcast_dims: Value
) -> tuple[Shape, Shape]:
    """[*A], [*B], broadcast_dims -> both; the one of lower rank gets axes of size 1 where no axis of it is named."""
    left, right = lhs.require(), rhs.require()
    axes = known_ints(broadcast_dims)
    if axes is None:
        raise c.unknowable("the axes of the operand of lower rank are unknown")
    low, high = (left, right) if len(left) < len(right) else (right, left)
    if not axes or len(left) == len(right):
        return lhs, rhs
    if len(axes) != len(low):
        c.fail("broadcast_dims must name an axis for each axis of the operand of lower rank", axes, Shape(low))
    dims: list[DimSize] = [1] * len(high)
    for size, axis in zip(low, c.axes(axes, len(high)), strict=True):
        require_broadcast_size(c, size, high[axis], "an axis must broadcast to the one that broadcast_dims names")
        dims[axis] = size
    return (Shape(dims), rhs) if low is left else (lhs, Shape(dims))


@tf("XlaReduce")
def reduce(c: TensorFlowContext, x: Shape, init_value: Shape, *, dimensions_to_reduce: Ints) -> Shape:
    """[*P, n, *Q], [] -> [*P, *Q]."""
    return _remove_axes(c, x, dimensions_to_reduce)


@tf("XlaVariadicReduce", "XlaVariadicReduceV2")
def reduce_many(c: TensorFlowContext, *inputs: Shape, dimensions_to_reduce: Ints) -> tuple[Shape, ...]:
    """[*P, n, *Q]..., []... -> [*P, *Q]..."""
    return tuple(_remove_axes(c, x, dimensions_to_reduce) for x in inputs[: len(inputs) // 2])


def _remove_axes(c: TensorFlowContext, x: Shape, axes: Ints) -> Shape:
    """The shape without these axes."""
    reduced = c.axes(axes, len(x))
    return Shape(d for axis, d in enumerate(x) if axis not in reduced)


@tf("XlaVariadicSort")
def sort_together(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """[*S]..., axis [] -> [*S]..."""
    return inputs[:-1]


@tf("XlaScatter", in_place=(0,))
def scatter(c: TensorFlowContext, operand: Shape, scatter_indices: Shape, updates: Shape) -> Shape:
    """[*S], indices, updates -> [*S]."""
    return operand


@tf("XlaSelectAndScatter")
def select_and_scatter(
    c: TensorFlowContext,
    operand: Shape,
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Shape,
    source: Shape,
    init_value: Shape,
) -> Shape:
    """[*S], window, source, [] -> [*S]."""
    return operand


@tf("XlaSetDynamicDimensionSize")
def set_dynamic_size(c: TensorFlowContext, x: Shape, dim_index: Value, size: Value) -> Shape:
    """[*P, n, *Q], axis [], size [] -> [*P, size, *Q]."""
    require_scalars(c, dim_index.shape, size.shape)
    axis = known_ints(dim_index)
    if not axis:
        return Shape(c.fresh_at_most(d, f"dynamic.{i}") for i, d in enumerate(x))
    at = c.axis(axis[0], len(x))
    (cut,) = known_dims(size) or (None,)
    return c.replace_dim(x, at, c.fresh_at_most(x[at], "dynamic") if cut is None else cut)


@tf("XlaConcatND")
def concat_all(c: TensorFlowContext, *inputs: Shape, num_concats: Ints, paddings: tuple[int, ...] = ()) -> Shape:
    """[*S]... -> [*(S * num_concats - paddings)]: blocks side by side along all axes."""
    block = inputs[0] if inputs else c.unknown_shape()
    for x in inputs[1:]:
        block = c.merge(block, x)
    dims = c.with_rank(block, len(num_concats))
    cut = _paddings(c, paddings, len(num_concats))
    return Shape(c.subtract(c.multiply(d, n), p) for d, n, p in zip(dims, num_concats, cut, strict=True))


@tf("XlaSplitND")
def split_all(c: TensorFlowContext, x: Shape, *, num_splits: Ints, paddings: tuple[int, ...] = ()) -> tuple[Shape, ...]:
    """[*S] -> [*((S + paddings) / num_splits)]...: blocks of the padded tensor."""
    dims = c.with_rank(x, len(num_splits))
    grown = zip(dims, num_splits, _paddings(c, paddings, len(num_splits)), strict=True)
    block = Shape(c.divide(c.add(d, p), n, evenly_divisible=True) for d, n, p in grown)
    return (block,) * c.num_outputs


def _paddings(c: TensorFlowContext, paddings: Sequence[int], rank: int) -> Sequence[int]:
    """The paddings of all axes, 0 by default."""
    if paddings and len(paddings) != rank:
        c.fail(f"paddings must have {rank} entries", paddings)
    return paddings or (0,) * rank


@tf("XlaSelfAdjointEig")
def eigenvalues(c: TensorFlowContext, a: Shape) -> tuple[Shape, Shape]:
    """[*B, n, n] -> values [*B, n], vectors [*B, n, n]."""
    matrix = c.with_rank_at_least(a, 2)
    c.merge(matrix[-1], matrix[-2])
    return Shape(matrix[:-1]), matrix


@tf("XlaSvd")
def singular_values(c: TensorFlowContext, a: Shape) -> tuple[Shape, Shape, Shape]:
    """[*B, m, n] -> values [*B, min(m, n)], left vectors [*B, m, *], right vectors [*B, n, *]."""
    *batch, rows, columns = c.with_rank_at_least(a, 2).require()
    left, right = Shape((*batch, rows, c.fresh("left"))), Shape((*batch, columns, c.fresh("right")))
    return Shape((*batch, minimum(rows, columns))), left, right


@tf("XlaCustomCall")
def custom_call(c: TensorFlowContext, *args: Shape, shape: DeclaredType) -> Shape:
    """The shape in the attribute."""
    return declared_shape(c, shape)


@tf("XlaCustomCallV2")
def custom_call_of_many(c: TensorFlowContext, *operands: Shape, result_shapes: tuple[object, ...]) -> tuple[Shape, ...]:
    """The shapes in the attribute."""
    return _declared_all(c, result_shapes)


@tf("XlaCallModule")
def call_module(c: TensorFlowContext, *args: Shape, Sout: tuple[object, ...]) -> tuple[Shape, ...]:  # noqa: N803
    """The shapes in the attribute: the module is serialized code of another compiler.

    Sizes that the attribute leaves open are unknown, each for itself: it does not relate them to the inputs.
    """
    return _declared_all(c, Sout)


def _declared_all(c: TensorFlowContext, shapes: Sequence[object]) -> tuple[Shape, ...]:
    """The shapes in an attribute."""
    return tuple(declared_shape(c, s) if isinstance(s, DeclaredType) else c.unknown_shape() for s in shapes)
