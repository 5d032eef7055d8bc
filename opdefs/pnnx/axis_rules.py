"""Axis rules of PNNX's operators: see `shapeinf.ops.axes`. Those of windows count axes from the end.

An operator without a rule is not known to keep items separate.
"""

from __future__ import annotations

from opdefs.pnnx.activation import FLOAT_VALUED, FUNCTIONS, MODULES
from opdefs.pnnx.dialect import pnnx
from opdefs.pnnx.names import function_name
from opdefs.rules.axis_uses import (
    AxesOf,
    all_but,
    attribute_axes,
    attribute_axis,
    items_at,
    mixed,
    rank_of,
    scattered,
    separate,
    trailing,
    windows,
)
from shapeinf.ops import CostContext
from shapeinf.ops.axes import AxisContext, AxisUse


def each(*templates: str) -> list[str]:
    """The names with `?` replaced by 1, 2 and 3."""
    return [template.replace("?", str(dims)) for template in templates for dims in (1, 2, 3)]


pnnx.axes(
    *(f"nn.{name}" for name in (*MODULES, *FLOAT_VALUED)),
    *(f"F.{name}" for name in FUNCTIONS),
    *(f"F.{name.lower()}" for name in FLOAT_VALUED),
    *("F.prelu", "nn.PReLU", "Tensor.clone", "torch.clone", "Tensor.copy", "torch.positive", "Tensor.to"),
    *("Tensor.type_as", "Tensor.size", "Tensor.masked_fill", "Tensor.fill", "Tensor.expand", "Tensor.expand_as"),
    *("Tensor.permute", "Tensor.reshape", "Tensor.reshape_as", "Tensor.unflatten", "torch.flatten", "torch.squeeze"),
    *("torch.unsqueeze", "torch.transpose", "torch.t", "torch.stack", "torch.unbind", "Tensor.select"),
    *("F.linear", "nn.Linear", "nn.intrinsic.quantized.LinearReLU", "nn.quantized.Linear", "F.embedding"),
    *("nn.Embedding", "torch.matmul", "torch.bmm", "torch.mm", "torch.mv", "torch.addmm", "torch.baddbmm"),
    *("torch.einsum", "torch.sum", "torch.prod", "torch.mean", "torch.amax", "torch.amin", "torch.std", "torch.var"),
    *("torch.norm", "torch.logsumexp", "torch.argmax", "torch.argmin", "torch.where", "aten::where", "torch.clamp"),
    *("aten::clamp", "torch.logical_not", "aten::logical_not", "torch.bitwise_not", "aten::bitwise_not"),
    *(f"{space}{name}" for space in ("torch.", "aten::") for name in ("eq", "ge", "gt", "le", "lt", "ne")),
    *(f"{space}logical_{name}" for space in ("torch.", "aten::") for name in ("and", "or", "xor")),
    *(f"{space}bitwise_{name}" for space in ("torch.", "aten::") for name in ("and", "or", "xor")),
    *("aten::relu", "aten::relu6", "aten::erf", "aten::log"),
    *("aten::sigmoid", "aten::sqrt", "aten::tanh", "torch.complex", "torch.real", "torch.imag", "torch.index_select"),
    *("torch.zeros_like", "torch.ones_like", "torch.full_like", "torch.zeros", "torch.ones", "torch.full"),
    *("Tensor.new_zeros", "Tensor.new_ones", "nn.quantized.Quantize", "nn.quantized.DeQuantize"),
)(separate)
pnnx.axes(
    *(f"{space}bitwise_{side}_shift" for space in ("torch.", "aten::") for side in ("left", "right")),
    *("aten::lgamma", "torch.lgamma", "aten::complex", "aten::imag", "aten::real", "aten::copy", "aten::copy_"),
    *("aten::numel", "Tensor.new_empty", "torch.empty"),
    *("torch.empty_like", "aten::quantize_per_tensor", "torch.quantize_per_tensor", "torch.dequantize"),
    *("aten::view_as_real", "torch.view_as_real", "F.pairwise_distance"),
)(separate)
pnnx.axes("torch.arange", "torch.masked_select", "torch.diag", *each("nn.MaxUnpool?d"))(mixed)


@pnnx.axes("torch.max", "torch.min")
def extreme(c: AxisContext, position: int, axis: int) -> AxisUse:
    """A reduction, or element by element with a second tensor."""
    return AxisUse.SEPARATE


