"""Concatenation, stacking, splitting and repetition."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims, known_ints, requested_dims
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.operands import prove_unit, require_broadcast_size
from opdefs.rules.parts import split_axis
from opdefs.rules.repetition import broadcast_elements
from opdefs.rules.repetition import concat as concat_tensors
from opdefs.rules.repetition import tile as tile_axes
from opdefs.tf.common import merge_all, require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import declared_shape
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

MAX_PARTS = 1024
"""The most parts of a tensor, or axes of a shape: larger numbers are those of damaged attributes."""


@tf("Pack")
def pack(c: TensorFlowContext, *values: Value, axis: int = 0) -> PartialTensor:
    """[*P, *Q]... -> [*P, n, *Q]: n inputs stacked along a new axis."""
    if not values:
        c.fail("requires at least one input to stack")
    shape = merge_all(c, [value.shape for value in values])
    rank = len(shape) + 1
    at = _check_axis(c, axis, rank)
    unit = Shape((*shape[:at], 1, *shape[at:]))
    units = [reshape_elements(PartialTensor(v.dtype, shape, None) if v.contents is None else v, unit) for v in values]
    return concat_tensors(c, units, at)


def _check_axis(c: TensorFlowContext, axis: int, rank: int) -> int:
    """The axis, counted from the front. Raises ShapeError with TensorFlow's text if it is out of range."""
    if not -rank <= axis < rank:
        c.fail(f"Invalid axis: {axis}; must be in [-{rank},{rank})")
    return axis % rank


@tf("Unpack")
def unpack(c: TensorFlowContext, value: Value, *, num: int, axis: int = 0) -> tuple[PartialTensor, ...]:
    """[*P, num, *Q] -> [*P, *Q]...: the slices along an axis."""
    rank = len(value.shape)
    at = _check_axis(c, axis, rank)
    c.with_value(value.shape[at], num)
    shape = Shape((*value.shape[:at], *value.shape[at + 1 :]))
    return tuple(reshape_elements(part, shape) for part in split_axis(value, at, [1] * min(num, c.num_outputs)))


@tf("ParallelConcat")
def parallel_concat(c: TensorFlowContext, *values: Shape, shape: DeclaredType) -> Shape:
    """[1, *S]... -> [n, *S], the shape in the attribute."""
    result = declared_shape(c, shape)
    if result.dims is None or not result.is_concrete:
        c.fail("shape must be fully defined", result)
    row = values[0] if values else c.unknown_shape()
    for value in values[1:]:
        row = c.merge(row, value)
    if not result.dims:
        c.fail("Shape must be at least rank 1 but is rank 0")
    c.merge(row, Shape((1, *result.dims[1:])))
    return c.replace_dim(result, 0, c.merge(result.dims[0], len(values)))


@tf("_ParallelConcatUpdate", in_place=(0,))
def parallel_concat_update(c: TensorFlowContext, value: Shape, update: Shape) -> Shape:
    """[n, *S], [1, *S] -> [n, *S]."""
    return value


@tf("ConcatV2")
def concat_v2(c: TensorFlowContext, *inputs: Value) -> PartialTensor:
    """[*P, n, *Q], [*P, m, *Q]..., axis [] -> [*P, n + m + ..., *Q]."""
    return concatenate(c, inputs[:-1], inputs[-1])


@tf("Concat")
def concat_v1(c: TensorFlowContext, axis: Value, *values: Value) -> PartialTensor:
    """Axis [], [*P, n, *Q], [*P, m, *Q]... -> [*P, n + m + ..., *Q]."""
    return concatenate(c, values, axis)


def concatenate(c: TensorFlowContext, values: Sequence[PartialTensor], axis: PartialTensor) -> PartialTensor:
    """[*P, n, *Q], [*P, m, *Q]..., axis [] -> [*P, n + m + ..., *Q]; only the rank is known for an unknown axis."""
    c.with_rank(axis.shape, 0)
    if not values:
        c.fail("requires at least one input to concatenate")
    named = known_ints(axis)
    if named is None:
        return PartialTensor(values[0].dtype, _concat_along_any(c, [v.shape for v in values]), None)
    least = named[0] + 1 if named[0] >= 0 else max(-named[0], 1)
    shapes = [c.with_rank_at_least(value.shape, least) for value in values]
    rank = _common_rank(c, shapes)
    shapes = [c.with_rank(shape, rank) for shape in shapes]
    at = named[0] % rank
    before, after = shapes[0][:at], shapes[0][at + 1 :]
    for shape in shapes[1:]:
        before = c.merge(Shape(before), Shape(shape[:at])).require()
        after = c.merge(Shape(after), Shape(shape[at + 1 :])).require()
    merged = (
        _with_shape(value, Shape((*before, shape[at], *after))) for value, shape in zip(values, shapes, strict=True)
    )
    return concat_tensors(c, list(merged), at)


