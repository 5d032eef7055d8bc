"""Matrix products with quantized operands."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.contraction import gemm
from opdefs.rules.contraction import matmul
from opdefs.rules.elements import known_dims
from opdefs.rules.operands import either, equal, holds, one_or, vector
from opdefs.rules.quantization import one_scale, tell_column_scales
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def projected(c: InferenceContext, a: Shape, inner: Dim, outer: Dim) -> Shape:
    """[*S, inner] -> [*S, outer]: a product with a weight matrix whose sizes are known otherwise."""
    if not len(a):
        c.fail("a matrix product needs operands of rank 1 or more", a)
    c.merge(a[-1], inner, "the last axis of A must equal the input size of the weights")
    return Shape((*a[:-1], outer))


@onnx("MatMulNBits", domain=MS)
def matmul_n_bits(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    scales: Shape,
    zeros: Shape | None = None,
    groups: Shape | None = None,
    bias: Shape | None = None,
    *,
    K: int,  # noqa: N803
    N: int,  # noqa: N803
    block_size: int,
    bits: int = 4,
) -> Shape:
    """[*S, K] -> [*S, N]; the weights are packed, [N, blocks of K, bytes of a block]."""
    if block_size < 1 or bits < 1:
        c.fail("bits and block_size must be at least 1", bits, block_size)
    blocks = ceildiv(K, block_size)
    c.merge(b, Shape((N, blocks, ceildiv(block_size * bits, 8))), "B must be [N, blocks of K, bytes of a block]")
    _tell_blocks(c, scales, N, blocks, "scales")
    packed = c.dtype(3) == "uint8"
    _tell_blocks(c, zeros, N, ceildiv(blocks * bits, 8) if packed else blocks, "zero_points")
    vector(c, bias, N, "the bias must hold N values")
    return projected(c, a, K, N)


def _tell_blocks(c: InferenceContext, v: Shape | None, columns: int, blocks: Dim, what: str) -> None:
    """One value a block: [N, blocks], or [N * blocks]."""
    message = f"{what} must hold one value a block of each column"
    if v is not None and v.rank == 1:
        c.merge(v[0], columns * blocks, message)
    elif v is not None and v.dims is not None:
        c.merge(v, Shape((columns, blocks)), message)


@onnx("MatMulNBitsMlp", domain=MS)
def matmul_n_bits_mlp(
    c: InferenceContext,
    a: Shape,
    skip: Shape | None,
    scale: Shape | None,
    *weights: Shape | None,
    K: int,  # noqa: N803
    N: int,  # noqa: N803
) -> tuple[Shape, Shape]:
    """[*S, K] -> [*S, N], and the sum [*S, K] of input and skip."""
    a = equal(c, a, skip, "A and skip must be of equal shape")
    vector(c, scale, K, "norm_scale must hold K values")
    return projected(c, a, K, N), a


@onnx("MatMulNBitsQkv", domain=MS)
def matmul_n_bits_qkv(
    c: InferenceContext,
    a: Shape,
    skip: Shape | None,
    scale: Shape,
    *weights: Shape | None,
    K: int,  # noqa: N803
    Nq: int,  # noqa: N803
    Nkv: int,  # noqa: N803
) -> tuple[Shape, Shape, Shape, Shape]:
    """[*S, K] -> [*S, Nq], [*S, Nkv] twice, and the sum [*S, K] of input and skip."""
    a = equal(c, a, skip, "A and skip must be of equal shape")
    vector(c, scale, K, "norm_scale must hold K values")
    kv = projected(c, a, K, Nkv)
    return projected(c, a, K, Nq), kv, kv, a


@onnx("MatMulBnb4", domain=MS)
def matmul_bnb4(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    absmax: Shape,
    *,
    K: int,  # noqa: N803
    N: int,  # noqa: N803
    block_size: int,
    transB: int = 1,  # noqa: N803
) -> Shape:
    """[*S, K] -> [*S, N]; without `transB` [*S, N] -> [*S, K]; two weights a byte."""
    if block_size < 1:
        c.fail("block_size must be at least 1", block_size)
    for v, least, name in ((b, ceildiv(K * N, 2), "B"), (absmax, ceildiv(K * N, block_size), "absmax")):
        if v.dims is not None:
            c.at_least(c.numel(v), least, f"{name} must have room for K*N weights")
    return projected(c, a, K, N) if transB else projected(c, a, N, K)


@onnx("MatMulFpQ4", domain=MS)
def matmul_fp_q4(c: InferenceContext, a: Shape, b: Shape, b_shape: Value) -> Shape:
    """Numpy's matmul with a matrix of which only the shape is told, by the contents of `B_shape`."""
    c.require_rank(b, 1, "B")
    c.merge(c.require_rank(b_shape.shape, 1, "B_shape")[0], 2, "B_shape must hold 2 values")
    inner, outer = known_dims(b_shape) or (None, None)
    return projected(c, a, a[-1] if inner is None else inner, c.fresh("columns") if outer is None else outer)


