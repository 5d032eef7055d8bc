"""Matrices: diagonals, triangles, products of vectors, decompositions, systems of equations, distances."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.complex_numbers import complex_type, real_type
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import is_kind, require_kind
from opdefs.pnnx.promotion import promote
from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.contraction import matmul
from opdefs.rules.numbers import read_int, read_ints
from opdefs.rules.operands import is_unit, require_broadcast_to
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Operand

Dims = tuple[DimSize, ...]


def _promoted(*operands: TensorType) -> str | None:
    return promote(*operands, tensors_only=True)


# -- diagonals and triangles -------------------------------------------------------------------------------------------


def diagonal_shape(c: InferenceContext, x: Shape, offset: int, dim1: object, dim2: object) -> Shape:
    """[*S] -> the other axes of S, and the diagonal of two axes: the main one, above (> 0) or below it."""
    dims = x.require()
    first, second = c.axes([read_int(c, dim1, "dim1"), read_int(c, dim2, "dim2")], len(dims))
    rows, columns = dims[first] + min(offset, 0), dims[second] - max(offset, 0)
    size: DimSize = rows if rows == columns else minimum(rows, columns)
    return Shape((*(d for i, d in enumerate(dims) if i not in (first, second)), clamp_at_zero(c, size)))


@torch("aten.diagonal.default", "aten.diagonal_copy.default")
def diagonal(c: InferenceContext, self: Shape, *, offset: object = 0, dim1: object = 0, dim2: object = 1) -> TensorType:
    """[*S] -> the other axes of S, and the diagonal of two axes."""
    return TensorType(c.dtype(0), diagonal_shape(c, self, read_int(c, offset, "offset"), dim1, dim2))


@torch("aten.linalg_diagonal.default")
def diagonal_of_matrices(
    c: InferenceContext, a: Shape, *, offset: object = 0, dim1: object = -2, dim2: object = -1
) -> TensorType:
    """[*B, M, N] -> [*B, n]."""
    return diagonal(c, a, offset=offset, dim1=dim1, dim2=dim2)


@torch("aten.diag_embed.default")
def matrices_of_diagonals(
    c: InferenceContext, self: Shape, *, offset: object = 0, dim1: object = -2, dim2: object = -1
) -> TensorType:
    """[*B, n] -> square matrices at the axes `dim1` and `dim2` with these diagonals."""
    dims = self.require()
    if not dims:
        c.fail("the input must have rank 1 or more")
    first, second = c.axes([read_int(c, dim1, "dim1"), read_int(c, dim2, "dim2")], len(dims) + 1)
    size = dims[-1] + abs(read_int(c, offset, "offset"))
    result = list(dims[:-1])
    for at in sorted((first, second)):
        result.insert(at, size)
    return TensorType(c.dtype(0), Shape(result))


@torch("aten.diagflat.default")
def matrix_of_elements(c: InferenceContext, self: Shape, *, offset: object = 0) -> TensorType:
    """[*S] -> a square matrix with all elements on one diagonal."""
    size = c.numel(self.require()) + abs(read_int(c, offset, "offset"))
    return TensorType(c.dtype(0), Shape((size, size)))


@torch(*(f"aten.{name}{suffix}.default" for name in ("tril", "triu") for suffix in ("", "_")), in_place=(0,))
def triangle(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, M, N] -> [*B, M, N] with zeros above or below a diagonal."""
    _matrices(c, self)
    return TensorType(c.dtype(0), self)


@torch("aten.trace.default")
def trace(c: InferenceContext, self: Shape) -> TensorType:
    """[M, N] -> []: the sum of the diagonal, of integers in int64."""
    c.require_rank(self, 2, "the input")
    return TensorType("int64" if is_kind(c.dtype(0), "bool", "integer") else c.dtype(0), Shape(()))


def _matrices(c: InferenceContext, x: Shape, name: str = "the input") -> Dims:
    """The dims of a batch of matrices; empty where the rank is unknown."""
    if x.dims is not None and len(x.dims) < 2:
        c.fail(f"{name} must have rank 2 or more", x)
    return x.dims or ()


def _require_matrices(c: InferenceContext, x: Shape, name: str = "the input") -> Dims:
    """The dims of a batch of matrices. Raises NotKnown where the rank is unknown."""
    x.require()
    return _matrices(c, x, name)


