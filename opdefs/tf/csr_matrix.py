"""Matrices in compressed sparse row form (CSR): scalars of variants with the type of the dense matrix behind them.

All are [M, N], or [B, M, N] for a batch.
"""

from __future__ import annotations

from opdefs.rules.operands import prove_unit
from opdefs.tf.common import broadcast_binary_op_output_shape, require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.contraction import product
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import sparse_sizes
from shapeinf.lattice import HandleType, Shape, TensorType
from shapeinf.ops import Value


def matrix_behind(c: TensorFlowContext, handle: TensorType, name: str, least: int = 2) -> TensorType:
    """The type of the dense matrix behind a handle, of rank `least` to 3.

    Raises NotKnown where the handle is unknown, as for an argument of a function.
    """
    c.with_rank(handle.shape, 0)
    values = handle.values if isinstance(handle, HandleType) else None
    if values is None or len(values) != 1:
        raise c.unknowable(f"the shape of the sparse matrix {name!r} is unknown")
    shape = c.with_rank_at_most(c.with_rank_at_least(values[0].shape, least), 3)
    if shape.dims is None:
        c.fail(f"{name} has an unknown rank.")
    return TensorType(values[0].dtype, shape)


def handle_of(dtype: str | None, shape: Shape) -> HandleType:
    """The handle of a sparse matrix with this element type and dense shape."""
    return HandleType("variant", Shape(()), (TensorType(dtype, shape),))


def _matrix_shape(c: TensorFlowContext, shape: Shape) -> Shape:
    """The shape. Raises ShapeError unless its rank is 2 or 3."""
    if shape.rank not in (2, 3):
        rank = -1 if shape.rank is None else shape.rank
        c.fail(f"Invalid rank: {rank}.  Expected a known rank of either 2 or 3.")
    return shape


@tf("SparseTensorToCSRSparseMatrix")
def sparse_tensor_to_csr(c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Value) -> HandleType:
    """A sparse [*B, M, N] -> a CSR [*B, M, N]; the rank may follow from the indices."""
    rank = c.concrete(c.with_rank(indices, 2)[1])
    shape = c.make_shape_from_shape_tensor(2)
    shape = _matrix_shape(c, shape if rank is None else c.with_rank(shape, rank))
    sparse_sizes(c, indices, values, dense_shape.shape)
    return handle_of(c.attr("T"), shape)


@tf("CSRSparseMatrixToSparseTensor")
def csr_to_sparse_tensor(c: TensorFlowContext, sparse_matrix: TensorType) -> tuple[Shape, Shape, Shape]:
    """A CSR [*B, M, N] -> its sparse form: indices [nnz, R], values [nnz] and the dense shape [R]."""
    shape = matrix_behind(c, sparse_matrix, "sparse_matrix", 0).shape
    count = c.fresh_at_most(c.numel(shape), "nnz")
    return c.matrix(count, len(shape)), c.vector(count), c.vector(len(shape))


@tf("DenseToCSRSparseMatrix")
def dense_to_csr(c: TensorFlowContext, dense_input: Shape, indices: Shape) -> HandleType:
    """[*B, M, N], indices [nnz, R] -> a CSR [*B, M, N]."""
    dense = c.store.canon_shape(dense_input)
    if dense.rank not in (2, 3):
        rank = -1 if dense.rank is None else dense.rank
        c.fail(f"Invalid rank of dense: {rank}.  Expected a known rank of either 2 or 3.")
    columns = c.with_rank(indices, 2)[1]
    if isinstance(columns, int) and columns != len(dense):
        c.fail(f"indices.shape[1] must match rank of dense; saw: {columns} vs. {len(dense)}")
    c.merge(columns, len(dense))
    return handle_of(c.attr("T"), dense)


@tf("CSRSparseMatrixToDense")
def csr_to_dense(c: TensorFlowContext, sparse_input: TensorType) -> Shape:
    """A CSR [*B, M, N] -> [*B, M, N]."""
    return matrix_behind(c, sparse_input, "sparse_matrix", 0).shape


@tf("CSRSparseMatrixComponents")
def csr_components(c: TensorFlowContext, csr_sparse_matrix: TensorType, index: Shape) -> tuple[Shape, Shape, Shape]:
    """A CSR [*B, M, N], index [] -> row starts [M + 1], columns [nnz] and values [nnz] of one matrix."""
    shape = matrix_behind(c, csr_sparse_matrix, "csr_sparse_matrix").shape
    if index.rank != 0:
        c.fail("index must be a scalar.")
    rows, columns = shape[len(shape) - 2], shape[len(shape) - 1]
    count = c.fresh_at_most(c.multiply(rows, columns), "nnz")
    return c.vector(c.add(rows, 1)), c.vector(count), c.vector(count)


@tf("SparseMatrixNNZ")
def csr_count(c: TensorFlowContext, sparse_matrix: TensorType) -> Shape:
    """A CSR [*B, M, N] -> [*B]: the number of values of each matrix."""
    shape = matrix_behind(c, sparse_matrix, "sparse_matrix").shape
    return Shape(shape[:-2])


def _is_transposed(c: TensorFlowContext, side: str, transpose: bool, adjoint: bool) -> bool:
    """Whether an operand is transposed. Raises ShapeError if it is both transposed and adjoint."""
    if adjoint and transpose:
        c.fail(f"Only one of adjoint_{side} and transpose_{side} may be true.")
    return transpose or adjoint