@onnx("MatMulBlockQuantizedFp8Weight", domain=MS)
def matmul_fp8(
    c: InferenceContext, a: Shape, b: Shape, b_scale: Shape, a_scale: Shape | None = None, bias: Shape | None = None
) -> Shape:
    """[*S, K], [N, K] -> [*S, N]."""
    columns, inner = c.require_rank(b, 2, "B")
    vector(c, bias, columns, "the bias must hold one value a column")
    return projected(c, a, inner, columns)


@onnx("MatMulBlockQuantizedFp4Weight", domain=MS)
def matmul_fp4(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    scale: Shape,
    global_scale: Shape,
    input_scale: Shape | None = None,
    bias: Shape | None = None,
) -> Shape:
    """[*S, K], [N, K/2] -> [*S, N]: two weights a byte."""
    columns, half = c.require_rank(b, 2, "B")
    vector(c, bias, columns, "the bias must hold one value a column")
    return projected(c, a, half * 2, columns)


@onnx("MatMulInteger16", domain=MS)
def matmul_integer16(c: InferenceContext, a: Shape, b: Shape) -> TensorType:
    """Numpy's matmul, summed in 32 bits: signed for signed operands, unsigned for unsigned ones."""
    wide = {("int16", "int16"): "int32", ("uint16", "uint16"): "uint32"}.get((c.dtype(0) or "", c.dtype(1) or ""))
    return TensorType(wide, matmul(c, a, b))


@onnx("MatMulIntegerToFloat", domain=MS)
def matmul_integer_to_float(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    a_scale: Shape,
    b_scale: Shape,
    a_zero: Shape | None = None,
    b_zero: Shape | None = None,
    bias: Shape | None = None,
) -> Shape:
    """Numpy's matmul, in the type of the scales."""
    result = matmul(c, a, b)
    one_scale(c, a_scale, a_zero, "A")
    for v, name in ((b_scale, "b_scale"), (b_zero, "b_zero_point")):
        tell_column_scales(c, b, v, name)
    if result.dims:
        holds(c, bias, result[-1], "the bias must be as long as the last axis of the product")
    return result


@onnx("DynamicQuantizeMatMul", domain=MS)
def dynamic_quantize_matmul(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    b_scale: Shape,
    b_zero: Shape | None = None,
    bias: Shape | None = None,
) -> Shape:
    """Numpy's matmul of floats with a quantized matrix."""
    one = Shape(())
    return matmul_integer_to_float(c, a, b, one, b_scale, None, b_zero, bias)


@onnx("QGemm", domain=MS)
def quantized_gemm(
    c: InferenceContext,
    a: Shape,
    a_scale: Shape,
    a_zero: Shape,
    b: Shape,
    b_scale: Shape,
    b_zero: Shape,
    bias: Shape | None = None,
    y_scale: Shape | None = None,
    y_zero: Shape | None = None,
    *,
    transA: int = 0,  # noqa: N803
    transB: int = 0,  # noqa: N803
) -> TensorType:
    """[M, K] x [K, N] -> [M, N], either operand transposed; float32 without a zero point of the output."""
    one_scale(c, a_scale, a_zero, "A")
    one_scale(c, y_scale, y_zero, "Y")
    c.merge(b_scale, b_zero, "scale and zero point of B must be of equal shape")
    columns = c.require_rank(b, 2, "B")[0 if transB else 1]
    if b_scale.dims:
        c.require_rank(b_scale, 1, "b_scale")
        one_or(c, b_scale.dims[0], columns, "b_scale must be one value, or one a column")
    return TensorType(c.dtype(8) or "float32", gemm(c, a, b, bias, transA=transA, transB=transB))