def _square(c: InferenceContext, x: Shape, name: str = "the input") -> Dims:
    """The dims of a batch of square matrices. Raises NotKnown where the rank is unknown."""
    dims = _require_matrices(c, x, name)
    c.merge(dims[-2], dims[-1], f"{name} must be square matrices")
    return dims


def _require_numbers(c: InferenceContext) -> None:
    require_kind(c, c.dtype(0), "the matrices must have floats or complex numbers", "float", "complex")


# -- products ----------------------------------------------------------------------------------------------------------


@torch("aten.outer.default", "aten.ger.default")
def outer(c: InferenceContext, self: Operand, vec2: Operand) -> TensorType:
    """[n] x [m] -> [n, m]."""
    (n,), (m,) = (c.require_rank(x.shape, 1, name).require() for x, name in ((self, "self"), (vec2, "vec2")))
    return TensorType(_promoted(self, vec2), Shape((n, m)))


@torch("aten.dot.default", "aten.vdot.default")
def dot(c: InferenceContext, self: Shape, other: Shape) -> TensorType:
    """[n] x [n] -> []."""
    first, second = (c.require_rank(x, 1, name)[0] for x, name in ((self, "self"), (other, "other")))
    c.merge(first, second, "both vectors must have the same number of elements")
    return TensorType(c.dtype(0), Shape(()))


@torch("aten.inner.default")
def inner(c: InferenceContext, self: Shape, other: Shape) -> TensorType:
    """[*A, k] x [*B, k] -> [*A, *B]; with a scalar, a product of all elements."""
    a, b = self.require(), other.require()
    if not a or not b:
        return TensorType(c.dtype(0), Shape((*a, *b)))
    c.merge(a[-1], b[-1], "the last axes of both tensors must be equal")
    return TensorType(c.dtype(0), Shape((*a[:-1], *b[:-1])))


@torch("aten.linalg_vecdot.default")
def dot_of_axis(c: InferenceContext, x: Operand, y: Operand, *, dim: object = -1) -> TensorType:
    """[*A, k, *B] x [*A, k, *B] -> [*A, *B]; broadcasts."""
    shape = c.broadcast(x.shape, y.shape)
    axis = c.axis(read_int(c, dim, "dim"), len(shape))
    return TensorType(_promoted(x, y), Shape((*shape[:axis], *shape[axis + 1 :])))


@torch("aten.kron.default")
def kron(c: InferenceContext, self: Operand, other: Operand) -> TensorType:
    """[a, ...] x [b, ...] -> [a*b, ...], aligned at the last axis."""
    a, b = self.shape.require(), other.shape.require()
    rank = max(len(a), len(b))
    rows = ((1,) * (rank - len(dims)) + dims for dims in (a, b))
    return TensorType(_promoted(self, other), Shape(n * m for n, m in zip(*rows, strict=True)))


@torch("aten.tensordot.default")
def tensordot(c: InferenceContext, self: Shape, other: Shape, *, dims_self: object, dims_other: object) -> TensorType:
    """The product over pairs of axes: the other axes of the first tensor, then those of the second one."""
    a, b = self.require(), other.require()
    left = c.axes(read_ints(c, dims_self, "dims_self"), len(a))
    right = c.axes(read_ints(c, dims_other, "dims_other"), len(b))
    if len(left) != len(right):
        c.fail("dims_self and dims_other must have the same number of items", left, right)
    for first, second in zip(left, right, strict=True):
        if not is_unit(a[first]) and not is_unit(b[second]):
            c.merge(a[first], b[second], "contracted axes must be equal")
    rest = (d for dims, gone in ((a, left), (b, right)) for i, d in enumerate(dims) if i not in gone)
    return TensorType(c.dtype(0), Shape(rest))


@torch("aten.addmv.default", "aten.addmv_.default")
def add_vector_product(c: InferenceContext, self: Shape, mat: Shape, vec: Shape) -> TensorType:
    """An input that broadcasts to the product, [M, K] x [K] -> [M]."""
    return _add_to(c, self, matmul(c, c.require_rank(mat, 2, "mat"), c.require_rank(vec, 1, "vec")))


