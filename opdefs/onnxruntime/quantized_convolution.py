"""Temporaries of convolutions and poolings of 8-bit integers.

An input with channels first is transposed to channels last, image by image, and so is the result. Signed weights with
zero point 0 of unsigned inputs have a kernel of their own ("symmetric") that reads the input by a table of pointers.
"""

from __future__ import annotations

from opdefs.onnxruntime.convolution import Convolution, read_convolution
from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.expr import DimSize, minimum
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

ZERO_POINT, WEIGHT, WEIGHT_ZERO_POINT = 2, 3, 5
POINTER = 8
CHANNEL_STEP, FILTER_STEP, DEPTHWISE_STEP = 4, 8, 16
"""The multiples of channels, filters, and groups of one channel, that the symmetric kernels of AVX2 need."""
MOST_POINTERS = 512
"""The positions of the output for which pooling with channels last has pointers at a time."""


@onnxruntime.scratch("ConvInteger")
def integer_convolution(c: KernelContext) -> Scratch:
    """The columns of one image and group, of one byte an element."""
    conv = read_convolution(c)
    return NO_SCRATCH if conv.pointwise else Scratch([c.product(conv.depth, conv.outputs)])


@onnxruntime.scratch("QLinearConv")
@onnxruntime.scratch("QLinearConv", domain=MS)
def quantized_convolution(c: KernelContext) -> Scratch:
    """Transposed input and result, the result as int32, and columns or pointers; weights that are not constants."""
    channels_last = bool(c.integer("channels_last"))
    conv = read_convolution(c, WEIGHT, channels_last)
    symmetric = is_symmetric(c, conv)
    buffers: list[DimSize] = []
    if not is_packed(c):
        buffers.append(c.product(*c.input(WEIGHT)))
    if not symmetric:
        buffers.append(c.product(4, conv.filters, conv.outputs))
    if not channels_last:
        buffers += [c.product(conv.channels, conv.inputs), c.product(conv.filters, conv.outputs)]
    images = conv.batch if symmetric and channels_last else 1
    return Scratch([*buffers, *_columns(c, conv, symmetric, images)])


def _columns(c: KernelContext, conv: Convolution, symmetric: bool, images: DimSize) -> list[DimSize]:
    if is_depthwise(conv) or (symmetric and not conv.pointwise):
        return [c.product(POINTER, *conv.kernel, conv.outputs, images)]
    if conv.pointwise:
        return []
    groups = conv.group if len(conv.kernel) > 2 else 1
    return [c.product(groups, conv.depth, conv.outputs)]


def is_packed(c: KernelContext) -> bool:
    """Whether the weight is repacked when the session is created."""
    return WEIGHT in c.constants and c.options.prepacking


def is_depthwise(conv: Convolution) -> bool:
    """Whether each channel is a group of its own with one filter; one channel is none."""
    return conv.group > 1 and conv.channels == conv.filters == conv.group


def is_symmetric(c: KernelContext, conv: Convolution) -> bool:
    """Whether the kernel for signed weights with zero point 0 is used. Raises NotKnown if the contents decide it."""
    if c.dtype(0) != "uint8" or c.dtype(WEIGHT) != "int8" or not is_packed(c):
        return False
    if not {ZERO_POINT, WEIGHT_ZERO_POINT} <= c.constants:
        return False
    fits = is_depthwise(conv) and conv.group % DEPTHWISE_STEP == 0
    if conv.group <= 1:
        fits = is_multiple(conv.channels, CHANNEL_STEP) and is_multiple(conv.filters, FILTER_STEP)
    return fits and not any(c.contents(WEIGHT_ZERO_POINT))


def is_multiple(size: DimSize, divisor: int) -> bool:
    """Whether a size is a multiple for all values of its symbols."""
    remainder = size % divisor if isinstance(size, int) else size - divisor * (size // divisor)
    return remainder == 0


@onnxruntime.scratch("NhwcMaxPool", domain=MS)
def pooling_with_channels_last(c: KernelContext) -> Scratch:
    """Pointers to the elements of the windows of some positions of one image."""
    positions = c.product(*c.result[1:-1])
    return Scratch([c.product(POINTER, *c.integers("kernel_shape"), minimum(MOST_POINTERS, positions))])


@onnxruntime.scratch("QLinearAveragePool", domain=MS)
def average_pooling(c: KernelContext) -> Scratch:
    """The input as float32."""
    return Scratch([c.product(4, *c.input(0))])
