"""Activations and dropouts: element by element, along an axis, with a weight for each channel, and gated halves."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.operands import read_type
from opdefs.pnnx.promotion import to_float
from opdefs.rules.numbers import read_int
from opdefs.rules.operands import part_size, require_broadcast_size
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

MODULES = (
    *("CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish"),
    *("RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Softplus", "Softshrink", "Threshold"),
    *("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"),
)
"""Element-wise modules whose output has the element type of the input."""

FUNCTIONS = (
    *("celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish"),
    *("rrelu", "relu", "relu6", "selu", "silu", "softplus", "softshrink", "threshold"),
    *("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "dropoutnd", "feature_alpha_dropout"),
)
"""The functions of these modules."""

FLOAT_VALUED = ("Sigmoid", "Softsign", "Tanh", "Tanhshrink")
"""Modules and, in lower case, functions that return floats for integers."""


@pnnx(*(f"nn.{name}" for name in MODULES), *(f"F.{name}" for name in FUNCTIONS), in_place=(0,))
def same_type(c: InferenceContext, input: Shape) -> Shape:
    """[*S] -> [*S]."""
    return input


@pnnx(*(f"nn.{name}" for name in FLOAT_VALUED), *(f"F.{name.lower()}" for name in FLOAT_VALUED), in_place=(0,))
def float_activation(c: InferenceContext, input: TensorType) -> TensorType:
    """[*S] -> [*S], in float32 for integers."""
    return TensorType(to_float(input.dtype), input.shape)


@pnnx("F.prelu", in_place=(0,))
def prelu(c: InferenceContext, input: Shape, weight: Shape | None = None) -> Shape:
    """[N, C, *S] or [S], one weight or [C] -> the shape of the input."""
    if weight is None or weight.dims is None or input.dims is None:
        return input
    if len(weight.dims) > 1:
        c.fail("weight must be a scalar or a vector", weight)
    channels = input.dims[1] if len(input.dims) > 1 else 1
    for size in weight.dims:
        require_broadcast_size(c, size, channels, "weight must have one element, or one for each channel of the input")
    return input


@pnnx("nn.PReLU", in_place=(0,))
def prelu_module(c: InferenceContext, input: Shape, weight: Shape | None = None, *, num_parameters: int = 1) -> Shape:
    """[N, C, *S] or [S] -> the same; `num_parameters` is 1 or C."""
    weights = Shape((num_parameters,))
    if weight is not None:
        weights = c.merge(weight, weights, "weight must have num_parameters elements")
    return prelu(c, input, weights)


@pnnx("nn.GLU", "F.glu")
def gated_linear_unit(c: InferenceContext, input: Shape, *, dim: object = -1) -> Shape:
    """[*A, 2n, *B] -> [*A, n, *B] along the axis `dim`."""
    dims = list(input.require())
    at = c.axis(read_int(c, dim, "dim"), len(dims))
    dims[at] = part_size(c, dims[at], 2, "the size of the axis `dim`, which is halved, must be even")
    return Shape(dims)


@pnnx("nn.Softmax", "nn.LogSoftmax", "nn.Softmin")
def along_axis(c: InferenceContext, input: Shape, *, dim: object = None) -> Shape:
    """[*S] -> [*S]; without `dim` torch chooses the axis by the rank."""
    if dim is not None and input.dims is not None:
        read_axis(c, dim, len(input.dims))
    return input


@own_types("F.softmax", "F.log_softmax", "F.softmin")
def along_axis_as(c: InferenceContext, input: Shape, *, dim: object = None, dtype: str | None = None) -> TensorType:
    """[*S] -> [*S] in the type `dtype`, by default that of the input."""
    return TensorType(read_type(c, dtype) or c.dtype(0), along_axis(c, input, dim=dim))


@pnnx("nn.Softmax2d")
def softmax_of_channels(c: InferenceContext, input: Shape) -> Shape:
    """[N, C, H, W] or [C, H, W] -> the same."""
    require_ranks(c, input, (3, 4))
    return input


def require_ranks(c: InferenceContext, input: Shape, ranks: tuple[int, ...]) -> None:
    """Require one of these ranks; if there is only one, it is inferred for an unknown rank."""
    if len(ranks) == 1:
        c.require_rank(input, ranks[0], "the input")
    elif input.dims is not None and len(input.dims) not in ranks:
        c.fail(f"the input must be of rank {' or '.join(map(str, ranks))}", input)