@torch("aten.addr.default", "aten.addr_.default")
def add_outer_product(c: InferenceContext, self: Shape, vec1: Shape, vec2: Shape) -> TensorType:
    """An input that broadcasts to the product, [n] x [m] -> [n, m]."""
    sizes = (c.require_rank(x, 1, name)[0] for x, name in ((vec1, "vec1"), (vec2, "vec2")))
    return _add_to(c, self, Shape(sizes))


@torch("aten.addbmm.default", "aten.addbmm_.default")
def add_sum_of_products(c: InferenceContext, self: Shape, batch1: Shape, batch2: Shape) -> TensorType:
    """An input that broadcasts to the sum of products, [B, M, K] x [B, K, N] -> [M, N]."""
    left, right = c.require_rank(batch1, 3, "batch1"), c.require_rank(batch2, 3, "batch2")
    c.merge(left[0], right[0], "both matrices must have the same batch size")
    c.merge(left[2], right[1], "the inner dimensions of a matrix product must be equal")
    return _add_to(c, self, Shape((left[1], right[2])))


def _add_to(c: InferenceContext, x: Shape, product: Shape) -> TensorType:
    require_broadcast_to(c, x, product, "the input must broadcast to the shape of the product")
    return TensorType(c.dtype(0), product)


@torch("aten.linalg_multi_dot.default", "aten.chain_matmul.default")
def product_of_list(c: InferenceContext, *tensors: Operand) -> TensorType:
    """[(M,) K] x [K, L] x ... -> [M, N]: the first and the last one may be vectors."""
    if not tensors:
        c.fail("at least one matrix is required")
    shape = tensors[0].shape
    for other in tensors[1:]:
        shape = matmul(c, shape, other.shape)
    return TensorType(tensors[0].dtype, shape)


# -- decompositions ----------------------------------------------------------------------------------------------------

_SAME_MATRIX = (
    *("linalg_inv", "inverse", "linalg_cholesky", "cholesky", "cholesky_inverse", "linalg_matrix_exp"),
    *("linalg_matrix_power", "matrix_power"),
)


@torch(*(f"aten.{name}.default" for name in _SAME_MATRIX))
def function_of_matrices(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, N, N] -> [*B, N, N]."""
    _require_numbers(c)
    return TensorType(c.dtype(0), Shape(_square(c, self)))


@torch("aten.linalg_inv_ex.default", "aten.linalg_cholesky_ex.default")
def function_with_info(c: InferenceContext, self: Shape) -> tuple[TensorType, TensorType]:
    """[*B, N, N] -> [*B, N, N], and whether it failed for each matrix [*B]."""
    dims = _square(c, self)
    return TensorType(c.dtype(0), Shape(dims)), TensorType("int32", Shape(dims[:-2]))


@torch("aten.linalg_det.default", "aten.det.default", "aten.logdet.default")
def determinant(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, N, N] -> [*B]."""
    _require_numbers(c)
    return TensorType(c.dtype(0), Shape(_square(c, self)[:-2]))


@torch("aten.linalg_slogdet.default", "aten.slogdet.default")
def sign_and_logarithm_of_determinant(c: InferenceContext, self: Shape) -> tuple[TensorType, TensorType]:
    """[*B, N, N] -> [*B] twice."""
    _require_numbers(c)
    batch = Shape(_square(c, self)[:-2])
    return TensorType(c.dtype(0), batch), TensorType(real_type(c.dtype(0)), batch)


@torch("aten._linalg_det.default", "aten._linalg_slogdet.default")
def determinant_with_factors(c: InferenceContext, a: Shape) -> tuple[TensorType, ...]:
    """[*B, N, N] -> the determinants [*B] (their signs and logarithms), the factors [*B, N, N], the pivots [*B, N]."""
    dims = _square(c, a)
    dtype, batch = c.dtype(0), Shape(dims[:-2])
    results = [TensorType(dtype, batch)]
    if function_name(c.op_def.name) == "_linalg_slogdet":
        results.append(TensorType(real_type(dtype), batch))
    return (*results, TensorType(dtype, Shape(dims)), TensorType("int32", Shape(dims[:-1])))


@torch("aten.linalg_eig.default")
def eigenvectors(c: InferenceContext, self: Shape) -> tuple[TensorType, TensorType]:
    """[*B, N, N] -> complex eigenvalues [*B, N] and eigenvectors [*B, N, N]."""
    _require_numbers(c)
    dims, dtype = _square(c, self), complex_type(c.dtype(0))
    return TensorType(dtype, Shape(dims[:-1])), TensorType(dtype, Shape(dims))


