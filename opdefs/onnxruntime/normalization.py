"""Temporaries of normalizations and of softmax."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

onnxruntime.none("BatchNormalization", "InstanceNormalization", "LpNormalization")
SUM = 3
"""The output with the sum of the operands."""
onnxruntime.none("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MS)


@onnxruntime.scratch("Softmax", "LogSoftmax")
def flattened_softmax(c: KernelContext) -> Scratch:
    """Before opset 13 the axes from `axis` on are one, which is the last one."""
    return NO_SCRATCH


@onnxruntime.scratch("Softmax", "LogSoftmax", since=13)
def softmax(c: KernelContext) -> Scratch:
    """The transposed input and the transposed result, unless the axis is the last one."""
    return transposed_softmax(c, c.integer("axis", -1))


def transposed_softmax(c: KernelContext, axis: int) -> Scratch:
    """Two tensors like the input, unless the axis is the last one."""
    is_last = axis in (-1, len(c.input(0)) - 1)
    return NO_SCRATCH if is_last else Scratch([c.input_bytes(0), c.input_bytes(0)])


@onnxruntime.scratch("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def layer_normalization(c: KernelContext) -> Scratch:
    """None in float32; in float16 the scale and the bias as float32, unless they are constants, which are repacked."""
    if c.dtype(0) != "float16":
        return NO_SCRATCH
    return Scratch([c.product(4, *c.input(index)) for index in converted_operands(c, (1, 2))])


@onnxruntime.scratch("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MS)
def skip_normalization(c: KernelContext) -> Scratch:
    """None in float32; in float16 operands, results, and the parameters that are not repacked, as float32."""
    if c.dtype(0) != "float16":
        return NO_SCRATCH
    sums = (0,) if c.has_output(SUM) else ()
    copies = [c.product(4, *c.input(index)) for index in (0, 1, 0, *sums, *converted_operands(c, (2, 3, 4)))]
    return Scratch(copies)


def converted_operands(c: KernelContext, positions: tuple[int, ...]) -> list[int]:
    """The operands among these that are converted in each run: those that are not repacked."""
    packed = c.constants if c.options.prepacking else frozenset()
    return [index for index in positions if c.has_input(index) and index not in packed]


@onnxruntime.scratch("LRN")
def local_response(c: KernelContext) -> Scratch:
    """The squares, and for one image sums over channels, with a margin of `size - 1` channels."""
    x = c.input(0)
    margin = c.sum(x[1], c.integer("size") - 1)
    return Scratch([c.input_bytes(0), c.product(4, margin, *x[2:])])
