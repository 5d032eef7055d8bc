"""Costs of NNEF's operations, and of tract's."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.ops import CostContext, OpCost

# -- element by element ------------------------------------------------------------------------------------------------

nnef.cost(
    *("abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan", "atanh", "ceil", "clamp", "cos", "cosh", "div"),
    *("elu", "eq", "exp", "floor", "ge", "gelu", "gt", "le", "leaky_relu", "log", "log2", "lt", "max", "min", "mul"),
    *("ne", "neg", "not", "or", "pow", "prelu", "rcp", "recip", "relu", "round", "rsqr", "rsqrt", "select", "selu"),
    *("sigmoid", "sign", "silu", "sin", "sinh", "softabs", "softplus", "sqr", "sqrt", "square", "sub", "tan", "tanh"),
    *(f"tract_core_{name}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "bitnot", "cosh", "erf")),
    *(f"tract_core_{name}" for name in ("gelu_approximate", "hard_swish", "round_even", "silu", "sinh", "tan")),
    *(f"tract_core_{name}" for name in ("bitand", "bitor", "bitxor", "xor", "cumsum", "gelu_approx", "pow_const")),
    *(f"tract_core_{name}" for name in ("is_inf", "is_nan", "range")),
    *("tract_transformers_gelu_approximate", "tract_transformers_silu", "tract_transformers_gelu_approx"),
    *("tract_shl", "tract_shr", "tract_pulse_cumsum", "tract_onnx_isinf", "tract_onnx_is_nan", "tract_onnx_random"),
)(elements.elementwise)
nnef.cost("add_n")(elements.operand_cost)
nnef.cost("batch_normalization")(elements.element_cost(2))
nnef.cost(
    *("binary_quantize", "ternary_quantize", "linear_quantize", "min_max_linear_quantize", "logarithmic_quantize"),
    "zero_point_linear_quantize",
)(elements.element_cost(2))
nnef.cost("tract_core_clamped_swiglu")(elements.element_cost(2))
nnef.cost("softmax", "tract_core_softmax", "tract_core_log_softmax")(elements.softmax)
nnef.cost("tract_transformers_scaled_masked_softmax")(elements.element_cost(elements.SOFTMAX + 2))
nnef.cost(
    *("copy_n", "concat", "pad", "split", "stack", "tile", "unstack", "cast", "transpose", "nearest_downsample"),
    *("nearest_upsample", "desample", "idn", "sample", "quantized_by", "update"),
    *("tract_core_broadcast", "tract_core_cast"),
    *("tract_core_force_eval", "tract_core_load", "tract_core_store", "tract_core_downsample", "tract_core_one_hot"),
    *("tract_core_trilu", "tract_core_complex_to_inner_dim", "tract_core_inner_dim_to_complex", "tract_pulse_delay"),
    *("tract_pulse_mask", "tract_pulse_pulse_pad", "tract_scan_chunk", "tract_scan_state", "tract_scan_next"),
    *("tract_core_scatter_elements", "tract_core_scatter_nd", "tract_transformers_dyn_kv_cache"),
    *("tract_transformers_quantized_dyn_kv_cache", "extent_of_text"),
)(elements.movement)
nnef.cost("external", "variable", "constant", "tract_resource_get", "shape_of_axis", "tract_core_shape_of")(
    elements.shape_query
)
nnef.cost(
    *("gather", "slice", "tract_core_gather", "tract_core_gather_elements", "tract_core_gather_nd"),
    "tract_core_dyn_slice",
)(elements.gathering())
nnef.cost("tract_onnx_ml_direct_lookup")(elements.gathering(1))
nnef.cost("tract_scan_last", "tract_scan_full")(
    elements.exclusion("it stands for all calls of a fragment; its operations are counted for one call")
)

# -- reductions, normalizations, pooling -------------------------------------------------------------------------------

nnef.cost(
    *("all_reduce", "any_reduce", "argmax_reduce", "argmin_reduce", "max_reduce", "mean_reduce", "min_reduce"),
    *("sum_reduce", "tract_core_argmax_reduce_last", "tract_core_argmin_reduce_last", "tract_core_product_reduce"),
    *("tract_core_topk", "tract_onnx_non_zero", "tract_onnx_multinomial", "area_downsample"),
)(elements.input_cost())
nnef.cost("moments")(elements.input_cost(4))
nnef.cost("l1_normalization", "l2_normalization")(elements.element_cost(3))
nnef.cost("layer_normalization")(elements.normalization(7, None, None))
nnef.cost("tract_core_rms_norm", "tract_transformers_rms_norm")(elements.normalization(3, None, None))
nnef.cost("tract_core_scaled_rms_norm")(elements.normalization(3, 1, None))
nnef.cost("tract_extra_exp_mean_norm", "tract_extra_exp_unit_norm")(elements.element_cost(5))


def _window(c: CostContext) -> DimSize:
    sizes = c.integers("size")
    if not sizes:
        raise NotKnown("the size of the window is not known")
    return c.product(*sizes)


nnef.cost("avg_pool", "argmax_pool", "box", "max_pool", "max_pool_with_index")(
    elements.pooling(lambda c: (_window(c),))
)
nnef.cost("rms_pool")(elements.pooling(lambda c: (_window(c),), 2))


@nnef.cost("debox")
def debox(c: CostContext) -> OpCost:
    """One sum for each element of the window of each input."""
    return OpCost(operations=c.product(_window(c), *c.input(0)))


@nnef.cost(
    *("local_response_normalization", "local_mean_normalization", "local_variance_normalization"),
    *("local_contrast_normalization", "divisive_normalization"),
)
def local_normalization(c: CostContext) -> OpCost:
    """A square and a sum over the window for each element, then a product, a sum, a power and a division."""
    return OpCost(operations=c.product(c.sum(_window(c), 5), *c.input(0)))


@nnef.cost("tract_onnx_lrn")
def tract_local_response(c: CostContext) -> OpCost:
    """As `local_response_normalization`."""
    return OpCost(operations=c.product(c.integer("size") + 5, *c.input(0)))


# -- products ----------------------------------------------------------------------------------------------------------


def _bias(c: CostContext, index: int) -> bool:
    """Whether there is a bias; the scalar 0.0 stands for none."""
    return c.has_input(index) and len(c.input(index)) > 0


@nnef.cost("matmul")
def matmul(c: CostContext) -> OpCost:
    """A product of matrices that may be transposed."""
    a = c.input(0)
    return products.contraction(c, c.result, a[-2] if c.attribute("transposeA", False) else a[-1])


@nnef.cost("linear")
def linear(c: CostContext) -> OpCost:
    """[N, K] by a filter [M, K], and a bias."""
    return products.contraction(c, c.result, c.input(0)[-1], _bias(c, 2))


@nnef.cost("conv", "planewise_conv", "tract_core_qconv")
def convolution(c: CostContext) -> OpCost:
    """A filter [K, C/groups, *W]."""
    return products.contraction(c, c.result, c.product(*c.input(1)[1:]), _bias(c, 2))


@nnef.cost("deconv", "planewise_deconv")
def deconvolution(c: CostContext) -> OpCost:
    """A filter [C, K/groups, *W] for each element of the input; tract writes [K, C/groups, *W]."""
    x, w = c.input(0), c.input(1)
    biased = c.elements(c.result) if _bias(c, 2) else 0
    if c.version != TRACT:
        return OpCost(macs=c.product(*x, *w[1:]), operations=biased)
    return OpCost(macs=c.product(x[0], *x[2:], *w), operations=biased)


@nnef.cost("separable_conv")
def separable_convolution(c: CostContext) -> OpCost:
    """The windows of each plane of the input, then the products of all planes."""
    y, planes, points = c.result, c.input(1), c.input(2)
    macs = c.sum(c.product(y[0], planes[0], *planes[2:], *y[2:]), c.product(*y, points[1]))
    return OpCost(macs=macs, operations=c.elements(y) if _bias(c, 3) else 0)


@nnef.cost("separable_deconv")
def separable_deconvolution(c: CostContext) -> OpCost:
    """The products of all planes, then the windows of each."""
    x, planes, points = c.input(0), c.input(1), c.input(2)
    macs = c.sum(c.product(*x, points[1]), c.product(x[0], *x[2:], planes[0], *planes[2:]))
    return OpCost(macs=macs, operations=c.elements(c.result) if _bias(c, 3) else 0)


def _tract_product(c: CostContext) -> OpCost:
    axes = c.integers("axes")
    a = c.input(0)
    if len(axes) < 2 or not -len(a) <= axes[1] < len(a):
        raise NotKnown("the axes of the product are not known")
    return products.contraction(c, c.result, a[axes[1]], _bias(c, 2))


nnef.cost("tract_core_matmul", "tract_core_qmatmul")(_tract_product)


@nnef.cost("tract_core_einsum")
def einsum(c: CostContext) -> OpCost:
    """All indices at once."""
    return products.einsum(c.text("expr"), [c.input(index) for index in range(len(c.types))], c)


@nnef.cost("tract_core_einsum_q")
def quantized_einsum(c: CostContext) -> OpCost:
    """The first two operands of the expression; bias and quantization parameters come first among the inputs."""
    inputs, _, output = c.text("expr").partition("->")
    own = [c.input(index) for index in range(7, len(c.types))]
    return products.einsum(f"{','.join(inputs.split(',')[: len(own)])}->{output}", own, c)


# -- layers ------------------------------------------------------------------------------------------------------------


@nnef.cost("tract_core_gru_epilogue")
def gru_epilogue(c: CostContext) -> OpCost:
    """The gates of a cell and its state; the sums of both products are three more."""
    return OpCost(operations=c.product(layers.CELLS["GRU"][1] + 3, *c.result))


@nnef.cost("tract_core_lstm_epilogue")
def lstm_epilogue(c: CostContext) -> OpCost:
    """The gates of a cell and its states."""
    return OpCost(operations=c.product(layers.CELLS["LSTM"][1], *c.result))


@nnef.cost("tract_core_gru_seq")
def gru_sequence(c: CostContext) -> OpCost:
    """[B, T, in] by w [3 * hidden, in] and r [3 * hidden, hidden]."""
    x = c.input(0)
    return layers.recurrent(c, "GRU", x[1], x[0], x[2], c.integer("hidden"), int(_bias(c, 3)))


@nnef.cost("tract_transformers_sdpa")
def attention(c: CostContext) -> OpCost:
    """[B, (Hq,) S, D], [B, (H,) T, D], [B, (H,) T, Dv]."""
    q, k, y = c.input(0), c.input(1), c.result
    masks = _bias(c, 3) + bool(c.attribute("is_causal", False))
    return layers.attention(c, c.product(*q[:-2]), q[-2], k[-2], q[-1], y[-1], masks)


nnef.cost("tract_transformers_quantized_kv_sdpa", "tract_transformers_window_kv_sdpa")(
    elements.exclusion("the cached keys and values are not in the document")
)
nnef.cost("tract_transformers_apply_rope")(layers.rotary)


@nnef.cost("tract_transformers_gdn_recurrent", "tract_qwen35_gdn_recurrent")
def gated_delta(c: CostContext) -> OpCost:
    """Values [B, S, H, W] step by step with a state [W, W] per head: a correction, an update, a query, a decay."""
    state = c.product(*c.input(2), c.input(2)[-1])
    return OpCost(macs=c.product(3, state), operations=state)


@nnef.cost("tract_transformers_causal_conv1d_update", "tract_qwen35_causal_conv1d_update")
def causal_convolution(c: CostContext) -> OpCost:
    """[B, C, S] with one kernel per channel."""
    return OpCost(macs=c.product(*c.output(0), c.input(1)[-1]))


@nnef.cost("tract_moe_ffn")
def experts(c: CostContext) -> OpCost:
    """Tokens [*B, D]: the scores of all E experts, then the products of k of them, and an activation."""
    x, scores = c.input(0), c.input(1)
    tokens, width = c.product(*x[:-1]), x[-1]
    sizes = [c.product(*c.input(index)[1:]) for index in (2, 3, 4) if c.has_input(index)]
    chosen = c.integer("k", 1)
    hidden = sizes[0] // width if isinstance(width, int) and width else 0
    return OpCost(
        macs=c.product(tokens, c.sum(c.elements(scores), c.product(chosen, c.sum(*sizes)))),
        operations=c.product(tokens, chosen, hidden),
    )


# -- images and signals ------------------------------------------------------------------------------------------------


@nnef.cost("multilinear_upsample")
def multilinear_upsample(c: CostContext) -> OpCost:
    """Two values along each spatial axis."""
    return OpCost(macs=c.product(2 ** (len(c.result) - 2), *c.result))


@nnef.cost("tract_core_resize", "tract_onnx_resize")
def resize(c: CostContext) -> OpCost:
    """One multiply-accumulate along each spatial axis for each element and each value that is interpolated."""
    taps = elements.taps_of_mode(c.text("interpolator", c.text("mode", "nearest")))
    return elements.interpolation(elements.spatial_axes, lambda c: taps)(c)


nnef.cost("tract_core_grid_sample", "tract_onnx_grid_sample")(elements.interpolation_of_mode("bilinear"))


@nnef.cost("roi_resample")
def roi_resample(c: CostContext) -> OpCost:
    """Two values along each spatial axis."""
    return OpCost(macs=c.product(2 ** (len(c.result) - 2), *c.result))


@nnef.cost("avg_roi_align", "max_roi_align")
def roi_align(c: CostContext) -> OpCost:
    """Two values along each spatial axis of each sample, then one operation for it."""
    rates = c.integers("sampling_rate")
    if not rates:
        raise NotKnown("the number of samples is not known")
    samples = c.product(*rates, *c.result)
    return OpCost(macs=c.product(2 ** len(rates), samples), operations=samples)


@nnef.cost("tract_core_fft")
def fourier(c: CostContext) -> OpCost:
    """One transform along the axis for each other element; the last axis holds the parts of complex numbers."""
    x = c.input(0)
    at = c.integer("axis") % max(len(x), 1)
    return layers.transform(c, c.product(*(size for i, size in enumerate(x[:-1]) if i != at)), x[at])


@nnef.cost("tract_core_stft")
def short_time_fourier(c: CostContext) -> OpCost:
    """A window and a transform for each frame."""
    length = c.integer("frame")
    if length < 1:
        raise NotKnown("the length of a frame is not known")
    values = c.elements(c.result)
    pairs = values // (2 * length)
    transformed = layers.transform(c, pairs, length)
    return OpCost(operations=c.sum(transformed.operations, values if c.has_input(1) else 0))


for _reason, _names in {
    "the number of elements in a region depends on data": ("avg_roi_pool", "max_roi_pool"),
    "the number of comparisons depends on data": ("tract_onnx_non_max_suppression", "tract_onnx_ml_reverse_lookup"),
    "the depth of the path through a tree depends on data": ("tract_onnx_ml_tree_ensemble_classifier",),
    "it stands for another model": ("tract_core_submodel",),
}.items():
    nnef.cost(*_names)(elements.exclusion(_reason))