@torch("aten.linalg_eigvals.default", "aten._linalg_eigvals.default")
def eigenvalues(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, N, N] -> complex eigenvalues [*B, N]."""
    return eigenvectors(c, self)[0]


@torch("aten.linalg_eigh.default", "aten._linalg_eigh.default")
def eigenvectors_of_symmetric(c: InferenceContext, self: Shape) -> tuple[TensorType, TensorType]:
    """[*B, N, N] -> real eigenvalues [*B, N] and eigenvectors [*B, N, N]."""
    _require_numbers(c)
    dims = _square(c, self)
    return TensorType(real_type(c.dtype(0)), Shape(dims[:-1])), TensorType(c.dtype(0), Shape(dims))


@torch("aten.linalg_eigvalsh.default")
def eigenvalues_of_symmetric(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, N, N] -> real eigenvalues [*B, N]."""
    return eigenvectors_of_symmetric(c, self)[0]


def _sides(c: InferenceContext, x: Shape) -> tuple[Dims, DimSize, DimSize, DimSize]:
    """The batch, the rows, the columns, and the smaller of both, of matrices."""
    *batch, rows, columns = _require_matrices(c, x)
    return tuple(batch), rows, columns, rows if rows == columns else minimum(rows, columns)


@torch("aten.linalg_svd.default", "aten._linalg_svd.default")
def singular_vectors(
    c: InferenceContext, a: Shape, *, full_matrices: bool = True, compute_uv: bool = True
) -> tuple[TensorType, ...]:
    """[*B, M, N] -> [*B, M, K], [*B, K], [*B, K, N] with K = min(M, N), of full matrices [*B, M, M] and [*B, N, N]."""
    _require_numbers(c)
    batch, rows, columns, least = _sides(c, a)
    values = TensorType(real_type(c.dtype(0)), Shape((*batch, least)))
    if not compute_uv:
        return TensorType(c.dtype(0), Shape((0,))), values, TensorType(c.dtype(0), Shape((0,)))
    left, right = (rows, columns) if full_matrices else (least, least)
    return (
        TensorType(c.dtype(0), Shape((*batch, rows, left))),
        values,
        TensorType(c.dtype(0), Shape((*batch, right, columns))),
    )


@torch("aten.svd.default")
def svd(c: InferenceContext, self: Shape, *, some: bool = True, compute_uv: bool = True) -> tuple[TensorType, ...]:
    """[*B, M, N] -> [*B, M, K], [*B, K], [*B, N, K] with K = min(M, N), without `some` [*B, M, M] and [*B, N, N]."""
    _require_numbers(c)
    batch, rows, columns, least = _sides(c, self)
    left, right = (least, least) if some and compute_uv else (rows, columns)
    return (
        TensorType(c.dtype(0), Shape((*batch, rows, left))),
        TensorType(real_type(c.dtype(0)), Shape((*batch, least))),
        TensorType(c.dtype(0), Shape((*batch, columns, right))),
    )


@torch("aten.linalg_svdvals.default")
def singular_values(c: InferenceContext, a: Shape) -> TensorType:
    """[*B, M, N] -> [*B, min(M, N)]."""
    return singular_vectors(c, a)[1]


@torch("aten.linalg_qr.default")
def qr(c: InferenceContext, a: Shape, *, mode: str = "reduced") -> tuple[TensorType, TensorType]:
    """[*B, M, N] -> [*B, M, K] and [*B, K, N] with K = min(M, N); `complete`: K = M; `r`: only the second."""
    _require_numbers(c)
    if mode not in ("reduced", "complete", "r"):
        c.fail("mode must be reduced, complete or r", mode)
    batch, rows, columns, least = _sides(c, a)
    inner_size = rows if mode == "complete" else least
    first = Shape((0,)) if mode == "r" else Shape((*batch, rows, inner_size))
    return TensorType(c.dtype(0), first), TensorType(c.dtype(0), Shape((*batch, inner_size, columns)))


@torch("aten.qr.default")
def qr_of_old_name(c: InferenceContext, self: Shape, *, some: bool = True) -> tuple[TensorType, TensorType]:
    """As `linalg_qr` in the mode `reduced`, without `some` in the mode `complete`."""
    return qr(c, self, mode="reduced" if some else "complete")


