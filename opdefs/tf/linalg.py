"""Decompositions of matrices and solvers, with leading axes B."""

from __future__ import annotations

from opdefs.tf.broadcasting import broadcast
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape


def square_matrices(c: TensorFlowContext, x: Shape) -> tuple[Shape, DimSize]:
    """[*B, M, M] -> the shape [*B] and the size M."""
    x = c.with_rank_at_least(x, 2)
    size = c.merge(c.dim(x, -2), c.dim(x, -1))
    return c.subshape(x, 0, -2), size


def _matrices(c: TensorFlowContext, lead: Shape, rows: DimSize, columns: DimSize) -> Shape:
    """The shape [*lead, rows, columns]."""
    return c.concatenate(lead, c.matrix(rows, columns))


@tf(
    *("BatchCholesky", "Cholesky", "MatrixExponential", "MatrixLogarithm", "MatrixSquareRoot", "RiscCholesky"),
    *("BatchMatrixInverse", "MatrixInverse"),
)
def matrix_function(c: TensorFlowContext, input: Shape) -> Shape:
    """[*B, M, M] -> [*B, M, M]."""
    lead, size = square_matrices(c, input)
    return _matrices(c, lead, size, size)


@tf("BatchCholeskyGrad", "CholeskyGrad")
def cholesky_gradient(c: TensorFlowContext, l: Shape, grad: Shape) -> Shape:  # noqa: E741
    """[*B, M, M], [*B, M, M] -> [*B, M, M]."""
    lead, size = square_matrices(c, l)
    shape = _matrices(c, lead, size, size)
    c.expect(shape, grad, "the gradient must have the shape of the factor")
    return shape


@tf("BatchMatrixDeterminant", "MatrixDeterminant")
def determinant(c: TensorFlowContext, input: Shape) -> Shape:
    """[*B, M, M] -> [*B]."""
    x = c.with_rank_at_least(input, 2)
    c.merge(c.dim(x, -1), c.dim(x, -2))
    return c.subshape(x, 0, -2)


@tf("LogMatrixDeterminant")
def log_determinant(c: TensorFlowContext, input: Shape) -> tuple[Shape, Shape]:
    """[*B, M, M] -> the sign [*B] and the logarithm [*B]."""
    lead = square_matrices(c, input)[0]
    return lead, lead


# -- solvers -----------------------------------------------------------------------------------------------------------


@tf("BatchMatrixSolve", "MatrixSolve")
def solve(c: TensorFlowContext, matrix: Shape, rhs: Shape) -> Shape:
    """[*B, M, M], [*B, M, K] -> [*B, M, K]."""
    lead, size = square_matrices(c, matrix)
    rhs = c.with_rank_at_least(rhs, 2)
    lead = c.merge(lead, c.subshape(rhs, 0, -2))
    rows = c.merge(c.dim(rhs, -2), size)
    return _matrices(c, c.store.canon_shape(lead), rows, c.dim(rhs, -1))


@tf("BatchMatrixSolveLs", "MatrixSolveLs")
def solve_least_squares(c: TensorFlowContext, matrix: Shape, rhs: Shape, l2_regularizer: Shape) -> Shape:
    """[*B, M, N], [*B, M, K] -> [*B, N, K]."""
    c.with_rank(l2_regularizer, 0)
    matrix, rhs = c.with_rank_at_least(matrix, 2), c.with_rank_at_least(rhs, 2)
    lead = c.merge(c.subshape(matrix, 0, -2), c.subshape(rhs, 0, -2))
    c.merge(c.dim(matrix, -2), c.dim(rhs, -2))
    return _matrices(c, c.store.canon_shape(lead), c.dim(matrix, -1), c.dim(rhs, -1))


@tf("BatchMatrixTriangularSolve", "MatrixTriangularSolve", "RiscTriangularSolve")
def triangular_solve(c: TensorFlowContext, matrix: Shape, rhs: Shape) -> Shape:
    """[*A, M, M], [*B, M, K] -> [*broadcast(A, B), M, K]."""
    lead, size = square_matrices(c, matrix)
    rhs = c.with_rank_at_least(rhs, 2)
    lead = broadcast(c, lead, c.subshape(rhs, 0, -2))
    return _matrices(c, lead, c.merge(c.dim(rhs, -2), size), c.dim(rhs, -1))


@tf("BandedTriangularSolve")
def banded_triangular_solve(c: TensorFlowContext, matrix: Shape, rhs: Shape) -> Shape:
    """[*A, bands, M], [*B, M, K] -> [*broadcast(A, B), M, K]."""
    matrix, rhs = c.with_rank_at_least(matrix, 2), c.with_rank_at_least(rhs, 2)
    lead = broadcast(c, c.subshape(matrix, 0, -2), c.subshape(rhs, 0, -2))
    return _matrices(c, lead, c.merge(c.dim(matrix, -1), c.dim(rhs, -2)), c.dim(rhs, -1))


