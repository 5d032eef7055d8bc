"""Temporaries of Fourier transforms: none for a power of two, else the buffers of Bluestein's algorithm."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

BUFFERS = 4
"""The signals that live at a time: the chirp, its transform, the product, and a transform on its way."""


@onnxruntime.scratch("DFT", since=17)
def transform_before_20(c: KernelContext) -> Scratch:
    """The axis is an attribute."""
    return transform(c, length=1, axis=c.integer("axis", 1))


@onnxruntime.scratch("DFT", since=20)
def transform_of_axis(c: KernelContext) -> Scratch:
    """The axis is an input."""
    return transform(c, length=1, axis=_number(c, 2) if c.has_input(2) else -2)


@onnxruntime.scratch("STFT")
def short_time_transform(c: KernelContext) -> Scratch:
    """The length is that of the window, or an input."""
    return bluestein(c, _number(c, 3) if c.has_input(3) else c.input(2)[0])


def transform(c: KernelContext, length: int, axis: int) -> Scratch:
    """A transform along an axis, with the length that an input states."""
    if c.integer("inverse") and c.integer("onesided"):
        raise NotKnown("the temporaries of an inverse transform to real numbers were not measured")
    return bluestein(c, _number(c, length) if c.has_input(length) else c.input(0)[axis])


def bluestein(c: KernelContext, length: object) -> Scratch:
    """Complex signals of the next power of two that fits `2*length - 1`."""
    if not isinstance(length, int):
        raise NotKnown("the temporaries of a transform of symbolic length are not a polynomial: bind the length")
    if length & (length - 1) == 0:
        return NO_SCRATCH
    padded = 1 << (2 * length - 2).bit_length()
    return Scratch([2 * c.width(0) * padded] * BUFFERS)


def _number(c: KernelContext, position: int) -> int:
    contents = c.contents(position)
    if len(contents) != 1 or not isinstance(contents[0], int):
        raise NotKnown(f"input {position} is not a number")
    return contents[0]
