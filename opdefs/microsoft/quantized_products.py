"""Matrix products with quantized operands, mixtures of experts."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.contraction import gemm_shape
from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contraction import matmul
from opdefs.rules.operands import merge_optional, require_broadcast_size, require_choice, require_count, require_vector
from opdefs.rules.scales import constrain_column_scales, require_single_scale
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def project(c: InferenceContext, a: Shape, inner: DimSize, outer: DimSize) -> Shape:
    """[*S, inner] -> [*S, outer]: the product of A and a packed matrix of weights."""
    if not len(a):
        c.fail("A must have rank 1 or more", a)
    c.merge(a[-1], inner, "the last axis of A must equal K, the rows of the weights")
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
    """[*S, K], packed weights [N, blocks of K, bytes per block] -> [*S, N]."""
    if block_size < 1 or bits < 1:
        c.fail("bits and block_size must be at least 1", bits, block_size)
    blocks = ceildiv(K, block_size)
    c.merge(b, Shape((N, blocks, ceildiv(block_size * bits, 8))), "B must be [N, blocks of K, bytes per block]")
    _constrain_block_scales(c, scales, N, blocks, "scales")
    packed = c.dtype(3) == "uint8"
    _constrain_block_scales(c, zeros, N, ceildiv(blocks * bits, 8) if packed else blocks, "zero_points")
    require_vector(c, bias, N, "the bias must have N elements")
    if groups is not None:
        length = c.require_rank(groups, 1, "g_idx")[0]
        require_choice(c, length, (K, blocks * block_size), "g_idx must have one index per row of B, or per padded row")
    return project(c, a, K, N)


def _constrain_block_scales(c: InferenceContext, v: Shape | None, columns: DimSize, blocks: DimSize, name: str) -> None:
    """Require one value per block: [N, blocks] or [N * blocks]."""
    message = f"{name} must have one value per block of each column"
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
    """[*S, K], a skip [*S, K] -> [*S, N], the sum [*S, K] of input and skip."""
    a = merge_optional(c, a, skip, "A and skip must have the same shape")
    require_vector(c, scale, K, "norm_scale must have K values")
    return project(c, a, K, N), a


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
    """[*S, K], a skip [*S, K] -> [*S, Nq], [*S, Nkv] twice, the sum [*S, K] of input and skip."""
    a = merge_optional(c, a, skip, "A and skip must have the same shape")
    require_vector(c, scale, K, "norm_scale must have K values")
    kv = project(c, a, K, Nkv)
    return project(c, a, K, Nq), kv, kv, a


@onnx("MatMulNBitsQLoRA", domain=MS)
def matmul_n_bits_lora(
    c: InferenceContext,
    a: Shape,
    b: Shape,
    scales: Shape,
    down: Shape,
    down_scales: Shape,
    up: Shape,
    up_scales: Shape,
    *,
    K: int,  # noqa: N803
    N: int,  # noqa: N803
    block_size: int = 32,
    bits: int = 4,
    lora_block_size: int = 32,
    lora_bits: int = 8,
) -> Shape:
    """[*S, K], packed weights as of MatMulNBits, [R, K] and [N, R] of an adapter -> [*S, N].

    The weights of an adapter may be empty: R rows, or the blocks of R, are then 0.
    """
    result = matmul_n_bits(c, a, b, scales, K=K, N=N, block_size=block_size, bits=bits)
    if lora_block_size < 1 or lora_bits < 1:
        c.fail("lora_bits and lora_block_size must be at least 1", lora_bits, lora_block_size)
    bytes_per_block = ceildiv(lora_block_size * lora_bits, 8)
    rank = c.require_rank(down_scales, 2, "lora_A_scales")[0]
    _constrain_block_scales(c, down_scales, rank, ceildiv(K, lora_block_size), "lora_A_scales")
    _constrain_block_scales(c, up_scales, N, ceildiv(rank, lora_block_size), "lora_B_scales")
    rows = c.require_rank(down, 3, "lora_A")[0]
    require_choice(c, rows, (rank, 0), "lora_A must have one row per row of its scales, or none")
    message = "lora_A must be [rank, blocks of K, bytes per block]"
    c.merge(down, Shape((rows, ceildiv(K, lora_block_size), bytes_per_block)), message)
    blocks = c.require_rank(up, 3, "lora_B")[1]
    require_choice(c, blocks, (ceildiv(rank, lora_block_size), 0), "lora_B must have the blocks of its scales, or none")
    c.merge(up, Shape((N, blocks, bytes_per_block)), "lora_B must be [N, blocks of the rank, bytes per block]")
    return result


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
    """[*S, K] -> [*S, N]; without `transB` [*S, N] -> [*S, K]; two weights per byte."""
    if block_size < 1:
        c.fail("block_size must be at least 1", block_size)
    for v, least, name in ((b, ceildiv(K * N, 2), "B"), (absmax, ceildiv(K * N, block_size), "absmax")):
        if v.dims is not None:
            c.at_least(c.numel(v), least, f"{name} must have room for K*N weights")
    return project(c, a, K, N) if transB else project(c, a, N, K)


@onnx("MatMulFpQ4", domain=MS)
def matmul_fp_q4(c: InferenceContext, a: Shape, b: Shape, b_shape: Value, *, blk_quant_type: int = 1) -> Shape:
    """[*S, K] -> [*S, N] by a packed matrix; `B_shape` holds K and N.

    Each column has blocks of 32 weights: 16 bytes, a scale of 4, and for other types than 0 a zero point.
    """
    (packed,) = c.require_rank(b, 1, "B")
    c.merge(c.require_rank(b_shape.shape, 1, "B_shape")[0], 2, "B_shape must have 2 elements")
    rows, columns = known_dims(b_shape) or (None, None)
    rows = a[-1] if rows is None else rows
    column = ceildiv(rows, 32) * (20 if blk_quant_type == 0 else 21)
    if columns is None:
        columns = packed // column if isinstance(column, int) and column else c.fresh("columns")
    if isinstance(column, int):
        c.merge(packed, columns * column, "B must have the bytes of all blocks")
    return project(c, a, rows, columns)


@onnx("MatMulBlockQuantizedFp8Weight", domain=MS)
def matmul_fp8(
    c: InferenceContext, a: Shape, b: Shape, b_scale: Shape, a_scale: Shape | None = None, bias: Shape | None = None
) -> Shape:
    """[*S, K], [N, K] -> [*S, N]."""
    columns, inner = c.require_rank(b, 2, "B")
    require_vector(c, bias, columns, "the bias must have one value per column")
    return project(c, a, inner, columns)


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
    """[*S, K], [N, K/2] -> [*S, N]: two weights per byte."""
    columns, half = c.require_rank(b, 2, "B")
    require_vector(c, bias, columns, "the bias must have one value per column")
    return project(c, a, half * 2, columns)


@onnx("MatMulInteger16", domain=MS)
def matmul_integer16(c: InferenceContext, a: Shape, b: Shape) -> TensorType:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] in int32, of unsigned operands uint32."""
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
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] in the type of the scales."""
    result = matmul(c, a, b)
    require_single_scale(c, a_scale, a_zero, "A")
    for v, name in ((b_scale, "b_scale"), (b_zero, "b_zero_point")):
        constrain_column_scales(c, b, v, name)
    if result.dims:
        require_count(c, bias, result[-1], "the bias must have one value per column of the product")
    return result


@onnx("DynamicQuantizeMatMul", domain=MS)
def dynamic_quantize_matmul(
    c: InferenceContext, a: Shape, b: Shape, b_scale: Shape, b_zero: Shape | None = None, bias: Shape | None = None
) -> Shape:
    """[*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N] of floats and a quantized matrix."""
    return matmul_integer_to_float(c, a, b, Shape(()), b_scale, None, b_zero, bias)


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
    """[M, K] x [K, N] -> [M, N], either operand transposed, in the type of the output's zero point, else float32."""
    require_single_scale(c, a_scale, a_zero, "A")
    require_single_scale(c, y_scale, y_zero, "Y")
    c.merge(b_scale, b_zero, "scale and zero point of B must have the same shape")
    columns = c.require_rank(b, 2, "B")[0 if transB else 1]
    if b_scale.dims:
        c.require_rank(b_scale, 1, "b_scale")
        require_broadcast_size(c, b_scale.dims[0], columns, "b_scale must have exactly one element, or one per column")
    return TensorType(c.dtype(8) or "float32", gemm_shape(c, a, b, bias, transA, transB))


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
    """[*S, M, K] x [*S, K, N] -> [*S, M, N], whatever the order of the elements in memory."""
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
    x = _constrain_tokens(c, x, router)
    for layer, weights, bias in ((1, first, first_bias), (2, second, second_bias), (3, third, third_bias)):
        _constrain_layer(c, router, layer, weights, bias)
    if x.dims and first.dims and second.dims:
        for v, name in ((first, "fc1_experts_weights"), (second, "fc2_experts_weights")):
            require_choice(c, x.dims[-1], (v[1], v[2]), f"{name} must have an axis of the hidden size of the input")
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
    x = _constrain_tokens(c, x, router)
    for layer, weights, bias in ((1, first, first_bias), (2, second, second_bias)):
        _constrain_layer(c, router, layer, weights, bias)
    for bias, weights, name in ((first_bias, first, "fc1_experts_bias"), (second_bias, second, "fc2_experts_bias")):
        if bias is not None and weights.dims is not None:
            c.merge(bias[1], weights[1], f"{name} must have one value per row of the weights")
    for v, name in ((first_scales, "fc1_scales"), (second_scales, "fc2_scales")):
        if v is not None and v.dims is not None:
            if len(v.dims) not in (2, 3):
                c.fail(f"{name} must have rank 2 or 3", v)
            c.merge(v.dims[0], c.require_rank(router, 2, "router_probs")[1], f"{name} must have one entry per expert")
    return x


def _constrain_layer(c: InferenceContext, router: Shape, layer: int, weights: Shape | None, bias: Shape | None) -> None:
    """Require weights [E, *, *] and biases [E, *] of a layer (1, 2 or 3), with one entry per expert."""
    for v, rank, name in ((weights, 3, f"fc{layer}_experts_weights"), (bias, 2, f"fc{layer}_experts_bias")):
        if v is not None:
            experts = c.require_rank(router, 2, "router_probs")[1]
            c.merge(c.require_rank(v, rank, name)[0], experts, f"{name} must have one entry per expert")


def _constrain_tokens(c: InferenceContext, x: Shape, router: Shape) -> Shape:
    """The tokens; requires that `router_probs` has one row per token."""
    if x.dims is not None:
        if len(x) not in (2, 3):
            c.fail("the input must be [tokens, hidden] or [batch, sequence, hidden]", x)
        rows = c.require_rank(router, 2, "router_probs")[0]
        c.merge(rows, c.numel(x[:-1]), "router_probs must have one row per token")
    return x
