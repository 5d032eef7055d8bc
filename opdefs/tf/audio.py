"""Audio: coding, spectrograms, cepstral coefficients."""

from __future__ import annotations

from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape


@tf("DecodeWav")
def decode_wav(
    c: TensorFlowContext, contents: Shape, *, desired_channels: int = -1, desired_samples: int = -1
) -> tuple[Shape, Shape]:
    """[] -> [samples, channels], as many as requested or as the file has, and the sample rate []."""
    c.with_rank(contents, 0)
    for count, name in ((desired_channels, "channels"), (desired_samples, "samples")):
        if count < -1:
            raise ShapeError(f"{name} must be non-negative, got {count}")
    return c.matrix(desired_samples, desired_channels), c.scalar()


@tf("EncodeWav")
def encode_wav(c: TensorFlowContext, audio: Shape, sample_rate: Shape) -> Shape:
    """[samples, channels], [] -> []: the file."""
    c.with_rank(audio, 2)
    c.with_rank(sample_rate, 0)
    return c.scalar()


@tf("AudioSpectrogram")
def audio_spectrogram(c: TensorFlowContext, input_: Shape, *, window_size: int, stride: int) -> Shape:
    """[samples, channels] -> [channels, windows, bins]; bins are half the next power of two, plus 1."""
    samples, channels = c.with_rank(input_, 2)
    if window_size < 2 or stride < 1:
        c.fail("window_size must be at least 2 and stride at least 1", window_size, stride)
    if window_size > 2**31:
        c.fail("window_size must be an int32", window_size)
    windows: DimSize = (samples - window_size) // stride + 1
    bins = (1 << (window_size - 1).bit_length()) // 2 + 1
    return Shape((channels, clamp_at_zero(c, windows), bins))


@tf("AudioMicrofrontend")
def audio_microfrontend(
    c: TensorFlowContext, audio: Shape, *, num_channels: int = 32, left_context: int = 0, right_context: int = 0
) -> Shape:
    """[samples] -> [frames, channels]: the channels of a frame and of those in its context."""
    samples = c.with_rank(audio, 1)[0]
    if min(num_channels, left_context, right_context) < 0:
        c.fail("channels and contexts must not be negative", num_channels, left_context, right_context)
    return Shape((c.fresh_at_most(samples, "frames"), num_channels * (1 + left_context + right_context)))


@tf("Mfcc")
def mfcc(c: TensorFlowContext, spectrogram: Shape, sample_rate: Shape, *, dct_coefficient_count: int = 13) -> Shape:
    """[channels, windows, bins] -> [channels, windows, dct_coefficient_count]."""
    channels, windows, _ = c.with_rank(spectrogram, 3)
    c.with_rank(sample_rate, 0)
    if dct_coefficient_count < 0:
        c.fail("dct_coefficient_count must not be negative", dct_coefficient_count)
    return Shape((channels, windows, dct_coefficient_count))