def _with_shape(value: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor of `shape`, which equals its own, unless it has contents."""
    if value.contents is not None:
        return value
    return PartialTensor(value.dtype, shape, None)


def _common_rank(c: TensorFlowContext, shapes: Sequence[Shape]) -> int:
    """The rank of the values. Raises NotKnown if all ranks are unknown, ShapeError if they differ or are 0."""
    ranks = [len(shape.dims) for shape in shapes if shape.dims is not None]
    if not ranks:
        raise c.unknowable("the rank of all inputs is unknown")
    for rank in ranks:
        if rank == 0:
            c.fail("Can't concatenate scalars (use tf.stack instead)")
        if rank != ranks[0]:
            c.fail(f"Shape must be rank {ranks[0]} but is rank {rank}")
    return ranks[0]


def _concat_along_any(c: TensorFlowContext, shapes: Sequence[Shape]) -> Shape:
    """The shape of a concatenation along an unknown axis."""
    rank = _common_rank(c, shapes)
    if len(shapes) == 1:
        return shapes[0]
    if rank == 1:
        return c.vector(sum(c.with_rank(shape, 1)[0] for shape in shapes))
    return Shape(c.fresh(f"concat.{axis}") for axis in range(rank))


@tf("QuantizedConcat")
def quantized_concat(c: TensorFlowContext, axis: Value, *inputs: Value) -> tuple[PartialTensor | Shape, ...]:
    """As Concat, with a range for each value and for the result."""
    count = len(inputs) // 3
    return _concatenate_with_range(c, inputs[:count], axis, inputs[count:])


@tf("QuantizedConcatV2")
def quantized_concat_v2(c: TensorFlowContext, *inputs: Value) -> tuple[PartialTensor | Shape, ...]:
    """As ConcatV2, with a range for each value and for the result."""
    count = len(inputs) // 3
    return _concatenate_with_range(c, inputs[:count], inputs[count], inputs[count + 1 :])


def _concatenate_with_range(
    c: TensorFlowContext, values: Sequence[PartialTensor], axis: PartialTensor, limits: Sequence[PartialTensor]
) -> tuple[PartialTensor | Shape, ...]:
    """The concatenation and its range []; `limits` are those of the values."""
    require_scalars(c, *(limit.shape for limit in limits))
    if all(value.shape.dims is None for value in values):
        c.with_rank(axis.shape, 0)
        return c.unknown_shape(), c.scalar(), c.scalar()
    return concatenate(c, values, axis), c.scalar(), c.scalar()


@tf("ConcatOffset")
def concat_offset(c: TensorFlowContext, axis: Value, *shapes: Value) -> tuple[PartialTensor, ...]:
    """Axis [], shapes [R]... -> [R]...: where each tensor begins in the concatenation of tensors of these shapes."""
    c.with_rank(axis.shape, 0)
    named, sizes = known_ints(axis), [known_dims(shape) for shape in shapes]
    if named is None:
        return tuple(PartialTensor(None, shape.shape, None) for shape in shapes)
    offset: DimSize | None = 0
    offsets = []
    for shape, known in zip(shapes, sizes, strict=True):
        length = None if shape.shape.rank != 1 else c.concrete(shape.shape[0])
        if not length or length > MAX_PARTS:
            offsets.append(PartialTensor(None, shape.shape, None))
            offset = None
            continue
        at = c.axis(named[0], length)
        offsets.append(PartialTensor(None, shape.shape, [offset if i == at else 0 for i in range(length)]))
        size = None if known is None else known[at]
        offset = None if offset is None or size is None else offset + size
    return tuple(offsets)


@tf("Split")
def split(c: TensorFlowContext, axis: Value, value: Value, *, num_split: int) -> tuple[PartialTensor, ...]:
    """Axis [], [*P, n, *Q] -> [*P, n / num_split, *Q]..."""
    at = _split_axis(c, axis, 0, value.shape)
    if at is None:
        return (_any_part(c, value, 0),) * c.num_outputs
    part = c.divide(value.shape[at], num_split, evenly_divisible=True)
    return split_axis(value, at, [part] * min(num_split, c.num_outputs))


def _split_axis(c: TensorFlowContext, axis: PartialTensor, position: int, x: Shape) -> int | None:
    """The axis in scalar input `position`, None if unknown. Raises NotKnown for an unknown rank."""
    if known_ints(axis) is None:
        c.with_rank(axis.shape, 0)
        return None if len(x) else c.fail("Can't split scalars")
    rank = -1 if x.dims is None else len(x.dims)
    at = c.make_dim_for_scalar_input_with_negative_indexing(position, rank)
    x.require()
    return at if isinstance(at, int) else None


@tf("SplitV")
def split_v(
    c: TensorFlowContext, value: Value, size_splits: Value, axis: Value, *, num_split: int
) -> tuple[PartialTensor, ...]:
    """[*P, n, *Q], sizes [S], axis [] -> [*P, size, *Q]...; one of the sizes may be -1: the rest of the axis.

    For an unknown axis, all sizes are unknown; TensorFlow's shape function assumes the last axis.
    """
    at = _split_axis(c, axis, 2, value.shape)
    if at is None:
        return tuple(_any_part(c, value, part) for part in range(c.num_outputs))
    c.merge(c.with_rank(size_splits.shape, 1)[0], num_split, "size_splits must have a size for each output")
    sizes = known_dims(size_splits) or (None,) * max(c.num_outputs, min(num_split, MAX_PARTS))
    return split_axis(value, at, _part_sizes(c, value.shape[at], sizes))


def _any_part(c: TensorFlowContext, value: PartialTensor, part: int) -> PartialTensor:
    """A part along an unknown axis: at most as large as the value along each."""
    sizes = (c.fresh_at_most(d, f"split{part}.{axis}") for axis, d in enumerate(value.shape))
    return PartialTensor(value.dtype, Shape(sizes), None)


def _part_sizes(c: TensorFlowContext, total: DimSize, sizes: Sequence[DimSize | None]) -> list[DimSize]:
    """The sizes of the parts: -1 becomes the rest of the axis, None an unknown. Requires that they sum to `total`."""
    inferred = [i for i, size in enumerate(sizes) if isinstance(size, int) and size == -1]
    if len(inferred) > 1:
        c.fail("size_splits can only have one -1")
    text = "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"
    message = f"can't split axis of size {total} into pieces of size {text}"
    unknown = [i for i, size in enumerate(sizes) if size is None]
    rest = total - sum(size for i, size in enumerate(sizes) if size is not None and i not in inferred)
    open_parts = inferred + unknown
    if not open_parts:
        c.merge(c.store.canon(rest), 0, message)
    elif len(open_parts) == 1 and isinstance(rest, int) and rest < 0:
        c.fail(f"Split size at index {open_parts[0]} must be >= 0. Got: {rest}")
    elif c.prove_le(0, rest) is not True:
        c.at_least(rest, 0, message)
    parts = []
    for i, size in enumerate(sizes):
        if i in open_parts:
            size = rest if len(open_parts) == 1 else c.fresh_at_most(rest, f"split.{i}")
        assert size is not None
        if isinstance(size, int) and size < 0:
            c.fail(f"Split size at index {i} must be >= 0. Got: {size}")
        if c.prove_le(0, size) is not True:
            c.at_least(size, 0, "the size of a part must not be negative")
        parts.append(c.store.canon(size))
    return parts


@tf("Tile")
def tile(c: TensorFlowContext, x: Value, multiples: Value) -> PartialTensor:
    """[*S], multiples [R] -> [*S * multiples]."""
    vector = c.with_rank(multiples.shape, 1)
    shape = x.shape
    if shape.dims is None:
        sizes = requested_dims(c, multiples, "multiples")
        shape = c.with_rank(shape, len(sizes))
        x = PartialTensor(x.dtype, shape, None)
    c.merge(vector[0], len(shape), f"Shape must be rank {c.concrete(vector[0])} but is rank {len(shape)}")
    return tile_axes(c, x, known_dims(multiples) or (None,) * len(shape))


@tf("TileGrad")
def tile_grad(c: TensorFlowContext, x: Value, multiples: Value) -> Shape:
    """[*S], multiples [R] -> [*S / multiples]."""
    c.with_rank(multiples.shape, 1)
    counts = known_dims(multiples) or (None,) * len(x.shape)
    if len(counts) != len(x.shape):
        c.fail("multiples must have one value per axis", x.shape, counts)
    return Shape(
        c.fresh_at_most(d, f"tile.{i}") if count is None else c.divide(d, count, evenly_divisible=True)
        for i, (d, count) in enumerate(zip(x.shape, counts, strict=True))
    )


@tf("BroadcastTo")
def broadcast_to(c: TensorFlowContext, x: Value, shape: Value) -> PartialTensor:
    """[*A], shape [R] -> [*shape], to which A must broadcast."""
    length = c.with_rank(shape.shape, 1)[0]
    if x.shape.dims is not None and not isinstance(length, int):
        c.at_least(length, len(x.shape), "the shape must have as many axes as the input, or more")
    wanted = requested_dims(c, shape)
    c.with_rank_at_most(x.shape, len(wanted))
    lead = len(wanted) - len(x.shape) if x.shape.dims is not None else len(wanted)
    sizes: list[DimSize | None] = [None] * lead + list(x.shape.dims or ())
    return broadcast_elements(
        x, Shape(_broadcast_size(c, a, b, i) for i, (a, b) in enumerate(zip(sizes, wanted, strict=True)))
    )


def _broadcast_size(c: TensorFlowContext, size: DimSize | None, wanted: DimSize | None, axis: int) -> DimSize:
    """The size of a broadcast axis; if the request is unknown, the size itself where that cannot be 1."""
    if wanted is None:
        is_size = size is not None and prove_unit(c, size) is False
        return size if is_size and size is not None else c.fresh(f"broadcast.{axis}")
    if isinstance(wanted, int) and wanted < 0:
        c.fail("a size must be at least 0", wanted)
    if c.prove_le(0, wanted) is not True:
        c.at_least(wanted, 0, "a size must be at least 0")
    if size is not None and prove_unit(c, size) is False:
        if isinstance(size, int) and isinstance(wanted, int) and size != wanted:
            c.fail(f"Dimensions must be equal, but are {size} and {wanted} for axis {axis} of the result")
        return c.merge(size, wanted)
    if size is not None:
        require_broadcast_size(c, size, wanted, "the input must broadcast to the shape")
    return wanted
