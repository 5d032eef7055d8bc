"""Costs of PNNX's operators: torch's modules and functions."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.names import function_name
from opdefs.rules import cost_elements as elements
from opdefs.rules import cost_layers as layers
from opdefs.rules import cost_products as products
from opdefs.rules.operands import is_unit
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, maximum
from shapeinf.formats.pnnx.expression import Argument, Call, parse, walk
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import CostContext, OpCost


def _spatial(*names: str, axes: Sequence[int] = (1, 2, 3)) -> list[str]:
    return [f"{name}{axis}d" for name in names for axis in axes]


# -- element by element ------------------------------------------------------------------------------------------------

_ACTIVATIONS = (
    *("CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish"),
    *("PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh"),
    *("Tanhshrink", "Threshold"),
)
pnnx.cost(*(f"nn.{name}" for name in _ACTIVATIONS))(elements.elementwise)
pnnx.cost(
    *("F.celu", "F.elu", "F.gelu", "F.hardshrink", "F.hardsigmoid", "F.hardswish", "F.hardtanh", "F.leaky_relu"),
    *("F.logsigmoid", "F.mish", "F.prelu", "F.relu", "F.relu6", "F.rrelu", "F.selu", "F.sigmoid", "F.silu"),
    *("F.softplus", "F.softshrink", "F.softsign", "F.tanh", "F.tanhshrink", "F.threshold"),
    *("aten::add", "aten::sub", "aten::mul", "aten::div", "aten::relu", "aten::relu6", "aten::erf", "aten::lgamma"),
    *("aten::log", "aten::sigmoid", "aten::sqrt", "aten::tanh", "torch.lgamma", "torch.cumsum", "torch.cumprod"),
    *("torch.arange", "torch.randn", "torch.randn_like", "torch.normal"),
    *(f"{prefix}bitwise_{name}" for prefix in ("aten::", "torch.") for name in ("and", "or", "xor", "not")),
    *(f"{prefix}bitwise_{name}_shift" for prefix in ("aten::", "torch.") for name in ("left", "right")),
    *(f"{prefix}logical_{name}" for prefix in ("aten::", "torch.") for name in ("and", "or", "xor", "not")),
    *(f"{prefix}{name}" for prefix in ("aten::", "torch.") for name in ("eq", "ge", "gt", "le", "lt", "ne")),
    *("aten::clamp", "torch.clamp", "aten::where", "torch.where", "Tensor.masked_fill"),
)(elements.elementwise)
pnnx.cost("F.glu", "nn.GLU")(elements.element_cost(2))
pnnx.cost(
    *("F.softmax", "F.log_softmax", "F.softmin", "nn.Softmax", "nn.LogSoftmax", "nn.Softmin", "nn.Softmax2d"),
)(elements.softmax)
_DROPOUTS = ("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "dropoutnd", "feature_alpha_dropout")
pnnx.cost(*(f"F.{name}" for name in _DROPOUTS))(elements.movement)  # files hold networks for inference
pnnx.cost("nn.AlphaDropout", "nn.Dropout", *_spatial("nn.Dropout"), "nn.FeatureAlphaDropout")(elements.movement)
pnnx.cost(
    *_spatial("nn.MaxUnpool", "nn.CircularPad", "nn.ConstantPad", "nn.ZeroPad", "nn.ReflectionPad"),
    *_spatial("nn.ReplicationPad"),
    *("F.pad", "F.channel_shuffle", "nn.ChannelShuffle", "F.pixel_shuffle", "nn.PixelShuffle", "F.pixel_unshuffle"),
    *("nn.PixelUnshuffle", "F.unfold", "nn.Unfold", "Tensor.clone", "torch.clone", "Tensor.copy", "Tensor.to"),
    *("Tensor.type_as", "Tensor.expand", "Tensor.expand_as", "Tensor.repeat", "torch.flip", "torch.repeat_interleave"),
    *("torch.roll", "torch.tile", "Tensor.fill", "Tensor.new_empty", "Tensor.new_ones", "Tensor.new_zeros"),
    *("torch.empty", "torch.ones", "torch.zeros", "torch.empty_like", "torch.ones_like", "torch.zeros_like"),
    *("torch.full", "torch.full_like", "Tensor.index_put", "torch.diag", "torch.masked_select", "Tensor.permute"),
    *("torch.transpose", "torch.t", "Tensor.slice_copy", "torch.slice_scatter", "aten::broadcast_tensors"),
    *("aten::cat", "aten::copy", "aten::copy_", "aten::new_full", "aten::unfold", "aten::unsafe_chunk"),
    *("aten::unsafe_split", "aten::complex", "torch.complex", "aten::imag", "torch.imag", "aten::real", "torch.real"),
    *("aten::view_as_complex", "torch.view_as_complex", "aten::view_as_real", "torch.view_as_real", "torch.cat"),
    *("torch.stack", "torch.chunk", "torch.split", "torch.tensor_split", "torch.unbind", "nn.quantized.cat"),
    *(
        "aten::Bool",
        "aten::Float",
        "aten::Int",
        "aten::IntImplicit",
        "aten::ScalarImplicit",
        "prim::NumToTensor",
        "prim::Constant",
    ),
)(elements.movement)
pnnx.cost("Tensor.size", "aten::numel")(elements.shape_query)
pnnx.cost(
    *("Tensor.index", "torch.gather", "torch.index_select", "Tensor.select", "Tensor.slice", "pnnx.SliceIndexes"),
    *("torch.as_strided", "torch.narrow"),
)(elements.gathering())
pnnx.cost("F.embedding", "nn.Embedding")(elements.gathering(1))
pnnx.cost("torch.scatter_add")(elements.scattering(2, lambda c: True))
pnnx.cost("aten::quantize_per_tensor", "nn.quantized.DeQuantize", "torch.dequantize", "nn.quantized.Quantize")(
    elements.element_cost(2)
)
pnnx.cost("torch.quantize_per_tensor")(elements.element_cost(2))

# -- reductions, normalizations, pooling -------------------------------------------------------------------------------

pnnx.cost(
    *("torch.amax", "torch.amin", "torch.argmax", "torch.argmin", "torch.max", "torch.min", "torch.mean"),
    *("torch.prod", "torch.sum", "aten::prod", "torch.topk", "F.fold", "nn.Fold"),
)(elements.input_cost())
pnnx.cost("torch.norm")(elements.input_cost(2))
pnnx.cost("torch.logsumexp")(elements.input_cost(4))
pnnx.cost("torch.std", "torch.var", "aten::std", "aten::var")(elements.input_cost(4))
pnnx.cost("F.layer_norm", "nn.LayerNorm", "F.group_norm")(elements.normalization())
pnnx.cost("F.rms_norm", "nn.RMSNorm")(elements.normalization(3, 1, None))
pnnx.cost("F.normalize")(elements.normalization(3, None, None))
pnnx.cost("F.pairwise_distance")(elements.input_cost(3))
pnnx.cost("F.batch_norm", *_spatial("nn.BatchNorm"))(elements.element_cost(2))
pnnx.cost("F.instance_norm", *_spatial("nn.InstanceNorm"))(elements.normalization(5, 3, 4))


@pnnx.cost("nn.GroupNorm")
def group_norm(c: CostContext) -> OpCost:
    """A normalization; with scale and shift, unless `affine` is false."""
    return OpCost(operations=c.product(7 if c.attribute("affine", True) else 5, *c.input(0)))


@pnnx.cost("F.local_response_norm", "nn.LocalResponseNorm")
def local_response_norm(c: CostContext) -> OpCost:
    """A square and `size` sums for each element, then a product, a sum, a power and a division."""
    return OpCost(operations=c.product(c.integer("size") + 5, *c.input(0)))


def _rank(c: CostContext) -> int:
    """The number of spatial axes in the name of an operator, such as 2 of `nn.Conv2d`."""
    return int(next(letter for letter in reversed(function_name(c.op_def.name)) if letter.isdigit()))


def _window(c: CostContext) -> tuple[DimSize, ...]:
    sizes = c.attribute("kernel_size")
    listed = sizes if isinstance(sizes, tuple) else (sizes,)
    kernel = tuple([size for size in listed if isinstance(size, int)])
    if not kernel or len(kernel) != len(listed):
        raise NotKnown("the size of the kernel is not known")
    return kernel * _rank(c) if len(kernel) == 1 else kernel


pnnx.cost(*_spatial("F.avg_pool", "F.max_pool", "nn.AvgPool", "nn.MaxPool"))(elements.pooling(_window))
pnnx.cost(*_spatial("F.lp_pool", "nn.LPPool"))(elements.pooling(_window, 2))
pnnx.cost(
    *_spatial("F.adaptive_avg_pool", "F.adaptive_max_pool", "nn.AdaptiveAvgPool", "nn.AdaptiveMaxPool"),
)(elements.input_cost())

# -- products ----------------------------------------------------------------------------------------------------------


@pnnx.cost(*_spatial("F.conv"), *_spatial("nn.Conv"), "nn.quantized.Conv2d", "nn.intrinsic.quantized.ConvReLU2d")
def convolution(c: CostContext) -> OpCost:
    """By the weight, or by the attributes of a module whose weight is not in the file."""
    activated = c.elements(c.result) if c.op_def.name.startswith("nn.intrinsic") else 0
    if c.has_input(1):
        plain = products.convolution()(c)
    else:
        depth = c.product(c.integer("in_channels") // max(c.integer("groups", 1), 1), *_window(c))
        plain = products.contraction(c, c.result, depth, bool(c.attribute("bias", True)))
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, activated))


@pnnx.cost(*_spatial("F.conv_transpose"), *_spatial("nn.ConvTranspose"))
def transposed_convolution(c: CostContext) -> OpCost:
    """By the weight, or by the attributes of a module whose weight is not in the file."""
    if c.has_input(1):
        return products.transposed_convolution()(c)
    width = c.integer("out_channels") // max(c.integer("groups", 1), 1)
    biased = c.elements(c.result) if c.attribute("bias", True) else 0
    return OpCost(macs=c.product(width, *_window(c), *c.input(0)), operations=biased)


@pnnx.cost("torchvision.ops.DeformConv2d")
def deformable_convolution(c: CostContext) -> OpCost:
    """The convolution, and four multiply-accumulates for each sampled value (and one operation for its mask)."""
    output, x = c.result, c.input(0)
    kernel = _window(c)
    depth = c.integer("in_channels") // max(c.integer("groups", 1), 1)
    samples = c.product(*output[:-3], x[-3], *output[-2:], *kernel)
    masked, biased = (samples if c.has_input(2) else 0), (c.elements(output) if c.has_input(4) else 0)
    return OpCost(
        macs=c.sum(c.product(depth, *kernel, *output), c.product(4, samples)), operations=c.sum(masked, biased)
    )


@pnnx.cost("F.linear", "nn.Linear", "nn.quantized.Linear", "nn.intrinsic.quantized.LinearReLU")
def linear(c: CostContext) -> OpCost:
    """[..., K] by a weight, and a bias."""
    biased = c.has_input(2) or (not c.has_input(1) and bool(c.attribute("bias", True)))
    plain = products.contraction(c, c.result, c.input(0)[-1], biased)
    activated = c.elements(c.result) if c.op_def.name.startswith("nn.intrinsic") else 0
    return OpCost(macs=plain.macs, operations=c.sum(plain.operations, activated))


pnnx.cost("torch.matmul", "torch.mm", "torch.bmm", "torch.mv")(products.matmul())
pnnx.cost("torch.addmm", "torch.baddbmm")(products.matmul(1, 2, 0))
pnnx.cost("torch.cross")(elements.element_cost(3))


@pnnx.cost("torch.einsum")
def einsum(c: CostContext) -> OpCost:
    """All indices at once."""
    return products.einsum(c.text("equation"), [c.input(index) for index in range(len(c.types))], c)


# -- layers ------------------------------------------------------------------------------------------------------------


@pnnx.cost("nn.RNN", "nn.GRU", "nn.LSTM")
def recurrent(c: CostContext) -> OpCost:
    """All layers and directions; with `proj_size` each state is projected."""
    x = c.input(0)
    steps = x[0] if len(x) == 2 or not c.attribute("batch_first", False) else x[1]
    batch: DimSize = 1 if len(x) == 2 else x[0] if c.attribute("batch_first", False) else x[1]
    hidden, projected = c.integer("hidden_size"), c.integer("proj_size")
    directions = 2 if c.attribute("bidirectional", False) else 1
    biases = 2 if c.attribute("bias", True) else 0
    gates, operations = layers.CELLS[c.op_def.name.removeprefix("nn.")]
    state = projected or hidden
    macs = 0
    for layer in range(min(c.integer("num_layers", 1), 1 << 10)):
        inputs = c.integer("input_size") if layer == 0 else directions * state
        macs += directions * (gates * hidden * (inputs + state) + projected * hidden)
    units = directions * hidden * c.integer("num_layers", 1)
    return OpCost(
        macs=c.product(steps, batch, macs), operations=c.product(operations + gates * biases, steps, batch, units)
    )


@pnnx.cost("F.scaled_dot_product_attention")
def attention(c: CostContext) -> OpCost:
    """[*B, L, E], [*B, S, E], [*B, S, V]."""
    q, k, y = c.input(0), c.input(1), c.result
    masks = c.has_input(3) + bool(c.attribute("is_causal", False))
    return layers.attention(c, c.product(*y[:-2]), q[-2], k[-2], q[-1], y[-1], masks)


@pnnx.cost("nn.MultiheadAttention")
def multihead_attention(c: CostContext) -> OpCost:
    """The projections of query, key, value and output with their biases, and attention of all heads."""
    q = c.input(0)
    k = c.input(1) if c.has_input(1) else q
    v = c.input(2) if c.has_input(2) else k
    embed, heads = c.integer("embed_dim"), c.integer("num_heads")
    if heads < 1:
        raise NotKnown("the number of heads is not known")
    at = 1 if len(q) == 3 and c.attribute("batch_first", False) else 0
    batch: DimSize = 1 if len(q) == 2 else q[1 - at]
    extra = bool(c.attribute("add_bias_kv", False)) + bool(c.attribute("add_zero_attn", False))
    keys = c.sum(k[at], extra)
    size = embed // heads
    dense = layers.attention(c, c.product(batch, heads), q[at], keys, size, size, c.has_input(3))
    projections = [c.product(embed, *shape) for shape in (q, k, v, q)]
    rows = c.product(embed, batch, c.sum(q[at], k[at], v[at], q[at])) if c.attribute("bias", True) else 0
    return OpCost(macs=c.sum(dense.macs, *projections), operations=c.sum(dense.operations, rows))


# -- images and signals ------------------------------------------------------------------------------------------------


@pnnx.cost("F.interpolate", "F.upsample", "nn.Upsample")
def interpolate(c: CostContext) -> OpCost:
    """One multiply-accumulate for each element and each interpolated value; with mode=area, the sums of a pool."""
    if c.text("mode", "nearest") == "area":
        return OpCost(operations=c.elements(c.input(0)))
    return elements.interpolation_of_mode("nearest")(c)


pnnx.cost("F.upsample_bilinear", "nn.UpsamplingBilinear2d")(elements.interpolation(elements.spatial_axes, lambda c: 2))
pnnx.cost("F.upsample_nearest", "nn.UpsamplingNearest2d")(elements.movement)


pnnx.cost("F.grid_sample")(elements.interpolation_of_mode("bilinear"))
pnnx.cost("F.affine_grid")(elements.affine_grid)
pnnx.cost("torchvision.ops.RoIAlign")(elements.roi_align)


@pnnx.cost(
    *(
        f"torch.fft.{name}{axes}"
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for axes in ("", "2", "n")
    )
)
def fourier(c: CostContext) -> OpCost:
    """A transform along each axis for all other elements; of input and output, the one with all frequencies counts."""
    x, y = c.input(0), c.result
    name = c.op_def.name.removeprefix("torch.fft.")
    wide = y if name.startswith(("irfft", "hfft")) else x
    count = 1 if name.endswith("t") else 2 if name.endswith("2") else len(wide)
    dims = c.attribute("dim")
    listed = dims if isinstance(dims, tuple) else (dims,)
    axes = [axis for axis in listed if isinstance(axis, int)] or list(range(-count, 0))
    terms = []
    for axis in axes:
        at = axis % max(len(wide), 1)
        others = c.product(*(size for i, size in enumerate(wide) if i != at))
        terms.append(layers.transform(c, others, wide[at], real="r" in name or "h" in name).operations)
    return OpCost(operations=c.sum(*terms))


@pnnx.cost(
    "torch.stft", "torchaudio.functional.spectrogram", "torch.istft", "torchaudio.functional.inverse_spectrogram"
)
def short_time_fourier(c: CostContext) -> OpCost:
    """A window and a transform for each frame; the input or the output is [..., bins, frames]."""
    frames = c.input(0) if "i" in c.op_def.name.rpartition(".")[2][:1] else c.result
    value = c.types[0] if frames is not c.result else c.output_types[0]
    parts = isinstance(value, TensorType) and value.dtype in ("complex64", "complex128")
    sizes = frames.require() if parts or c.op_def.name.endswith("spectrogram") else frames.require()[:-1]
    length = c.integer("n_fft")
    if length < 1:
        raise NotKnown("the length of a frame is not known")
    count = c.product(*sizes[:-2], sizes[-1])
    transformed = layers.transform(c, count, length, real=True)
    return OpCost(operations=c.sum(transformed.operations, c.product(count, length)))


# -- expressions -------------------------------------------------------------------------------------------------------

_CONVERSIONS = frozenset({"size", "int", "torch.bool", "torch.float", "torch.long"})


@pnnx.cost("pnnx.Expression")
def expression(c: CostContext) -> OpCost:
    """One operation for each element of the result of each function of tensors; numbers are not counted."""
    stack: list[Shape | None] = []
    operations: list[DimSize] = []
    for node in walk(parse(c.text("expr"))):
        items = stack[len(stack) - len(node.items) :]
        del stack[len(stack) - len(node.items) :]
        if isinstance(node, Argument):
            value = c.types[node.index] if node.index < len(c.types) else None
            stack.append(value.shape if isinstance(value, TensorType) else None)
        elif isinstance(node, Call) and node.function != "size":
            shapes = [item for item in items if item is not None]
            shape = _broadcast(shapes) if shapes else None
            if shape is not None and node.function not in _CONVERSIONS:
                operations.append(c.elements(shape))
            stack.append(shape)
        else:
            stack.append(None)
    return OpCost(operations=c.sum(*operations))


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    """The broadcast of shapes, which the shape function has checked."""
    listed = [shape.require() for shape in shapes]
    rank = max(map(len, listed))
    aligned = [(1,) * (rank - len(dims)) + dims for dims in listed]
    return Shape(map(_broadcast_dim, zip(*aligned, strict=True)))


def _broadcast_dim(sizes: Sequence[DimSize]) -> DimSize:
    """The number that is not 1, else the largest size: the others are equal to it, or 1."""
    distinct = list(dict.fromkeys(size for size in sizes if not is_unit(size)))
    numbers = [size for size in distinct if isinstance(size, int)]
    return numbers[0] if numbers else maximum(*distinct) if len(distinct) > 1 else (distinct or [1])[0]
