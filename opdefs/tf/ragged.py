"""Ragged tensors: row splits [N + 1] for each ragged axis, and the values of the innermost rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse import filled_count
from opdefs.tf.sparse_operands import MAX_SPARSE_RANK, SparseShapes, known_sizes, sparse_output
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import HandleType, PartialTensor, Shape
from shapeinf.ops import Value


def row_count(c: TensorFlowContext, splits: Shape) -> DimSize:
    """The number of rows N of row splits [N + 1]."""
    return c.subtract(c.with_rank(splits, 1)[0], 1)


def ragged_rank(c: TensorFlowContext, value: object, inputs: int) -> int:
    """A number of ragged axes. Raises ShapeError unless there are at least as many tensors."""
    if not isinstance(value, int) or not 0 <= value <= inputs:
        c.fail(
            "the number of ragged axes must be at least 0 and at most the number of tensors with row splits",
            value,
            inputs,
        )
    return value


# -- ranges and rows -------------------------------------------------------------------------------------------------


@tf("RaggedRange")
def ragged_range(c: TensorFlowContext, starts: Value, limits: Value, deltas: Value) -> tuple[PartialTensor, Shape]:
    """[N] or [] each -> row splits [N + 1] and the values [*] of N ranges."""
    operands = (starts, limits, deltas)
    shapes = [c.with_rank_at_most(operand.shape, 1) for operand in operands]
    rows: DimSize | None = None
    for shape in shapes:
        if shape.rank == 1:
            rows = shape[0] if rows is None else c.merge(rows, shape[0])
    if rows is None:
        rows = 1 if all(shape.rank == 0 for shape in shapes) else c.fresh("rows")
    lengths = _range_lengths(operands, rows)
    total = None if lengths is None else sum(lengths)
    values = c.vector(c.fresh("values") if total is None else total)
    splits = None if lengths is None else [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return PartialTensor(None, c.vector(c.add(rows, 1)), splits), values


MAX_RANGES = 64
"""The lengths of more ranges than this are not computed."""


def _range_lengths(operands: Sequence[PartialTensor], rows: DimSize) -> list[int] | None:
    """The lengths of ranges with known ends; None if any is unknown, and for steps of 0."""
    if not isinstance(rows, int) or rows > MAX_RANGES:
        return None
    arrays = [operand.array() for operand in operands]
    known = [array.reshape(-1) for array in arrays if array is not None and array.dtype.kind in "iu"]
    if len(known) < len(arrays):
        return None
    lengths = []
    for row in range(rows):
        start, limit, delta = (int(array[row if array.size > 1 else 0]) for array in known)
        if delta == 0:
            return None
        lengths.append(max(0, -((start - limit) // delta)))
    return lengths


@tf("RaggedGather")
def ragged_gather(c: TensorFlowContext, *inputs: Shape) -> tuple[Shape, ...]:
    """Row splits, values [n, *S], [*I] -> row splits of the axes I[1:] and of the operand, values [m, *S]."""
    rank = ragged_rank(c, c.attr("PARAMS_RAGGED_RANK"), len(inputs) - 2)
    splits, values, indices = inputs[:rank], c.with_rank_at_least(inputs[rank], 1), inputs[rank + 1]
    for split in splits:
        c.with_rank(split, 1)
    outer: list[Shape] = []
    count = ragged_rank(c, c.attr("OUTPUT_RAGGED_RANK"), c.num_outputs - 1)
    where = c.store.canon_shape(indices)
    if where.dims is not None:
        if count != rank + len(where.dims) - 1:
            c.fail("OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + indices.rank - 1", count, rank, where)
        sizes = [c.num_elements(Shape(where.dims[: axis + 1])) for axis in range(len(where.dims))]
        outer = [c.vector(c.add(size, 1)) for size in sizes]
    inner = [c.vector(c.fresh(f"splits.{i}", 1)) for i in range(len(outer), count)]
    rows = c.fresh("values")
    dense = c.unknown_shape() if values.dims is None else Shape((rows, *values.dims[1:]))
    return (*outer[:count], *inner, dense)


@tf("RaggedFillEmptyRows")
def ragged_fill_empty_rows(
    c: TensorFlowContext, value_rowids: Shape, values: Shape, nrows: Value, default_value: Shape
) -> tuple[Shape, Shape, Shape, Shape]:
    """[N], [N], nrows [], [] -> row ids and values [M], [nrows], [N]: a value for each empty row, so M <= N + nrows."""
    count = c.merge(c.with_rank(value_rowids, 1)[0], c.with_rank(values, 1)[0])
    require_scalars(c, nrows.shape, default_value)
    rows = scalar_size_or_fresh(c, nrows, "rows")
    filled = c.vector(filled_count(c, count, rows))
    return filled, filled, c.vector(rows), c.vector(count)


@tf("RaggedCross")
def ragged_cross(
    c: TensorFlowContext,
    *inputs: Value,
    ragged_values_types: tuple[str, ...],
    ragged_splits_types: tuple[str, ...],
    sparse_values_types: tuple[str, ...],
    dense_types: tuple[str, ...],
) -> tuple[Shape, Shape]:
    """Features of B rows -> the values [*] and the row splits [B + 1] of their crosses."""
    ragged, sparse, dense = len(ragged_values_types), len(sparse_values_types), len(dense_types)
    if len(inputs) != 2 * ragged + 3 * sparse + dense or len(ragged_splits_types) != ragged:
        c.fail(f"{ragged} ragged, {sparse} sparse and {dense} dense features do not match {len(inputs)} inputs")
    rows: DimSize = c.fresh("batch")
    for splits in inputs[ragged : 2 * ragged]:
        rows = c.merge(rows, row_count(c, splits.shape))
    for shape in inputs[2 * ragged + 2 * sparse : 2 * ragged + 3 * sparse]:
        sizes = known_sizes(c, shape)
        if sizes and sizes[0] is not None:
            rows = c.merge(rows, sizes[0])
    for matrix in inputs[len(inputs) - dense :] if dense else ():
        rows = c.merge(rows, c.with_rank(matrix.shape, 2)[0])
    return c.vector(c.fresh("values")), c.vector(c.add(rows, 1))


# -- conversions -----------------------------------------------------------------------------------------------------


@tf("RaggedTensorToSparse")
def ragged_tensor_to_sparse(c: TensorFlowContext, *inputs: Shape) -> SparseShapes:
    """Row splits, values [n, *S] -> a sparse tensor; ragged axes are as long as their longest row."""
    *splits, values = inputs
    if not splits:
        c.fail("Requires RAGGED_RANK>0")
    values = c.with_rank_at_least(values, 1)
    rows = [row_count(c, split) for split in splits]
    if values.dims is None:
        return sparse_output(c, c.fresh("nnz"), c.fresh("rank", len(splits) + 1))
    sizes = [rows[0], *(None for _ in splits), *values.dims[1:]]
    if len(sizes) > MAX_SPARSE_RANK:
        c.fail(f"a sparse tensor has at most {MAX_SPARSE_RANK} axes", len(sizes))
    return sparse_output(c, c.num_elements(values), len(sizes), sizes)


@tf("RaggedTensorToVariant")
def ragged_tensor_to_variant(c: TensorFlowContext, *inputs: Shape, batched_input: bool) -> HandleType:
    """Row splits, values [n, *S] -> [], or with `batched_input` [N]: one variant for each row."""
    *splits, values = inputs
    if splits:
        c.with_rank_at_least(values, 1)
    for split in splits:
        c.with_rank(split, 1)
    if batched_input and not splits:
        c.fail("ragged_rank=0 is not currently supported when batched_input=true.")
    return HandleType("variant", c.vector(row_count(c, splits[0])) if batched_input else c.scalar(), None)


@tf("RaggedTensorFromVariant")
def ragged_tensor_from_variant(
    c: TensorFlowContext, encoded_ragged: Shape, *, input_ragged_rank: int, output_ragged_rank: int
) -> tuple[Shape, ...]:
    """[*B] -> row splits of the axes B, then those inside the variants, and the values.

    The kernel sets the splits of the first and of the last axis of the variants; those in between are unknown.
    """
    count = ragged_rank(c, output_ragged_rank, c.num_outputs - 1)
    encoded = c.store.canon_shape(encoded_ragged)
    if input_ragged_rank >= 0 and encoded.dims is not None:
        encoded = c.with_rank(encoded, count - input_ragged_rank)
    splits = [c.vector(c.fresh(f"splits.{i}")) for i in range(count)]
    axes = 0 if encoded.dims is None else len(encoded)
    if 0 < axes <= count:
        splits[0] = c.vector(c.add(encoded[0], 1))
        splits[axes - 1] = c.vector(c.add(c.num_elements(encoded), 1))
    return (*splits, c.unknown_shape())


@tf("RaggedTensorToVariantGradient")
def ragged_tensor_to_variant_gradient(
    c: TensorFlowContext, encoded_ragged_grad: Shape, row_splits: Shape, dense_values_shape: Value
) -> Shape:
    """[N], [N + 1], [R] -> the shape in `dense_values_shape`."""
    return c.make_shape_from_shape_tensor(2, scalar_is_unknown=True)


# -- dense tensors ---------------------------------------------------------------------------------------------------

PARTITIONS = ("FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS")


@tf("RaggedTensorToTensor")
def ragged_tensor_to_tensor(
    c: TensorFlowContext,
    shape: Value,
    values: Shape,
    default_value: Shape,
    *row_partition_tensors: Value,
    row_partition_types: tuple[str, ...],
) -> Shape:
    """The requested sizes; elsewhere the number of rows, the longest row of each ragged axis, and those of the values.

    The length of the longest row is known where the contents of its row partition are.
    """
    wanted = c.make_shape_from_shape_tensor(0, scalar_is_unknown=True)
    _check_partitions(c, row_partition_types, row_partition_tensors)
    ragged = len(row_partition_types) - (row_partition_types[0] == "FIRST_DIM_SIZE")
    inner = c.store.canon_shape(values)
    if inner.dims is None:
        if wanted.dims is None:
            raise c.unknowable("neither the requested shape nor the rank of the values is known")
        axes: list[DimSize | None] = [None] * max(0, len(wanted) - ragged - 1)
    else:
        c.with_rank_at_least(inner, 1)
        axes = list(inner.dims[1:])
    partitions = row_partition_tensors[len(row_partition_tensors) - ragged :]
    rows = _first_size(c, row_partition_types[0], row_partition_tensors[0])
    natural = [rows, *(_longest_row(c, p, i) for i, p in enumerate(partitions)), *axes]
    requested = _sizes_of_request(c, shape, wanted, len(natural))
    inner_from = ragged + 1
    dims = [
        _dense_size(c, request, size, axis >= inner_from)
        for axis, (request, size) in enumerate(zip(requested, natural, strict=True))
    ]
    return Shape(dims)


def _check_partitions(c: TensorFlowContext, types: Sequence[str], tensors: Sequence[PartialTensor]) -> None:
    """Raise ShapeError, with TensorFlow's text, for row partitions that do not fit each other."""
    if not types:
        c.fail("Partition info types should not be empty")
    for kind in types:
        if kind not in PARTITIONS:
            c.fail(f"Unknown string for partition info type. {kind}")
    if "FIRST_DIM_SIZE" in types[1:]:
        c.fail("FIRST_DIM_SIZE must be first")
    if types[0] == "FIRST_DIM_SIZE" and types[1:2] != ("VALUE_ROWIDS",):
        c.fail("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS")
    if types[0] == "VALUE_ROWIDS":
        c.fail("VALUE_ROWIDS cannot be first")
    if len(types) != len(tensors):
        count = f"{len(tensors)}) does not equal the number of row partition types({len(types)}"
        c.fail(f"Number of row partition tensors ({count}).")
    for kind, tensor in zip(types, tensors, strict=True):
        c.with_rank(tensor.shape, 0 if kind == "FIRST_DIM_SIZE" else 1)


