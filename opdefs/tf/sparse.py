"""Sparse tensors, value by value: arithmetic, order, products and sums with dense tensors, reductions, empty rows."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor
from opdefs.rules.contents.elements import is_listable, known_ints
from opdefs.rules.gathering import scatter_tuples
from opdefs.rules.repetition import broadcast_elements
from opdefs.tf.common import shape_of_rank
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
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("SparseAdd")
def sparse_add(
    c: TensorFlowContext,
    a_indices: Shape,
    a_values: Shape,
    a_shape: Value,
    b_indices: Shape,
    b_values: Shape,
    b_shape: Value,
    thresh: Shape,
) -> SparseShapes:
    """Sparse [*S], [*S], thresh [] -> a sparse [*S] with at most the values of both: small sums are omitted."""
    count, rank = sparse_sizes(c, a_indices, a_values, a_shape.shape)
    count_b, rank_b = sparse_sizes(c, b_indices, b_values, b_shape.shape)
    rank = c.merge(rank, rank_b)
    sizes = known_sizes(c, a_shape)
    return sparse_output(c, c.fresh_at_most(count + count_b, "nnz"), rank, sizes)


@tf("SparseAddGrad")
def sparse_add_grad(
    c: TensorFlowContext, backprop_val_grad: Shape, a_indices: Shape, b_indices: Shape, sum_indices: Shape
) -> tuple[Shape, Shape]:
    """[*], [A, R], [B, R], [*, R] -> [A], [B]: a gradient for each value of either operand."""
    return c.vector(c.with_rank(a_indices, 2)[0]), c.vector(c.with_rank(b_indices, 2)[0])


@tf("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_extreme(
    c: TensorFlowContext,
    a_indices: Shape,
    a_values: Shape,
    a_shape: Shape,
    b_indices: Shape,
    b_values: Shape,
    b_shape: Shape,
) -> tuple[Shape, Shape]:
    """Sparse [*S], [*S] -> indices [nnz, R] and values [nnz] of a sparse [*S] with at most the values of both."""
    count, rank = sparse_sizes(c, a_indices, a_values, a_shape)
    count_b, rank_b = sparse_sizes(c, b_indices, b_values, b_shape)
    merged = c.fresh_at_most(count + count_b, "nnz")
    return c.matrix(merged, c.merge(rank, rank_b)), c.vector(merged)


@tf("SparseReorder")
def sparse_reorder(
    c: TensorFlowContext, input_indices: Shape, input_values: Shape, input_shape: Shape
) -> tuple[Shape, Shape]:
    """A sparse tensor -> its indices [nnz, R] and values [nnz] in row-major order."""
    count, rank = sparse_sizes(c, input_indices, input_values, input_shape)
    return c.matrix(count, rank), c.vector(count)


@tf("SparseSoftmax")
def sparse_softmax(c: TensorFlowContext, sp_indices: Shape, sp_values: Shape, sp_shape: Shape) -> Shape:
    """A sparse tensor -> [nnz]."""
    return c.vector(sparse_sizes(c, sp_indices, sp_values, sp_shape)[0])


@tf("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul")
def sparse_dense_arithmetic(
    c: TensorFlowContext, sp_indices: Shape, sp_values: Shape, sp_shape: Shape, dense: Shape
) -> Shape:
    """A sparse tensor, a dense one that broadcasts to it -> [nnz]."""
    return c.vector(sparse_sizes(c, sp_indices, sp_values, sp_shape)[0])


@tf("SparseTensorDenseAdd")
def sparse_tensor_dense_add(c: TensorFlowContext, a_indices: Shape, a_values: Shape, a_shape: Value, b: Shape) -> Shape:
    """A sparse [*S], [*S] -> [*S]."""
    sparse_sizes(c, a_indices, a_values, a_shape.shape)
    dense = c.make_shape_from_shape_tensor(2)
    return b if dense.dims is None else c.merge(b, dense)


@tf("SparseTensorDenseMatMul")
def sparse_tensor_dense_matmul(
    c: TensorFlowContext,
    a_indices: Shape,
    a_values: Shape,
    a_shape: Value,
    b: Shape,
    *,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Shape:
    """A sparse [M, K], [K, N] -> [M, N], for operands that may be adjoint."""
    require_sparse_ranks(c, a_indices, a_values, a_shape.shape)
    rows, inner = shape_of_rank(c, 2, 2)
    depth, columns = c.with_rank(b, 2)
    if adjoint_a:
        rows, inner = inner, rows
    if adjoint_b:
        depth, columns = columns, depth
    c.merge(inner, depth)
    return c.matrix(rows, columns)


@tf("SparseToDense")
def sparse_to_dense(
    c: TensorFlowContext,
    sparse_indices: Value,
    output_shape: Value,
    sparse_values: Value,
    default_value: Value,
) -> PartialTensor:
    """Indices, [R], values, [] -> the shape in `output_shape`: the values at the indices, the default elsewhere."""
    shape = c.make_shape_from_shape_tensor(1)
    fill = default_value.elements[0] if default_value.elements and default_value.shape.dims == () else None
    default = constant_tensor(sparse_values.dtype, shape, fill)
    indices, rank = sparse_indices.shape.dims, len(shape.dims or ())
    if indices is None or len(indices) > 2 or not is_listable(sparse_indices.shape) or not rank:
        return PartialTensor(sparse_values.dtype, shape, None)
    count = int(indices[0]) if indices else 1
    if (indices[1] if len(indices) == 2 else 1) != rank or default.elements is None:
        return PartialTensor(sparse_values.dtype, shape, None)
    tuples = PartialTensor(sparse_indices.dtype, Shape((count, rank)), sparse_indices.elements)
    sizes = [d for d in shape if isinstance(d, int)]
    numbers = known_ints(tuples)
    if numbers is None or any(not 0 <= n < sizes[i % rank] for i, n in enumerate(numbers)):
        return PartialTensor(sparse_values.dtype, shape, None)
    return scatter_tuples(default, tuples, broadcast_elements(sparse_values, Shape((count,))))


def _reduced_sizes(c: TensorFlowContext, dense: Shape, axes: PartialTensor, keep_dims: bool) -> list[DimSize] | None:
    """The remaining sizes, None where they are unknown. An axis may be listed twice; an empty list keeps all axes."""
    known = known_ints(axes)
    if dense.dims is None:
        return None
    if known is None:
        return [c.fresh(f"reduce.{axis}") for axis in range(len(dense.dims))] if keep_dims else None
    reduced = {c.axis(axis, len(dense.dims)) for axis in known}
    if keep_dims:
        return [1 if axis in reduced else d for axis, d in enumerate(dense.dims)]
    return [d for axis, d in enumerate(dense.dims) if axis not in reduced]


@tf("SparseReduceMax", "SparseReduceSum")
def sparse_reduce(
    c: TensorFlowContext,
    input_indices: Shape,
    input_values: Shape,
    input_shape: Value,
    reduction_axes: Value,
    *,
    keep_dims: bool = False,
) -> Shape:
    """A sparse [*P, n, *Q], axes -> [*P, *Q], or [*P, 1, *Q] with `keep_dims`."""
    sparse_sizes(c, input_indices, input_values, input_shape.shape)
    sizes = _reduced_sizes(c, c.make_shape_from_shape_tensor(2), reduction_axes, keep_dims)
    if sizes is None:
        raise c.unknowable("the reduced axes or the rank of the sparse tensor are unknown")
    return Shape(sizes)


@tf("SparseReduceMaxSparse", "SparseReduceSumSparse")
def sparse_reduce_to_sparse(
    c: TensorFlowContext,
    input_indices: Shape,
    input_values: Shape,
    input_shape: Value,
    reduction_axes: Value,
    *,
    keep_dims: bool = False,
) -> SparseShapes:
    """As SparseReduceSum, with a sparse result of at most as many values as the operand."""
    count, _ = sparse_sizes(c, input_indices, input_values, input_shape.shape)
    sizes = _reduced_sizes(c, c.make_shape_from_shape_tensor(2), reduction_axes, keep_dims)
    rank = c.fresh("rank") if sizes is None else len(sizes)
    return sparse_output(c, c.fresh_at_most(count, "nnz"), rank, sizes)


@tf("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Value, default_value: Shape
) -> tuple[Shape, Shape, Shape, Shape]:
    """Indices [n, R], values [n], [R], [] -> indices [m, R], values [m], whether each row was empty [rows], [n].

    Each empty row gets a value, so `m <= n + rows`; the last output is the new index of each old value.
    """
    count, rank = sparse_sizes(c, indices, values, dense_shape.shape)
    c.with_rank(default_value, 0)
    rows = size_or_fresh(c, known_sizes(c, dense_shape), 0, "rows")
    filled = filled_count(c, count, rows)
    return c.matrix(filled, rank), c.vector(filled), c.vector(rows), c.vector(count)


def filled_count(c: TensorFlowContext, count: DimSize, rows: DimSize) -> DimSize:
    """The number of values after each empty row gets one."""
    if count == 0:
        return rows
    low = max(c.interval(count).lo or 0, c.interval(rows).lo or 0)
    return c.fresh_at_most(count + rows, "nnz", low)


@tf("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad")
def fill_empty_rows_grad(c: TensorFlowContext, reverse_index_map: Shape, grad_values: Shape) -> tuple[Shape, Shape]:
    """[n], [m] -> a gradient [n] for each value before rows were filled, and one [] for the default value."""
    c.with_rank(grad_values, 1)
    return c.with_rank(reverse_index_map, 1), c.scalar()