@torch("aten.linalg_lu.default")
def lu(c: InferenceContext, a: Shape) -> tuple[TensorType, ...]:
    """[*B, M, N] -> [*B, M, M], [*B, M, K], [*B, K, N] with K = min(M, N)."""
    _require_numbers(c)
    batch, rows, columns, least = _sides(c, a)
    sizes = ((rows, rows), (rows, least), (least, columns))
    return tuple(TensorType(c.dtype(0), Shape((*batch, *pair))) for pair in sizes)


@torch("aten.linalg_lu_factor.default", "aten.linalg_lu_factor_ex.default")
def lu_factor(c: InferenceContext, a: Shape) -> tuple[TensorType, ...]:
    """[*B, M, N] -> [*B, M, N], the pivots [*B, min(M, N)], with `_ex` also whether it failed [*B]."""
    _require_numbers(c)
    batch, _, _, least = _sides(c, a)
    results = (TensorType(c.dtype(0), a), TensorType("int32", Shape((*batch, least))))
    with_info = function_name(c.op_def.name).endswith("_ex")
    return (*results, TensorType("int32", Shape(batch))) if with_info else results


_TOLERANCES = ("default", "rcond_tensor", "atol_rtol_float", "atol_rtol_tensor")


@torch(*(f"aten.linalg_pinv.{kind}" for kind in _TOLERANCES), "aten.pinverse.default")
def pseudo_inverse(
    c: InferenceContext,
    self: Shape,
    atol: Shape | None = None,
    rtol: Shape | None = None,
    rcond: Shape | None = None,
) -> TensorType:
    """[*B, M, N], tolerances that broadcast with [*B] -> [*B, N, M]; torch ignores the tolerances of no elements."""
    _require_numbers(c)
    batch, rows, columns, _ = _sides(c, self)
    wide = Shape(batch)
    for tolerance in (atol, rtol, rcond) if 0 not in self else ():
        wide = wide if tolerance is None else c.broadcast(wide, tolerance)
    if wide.dims is None or (wide.dims != batch and c.prove_le(1, c.numel(self)) is not True):
        raise c.unknowable("the result has the axes of the tolerances only if the matrices have elements")
    return TensorType(c.dtype(0), Shape((*wide, columns, rows)))


@torch("aten.linalg_matrix_rank.default", "aten.linalg_matrix_rank.atol_rtol_float")
def matrix_rank(c: InferenceContext, self: Shape) -> TensorType:
    """[*B, M, N] -> [*B]."""
    return TensorType("int64", Shape(_require_matrices(c, self)[:-2]))


# -- systems of equations, distances -----------------------------------------------------------------------------------


def _solution(c: InferenceContext, a: Shape, b: Shape, *, left: bool) -> Shape:
    """[*B, N, N], [*B, N, K] -> [*B, N, K]; also of vectors [*B, N] with the batch of the matrices."""
    matrices, right = _square(c, a, "A"), b.require()
    if not right:
        c.fail("B must have rank 1 or more", b)
    if _is_vector(c, matrices, right):
        if not left:
            c.fail("with left=False, B must be matrices", b)
        c.merge(right[-1], matrices[-1], "B must have as many rows as A")
        batch = c.broadcast(Shape(matrices[:-2]), Shape(right[:-1]))
        return Shape((*batch, matrices[-1]))
    c.merge(right[-2 if left else -1], matrices[-1], "B must have as many rows as A, with left=False columns")
    batch = c.broadcast(Shape(matrices[:-2]), Shape(right[:-2]))
    return Shape((*batch, *right[-2:]))


def _is_vector(c: InferenceContext, a: Sequence[DimSize], b: Sequence[DimSize]) -> bool:
    """Whether the right side of a system has one vector for each matrix, as torch decides."""
    if len(b) == 1:
        return True
    if len(b) != len(a) - 1:
        return False
    equal = [c.prove_eq(x, y) for x, y in zip(a[:-1], b, strict=True)]
    if None in equal and False not in equal:
        raise c.unknowable("it depends on sizes whether B is vectors or matrices", c.dtype(0))
    return all(equal)


