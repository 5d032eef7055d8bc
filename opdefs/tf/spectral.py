"""Fourier transforms along the last axes."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tf("FFT", "IFFT", "BatchFFT", "BatchIFFT", "RiscFft")
@tf("FFT2D", "IFFT2D", "BatchFFT2D", "BatchIFFT2D")
@tf("FFT3D", "IFFT3D", "BatchFFT3D", "BatchIFFT3D")
def fourier(c: TensorFlowContext, input: Shape) -> Shape:
    """[*B, *S] -> [*B, *S], where S are the 1 to 3 transformed axes."""
    return c.with_rank_at_least(input, _transformed_axes(c))


def _transformed_axes(c: TensorFlowContext) -> int:
    """The number of transformed axes: 1, 2 for `...2D`, 3 for `...3D`."""
    name = c.op_def.name
    return int(name[-2]) if name.endswith("D") else 1


@tf("RFFT", "RFFT2D", "RFFT3D")
def real_fourier(c: TensorFlowContext, input: Shape, fft_length: Value) -> Shape:
    """[*B, *S], fft_length [R] -> [*B, *fft_length], with `length // 2 + 1` frequencies along the last axis."""
    return _real_transform(c, input, fft_length, halved=True)


@tf("IRFFT", "IRFFT2D", "IRFFT3D")
def inverse_real_fourier(c: TensorFlowContext, input: Shape, fft_length: Value) -> Shape:
    """[*B, *S], fft_length [R] -> [*B, *fft_length]."""
    return _real_transform(c, input, fft_length, halved=False)


def _real_transform(c: TensorFlowContext, input: Shape, fft_length: PartialTensor, halved: bool) -> Shape:
    """The shape of a transform of the last axes; with `halved`, the last one has the frequencies of real numbers."""
    rank = _transformed_axes(c)
    x = c.with_rank_at_least(input, rank)
    c.with_value(c.with_rank(fft_length.shape, 1)[0], rank)
    sizes = [_length(c, d) for d in known_dims(fft_length) or (None,) * rank]
    if halved:
        sizes[-1] = _frequencies(c, sizes[-1])
    if x.dims is None:
        return c.unknown_shape()
    return Shape((*x.dims[:-rank], *sizes))


def _length(c: TensorFlowContext, d: DimSize | None) -> DimSize:
    """The length of a transform; an unknown where it may be negative. Raises ShapeError if it is."""
    if isinstance(d, int) and d < 0:
        raise ShapeError(f"fft_length must be non-negative, but is {d}")
    return d if d is not None and c.prove_le(0, d) is True else c.fresh("length")


def _frequencies(c: TensorFlowContext, length: DimSize) -> DimSize:
    """`length // 2 + 1`, but 0 for a transform of length 0."""
    return length // 2 + (1 if c.prove_le(1, length) is True else minimum(length, 1))


@tf("FFTND", "IFFTND", "IRFFTND", "RFFTND")
def fourier_of_axes(c: TensorFlowContext, input: Shape, fft_length: Value, axes: Value) -> Shape:
    """[*S], fft_length [R], axes [R] -> [*S] with axes of these lengths; of unknown ones for real transforms.

    Real transforms have no kernel for CPUs.
    """
    c.with_rank(fft_length.shape, 1)
    c.with_rank(axes.shape, 1)
    x = c.store.canon_shape(input)
    if x.dims is None:
        return c.unknown_shape()
    lengths, positions = known_dims(fft_length), known_ints(axes)
    if positions is None:
        return c.unknown_shape_of_rank(len(x))
    exact = c.op_def.name in ("FFTND", "IFFTND") and lengths is not None and len(lengths) == len(positions)
    dims = list(x.dims)
    for index, axis in enumerate(positions):
        size = lengths[index] if exact and lengths is not None else None
        dims[c.axis(axis, len(dims))] = _length(c, size)
    return Shape(dims)
