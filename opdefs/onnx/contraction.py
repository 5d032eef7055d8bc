"""Matrix products."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.products import add_term, einstein_sum, matrix_product
from opdefs.rules.contraction import einsum as einsum_shape
from opdefs.rules.contraction import matmul as product
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.scales import constrain_column_scales, constrain_row_scales
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand


@onnx("MatMul")
def matmul(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N]; a vector loses its axis."""
    return matrix_product(c, a.dtype, product(c, a.shape, b.shape), a, b)


@onnx("MatMulInteger")
def matmul_integer(
    c: InferenceContext, a: Operand, b: Operand, a_zero: Shape | None = None, b_zero: Shape | None = None
) -> PartialTensor:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] in int32; contents without zero points."""
    constrain_row_scales(c, a.shape, a_zero, "a_zero_point")
    constrain_column_scales(c, b.shape, b_zero, "b_zero_point")
    shape = product(c, a.shape, b.shape)
    if a_zero is not None or b_zero is not None:
        return PartialTensor("int32", shape, None)
    return matrix_product(c, "int32", shape, a, b)


@onnx("QLinearMatMul")
def qlinear_matmul(
    c: InferenceContext,
    a: Shape,
    a_scale: Shape,
    a_zero: Shape,
    b: Shape,
    b_scale: Shape,
    b_zero: Shape,
    y_scale: Shape,
    y_zero: Shape,
) -> TensorType:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] of quantized elements."""
    result = product(c, a, b)
    for v, name in ((a_scale, "a_scale"), (a_zero, "a_zero_point")):
        constrain_row_scales(c, a, v, name)
    for v, name in ((b_scale, "b_scale"), (b_zero, "b_zero_point")):
        constrain_column_scales(c, b, v, name)
    for v, name in ((y_scale, "y_scale"), (y_zero, "y_zero_point")):
        constrain_row_scales(c, result, v, name)
    return TensorType(c.dtype(7), result)


@onnx("Einsum")
def einsum(c: InferenceContext, *operands: Operand, equation: str) -> PartialTensor:
    """The axes behind `->` in the equation, or the letters that occur once."""
    shape = einsum_shape(c, equation, [x.shape for x in operands])
    return einstein_sum(c, operands[0].dtype if operands else None, equation, shape, operands)


@onnx("Det")
def determinant(c: InferenceContext, x: Shape) -> Shape:
    """[*B, M, M] -> [*B]."""
    dims = x.require()
    if len(dims) < 2:
        c.fail("the input must have rank 2 or more", x)
    c.merge(dims[-1], dims[-2], "the matrices must be square")
    return Shape(dims[:-2])


def gemm_shape(
    c: InferenceContext, a: Shape, b: Shape, bias: Shape | None, transpose_a: int, transpose_b: int
) -> Shape:
    """[M, K] x [K, N] -> [M, N], either operand transposed; the bias broadcasts to the result."""
    a, b = c.require_rank(a, 2, "A"), c.require_rank(b, 2, "B")
    m, k = (a[1], a[0]) if transpose_a else (a[0], a[1])
    k_right, n = (b[1], b[0]) if transpose_b else (b[0], b[1])
    c.merge(k, k_right, "the inner dimensions of A and B must be equal")
    result = Shape((m, n))
    require_broadcast_to(c, bias, result, "C must broadcast to the shape of the product")
    return result


@onnx("Gemm")
def gemm(
    c: InferenceContext,
    a: Operand,
    b: Operand,
    bias: Operand | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> PartialTensor:
    """[M, K] x [K, N] -> [M, N], either operand transposed; the bias broadcasts to the result."""
    shape = gemm_shape(c, a.shape, b.shape, None if bias is None else bias.shape, transA, transB)
    if a.elements is None or alpha != 1 or (bias is not None and beta != 1):
        return PartialTensor(a.dtype, shape, None)
    product = matrix_product(c, a.dtype, shape, a, b, transpose_a=bool(transA), transpose_b=bool(transB))
    return product if bias is None else add_term(c, product, bias)