@pnnx.axes("pnnx.Expression")
def expression(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Element by element; an expression that reads sizes may compute with the number of items."""
    return AxisUse.MIXED if "size(" in c.text("expr") else AxisUse.SEPARATE


def dim(default: int | None = None) -> AxesOf:
    """The argument `dim`."""
    return attribute_axis("dim", default)


pnnx.axes("F.softmax", "F.log_softmax", "F.softmin", "nn.Softmax", "nn.LogSoftmax", "nn.Softmin")(all_but(dim()))
pnnx.axes("nn.Softmax2d")(trailing(3))
pnnx.axes("aten::view_as_complex", "torch.view_as_complex")(trailing(1))
pnnx.axes("torchaudio.functional.spectrogram")(trailing(1))
pnnx.axes("torch.stft")(items_at((0, 0, 2)))
for kind in ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft"):
    pnnx.axes(f"torch.fft.{kind}")(all_but(dim(-1)))
pnnx.axes("aten::unsafe_chunk", "aten::unsafe_split")(all_but(dim()))
pnnx.axes("torch.cat", "aten::cat", "torch.split", "torch.chunk", "nn.quantized.cat")(all_but(dim(0)))
pnnx.axes("torch.tensor_split")(all_but(dim(0)))
pnnx.axes("F.glu", "nn.GLU", "torch.topk")(all_but(dim(-1)))
pnnx.axes("torch.cumsum", "torch.cumprod")(all_but(dim()))
pnnx.axes("torch.gather")(all_but(dim(), AxisUse.ALIGNED))
pnnx.axes("torch.scatter_add")(scattered(all_but(dim(), AxisUse.ALIGNED)))
pnnx.axes("torch.flip", "torch.roll")(all_but(attribute_axes("dims")))
pnnx.axes("F.normalize")(all_but(lambda c: attribute_axes("dim")(c) if "dim" in c.attributes else (1,)))
pnnx.axes("F.scaled_dot_product_attention")(trailing(2))


def normalized(c: CostContext) -> range:
    """The last axes, as many as the normalized shape has."""
    shape = c.attribute("normalized_shape")
    return range(-(len(shape) if isinstance(shape, tuple) else 1), 0)


pnnx.axes("F.layer_norm", "F.rms_norm", "nn.LayerNorm", "nn.RMSNorm")(all_but(normalized))
pnnx.axes("F.group_norm", "nn.GroupNorm", "F.local_response_norm", "nn.LocalResponseNorm")(
    windows(channels=AxisUse.MIXED)
)
pnnx.axes("F.pixel_shuffle", "nn.PixelShuffle", "F.pixel_unshuffle", "nn.PixelUnshuffle")(
    windows(channels=AxisUse.MIXED, dims=2)
)
pnnx.axes(*each("nn.BatchNorm?d"))(separate)  # of inference
pnnx.axes("F.channel_shuffle", "nn.ChannelShuffle")(all_but(lambda c: (1,)))
pnnx.axes("F.unfold", "nn.Unfold")(windows(channels=AxisUse.MIXED, dims=2))
pnnx.axes("F.fold", "nn.Fold")(trailing(2))
pnnx.axes("F.affine_grid")(items_at((0, 0, None)))
pnnx.axes("F.grid_sample")(items_at((0, 0, None), (1, 0, None)))
pnnx.axes("torchvision.ops.RoIAlign")(items_at((1, 0, None)))

for dims in (1, 2, 3):
    name = f"{dims}d"
    pnnx.axes(f"F.conv{name}", f"nn.Conv{name}", f"F.conv_transpose{name}", f"nn.ConvTranspose{name}")(
        windows(channels=AxisUse.MIXED, dims=dims)
    )
    pnnx.axes(
        *(f"{space}.{kind}{name}" for space, kind in (("F", "avg_pool"), ("nn", "AvgPool"), ("F", "lp_pool"))),
        *(f"{space}.{kind}{name}" for space, kind in (("nn", "LPPool"), ("F", "max_pool"), ("nn", "MaxPool"))),
        *(f"F.adaptive_{kind}_pool{name}" for kind in ("avg", "max")),
        *(f"nn.Adaptive{kind}Pool{name}" for kind in ("Avg", "Max")),
        *(f"nn.{kind}Pad{name}" for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")),
    )(windows(channels=AxisUse.SEPARATE, dims=dims))
    pnnx.axes(f"nn.InstanceNorm{name}")(windows(channels=AxisUse.SEPARATE, dims=dims))
pnnx.axes("nn.quantized.Conv2d", "nn.intrinsic.quantized.ConvReLU2d")(windows(channels=AxisUse.MIXED, dims=2))
pnnx.axes(
    *("F.interpolate", "F.upsample", "nn.Upsample", "F.upsample_bilinear", "nn.UpsamplingBilinear2d"),
    *("F.upsample_nearest", "nn.UpsamplingNearest2d"),
)(windows(channels=AxisUse.SEPARATE))


@pnnx.axes("F.pad")
def pad(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Two amounts for each of the last axes."""
    amounts = c.attribute("pad")
    if not isinstance(amounts, tuple):
        return AxisUse.MIXED
    return AxisUse.SEPARATE if axis < rank_of(c) - len(amounts) // 2 else AxisUse.SPATIAL


@pnnx.axes("Tensor.slice", "Tensor.slice_copy", "torch.narrow", "Tensor.repeat", "torch.tile")
def part(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Torch has no negative steps: an axis that keeps its size keeps its items."""
    return AxisUse.SEPARATE if position == 0 else AxisUse.MIXED


@pnnx.axes("F.batch_norm", "F.instance_norm")
def norm_of_channels(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Of inference, or with the statistics of each item."""
    if function_name(c.op_def.name) != "instance_norm":
        return AxisUse.SEPARATE
    return AxisUse.SEPARATE if position == 0 and axis < 2 else AxisUse.MIXED


@pnnx.axes("nn.MultiheadAttention")
def multihead_attention(c: AxisContext, position: int, axis: int) -> AxisUse:
    """Queries, keys and values have the items on axis 1, with `batch_first` on axis 0."""
    item = 0 if c.attribute("batch_first") is True else 1
    return AxisUse.ALIGNED if position < 3 and axis == item and rank_of(c, position) == 3 else AxisUse.MIXED


@pnnx.axes("nn.GRU", "nn.LSTM", "nn.RNN")
def recurrent(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The states have the items on axis 1, the input with `batch_first` on axis 0; without items all have rank 2."""
    if position > 2 or rank_of(c, position) != 3:
        return AxisUse.MIXED
    item = 0 if position == 0 and c.attribute("batch_first") is True else 1
    return AxisUse.ALIGNED if axis == item else AxisUse.MIXED
