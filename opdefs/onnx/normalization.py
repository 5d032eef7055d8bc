"""Normalization with statistics of its own."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import part, spreads_over, vector
from shapeinf.expr import Dim
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("BatchNormalization")
def batch_normalization(
    c: InferenceContext, x: Shape, scale: Shape, bias: Shape, mean: Shape, var: Shape
) -> tuple[Shape, ...]:
    """[N, C, *S]; scale, bias, mean and variance are of length C, and so are the statistics given back."""
    if x.dims is not None:
        for part, name in ((scale, "scale"), (bias, "bias"), (mean, "mean"), (var, "variance")):
            if part.dims is not None:
                length = c.require_rank(part, 1, name)[0]
                channels = x.dims[1] if len(x.dims) > 1 else length
                c.merge(channels, length, f"the channels x[1] must equal the length of the {name}")
    return (x, mean, var, mean, var)


@onnx("InstanceNormalization")
def instance_normalization(c: InferenceContext, x: Shape, scale: Shape, bias: Shape) -> Shape:
    """[N, C, *S]; scale and bias are of length C."""
    _each_holds(c, scale, bias, _channels(c, x), "a channel")
    return x


@onnx("GroupNormalization", since=21)
def group_normalization(c: InferenceContext, x: Shape, scale: Shape, bias: Shape, *, num_groups: int) -> Shape:
    """[N, C, *S] in groups of channels; scale and bias are of length C."""
    channels = _channels(c, x)
    part(c, channels, num_groups, "the channels must split into num_groups equal groups")
    _each_holds(c, scale, bias, channels, "a channel")
    return x


@onnx("GroupNormalization")
def group_normalization_by_group(c: InferenceContext, x: Shape, scale: Shape, bias: Shape, *, num_groups: int) -> Shape:
    """Before opset 21 scale and bias hold one value a group."""
    part(c, _channels(c, x), num_groups, "the channels must split into num_groups equal groups")
    _each_holds(c, scale, bias, num_groups, "a group")
    return x


def _channels(c: InferenceContext, x: Shape) -> Dim:
    """C of [N, C, *S]."""
    if len(x) < 2:
        c.fail("the input must be [N, C, ...]", x)
    return x[1]


def _each_holds(c: InferenceContext, scale: Shape, bias: Shape, count: Dim, of_what: str) -> None:
    for v, name in ((scale, "scale"), (bias, "bias")):
        vector(c, v, count, f"the {name} must hold one value {of_what}")


@onnx("RMSNormalization")
def rms_normalization(c: InferenceContext, x: Shape, scale: Shape, *, axis: int = -1) -> Shape:
    """The shape of the input, to which the scale broadcasts."""
    if x.dims is not None:
        c.axis(axis, len(x))
    spreads_over(c, scale, x, "the scale must broadcast to the shape of the input")
    return x


@onnx("LayerNormalization")
def layer_normalization(
    c: InferenceContext, x: Shape, scale: Shape, bias: Shape | None = None, *, axis: int = -1, stash_type: int = 1
) -> tuple[Shape | TensorType, ...]:
    """The shape of the input; mean and inverse deviation keep the axes before `axis`."""
    kept = Shape.unknown()
    if x.dims is not None:
        first = c.axis(axis, len(x))
        kept = Shape((*x[:first], *(1 for _ in x[first:])))
        for v, name in ((scale, "scale"), (bias, "bias")):
            spreads_over(c, v, x, f"the {name} must broadcast to the shape of the input")
    statistics = TensorType(dtype_name(stash_type), kept)
    # ONNX Runtime writes it into opsets that do not have it yet, so no schema says the element type
    return TensorType(c.dtype(0), x), statistics, statistics