def _first_size(c: TensorFlowContext, kind: str, tensor: PartialTensor) -> DimSize:
    """The number of rows of the outermost axis."""
    return scalar_size_or_fresh(c, tensor, "rows") if kind == "FIRST_DIM_SIZE" else row_count(c, tensor.shape)


def _longest_row(c: TensorFlowContext, tensor: PartialTensor, axis: int) -> DimSize:
    """The length of the longest row: of row splits by their differences, of row ids at most their number."""
    kinds = [k for k in c.attr("row_partition_types") if k != "FIRST_DIM_SIZE"]
    elements = known_dims(tensor)
    numbers = None if elements is None else [d for d in elements if isinstance(d, int)]
    if numbers is not None and elements is not None and len(numbers) == len(elements):
        if kinds[axis] == "ROW_SPLITS":
            return max((0, *(b - a for a, b in pairwise(numbers))))
        return _longest_run(numbers)
    if kinds[axis] == "ROW_SPLITS":
        return c.fresh(f"longest.{axis}")
    return c.fresh_at_most(c.dim(tensor.shape, 0), f"longest.{axis}")


def _longest_run(numbers: Sequence[int]) -> int:
    """The length of the longest run of equal numbers."""
    longest = length = 0
    for i, number in enumerate(numbers):
        length = length + 1 if i and number == numbers[i - 1] else 1
        longest = max(longest, length)
    return longest