@tf("TridiagonalMatMul")
def tridiagonal_matmul(c: TensorFlowContext, superdiag: Shape, maindiag: Shape, subdiag: Shape, rhs: Shape) -> Shape:
    """Three diagonals [*B, 1, M], [*B, M, K] -> [*B, M, K]."""
    diagonals = [c.with_rank_at_least(s, 2) for s in (superdiag, maindiag, subdiag)]
    rhs = c.with_rank_at_least(rhs, 2)
    lead = c.subshape(rhs, 0, -2)
    for diagonal in diagonals:
        c.merge(c.subshape(diagonal, 0, -2), lead)
    merged = c.merge(c.merge(diagonals[0], diagonals[1]), diagonals[2])
    c.with_value(c.dim(merged, -2), 1)
    c.merge(c.dim(merged, -1), c.dim(rhs, -2))
    return rhs


@tf("TridiagonalSolve")
def tridiagonal_solve(c: TensorFlowContext, diagonals: Shape, rhs: Shape) -> Shape:
    """[*B, 3, M], [*B, M, K] -> [*B, M, K]."""
    diagonals, rhs = c.with_rank_at_least(diagonals, 2), c.with_rank_at_least(rhs, 2)
    c.merge(c.subshape(diagonals, 0, -2), c.subshape(rhs, 0, -2))
    c.with_value(c.dim(diagonals, -2), 3)
    c.merge(c.dim(diagonals, -1), c.dim(rhs, -2))
    return rhs


# -- decompositions ----------------------------------------------------------------------------------------------------


@tf("BatchSelfAdjointEig", "SelfAdjointEig")
def eigenvalues_above_vectors(c: TensorFlowContext, input: Shape) -> Shape:
    """[*B, M, M] -> [*B, M + 1, M]: a row of eigenvalues above the eigenvectors."""
    lead, size = square_matrices(c, input)
    return _matrices(c, lead, c.add(size, 1), size)


@tf("BatchSelfAdjointEigV2", "Eig", "SelfAdjointEigV2")
def eigenvalues(c: TensorFlowContext, input: Shape, *, compute_v: bool = True) -> tuple[Shape, Shape]:
    """[*B, M, M] -> the eigenvalues [*B, M] and the eigenvectors [*B, M, M].

    Without `compute_v`, the kernel returns a scalar for the vectors; TensorFlow's shape function returns [0].
    """
    lead, size = square_matrices(c, input)
    vectors = _matrices(c, lead, size, size) if compute_v else c.scalar()
    return c.concatenate(lead, c.vector(size)), vectors


@tf("Lu")
def lu(c: TensorFlowContext, input: Shape) -> tuple[Shape, Shape]:
    """[*B, M, M] -> both factors in one [*B, M, M], and the permutation [*B, M]."""
    lead, size = square_matrices(c, input)
    return _matrices(c, lead, size, size), c.concatenate(lead, c.vector(size))


@tf("Qr")
def qr(c: TensorFlowContext, input: Shape, *, full_matrices: bool = False) -> tuple[Shape, Shape]:
    """[*B, M, N] -> [*B, M, P] and [*B, P, N], with P = min(M, N), or M for full matrices."""
    x = c.with_rank_at_least(input, 2)
    rows, columns, lead = c.dim(x, -2), c.dim(x, -1), c.subshape(x, 0, -2)
    inner = rows if full_matrices else c.min(rows, columns)
    return _matrices(c, lead, rows, inner), _matrices(c, lead, inner, columns)


@tf("BatchSvd", "Svd")
def svd(
    c: TensorFlowContext, input: Shape, *, compute_uv: bool = True, full_matrices: bool = False
) -> tuple[Shape, Shape, Shape]:
    """[*B, M, N] -> [*B, P], [*B, M, P] and [*B, N, P], with P = min(M, N); full matrices are square.

    Without `compute_uv`, the kernel returns scalars for the matrices; TensorFlow's shape function returns [0].
    """
    x = c.with_rank_at_least(input, 2)
    rows, columns, lead = c.dim(x, -2), c.dim(x, -1), c.subshape(x, 0, -2)
    inner = c.min(rows, columns)
    values = c.concatenate(lead, c.vector(inner))
    if not compute_uv:
        return values, c.scalar(), c.scalar()
    u = _matrices(c, lead, rows, rows if full_matrices else inner)
    return values, u, _matrices(c, lead, columns, columns if full_matrices else inner)
