"""Normalization of batches, instances, groups and layers."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import part_size, require_broadcast_to, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@onnx("BatchNormalization")
def batch_normalization(
    c: InferenceContext, x: Shape, scale: Shape, bias: Shape, mean: Shape, var: Shape
) -> tuple[Shape, ...]:
    """[N, C, *S], four of [C] -> [N, C, *S] and statistics [C]."""
    if x.dims is not None:
        for parameter, name in ((scale, "scale"), (bias, "bias"), (mean, "mean"), (var, "variance")):
            if parameter.dims is not None:
                length = c.require_rank(parameter, 1, name)[0]
                channels = x.dims[1] if len(x.dims) > 1 else length
                c.merge(channels, length, f"the channels x[1] must equal the length of the {name}")
    return (x, mean, var, mean, var)


@onnx("InstanceNormalization")
def instance_normalization(c: InferenceContext, x: Shape, scale: Shape, bias: Shape) -> Shape:
    """[N, C, *S], [C], [C] -> [N, C, *S]."""
    _require_lengths(c, scale, bias, _channels(c, x), "channel")
    return x


@onnx("GroupNormalization", since=21)
def group_normalization(c: InferenceContext, x: Shape, scale: Shape, bias: Shape, *, num_groups: int) -> Shape:
    """[N, C, *S], [C], [C] -> [N, C, *S]; the channels form `num_groups` groups."""
    channels = _channels(c, x)
    part_size(c, channels, num_groups, "the channels must be divisible by num_groups")
    _require_lengths(c, scale, bias, channels, "channel")
    return x


@onnx("GroupNormalization")
def group_normalization_by_group(c: InferenceContext, x: Shape, scale: Shape, bias: Shape, *, num_groups: int) -> Shape:
    """Before opset 21: [N, C, *S], [num_groups], [num_groups] -> [N, C, *S]."""
    part_size(c, _channels(c, x), num_groups, "the channels must be divisible by num_groups")
    _require_lengths(c, scale, bias, num_groups, "group")
    return x


def _channels(c: InferenceContext, x: Shape) -> DimSize:
    """C of [N, C, *S]."""
    if len(x) < 2:
        c.fail("the input must be [N, C, ...]", x)
    return x[1]


def _require_lengths(c: InferenceContext, scale: Shape, bias: Shape, count: DimSize, unit: str) -> None:
    for v, name in ((scale, "scale"), (bias, "bias")):
        require_vector(c, v, count, f"the {name} must have one value per {unit}")


@onnx("RMSNormalization")
def rms_normalization(c: InferenceContext, x: Shape, scale: Shape, *, axis: int = -1) -> Shape:
    """[*S], a scale that broadcasts to it -> [*S]."""
    if x.dims is not None:
        c.axis(axis, len(x))
    require_broadcast_to(c, scale, x, "the scale must broadcast to the shape of the input")
    return x


@onnx("LayerNormalization")
def layer_normalization(
    c: InferenceContext, x: Shape, scale: Shape, bias: Shape | None = None, *, axis: int = -1, stash_type: int = 1
) -> tuple[Shape | TensorType, ...]:
    """[*A, *B] -> [*A, *B], mean and inverse deviation [*A, 1...]; B begins at `axis`, scale and bias broadcast."""
    c.state_types(c.dtype(0), *[dtype_name(stash_type)] * (c.num_outputs - 1))
    reduced = Shape.unknown()
    if x.dims is not None:
        first = c.axis(axis, len(x))
        reduced = Shape((*x[:first], *(1 for _ in x[first:])))
        for v, name in ((scale, "scale"), (bias, "bias")):
            require_broadcast_to(c, v, x, f"the {name} must broadcast to the shape of the input")
    statistics = TensorType(dtype_name(stash_type), reduced)
    # ONNX Runtime writes it into opsets that lack it, so no schema states the element type
    return TensorType(c.dtype(0), x), statistics, statistics
