"""Sparse tensors, axis by axis: concatenation, splits, slices, reshapes, crosses, and serialized forms."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.reshaping import reshape_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import (
    SparseShapes,
    known_sizes,
    require_sparse_ranks,
    size_or_fresh,
    sparse_output,
    sparse_sizes,
)
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("SparseConcat")
def sparse_concat(c: TensorFlowContext, *inputs: Value, concat_dim: int) -> SparseShapes:
    """Sparse [*P, n, *Q], [*P, m, *Q]... -> a sparse [*P, n + m + ..., *Q]."""
    n = len(inputs) // 3
    if len(inputs) != 3 * n or not n:
        c.fail(f"requires indices, values and a shape for each tensor, not {len(inputs)} inputs")
    total: DimSize = 0
    rank: DimSize = c.fresh("rank")
    for indices, values, shape in zip(inputs[:n], inputs[n : 2 * n], inputs[2 * n :], strict=True):
        rows, length = c.with_rank(indices.shape, 2), c.with_rank(shape.shape, 1)[0]
        total = c.add(total, c.merge(rows[0], c.with_rank(values.shape, 1)[0]))
        rank = c.merge(c.merge(rank, rows[1]), length)
    sizes = [known_sizes(c, shape) for shape in inputs[2 * n :]]
    return sparse_output(c, total, rank, _concatenated_sizes(c, sizes, concat_dim))


def _concatenated_sizes(
    c: TensorFlowContext, sizes: list[list[DimSize | None] | None], axis: int
) -> list[DimSize | None] | None:
    """The dense sizes of a concatenation, None where they are unknown."""
    listed = [s for s in sizes if s is not None]
    if not listed:
        return None
    at, result = c.axis(axis, len(listed[0])), list(listed[0])
    for other in listed[1:]:
        for i, (a, b) in enumerate(zip(result, other, strict=True)):
            if i == at:
                result[i] = None if a is None or b is None else c.add(a, b)
            elif a is None or b is None:
                result[i] = b if a is None else a
            else:
                result[i] = c.merge(a, b)
    if len(listed) < len(sizes):
        result[at] = None
    return result


@tf("SparseSplit")
def sparse_split(
    c: TensorFlowContext, split_dim: Value, indices: Shape, values: Shape, shape: Value, *, num_split: int
) -> tuple[Shape | PartialTensor, ...]:
    """Axis [], a sparse [*P, n, *Q] -> sparse [*P, n / parts, *Q]...; a remainder makes the first parts longer by 1."""
    parts = c.num_outputs // 3
    if parts != num_split:
        c.fail(f"SparseSplit into {num_split} parts has {3 * num_split} outputs, not {c.num_outputs}")
    most = c.dim(c.with_rank(indices, 2), 0)
    counts = [c.fresh_at_most(most, f"nnz.{i}") for i in range(parts)]
    rank = c.num_elements(shape.shape)
    shapes = [PartialTensor("int64", shape.shape, _split_sizes(c, split_dim, shape, i, parts)) for i in range(parts)]
    return (*(c.matrix(n, rank) for n in counts), *(c.vector(n) for n in counts), *shapes)


def _split_sizes(
    c: TensorFlowContext, split_dim: PartialTensor, shape: PartialTensor, part: int, parts: int
) -> list[DimSize | None] | None:
    """The dense sizes of one part; None if those of the operand are unknown."""
    elements, axis = known_dims(shape), known_ints(split_dim)
    if elements is None or shape.shape.rank != 1:
        return None
    if not axis:
        return [None] * len(elements)
    sizes = list(elements)
    at = c.axis(axis[0], len(sizes))
    size = sizes[at]
    sizes[at] = None if size is None else (size + (parts - 1 - part)) // parts
    return sizes


@tf("SparseSlice")
def sparse_slice(
    c: TensorFlowContext, indices: Shape, values: Shape, shape: Value, start: Value, size: Value
) -> SparseShapes:
    """A sparse [*S], start [R], size [R] -> a sparse [*size], cut off at the ends of the axes."""
    count, rank = sparse_sizes(c, indices, values, shape.shape)
    for operand in (start, size):
        rank = c.merge(rank, c.with_rank(operand.shape, 1)[0])
    parts = [known_dims(operand) for operand in (shape, start, size)]
    listed = [p for p in parts if p is not None]
    sizes = [_cut(c, *item) for item in zip(*listed, strict=True)] if len(listed) == len(parts) else None
    return sparse_output(c, c.fresh_at_most(count, "nnz"), rank, sizes)


def _cut(c: TensorFlowContext, size: DimSize | None, start: DimSize | None, wanted: DimSize | None) -> DimSize | None:
    """The size of a slice along one axis, None if unknown."""
    if size is None or start is None or wanted is None or not all(c.prove_le(0, d) is True for d in (start, wanted)):
        return None
    return maximum(minimum(wanted, size - start), 0)


@tf("SparseSliceGrad")
def sparse_slice_grad(
    c: TensorFlowContext, backprop_val_grad: Shape, input_indices: Shape, input_start: Shape, output_indices: Shape
) -> Shape:
    """[*], [n, R], [R], [*, R] -> [n]: a gradient for each value of the tensor that was sliced."""
    return c.vector(c.with_rank(input_indices, 2)[0])


@tf("SparseReshape")
def sparse_reshape(
    c: TensorFlowContext, input_indices: Shape, input_shape: Value, new_shape: Value
) -> tuple[Shape, PartialTensor]:
    """[nnz, R], [R], [T] -> indices [nnz, T] and the new dense shape [T]; a size of -1 is inferred."""
    rows = c.with_rank(input_indices, 2)
    c.merge(rows[1], c.with_rank(input_shape.shape, 1)[0])
    length = c.with_rank(new_shape.shape, 1)[0]
    requested = known_dims(new_shape)
    sizes: list[DimSize] | None = None
    if requested is not None:
        old = known_sizes(c, input_shape)
        before = Shape.unknown() if old is None else Shape(c.make_dim(d) for d in old)
        sizes = list(reshape_dims(c, before, requested, zero_copies=False))
    return c.matrix(rows[0], length), PartialTensor("int64", c.vector(length), sizes)


@tf("SparseCross", "SparseCrossHashed", "SparseCrossV2")
def sparse_cross(
    c: TensorFlowContext, *inputs: Value, sparse_types: tuple[str, ...], dense_types: tuple[str, ...]
) -> SparseShapes:
    """Features of B rows -> the crosses of the features of each row, a sparse [B, *]."""
    return _cross(c, inputs, len(sparse_types), len(dense_types))


def _cross(c: TensorFlowContext, inputs: tuple[PartialTensor, ...], sparse: int, dense: int) -> SparseShapes:
    """The crosses of `sparse` sparse tensors of rank 2 and `dense` matrices, all with one row for each example."""
    if 3 * sparse + dense > len(inputs):
        c.fail(
            f"{sparse} sparse and {dense} dense features require {3 * sparse + dense} inputs or more, not {len(inputs)}"
        )
    rows: DimSize = c.fresh("batch")
    for shape in inputs[2 * sparse : 3 * sparse]:
        sizes = known_sizes(c, shape)
        if sizes and sizes[0] is not None:
            rows = c.merge(rows, sizes[0])
    for matrix in inputs[3 * sparse : 3 * sparse + dense]:
        rows = c.merge(rows, c.with_rank(matrix.shape, 2)[0])
    return sparse_output(c, c.fresh("nnz"), 2, [rows, None])


# -- serialized sparse tensors ---------------------------------------------------------------------------------------


@tf("SerializeSparse")
def serialize_sparse(c: TensorFlowContext, sparse_indices: Shape, sparse_values: Shape, sparse_shape: Shape) -> Shape:
    """A sparse tensor -> [3]: indices, values and dense shape."""
    require_sparse_ranks(c, sparse_indices, sparse_values, sparse_shape)
    return c.vector(3)


@tf("SerializeManySparse")
def serialize_many_sparse(
    c: TensorFlowContext, sparse_indices: Shape, sparse_values: Shape, sparse_shape: Value
) -> Shape:
    """A sparse [B, *S] -> [B, 3]."""
    sparse_sizes(c, sparse_indices, sparse_values, sparse_shape.shape)
    return c.matrix(size_or_fresh(c, known_sizes(c, sparse_shape), 0, "batch"), 3)


@tf("DeserializeManySparse")
def deserialize_many_sparse(c: TensorFlowContext, serialized_sparse: Shape) -> SparseShapes:
    """[B, 3] -> a sparse [B, *S]."""
    c.with_value(c.dim(c.with_rank(serialized_sparse, 2), 1), 3)
    return sparse_output(c, c.fresh("nnz"), c.fresh("rank", 2))


@tf("DeserializeSparse")
def deserialize_sparse(c: TensorFlowContext, serialized_sparse: Shape) -> SparseShapes:
    """[*B, 3] -> a sparse [*B, *S]."""
    serialized = c.with_rank_at_least(serialized_sparse, 1)
    if serialized.dims is None:
        return sparse_output(c, c.fresh("nnz"), c.fresh("rank", 0))
    c.with_value(serialized[len(serialized) - 1], 3)
    return sparse_output(c, c.fresh("nnz"), c.fresh("rank", len(serialized) - 1))


@tf("AddSparseToTensorsMap")
def add_sparse_to_tensors_map(
    c: TensorFlowContext,
    sparse_indices: Shape,
    sparse_values: Shape,
    sparse_shape: Shape,
) -> Shape:
    """A sparse tensor -> []: its handle."""
    require_sparse_ranks(c, sparse_indices, sparse_values, sparse_shape)
    return c.scalar()


@tf("AddManySparseToTensorsMap")
def add_many_sparse_to_tensors_map(
    c: TensorFlowContext,
    sparse_indices: Shape,
    sparse_values: Shape,
    sparse_shape: Value,
) -> Shape:
    """A sparse [B, *S] -> [B]: a handle for each element of the batch."""
    sparse_sizes(c, sparse_indices, sparse_values, sparse_shape.shape)
    return c.vector(size_or_fresh(c, known_sizes(c, sparse_shape), 0, "batch"))


@tf("TakeManySparseFromTensorsMap")
def take_many_sparse_from_tensors_map(c: TensorFlowContext, sparse_handles: Shape) -> SparseShapes:
    """Handles [B] -> a sparse [B, *S]."""
    c.with_rank(sparse_handles, 1)
    return sparse_output(c, c.fresh("nnz"), c.fresh("rank", 2))
