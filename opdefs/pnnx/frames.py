"""Short-time Fourier transforms: signals cut into frames, their frequencies, and back."""

from __future__ import annotations

import attrs

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.complex_numbers import complex_type, real_type
from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import is_kind, require_kind
from opdefs.rules.numbers import read_dim, read_int
from opdefs.rules.operands import require_choice, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@attrs.frozen
class Frames:
    """The attributes of frames of `n_fft` samples, `hop_length` apart; with `center` they are centered on samples."""

    n_fft: object
    hop_length: object = None
    win_length: object = None
    center: bool = True
    onesided: bool | None = None


@attrs.frozen
class FrameSizes:
    """`Frames` with known numbers: the length of a frame, their distance, and the length of the window."""

    length: int
    step: int
    window: int


def _frame_sizes(c: InferenceContext, frames: Frames) -> FrameSizes:
    length = read_int(c, frames.n_fft, "n_fft")
    step = length // 4 if frames.hop_length is None else read_int(c, frames.hop_length, "hop_length")
    window = length if frames.win_length is None else read_int(c, frames.win_length, "win_length")
    if length < 1 or step < 1 or not 1 <= window <= length:
        message = "n_fft, hop_length and win_length must be at least 1, and win_length at most n_fft"
        c.fail(message, length, step, window)
    return FrameSizes(length, step, window)


@own_types("torch.stft")
def stft(
    c: InferenceContext,
    input: Shape,
    window: Shape | None = None,
    *,
    frames: Frames,
    pad_mode: str = "reflect",
    return_complex: bool | None = None,
) -> TensorType:
    """[L] or [B, L] -> [(B,) frequencies, frames] of complex numbers, or [(B,) frequencies, frames, 2] of real ones."""
    sizes = _frame_sizes(c, frames)
    require_vector(c, window, sizes.window, "the window must have win_length elements")
    dtype = c.dtype(0)
    require_kind(c, dtype, "the signal must have floats or complex numbers", "float", "complex")
    complex_input = _is_complex(c)
    if complex_input and frames.onesided:
        c.fail("with a complex signal or window, onesided must be False")
    onesided = not complex_input if frames.onesided is None and complex_input is not None else frames.onesided
    real_result = return_complex is False or (return_complex is None and complex_input is False)
    dtype = real_type(dtype) if real_result else complex_type(dtype)
    if input.dims is None:
        return TensorType(dtype, Shape.unknown())
    lead, samples = _signal_axes(c, input)
    count = count_frames(c, samples, sizes, frames.center, pad_mode)
    bins: DimSize = c.fresh("bins", 1, sizes.length) if onesided is None else _bins(sizes.length, onesided)
    return TensorType(dtype, Shape((*lead, bins, count, *((2,) if real_result else ()))))


def _is_complex(c: InferenceContext) -> bool | None:
    """Whether the signal or the window has complex numbers; None if that is unknown."""
    present = [c.dtype(i) for i, type_ in enumerate(c.types[:2]) if type_ is not None]
    if any(is_kind(dtype, "complex") for dtype in present):
        return True
    return None if None in present else False


def _signal_axes(c: InferenceContext, x: Shape) -> tuple[tuple[DimSize, ...], DimSize]:
    """The batch axis, () if it is missing, and the number of samples."""
    if len(x) not in (1, 2):
        c.fail("the signal must have rank 1 or 2", x)
    return x[:-1], x[-1]


def _bins(length: int, onesided: bool) -> int:
    """The number of frequencies."""
    return length // 2 + 1 if onesided else length


def count_frames(c: InferenceContext, samples: DimSize, sizes: FrameSizes, center: bool, pad_mode: str) -> DimSize:
    """The number of frames in a signal, which with `center` is first padded at both ends by half a frame."""
    if center:
        half = sizes.length // 2
        if pad_mode == "reflect":
            c.at_least(
                samples, half + 1, "the signal must be longer than half a frame, by which pad_mode=reflect pads it"
            )
        if pad_mode == "circular":
            c.at_least(
                samples, half, "the signal must be at least half a frame long, by which pad_mode=circular pads it"
            )
        samples = samples + 2 * half
    c.at_least(samples, sizes.length, "the signal must be at least n_fft long, with its padding")
    return (samples - sizes.length) // sizes.step + 1