@onnx("QOrderedMatMul", domain=MS)
def ordered_matmul(
    c: InferenceContext,
    a: Shape,
    a_scale: Shape,
    b: Shape,
    b_scale: Shape,
    y_scale: Shape,
    bias: Shape | None = None,
    addend: Shape | None = None,
    addend_scale: Shape | None = None,
) -> Shape:
    """[*S, M, K] x [*S, K, N] -> [*S, M, N]: how the elements are ordered does not show in the shapes."""
    return matmul(c, a, b)


@onnx("MoE", domain=MS)
def mixture_of_experts(
    c: InferenceContext,
    x: Shape,
    router: Shape,
    first: Shape,
    first_bias: Shape | None,
    second: Shape,
    second_bias: Shape | None = None,
    third: Shape | None = None,
    third_bias: Shape | None = None,
) -> Shape:
    """[T, H] or [B, S, H] tokens, [T, E] or [B*S, E] scores of the experts -> the shape of the tokens.

    Weights are [E, I, H] (or [E, 2*I, H] with a gate), [E, H, I] and [E, I, H], or older ones with both axes swapped.
    """
    x = _routed(c, x, router)
    for v, rank, name in (
        (first, 3, "fc1_experts_weights"),
        (first_bias, 2, "fc1_experts_bias"),
        (second, 3, "fc2_experts_weights"),
        (second_bias, 2, "fc2_experts_bias"),
        (third, 3, "fc3_experts_weights"),
        (third_bias, 2, "fc3_experts_bias"),
    ):
        _tell_experts(c, router, v, rank, name)
    if x.dims and first.dims and second.dims:
        for v, name in ((first, "fc1_experts_weights"), (second, "fc2_experts_weights")):
            either(c, x.dims[-1], (v[1], v[2]), f"{name} must be for the hidden size of the input")
    return x


@onnx("QMoE", domain=MS)
def quantized_mixture_of_experts(
    c: InferenceContext,
    x: Shape,
    router: Shape,
    first: Shape,
    first_scales: Shape | None,
    first_bias: Shape | None,
    second: Shape,
    second_scales: Shape | None,
    second_bias: Shape | None = None,
    *others: Shape | None,
) -> Shape:
    """[T, H] or [B, S, H] tokens, [T, E] or [B*S, E] scores of the experts -> the shape of the tokens."""
    x = _routed(c, x, router)
    for v, rank, name in (
        (first, 3, "fc1_experts_weights"),
        (first_bias, 2, "fc1_experts_bias"),
        (second, 3, "fc2_experts_weights"),
        (second_bias, 2, "fc2_experts_bias"),
    ):
        _tell_experts(c, router, v, rank, name)
    for bias, weights, name in ((first_bias, first, "fc1_experts_bias"), (second_bias, second, "fc2_experts_bias")):
        if bias is not None and weights.dims is not None:
            c.merge(bias[1], weights[1], f"{name} must hold one value a row of the weights")
    for v, name in ((first_scales, "fc1_scales"), (second_scales, "fc2_scales")):
        if v is not None and v.dims is not None:
            if len(v.dims) not in (2, 3):
                c.fail(f"{name} must be of rank 2 or 3", v)
            c.merge(v.dims[0], c.require_rank(router, 2, "router_probs")[1], f"{name} must hold those of each expert")
    return x


def _tell_experts(c: InferenceContext, router: Shape, v: Shape | None, rank: int, name: str) -> None:
    """Tell that an operand holds something of each expert."""
    if v is not None:
        experts = c.require_rank(router, 2, "router_probs")[1]
        c.merge(c.require_rank(v, rank, name)[0], experts, f"{name} must hold those of each expert")


def _routed(c: InferenceContext, x: Shape, router: Shape) -> Shape:
    """The tokens, each with a row of scores."""
    if x.dims is not None:
        if len(x) not in (2, 3):
            c.fail("the input must be [tokens, hidden] or [batch, sequence, hidden]", x)
        rows = c.require_rank(router, 2, "router_probs")[0]
        c.merge(rows, c.numel(x[:-1]), "router_probs must have one row a token")
    return x