@tf("SparseMatrixMatMul", "_MklNativeSparseMatrixMatMul")
def csr_matmul(
    c: TensorFlowContext,
    a: TensorType,
    b: Shape,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    transpose_output: bool = False,
) -> Shape:
    """A CSR [*B, M, K], [*B, K, N] -> [*B, M, N]; each may be transposed on request."""
    left = matrix_behind(c, a, "a").shape
    right = c.with_rank_at_most(c.with_rank_at_least(b, 2), 3)
    swap_a = _is_transposed(c, "a", transpose_a, adjoint_a)
    swap_b = _is_transposed(c, "b", transpose_b, adjoint_b)
    right = c.with_rank(right, len(left))
    batch = c.merge(Shape(left[:-2]), Shape(right[:-2]))
    rows, columns = product(c, left, right, swap_a, swap_b)
    return Shape((*batch, columns, rows) if transpose_output else (*batch, rows, columns))


@tf("SparseMatrixSparseMatMul")
def csr_product(
    c: TensorFlowContext,
    a: TensorType,
    b: TensorType,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> HandleType:
    """CSR [*A, M, K] and [*B, K, N] -> a CSR [*broadcast(A, B), M, N]."""
    left, right = matrix_behind(c, a, "a"), matrix_behind(c, b, "b")
    swap_a = _is_transposed(c, "a", transpose_a, adjoint_a)
    swap_b = _is_transposed(c, "b", transpose_b, adjoint_b)
    batch = broadcast_binary_op_output_shape(c, Shape(left.shape[:-2]), Shape(right.shape[:-2]))
    rows, columns = product(c, left.shape, right.shape, swap_a, swap_b)
    return handle_of(right.dtype, Shape((*batch, rows, columns)))


@tf("SparseMatrixMul")
def csr_scaling(c: TensorFlowContext, a: TensorType, b: Shape) -> HandleType:
    """A CSR [*B, M, N], [] or [B, 1, 1] -> a CSR [*B, M, N]: all matrices, or each times its own factor."""
    matrix, factor = matrix_behind(c, a, "a", 0), c.with_rank_at_most(b, 3)
    if factor.dims is None:
        c.fail("b has an unknown rank.")
    if len(factor) == 0:
        return handle_of(matrix.dtype, matrix.shape)
    if len(factor) != 3 or any(prove_unit(c, d) is False for d in factor[1:]):
        c.fail("b must be a scalar or shaped [batch_size, 1, 1]", factor)
    if len(matrix.shape) != 3:
        c.fail("rank of b is 3 but rank of a is not.", matrix.shape)
    c.merge(factor[1], 1)
    c.merge(factor[2], 1)
    return handle_of(matrix.dtype, c.replace_dim(matrix.shape, 0, c.merge(matrix.shape[0], factor[0])))


@tf("SparseMatrixAdd")
def csr_sum(c: TensorFlowContext, a: TensorType, b: TensorType, alpha: Shape, beta: Shape) -> HandleType:
    """CSR [*B, M, N], [*B, M, N], alpha [], beta [] -> a CSR [*B, M, N]."""
    require_scalars(c, alpha, beta)
    left, right = matrix_behind(c, a, "a"), matrix_behind(c, b, "b")
    return handle_of(right.dtype, c.merge(left.shape, right.shape))


@tf("SparseMatrixZeros")
def csr_zeros(c: TensorFlowContext, dense_shape: Value) -> HandleType:
    """Dense shape [R] -> a CSR of that shape without values."""
    return handle_of(c.attr("type"), _matrix_shape(c, c.make_shape_from_shape_tensor(0)))


@tf("SparseMatrixTranspose")
def csr_transpose(c: TensorFlowContext, input: TensorType) -> HandleType:
    """A CSR [*B, M, N] -> a CSR [*B, N, M]."""
    matrix = matrix_behind(c, input, "input")
    *batch, rows, columns = matrix.shape
    return handle_of(matrix.dtype, Shape((*batch, columns, rows)))


@tf("SparseMatrixSoftmax")
def csr_softmax(c: TensorFlowContext, logits: TensorType) -> HandleType:
    """A CSR [*B, M, N] -> a CSR [*B, M, N]."""
    matrix = matrix_behind(c, logits, "logits")
    return handle_of(matrix.dtype, matrix.shape)


@tf("SparseMatrixSoftmaxGrad")
def csr_softmax_grad(c: TensorFlowContext, softmax: TensorType, grad_softmax: TensorType) -> HandleType:
    """CSR [*B, M, N], [*B, M, N] -> a CSR [*B, M, N]."""
    matrix, gradient = matrix_behind(c, softmax, "softmax"), matrix_behind(c, grad_softmax, "grad_softmax")
    return handle_of(gradient.dtype, c.merge(matrix.shape, gradient.shape))


def _square(c: TensorFlowContext, handle: TensorType) -> TensorType:
    """The type of square matrices behind a handle."""
    matrix = matrix_behind(c, handle, "Sparse matrix")
    size = c.merge(matrix.shape[-2:][0], matrix.shape[-1:][0])
    return TensorType(matrix.dtype, Shape((*matrix.shape[:-2], size, size)))


@tf("SparseMatrixOrderingAMD")
def csr_ordering(c: TensorFlowContext, input: TensorType) -> Shape:
    """A CSR [*B, N, N] -> [*B, N]: a permutation of the rows of each matrix."""
    return Shape(_square(c, input).shape[:-1])


@tf("SparseMatrixSparseCholesky")
def csr_cholesky(c: TensorFlowContext, input: TensorType, permutation: Shape) -> HandleType:
    """A CSR [*B, N, N], permutations [*B, N] -> a CSR [*B, N, N]."""
    matrix = _square(c, input)
    order = c.with_rank_at_most(c.with_rank_at_least(permutation, 1), 2)
    if order.dims is None:
        c.fail("permutation has an unknown rank.")
    c.merge(Shape(matrix.shape[:-1]), order)
    return handle_of(matrix.dtype, matrix.shape)