@torch("aten.linalg_solve.default")
def solve(c: InferenceContext, a: Shape, b: Shape, *, left: bool = True) -> TensorType:
    """[*B, N, N], [*B, N, K] -> [*B, N, K]."""
    _require_numbers(c)
    return TensorType(c.dtype(0), _solution(c, a, b, left=left))


@torch("aten.linalg_solve_ex.default", "aten._linalg_solve_ex.default")
def solve_with_factors(c: InferenceContext, a: Shape, b: Shape, *, left: bool = True) -> tuple[TensorType, ...]:
    """The solution, of the overload with `_` in front also the factors and pivots, and whether it failed."""
    dims = _square(c, a, "A")
    solution, info = TensorType(c.dtype(0), _solution(c, a, b, left=left)), TensorType("int32", Shape(dims[:-2]))
    if not function_name(c.op_def.name).startswith("_"):
        return solution, info
    return solution, TensorType(c.dtype(0), a), TensorType("int32", Shape(dims[:-1])), info


@torch("aten.linalg_solve_triangular.default")
def solve_triangular(c: InferenceContext, self: Shape, b: Shape, *, left: bool = True) -> TensorType:
    """[*B, N, N], [*B, N, K] -> [*B, N, K]."""
    return TensorType(c.dtype(0), _solution_of_matrices(c, self, b, left=left))


def _solution_of_matrices(c: InferenceContext, a: Shape, b: Shape, *, left: bool) -> Shape:
    matrices, right = _square(c, a, "A"), _require_matrices(c, b, "B")
    c.merge(right[-2 if left else -1], matrices[-1], "B must have as many rows as A, with left=False columns")
    batch = c.broadcast(Shape(matrices[:-2]), Shape(right[:-2]))
    return Shape((*batch, *right[-2:]))


@torch("aten.triangular_solve.default")
def solve_triangular_of_old_name(c: InferenceContext, self: Shape, a: Shape) -> tuple[TensorType, TensorType]:
    """[*B, N, K], [*B, N, N] -> the solution [*B, N, K], and a copy of the matrices with the common batch."""
    solution = _solution_of_matrices(c, a, self, left=True)
    return TensorType(c.dtype(0), solution), TensorType(c.dtype(1), Shape((*solution[:-2], *a[-2:])))


@torch("aten.cholesky_solve.default")
def cholesky_solve(c: InferenceContext, self: Shape, input2: Shape) -> TensorType:
    """[*B, N, K], factors [*B, N, N] -> [*B, N, K]."""
    return TensorType(c.dtype(0), _solution_of_matrices(c, input2, self, left=True))


@torch("aten._linalg_check_errors.default")
def no_output(c: InferenceContext, info: Shape) -> tuple[()]:
    """A check of contents; without outputs."""
    return ()


@torch("aten.cdist.default", "aten._cdist_forward.default", "aten._euclidean_dist.default")
def distances(c: InferenceContext, x1: Operand, x2: Operand) -> TensorType:
    """[*A, P, M], [*B, R, M] -> [*broadcast(A, B), P, R]."""
    a, b = (_require_matrices(c, x.shape, name) for x, name in ((x1, "x1"), (x2, "x2")))
    c.merge(a[-1], b[-1], "both inputs must have the same number of columns")
    batch = c.broadcast(Shape(a[:-2]), Shape(b[:-2]))
    return TensorType(_promoted(x1, x2), Shape((*batch, a[-2], b[-2])))


@torch("aten.pdist.default")
def distances_of_rows(c: InferenceContext, self: Shape) -> TensorType:
    """[N, M] -> [N * (N - 1) / 2]."""
    rows = c.require_rank(self, 2, "the input")[0]
    return TensorType(c.dtype(0), Shape((rows * (rows - 1) // 2,)))


@torch("aten.linalg_cross.default")
def cross(c: InferenceContext, self: Shape, other: Shape, *, dim: object = -1) -> TensorType:
    """[*A, 3, *B] x [*A, 3, *B] -> [*A, 3, *B]; other axes broadcast."""
    rank = c.same_rank(self, other)
    axis = c.axis(read_int(c, dim, "dim"), rank)
    for operand in (self, other):
        c.merge(operand[axis], 3, "the axis of a cross product must have size 3")
    dims = list(c.broadcast(self, other))
    dims[axis] = 3
    return TensorType(c.dtype(0), Shape(dims))