def _sizes_of_request(c: TensorFlowContext, shape: PartialTensor, wanted: Shape, rank: int) -> list[DimSize | None]:
    """The requested sizes: -1 where the operator chooses the size, None where the request is unknown."""
    if wanted.dims is None:
        unknown = c.rank(shape.shape) != 0
        if shape.shape.rank == 1:
            c.merge(shape.shape[0], rank, "the requested shape must have a size for each axis of the ragged tensor")
        return [None if unknown else -1] * rank
    if len(wanted) != rank:
        requested = "[" + ",".join("?" for _ in wanted) + "]"
        ranks = f"rt_input.rank = {rank} but shape.rank = {len(wanted)}"
        c.fail(f"rt_input.shape and shape={requested} are incompatible: {ranks}")
    elements = known_dims(shape)
    return [None] * rank if elements is None else list(elements)


def _dense_size(c: TensorFlowContext, requested: DimSize | None, size: DimSize | None, inner: bool) -> DimSize:
    """One size of the output. Inner axes must be as requested."""
    if requested is None or (isinstance(requested, Dimension) and c.prove_le(0, requested) is not True):
        return size if inner and size is not None else c.fresh("size")
    if isinstance(requested, int) and requested < 0:
        return c.fresh("size") if size is None else size
    return c.merge(requested, size) if inner and size is not None else requested
