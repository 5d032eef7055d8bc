"""Matrix products of floats: fused, transposed, sparse; distances."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.cast import dtype_name
from opdefs.onnx.contraction import gemm_shape
from opdefs.rules.contraction import matmul
from opdefs.rules.operands import require_vector
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("FusedGemm", domain=MS)
def fused_gemm(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    bias: Shape | None = None,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> Shape:
    """As Gemm, and an activation."""
    return gemm_shape(c, a, b, bias, transA, transB)


def swap_axes(x: Shape, swap: int, batch: int = 0) -> Shape:
    """[*B, M, K] -> [*B, K, M] with `swap`; with `batch`, [B0, *B, M, K] -> [*B, M, B0, K] before that.

    Vectors are unchanged.
    """
    dims = x.require()
    if len(dims) < 2:
        return x
    if batch:
        dims = (*dims[1:-1], dims[0], dims[-1])
    return Shape((*dims[:-2], dims[-1], dims[-2]) if swap else dims)


@onnx("FusedMatMul", "FusedMatMulActivation", domain=MS)
def fused_matmul(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
    transBatchA: int = 0,  # noqa: N803
    transBatchB: int = 0,  # noqa: N803
) -> Shape:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] of operands that the attributes transpose first."""
    if (transBatchA or transBatchB) and c.same_rank(a, b) < 3:
        c.fail("transBatchA and transBatchB require operands of rank 3 or more", a, b)
    return matmul(c, swap_axes(a, transA, transBatchA), swap_axes(b, transB, transBatchB))


@onnx("TransposeMatMul", domain=MS)
def transpose_matmul(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> Shape:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] of operands that the attributes transpose first."""
    return fused_matmul(c, a, b, transA=transA, transB=transB)


@onnx("SparseToDenseMatMul", domain=MS)
def sparse_matmul(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> Shape:
    """[M, K] x [*B, K, N] -> [*B, M, N] of a sparse and a dense operand, either transposed."""
    return matmul(c, swap_axes(c.require_rank(a, 2, "A"), transA), swap_axes(b, transB))


@onnx("GemmFloat8", domain=MS)
def gemm_float8(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    bias: Shape | None = None,
    scale_a: Shape | None = None,
    scale_b: Shape | None = None,
    scale_y: Shape | None = None,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
    dtype: int = 1,
) -> TensorType:
    """[M, K] x [K, N] -> [M, N] in the type `dtype`, either operand transposed."""
    return TensorType(dtype_name(dtype), gemm_shape(c, a, b, bias, transA, transB))


@onnx("GemmFastGelu", domain=MS)
def gemm_fast_gelu(c: InferenceContext, x: Shape, w: Shape, bias: Shape | None = None) -> Shape:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N]; a bias [N]."""
    result = matmul(c, x, w)
    require_vector(c, bias, result[-1], "the bias must have one value per column of the product")
    return result


@onnx("CDist", domain=MS)
def pairwise_distances(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """[M, N], [K, N] -> [M, K]."""
    a, b = c.require_rank(a, 2, "A"), c.require_rank(b, 2, "B")
    c.merge(a[1], b[1], "A[1] must equal B[1]")
    return Shape((a[0], b[0]))
