"""tract's operations on signals and images."""

from __future__ import annotations

from math import isfinite

from opdefs.nnef.attributes import read_front_axis
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_parts import replace_axis
from opdefs.rules.contents.elements import known_dims
from opdefs.rules.numbers import read_ints
from opdefs.rules.requested import size_or_fresh
from opdefs.rules.resize import scale_size
from opdefs.rules.sampling import grid_sample as sample_at_grid
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

_REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float16": "complex64", "float32": "complex64", "float64": "complex128"}


@nnef("tract_core_fft")
def fourier_transform(c: InferenceContext, input: Shape, *, axis: int) -> TensorType:
    """[*S, 2] -> [*S, 2]; the last axis holds real and imaginary part."""
    if input.dims is not None:
        read_front_axis(c, axis, len(input))
    return TensorType(c.dtype(0), input)


@nnef("tract_core_stft")
def short_time_transform(
    c: InferenceContext, input: Shape, window: Shape | None = None, *, axis: int, frame: int, stride: int
) -> TensorType:
    """[*A, d, *B] -> [*A, frames, frame, *B] with `(d - frame) // stride + 1` frames."""
    (length,), (step,) = read_ints(c, frame, "frame", 1), read_ints(c, stride, "stride", 1)
    at = read_front_axis(c, axis, len(input))
    c.at_least(input[at], length, "the axis must be at least as long as `frame`")
    frames = (input[at] - length) // step + 1
    return TensorType(c.dtype(0), Shape((*input[:at], frames, length, *input[at + 1 :])))


@nnef("tract_core_complex_to_inner_dim")
def complex_to_axis(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S, 2]: real and imaginary part."""
    return TensorType(_REAL.get(c.dtype(0) or ""), Shape((*input, 2)))


@nnef("tract_core_inner_dim_to_complex")
def axis_to_complex(c: InferenceContext, input: Shape) -> TensorType:
    """[*S, 2] -> [*S]: from real and imaginary part."""
    if not len(input):
        c.fail("the input must have an axis for real and imaginary part", input)
    c.merge(input[-1], 2, "the last axis must have size 2 (real and imaginary part)")
    return TensorType(_COMPLEX.get(c.dtype(0) or ""), Shape(input[:-1]))


@nnef("tract_core_resize")
def resize(c: InferenceContext, input: Shape, scales: Value | None = None, sizes: Value | None = None) -> TensorType:
    """The contents of `sizes`, or the floor of each size times its scale."""
    requested = scales if sizes is None else sizes
    if requested is None or (scales is not None and sizes is not None):
        c.fail("exactly one of scales and sizes is required")
    (length,) = c.require_rank(requested.shape, 1, "scales or sizes")
    if isinstance(length, int):
        input = c.require_rank(input, length)
    c.merge(length, len(input), "scales or sizes must have one value per axis")
    new = known_dims(requested) if requested is sizes else _scale_sizes(c, input, requested)
    dims = (size_or_fresh(c, d, f"resize.{i}") for i, d in enumerate(new or (None,) * len(input)))
    return TensorType(c.dtype(0), Shape(dims))


def _scale_sizes(c: InferenceContext, input: Shape, scales: PartialTensor) -> tuple[DimSize | None, ...]:
    factors = scales.elements or (None,) * len(input)
    return tuple(
        scale_size(c, d, f) if isinstance(f, (int, float)) and isfinite(f) else None
        for d, f in zip(input, factors, strict=True)
    )


@nnef("tract_onnx_resize")
def resize_by_scales(c: InferenceContext, input: Shape, scales: Value) -> TensorType:
    """The floor of each size times its scale."""
    return resize(c, input, scales)


@nnef("tract_core_grid_sample", "tract_onnx_grid_sample")
def grid_sample(c: InferenceContext, input: Shape, grid: Shape) -> TensorType:
    """[N, C, *S], [N, *T, len(S)] -> [N, C, *T]."""
    return TensorType(c.dtype(0), sample_at_grid(c, input, grid))


@nnef("tract_pulse_delay")
def delay(c: InferenceContext, input: Shape, *, axis: int, delay: int, overlap: int) -> TensorType:
    """[*A, d, *B] -> [*A, d + overlap, *B]: a pulse with the end of the previous one."""
    read_ints(c, delay, "delay", 0)
    (repeated,) = read_ints(c, overlap, "overlap", 0)
    at = read_front_axis(c, axis, len(input))
    return TensorType(c.dtype(0), replace_axis(input, at, input[at] + repeated))


@nnef("tract_pulse_mask", "tract_pulse_pulse_pad")
def pulse(c: InferenceContext, input: Shape, *, axis: int) -> TensorType:
    """[*S] -> [*S]: the padding of a stream lies inside its pulses."""
    if input.dims is not None:
        read_front_axis(c, axis, len(input))
    return TensorType(c.dtype(0), input)