@own_types("torch.istft")
def istft(
    c: InferenceContext,
    input: Shape,
    window: Shape | None = None,
    *,
    frames: Frames,
    length: object = None,
    return_complex: bool = False,
) -> TensorType:
    """[frequencies, frames] or [B, frequencies, frames] of complex numbers -> [L] or [B, L]."""
    sizes = _frame_sizes(c, frames)
    require_kind(c, c.dtype(0), "the spectrogram must have complex numbers", "complex")
    require_known(c, "length", length)
    require_vector(c, window, sizes.window, "the window must have win_length elements")
    dtype = c.dtype(0) if return_complex else real_type(c.dtype(0))
    if input.dims is None:
        return TensorType(dtype, Shape.unknown())
    if len(input) not in (2, 3):
        c.fail("the spectrogram must have rank 2 or 3", input)
    *lead, bins, count = input.dims
    _require_bins(c, bins, sizes.length, frames.onesided)
    c.at_least(count, 1, "the spectrogram must have at least one frame")
    samples = count_samples(c, count, sizes, frames.center, None if length is None else read_samples(c, length))
    return TensorType(dtype, Shape((*lead, samples)))


def _require_bins(c: InferenceContext, bins: DimSize, length: int, onesided: bool | None) -> None:
    """Require the number of frequencies of frames of this length; either number if `onesided` is None."""
    message = "the spectrogram must have n_fft frequencies, or n_fft // 2 + 1 if it is one-sided"
    if onesided is None:
        require_choice(c, bins, (_bins(length, True), length), message)
    else:
        c.merge(bins, _bins(length, onesided), message)


def read_samples(c: InferenceContext, length: object) -> DimSize:
    """The requested number of samples; a new unknown if it is unknown or may be negative."""
    known = read_dim(c, length, "length")
    if known is None or c.prove_le(0, known) is None:
        return c.fresh("length")
    c.at_least(known, 1, "length must be at least 1")
    return known


def count_samples(
    c: InferenceContext, count: DimSize, sizes: FrameSizes, center: bool, length: DimSize | None
) -> DimSize:
    """The number of samples that frames cover, without the padding of `center`; or `length`, if it is not None."""
    if length is not None:
        return length
    samples = sizes.length + sizes.step * (count - 1) - (2 * (sizes.length // 2) if center else 0)
    c.at_least(samples, 1, "the signal must have at least one sample")
    return samples


@own_types("torchaudio.functional.spectrogram")
def spectrogram(
    c: InferenceContext,
    input: Shape,
    window: Shape | None = None,
    *,
    frames: Frames,
    pad: int = 0,
    pad_mode: str = "reflect",
    power: object = None,
) -> TensorType:
    """[*B, L] -> [*B, frequencies, frames], of complex numbers without `power`; `pad` zeros are added at both ends."""
    sizes = _frame_sizes(c, frames)
    require_vector(c, window, sizes.window, "the window must have win_length elements")
    require_known(c, "power", power)
    dtype = complex_type(c.dtype(0)) if power is None else real_type(c.dtype(0))
    if input.dims is None:
        return TensorType(dtype, Shape.unknown())
    if not input.dims or pad < 0:
        c.fail("the signal must have rank 1 or more, and pad must be at least 0", input, pad)
    count = count_frames(c, input[-1] + 2 * pad, sizes, frames.center, pad_mode)
    return TensorType(dtype, Shape((*input[:-1], _bins(sizes.length, frames.onesided is not False), count)))


@own_types("torchaudio.functional.inverse_spectrogram")
def inverse_spectrogram(
    c: InferenceContext,
    input: Shape,
    window: Shape | None = None,
    *,
    frames: Frames,
    length: object = None,
    pad: int = 0,
) -> TensorType:
    """[*B, frequencies, frames] of complex numbers -> [*B, L], or [*B, length]."""
    sizes = _frame_sizes(c, frames)
    require_kind(c, c.dtype(0), "the spectrogram must have complex numbers", "complex")
    require_known(c, "length", length)
    require_vector(c, window, sizes.window, "the window must have win_length elements")
    dtype = real_type(c.dtype(0))
    if input.dims is None:
        return TensorType(dtype, Shape.unknown())
    if len(input.dims) < 2:
        c.fail("the spectrogram must have rank 2 or more", input)
    _require_bins(c, input[-2], sizes.length, frames.onesided is not False)
    requested = None if length is None else read_samples(c, length)
    samples = count_samples(c, input[-1], sizes, frames.center, requested)
    return TensorType(dtype, Shape((*input[:-2], samples)))
