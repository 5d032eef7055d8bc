"""Normalization with statistics of its own."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
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


@onnx("LayerNormalization")
def layer_normalization(
    c: InferenceContext, x: Shape, scale: Shape, bias: Shape | None = None, *, axis: int = -1, stash_type: int = 1
) -> tuple[Shape | TensorType, ...]:
    """The shape of the input; mean and inverse deviation keep the axes before `axis`."""
    kept = Shape.unknown()
    if x.dims is not None:
        first = c.axis(axis, len(x))
        kept = Shape((*x[:first], *(1 for _ in x[first:])))
    statistics = TensorType(dtype_name(stash_type), kept)
    # ONNX Runtime writes it into opsets that do not have it yet, so no schema says the element type
    return TensorType(c.dtype(0), x), statistics, statistics
