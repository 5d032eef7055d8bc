"""Signal processing: Fourier transforms, windows, mel filter banks."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.operands import require_scalar, require_single
from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.rules.unknowns import cover_dim
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def transform_length(c: InferenceContext, value: PartialTensor, hint: str) -> DimSize:
    """The value of a scalar input as a size; a new unknown if the value is unknown or may be negative."""
    known = known_ints(value)
    if known and known[0] < 0:
        c.fail(f"`{hint}` must be at least 0", known[0])
    return scalar_size_or_fresh(c, value, hint)


def _transform_length(c: InferenceContext, length: Value | None) -> DimSize | None:
    """The length in the input `dft_length`; None without that input: the size of the axis."""
    if length is None:
        return None
    require_scalar(c, length.shape, "`dft_length`")
    return transform_length(c, length, "dft_length")


def _transform(c: InferenceContext, x: Shape, length: DimSize | None, axis: int, inverse: int, onesided: int) -> Shape:
    """The input with an axis resized to the length of the transform; the last axis is the real and imaginary parts."""
    rank = len(x)
    at = c.axis(axis, rank)
    if at == rank - 1:
        c.fail("the last axis (real and imaginary part) cannot be transformed", axis)
    c.at_most(x[rank - 1], 2, "the last axis must be of size 1 (real) or 2 (complex)")
    if onesided:
        kind = "2 (complex) for the inverse" if inverse else "1 (real)"
        c.merge(x[rank - 1], 2 if inverse else 1, f"with onesided, the last axis must be of size {kind}")
    size = x[at] if length is None else length
    last = 2
    if onesided and inverse:
        size = maximum(2 * (x[at] - 1), 0) if length is None else size
        last = 1
    elif onesided:
        size = size // 2 + 1
    return Shape((*x[:at], size, *x[at + 1 : rank - 1], last))


@onnx("DFT", since=20)
def dft(
    c: InferenceContext,
    x: Shape,
    length: Value | None = None,
    axis: Value | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Shape:
    """[..., N, ..., 1|2] -> [..., L, ..., 2]; `onesided` [..., L // 2 + 1, ..., 2], its inverse [..., L, ..., 1]."""
    require_scalar(c, None if axis is None else axis.shape, "`axis`")
    known = (-2,) if axis is None else known_ints(axis)
    if known is None and length is None and not onesided:
        known = (-2,)  # no size changes, whatever the axis
    if known is None:
        return _transform_unknown_axis(c, x, _transform_length(c, length), inverse, onesided)
    return _transform(c, x, _transform_length(c, length), known[0], inverse, onesided)


def _transform_unknown_axis(
    c: InferenceContext, x: Shape, length: DimSize | None, inverse: int, onesided: int
) -> Shape:
    """The cover of all results for an unknown axis."""
    if len(x) < 2:
        c.fail("the input must have an axis before the last one (real and imaginary part)", x)
    each = [_transform(c, x, length, at, inverse, onesided) for at in range(len(x) - 1)]
    return Shape(cover_dim(c, sizes, f"dft.{i}") for i, sizes in enumerate(zip(*each, strict=True)))


@onnx("DFT")
def dft_by_attribute(
    c: InferenceContext, x: Shape, length: Value | None = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Shape:
    """Before opset 20 the axis is an attribute."""
    return _transform(c, x, _transform_length(c, length), axis, inverse, onesided)


@onnx("STFT")
def stft(
    c: InferenceContext,
    signal: Shape,
    step: Value,
    window: Shape | None = None,
    length: Value | None = None,
    *,
    onesided: int = 1,
) -> Shape:
    """[B, L, 1|2] -> [B, frames, bins, 2] with `(L - length) // step + 1` frames; runtimes also accept [B, L]."""
    if signal.rank == 2:
        batch, samples = signal.require()
    else:
        batch, samples, parts = c.require_rank(signal, 3, "signal")
        c.at_most(parts, 2, "the last axis must be of size 1 (real) or 2 (complex)")
    if length is not None:
        require_scalar(c, length.shape, "`frame_length`")
        size = transform_length(c, length, "frame_length")
        if window is not None:
            c.merge(c.require_rank(window, 1, "window")[0], size, "`window` must have `frame_length` elements")
    else:
        size = samples if window is None else c.require_rank(window, 1, "window")[0]
    c.at_most(size, samples, "a frame must be at most as long as `signal`")
    require_single(c, step.shape, "`frame_step` must have exactly one element")
    stride = transform_length(c, step, "frame_step")
    if c.prove_le(1, stride) is not True:
        frames: DimSize = c.fresh("frames", 1)
        c.at_least(stride, 1, "`frame_step` must be at least 1")
    else:
        frames = (samples - size) // stride + 1
    return Shape((batch, frames, size // 2 + 1 if onesided else size, 2))


@onnx("HannWindow", "HammingWindow", "BlackmanWindow")
def window(c: InferenceContext, size: Value, *, output_datatype: int = 1) -> TensorType:
    """[size], the value of the scalar input."""
    c.state_types(dtype_name(output_datatype))
    require_scalar(c, size.shape, "`size`")
    return TensorType(dtype_name(output_datatype), Shape((transform_length(c, size, "size"),)))


@onnx("MelWeightMatrix")
def mel_weight_matrix(
    c: InferenceContext, bins: Value, length: Value, rate: Shape, low: Shape, high: Shape, *, output_datatype: int = 1
) -> TensorType:
    """[dft_length // 2 + 1, num_mel_bins], the values of two scalar inputs."""
    c.state_types(dtype_name(output_datatype))
    names = "num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"
    for v, name in zip((bins.shape, length.shape, rate, low, high), names, strict=True):
        require_single(c, v, f"`{name}` must have exactly one element")
    rows = transform_length(c, length, "dft_length") // 2 + 1
    return TensorType(dtype_name(output_datatype), Shape((rows, transform_length(c, bins, "num_mel_bins"))))
