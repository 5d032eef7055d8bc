"""tract's operations on signals and images."""

from __future__ import annotations

from math import isfinite

from opdefs.nnef.attributes import read_axis, read_ints
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_parts import replace_axis
from opdefs.rules.elements import known_dims
from opdefs.rules.resize import scale_size
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

_REAL = {"complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float16": "complex64", "float32": "complex64", "float64": "complex128"}


@nnef("tract_core_fft")
def fourier_transform(c: InferenceContext, input: Shape, *, axis: int) -> TensorType:
    """The shape of the input; its last axis holds real and imaginary part."""
    if input.dims is not None:
        read_axis(c, axis, len(input))
    return TensorType(c.dtype(0), input)


@nnef("tract_core_stft")
def short_time_transform(
    c: InferenceContext, input: Shape, window: Shape | None = None, *, axis: int, frame: int, stride: int
) -> TensorType:
    """An axis becomes two: frames and frame length."""
    (length,), (step,) = read_ints(c, frame, "frame", 1), read_ints(c, stride, "stride", 1)
    at = read_axis(c, axis, len(input))
    c.at_least(input[at], length, "a frame must fit into the signal")
    frames = (input[at] - length) // step + 1
    return TensorType(c.dtype(0), Shape((*input[:at], frames, length, *input[at + 1 :])))


@nnef("tract_core_complex_to_inner_dim")
def complex_to_axis(c: InferenceContext, input: Shape) -> TensorType:
    """A new last axis for real and imaginary part."""
    return TensorType(_REAL.get(c.dtype(0) or ""), Shape((*input, 2)))


@nnef("tract_core_inner_dim_to_complex")
def axis_to_complex(c: InferenceContext, input: Shape) -> TensorType:
    """The shape without its last axis (real and imaginary part)."""
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
    wanted = new or (None,) * len(input)
    sound = (d if d is not None and c.prove_le(0, d) is True else None for d in wanted)
    return TensorType(c.dtype(0), Shape(c.fresh(f"resize.{i}") if d is None else d for i, d in enumerate(sound)))


def _scale_sizes(c: InferenceContext, input: Shape, scales: PartialTensor) -> tuple[Dim | None, ...]:
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
    rank = c.same_rank(input, grid)
    if rank < 3:
        c.fail("the input must be [N, C, spatial...]", input)
    batch = c.merge(input[0], grid[0], "input and grid must have the same batch size")
    c.merge(grid[-1], rank - 2, "the last axis of the grid must have one coordinate per spatial axis")
    return TensorType(c.dtype(0), Shape((batch, input[1], *grid[1:-1])))


@nnef("tract_pulse_delay")
def delay(c: InferenceContext, input: Shape, *, axis: int, delay: int, overlap: int) -> TensorType:
    """An axis grows by the overlap of a pulse with the previous one."""
    read_ints(c, delay, "delay", 0)
    (repeated,) = read_ints(c, overlap, "overlap", 0)
    at = read_axis(c, axis, len(input))
    return TensorType(c.dtype(0), replace_axis(input, at, input[at] + repeated))


@nnef("tract_pulse_mask", "tract_pulse_pulse_pad")
def pulse(c: InferenceContext, input: Shape, *, axis: int) -> TensorType:
    """The shape of the input: the padding of a stream lies inside its pulses."""
    if input.dims is not None:
        read_axis(c, axis, len(input))
    return TensorType(c.dtype(0), input)
