"""Convolutions: a multiplier and a shift for each channel, which float kernels keep too."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import WORD, elements, number, tflite_micro
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds

CONVOLUTION, TRANSPOSED = 80, 88
"""The bytes of the state of a kernel."""


@tflite_micro.needs("CONV_2D")
def conv_2d(c: LiteRtContext) -> MicroNeeds:
    """Weights of 4 bits are unpacked into a scratch buffer."""
    return _convolution(c, number(c.input(1)[0]))


@tflite_micro.needs("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(c: LiteRtContext) -> MicroNeeds:
    """As above; the channels are the last axis of the weights."""
    return _convolution(c, number(c.input(1)[3]))


def _convolution(c: LiteRtContext, channels: int) -> MicroNeeds:
    scratch = [elements(c.input(1))] if c.dtype(1) == "int4" else []
    return MicroNeeds(28, [CONVOLUTION, WORD * channels, WORD * channels], scratch)


@tflite_micro.needs("TRANSPOSE_CONV")
def transpose_conv(c: LiteRtContext) -> MicroNeeds:
    """Integer kernels add up in a scratch buffer."""
    channels = number(c.input(1)[0])
    width = {"int8": 4, "int16": 8}.get(c.dtype(2), 0)
    scratch = [width * elements(c.output())] if width else []
    if c.has_input(3) and c.dtype(2) == "int16" and c.dtype(3) == "int16":
        scratch.append(8 * elements(c.input(3)))
    return MicroNeeds(20, [TRANSPOSED, WORD * channels, WORD * channels], scratch)
