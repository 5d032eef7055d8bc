"""Costs of ONNX Runtime's operators."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.ops import CostContext, OpCost

MS, NCHWC = "com.microsoft", "com.microsoft.nchwc"

# -- element by element ------------------------------------------------------------------------------------------------

onnx.cost(
    *("Gelu", "QuickGelu", "MulInteger", "QLinearAdd", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid"),
    *("QLinearWhere", "QOrderedGelu", "Range", "ScaledSiLU", "LinearAttentionGate", "DequantizeBFP"),
    *("DequantizeWithOrder", "QuantizeWithOrder"),
    domain=MS,
)(elements.elementwise)
onnx.cost("QuantizeBFP", "IsAllFinite", domain=MS)(elements.input_cost())
onnx.cost("BiasGelu", "BiasAdd", "SwiGLU", domain=MS)(elements.element_cost(2))
onnx.cost("QuantizeLinear", "DequantizeLinear", domain=MS)(elements.element_cost(2))
onnx.cost("ComplexMul", "ComplexMulConj", domain=MS)(elements.element_cost(3))  # six operations for two parts
onnx.cost("BiasSoftmax", domain=MS)(elements.element_cost(elements.SOFTMAX + 1))
onnx.cost("QLinearSoftmax", domain=MS)(elements.softmax)
onnx.cost(
    *("ExpandDims", "Pad", "QLinearConcat", "RelativePositionBias", "RemovePadding", "RestorePadding", "Tokenizer"),
    *("Trilu", "UnfoldTensor", "BitmaskDropout"),
    domain=MS,
)(elements.movement)
onnx.cost("ReorderInput", "ReorderOutput", domain=NCHWC)(elements.movement)
onnx.cost("GatherND", "TorchEmbedding", domain=MS)(elements.gathering())
onnx.cost("QLinearGlobalAveragePool", "QLinearReduceMean", "ReduceSumInteger", domain=MS)(elements.input_cost())
onnx.cost("GlobalAveragePool", "GlobalMaxPool", domain=NCHWC)(elements.input_cost())


@onnx.cost("FastGelu", domain=MS)
def fast_gelu(c: CostContext) -> OpCost:
    """The activation, and a bias where there is one."""
    return OpCost(operations=c.product(1 + c.has_input(1), *c.result))


@onnx.cost("BiasDropout", "BitmaskBiasDropout", domain=MS)
def bias_dropout(c: CostContext) -> OpCost:
    """In inference: a bias, and the residual where there is one."""
    return OpCost(operations=c.product(1 + c.has_input(2), *c.result))


@onnx.cost("BiasSplitGelu", domain=MS)
def bias_split_gelu(c: CostContext) -> OpCost:
    """A bias for each input, then an activation and a product for each output."""
    return OpCost(operations=c.sum(c.elements(c.input(0)), c.product(2, *c.result)))


@onnx.cost("GatedAdd", domain=MS)
def gated_add(c: CostContext) -> OpCost:
    """As other element-wise operators; weights that project to the gates are a product."""
    return OpCost(macs=c.elements(c.input(2)) if c.has_input(3) else 0, operations=c.elements(c.result))


@onnx.cost("GatherPacked", domain=MS)
def gather_packed(c: CostContext) -> OpCost:
    """A gather of packed rows whose elements are dequantized."""
    rows = c.product(c.input(0)[1], *c.input(1))
    return OpCost(operations=c.elements(c.result), partial={0: rows})


@onnx.cost("GatherBlockQuantized", domain=MS)
def gather_quantized(c: CostContext) -> OpCost:
    """A gather whose elements are dequantized."""
    count = c.elements(c.result)
    return OpCost(operations=c.product(2, count), partial={0: count})


def _kernel(c: CostContext) -> tuple[int, ...]:
    kernel = c.integers("kernel_shape")
    if not kernel:
        raise NotKnown("the attribute kernel_shape is absent")
    return kernel


onnx.cost("MaxpoolWithMask", "NhwcMaxPool", "QLinearAveragePool", domain=MS)(elements.pooling(_kernel))
onnx.cost("AveragePool", "MaxPool", domain=NCHWC)(elements.pooling(_kernel))


@onnx.cost("GridSample", domain=MS)
@onnx.cost("Upsample", domain=NCHWC)
def sample(c: CostContext) -> OpCost:
    """One multiply-accumulate for each element and each value that is interpolated along two spatial axes."""
    taps = {"linear": 2, "bilinear": 2, "bicubic": 4}.get(c.text("mode", "bilinear"), 1)
    return OpCost(macs=0 if taps == 1 else c.product(taps * taps, *c.result))


@onnx.cost("CropAndResize", domain=MS)
def crop_and_resize(c: CostContext) -> OpCost:
    """Four multiply-accumulates for each element, or a copy."""
    return OpCost(macs=c.product(4, *c.result) if c.text("mode", "bilinear") == "bilinear" else 0)


# -- normalizations ----------------------------------------------------------------------------------------------------

_VARIANCE, _SQUARES = 5, 3
"""Operations per element: of a mean and a variance, and of a mean of squares."""

onnx.cost("BranchwiseRMSNorm", domain=MS)(elements.normalization(_SQUARES, 1, None))
onnx.cost("GatedRMSNorm", domain=MS)(elements.normalization(_SQUARES + 2, 1, None))
onnx.cost("QOrderedLayerNormalization", domain=MS)(elements.normalization(_VARIANCE, 2, 3))


@onnx.cost("SkipLayerNormalization", domain=MS)
def skip_layer_normalization(c: CostContext) -> OpCost:
    """The sum with the skip and the bias, then a normalization."""
    each = 1 + c.has_input(4) + _VARIANCE + 1 + c.has_input(3)
    return OpCost(operations=c.product(each, *c.input(0)))


@onnx.cost("SkipSimplifiedLayerNormalization", domain=MS)
def skip_simplified_normalization(c: CostContext) -> OpCost:
    """The sum with the skip and the bias, then a normalization by the mean of squares."""
    return OpCost(operations=c.product(1 + c.has_input(3) + _SQUARES + 1, *c.input(0)))


@onnx.cost("GroupNorm", "SkipGroupNorm", domain=MS)
def group_norm(c: CostContext) -> OpCost:
    """A normalization with scale, shift and activation, after the sum with the skip and its bias."""
    sums = c.has_input(3) + c.has_input(4)
    return OpCost(operations=c.product(_VARIANCE + 2 + bool(c.integer("activation")) + sums, *c.input(0)))


@onnx.cost("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MS)
def embed_normalization(c: CostContext) -> OpCost:
    """The sum of two or three embeddings, then a normalization; of each table the rows are read."""
    count = c.elements(c.output(0))
    segments = c.has_input(1) and c.has_input(4)
    return OpCost(operations=c.product(1 + segments + _VARIANCE + 2, count), partial={2: count, 3: count, 4: count})


# -- products ----------------------------------------------------------------------------------------------------------

onnx.cost("MatMulInteger16", domain=MS)(products.matmul())
onnx.cost("MatMulIntegerToFloat", domain=MS)(products.matmul(0, 1, 6))
onnx.cost("QOrderedMatMul", domain=MS)(products.matmul(0, 2, 5))
onnx.cost("MatMulBlockQuantizedFp4Weight", domain=MS)(products.linear(1, 5))
onnx.cost("MatMulBlockQuantizedFp8Weight", domain=MS)(products.linear(1, 4))
onnx.cost("MatMulNBits", domain=MS)(products.linear(1, 5))
onnx.cost("MatMulBnb4", "MatMulFpQ4", domain=MS)(products.linear(1, None))
onnx.cost("MatMulPacked", domain=MS)(products.linear(1, None))
onnx.cost("GemmFloat8", domain=MS)(products.transposable_matmul("transA", "transB", 2))
onnx.cost("QGemm", domain=MS)(products.transposable_matmul("transA", "transB", 6))
onnx.cost("NhwcConv", domain=MS)(products.convolution())
onnx.cost("QLinearConv", domain=MS)(products.convolution(3, 8))
onnx.cost("ConvTransposeWithDynamicPads", domain=MS)(products.transposed_convolution(1, 3))


@onnx.cost("FusedConv", "NhwcFusedConv", domain=MS)
@onnx.cost("Conv", domain=NCHWC)
def fused_convolution(c: CostContext) -> OpCost:
    """A convolution, one more operation for an activation and one for a sum."""
    plain = products.convolution()(c)
    extra = bool(c.text("activation")) + c.has_input(3)
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, c.product(extra, *c.result)))


@onnx.cost("FusedGemm", domain=MS)
def fused_gemm(c: CostContext) -> OpCost:
    """A product, a bias and an activation."""
    plain = products.transposable_matmul("transA", "transB", 2)(c)
    activated = c.product(int(bool(c.text("activation"))), *c.result)
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, activated))


@onnx.cost("GemmFastGelu", domain=MS)
def gemm_gelu(c: CostContext) -> OpCost:
    """A product, an activation, and a bias where there is one."""
    plain = products.matmul(0, 1, 2)(c)
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, c.elements(c.result)))


@onnx.cost("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul", domain=MS)
def fused_matmul(c: CostContext) -> OpCost:
    """A product of matrices that may be transposed, alone or with their batch axes, and an activation."""
    a = c.input(0)
    depth = a[-1] if not c.integer("transA") or len(a) < 2 else a[0] if c.integer("transBatchA") else a[-2]
    return products.contraction(c, c.result, depth, bool(c.text("activation")))


@onnx.cost("DynamicQuantizeMatMul", domain=MS)
def dynamic_matmul(c: CostContext) -> OpCost:
    """The first operand is quantized (as DynamicQuantizeLinear), then the product, and a bias."""
    plain = products.matmul(0, 1, 4)(c)
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, c.product(4, *c.input(0))))


@onnx.cost("MatMulNBitsMlp", domain=MS)
def gated_products(c: CostContext) -> OpCost:
    """Two products, an activation and the product of both; a skip and a normalization before them."""
    x, y = c.input(0), c.output(0)
    before = c.has_input(1) + (_SQUARES + 1) * c.has_input(2)
    after = 2 + c.has_input(5) + c.has_input(8)
    return OpCost(macs=c.product(2, x[-1], *y), operations=c.sum(c.product(before, *x), c.product(after, *y)))


@onnx.cost("MatMulNBitsQLoRA", domain=MS)
def adapted_product(c: CostContext) -> OpCost:
    """A product, and the two products of an adapter and a sum for each output."""
    x, y, rank = c.input(0), c.result, c.input(4)[0]
    lead = c.product(*x[:-1])
    macs = c.sum(c.product(x[-1], *y), c.product(lead, x[-1], rank), c.product(rank, *y))
    return OpCost(macs=macs, operations=c.elements(y))


@onnx.cost("RouterGateUpProj", domain=MS)
def router_product(c: CostContext) -> OpCost:
    """One product, then an activation and a product for each gated output."""
    x, weights = c.input(0), c.input(1)
    return OpCost(macs=c.product(*x, weights[1]), operations=c.product(2, *c.output(1)))


@onnx.cost("MatMulNBitsQkv", domain=MS)
def qkv_products(c: CostContext) -> OpCost:
    """Three products, their biases; a skip and a normalization before them."""
    x = c.input(0)
    outputs = [c.elements(c.output(index)) for index in range(3)]
    biases = [outputs[index] for index, bias in enumerate((5, 8, 11)) if c.has_input(bias)]
    before = c.has_input(1) + (_SQUARES + 1) * c.has_input(2)
    return OpCost(macs=c.product(x[-1], c.sum(*outputs)), operations=c.sum(c.product(before, *x), *biases))


@onnx.cost("CDist", domain=MS)
def distances(c: CostContext) -> OpCost:
    """A difference and a multiply-accumulate for each pair of values."""
    pairs = c.product(c.input(0)[-1], *c.result)
    return OpCost(macs=pairs, operations=pairs)


@onnx.cost("Inverse", domain=MS)
def inverse(c: CostContext) -> OpCost:
    """`n**3` multiply-accumulates per matrix."""
    return layers.factorization(c, 3)


def _experts(c: CostContext, weights: tuple[int, ...], packing: int) -> OpCost:
    """`k` experts per token: the products of their layers, and an activation."""
    x = c.input(0)
    tokens = c.product(*x[:-1], c.integer("k", 1))
    layer_sizes = [c.product(packing, *c.input(index)[1:]) for index in weights if c.has_input(index)]
    inner = c.product(packing, *c.input(weights[1])[1:]) if c.has_input(weights[1]) else 0
    width = x[-1]
    hidden = inner // width if isinstance(width, int) and width else 0
    return OpCost(macs=c.product(tokens, c.sum(*layer_sizes)), operations=c.product(tokens, hidden))


@onnx.cost("MoEPacked", domain=MS)
def packed_mixture(c: CostContext) -> OpCost:
    """`k` experts per token: two or three products of [H] and [I], and an activation; weights are packed."""
    x = c.input(0)
    inner = c.product(*x[:-1], c.integer("k", 1), c.input(2)[1])
    return OpCost(macs=c.product(2 + c.has_input(3), inner, x[-1]), operations=inner)


@onnx.cost("MoE", domain=MS)
def mixture(c: CostContext) -> OpCost:
    """See `_experts`; the weights of all experts are read."""
    return _experts(c, (2, 4, 6), 1)


@onnx.cost("QMoE", domain=MS)
def quantized_mixture(c: CostContext) -> OpCost:
    """See `_experts`; several weights are packed into a byte."""
    return _experts(c, (2, 5, 8), max(8 // max(c.integer("expert_weight_bits", 4), 1), 1))


# -- layers ------------------------------------------------------------------------------------------------------------

onnx.cost("RotaryEmbedding", "MRotaryEmbedding", domain=MS)(layers.rotary)


@onnx.cost("GemmaRotaryEmbedding", domain=MS)
def gemma_rotary(c: CostContext) -> OpCost:
    """The sine and the cosine of each angle, then two products and a sum for each element of both outputs."""
    angles, rotated = c.elements(c.input(0)), c.sum(c.elements(c.output(0)), c.elements(c.output(1)))
    return OpCost(operations=c.sum(c.product(2, angles), c.product(3, rotated)))


@onnx.cost("DynamicQuantizeLSTM", domain=MS)
def dynamic_lstm(c: CostContext) -> OpCost:
    """As LSTM."""
    x, directions = c.input(0), 2 if c.text("direction") == "bidirectional" else 1
    biases = 2 if c.has_input(3) else 0
    return layers.recurrent(c, "LSTM", x[0], x[1], x[2], c.integer("hidden_size"), biases, directions)


@onnx.cost("Rfft", domain=MS)
def real_fourier(c: CostContext) -> OpCost:
    """A transform for each row."""
    x = c.input(0)
    return layers.transform(c, c.product(*x[:-1]), x[-1], real=True)


@onnx.cost("Irfft", domain=MS)
def inverse_real_fourier(c: CostContext) -> OpCost:
    """A transform for each row of the output."""
    y = c.result
    return layers.transform(c, c.product(*y[:-1]), y[-1], real=True)


@onnx.cost("CausalConvWithState", domain=MS)
def causal_convolution(c: CostContext) -> OpCost:
    """One kernel per channel, a bias, an activation."""
    y = c.output(0)
    operations = c.has_input(2) + (c.text("activation", "none") not in ("", "none"))
    return OpCost(macs=c.product(*y, *c.input(1)[1:]), operations=c.product(operations, *y))


onnx.cost("LinearAttention", domain=MS)(layers.linear_attention)


def _heads(c: CostContext) -> int:
    heads = c.integer("num_heads")
    if heads < 1:
        raise NotKnown("the number of heads is not known")
    return heads


def _self_attention(c: CostContext, mask: int, past: int) -> OpCost:
    """[B, S, I] by weights [I, Q + K + V] with a bias, then attention; the past is [2, B, heads, P, D]."""
    x, weights, y = c.input(0), c.input(1), c.output(0)
    if c.integer("past_present_share_buffer"):
        raise NotKnown("the length of the past depends on data")
    heads = _heads(c)
    projected = c.product(x[0], x[1], weights[1])
    sizes = c.integers("qkv_hidden_sizes")
    depth: DimSize = sizes[0] // heads if sizes else y[2] // heads
    keys = c.sum(x[1], c.input(past)[3] if c.has_input(past) else 0)
    masks = c.has_input(mask) + c.integer("unidirectional")
    dense = layers.attention(c, c.product(x[0], heads), x[1], keys, depth, y[2] // heads, masks)
    return OpCost(
        macs=c.sum(c.product(projected, x[2]), dense.macs),
        operations=c.sum(dense.operations, projected if c.has_input(2) else 0),
    )


@onnx.cost("Attention", domain=MS)
def attention(c: CostContext) -> OpCost:
    """See `_self_attention`; the bias of the scores is one more operation per score."""
    plain = _self_attention(c, 3, 4)
    if not c.has_input(5):
        return plain
    x = c.input(0)
    keys = c.sum(x[1], c.input(4)[3] if c.has_input(4) else 0)
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, c.product(x[0], _heads(c), x[1], keys)))


@onnx.cost("QAttention", domain=MS)
def quantized_attention(c: CostContext) -> OpCost:
    """See `_self_attention`."""
    return _self_attention(c, 5, 8)


@onnx.cost("MultiHeadAttention", domain=MS)
def multi_head_attention(c: CostContext) -> OpCost:
    """Queries [B, S, H], or [B, S, heads, 3, D] with keys and values; keys [B, T, H], [B, heads, T, D], or packed."""
    if c.integer("past_present_share_buffer") or c.has_input(8):
        raise NotKnown("the length of the past depends on data")
    q, y, heads = c.input(0), c.output(0), _heads(c)
    keys: DimSize = q[1]
    if c.has_input(1):
        k = c.input(1)
        keys = k[2] if len(k) == 4 else k[1]
    if c.has_input(6):
        keys = c.sum(keys, c.input(6)[2])
    masks = c.has_input(4) + c.has_input(5) + c.integer("unidirectional")
    depth = q[4] if len(q) == 5 else q[2] // heads
    dense = layers.attention(c, c.product(q[0], heads), q[1], keys, depth, y[2] // heads, masks)
    if not c.has_input(3):
        return dense
    inputs = [c.elements(c.input(index)) for index in range(3) if c.has_input(index)]
    return OpCost(macs=dense.macs, operations=c.sum(dense.operations, *inputs))


@onnx.cost("GroupQueryAttention", domain=MS)
def grouped_attention(c: CostContext) -> OpCost:
    """[B, S, H]; the returned cache has the length of all keys, or of its buffer."""
    q, y, heads = c.input(0), c.output(0), _heads(c)
    if c.has_output(1):
        keys: DimSize = c.output(1)[2]
    elif c.has_input(1):
        keys = c.sum(c.input(1)[1], c.input(3)[2] if c.has_input(3) else 0)
    else:
        raise NotKnown("the length of the keys is not known")
    depth = y[2] // heads
    softcap = c.attribute("softcap", 0.0)
    dense = layers.attention(c, c.product(q[0], heads), q[1], keys, depth, depth, 1 + c.has_input(10) + bool(softcap))
    if not c.integer("do_rotary"):
        return dense
    turned = c.product(3, q[0], q[1], heads + c.integer("kv_num_heads", heads), depth)
    return OpCost(macs=dense.macs, operations=c.sum(dense.operations, turned))


for _reason, _names in {
    "the lengths of the sequences depend on data": (
        *("DecoderAttention", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention", "PackedAttention"),
        *("PackedMultiHeadAttention", "PagedAttention", "GatedDeltaNet", "VarlenCausalConvWithState"),
        *("VarlenNGramHashMapping", "ConvStateReplay", "GatedDeltaNetStateReplay", "SpeculativePrefixCommit"),
    ),
    "which scores are computed depends on data": (
        *("DynamicSparseAttention", "LongformerAttention", "QOrderedLongformerAttention", "SparseAttention"),
        *("SparsePagedAttention", "PackedSparseAttentionIndexer", "SparseAttentionIndexer", "SparseToDenseMatMul"),
        "PackedSparseAttentionIndexerMerge",
    ),
    "the number of steps depends on data": ("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"),
    "the number of comparisons depends on data": (
        *("BifurcationDetector", "DynamicTimeWarping", "NGramRepeatBlock", "Unique"),
    ),
    "it stands for code of a device": ("EPContext", "Snpe"),
    "no formula is published for it": (
        *("AttnLSTM", "EngramGate", "GatedRelativePositionBias", "HyperConnectionPostMix", "HyperConnectionPreMix"),
        *("HyperConnectionLowRankMix", "Mamba2Verify", "MoEGroupRouter", "RMSNormRotary"),
        *("MurmurHash3", "NGramHashMapping", "QOrderedAttention", "SampleOp", "WordConvEmbedding"),
    ),
}.items():
    onnx.cost(*_names, domain=MS)(elements.exclusion(_reason))
