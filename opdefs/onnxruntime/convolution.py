"""Temporaries of convolutions of floats, and of pooling.

MLAS multiplies slices of the columns of the input (im2col), of 64 KiB each, one for each thread that takes part; all
columns at once where a group has more filters than positions of the output.
"""

from __future__ import annotations

import attrs

from opdefs.onnxruntime.kernels import MS, NCHWC, onnxruntime
from opdefs.rules.operands import is_unit
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, ceildiv, minimum
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

SLICE_BYTES = 64 * 1024
THREAD_WORK = 64 * 1024
"""The multiplications for which MLAS adds a thread."""
COLUMNS = 16
"""The multiple of positions that a thread computes."""
MOST_THREADS = 16
"""MLAS divides one product among this number of threads at most."""
VECTOR = 8
"""The positions of a deformable convolution are padded to this multiple."""

onnxruntime.none(
    *("MaxPool", "AveragePool", "LpPool", "MaxUnpool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"),
)
onnxruntime.none("MaxpoolWithMask", domain=MS)
onnxruntime.none("Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", domain=NCHWC)


@attrs.frozen
class Convolution:
    """The sizes of a convolution; `depth` is the length of a column, of one group."""

    batch: DimSize
    group: int
    channels: DimSize
    filters: DimSize
    kernel: tuple[DimSize, ...]
    depth: DimSize
    inputs: DimSize
    outputs: DimSize
    pointwise: bool

    @property
    def group_filters(self) -> DimSize:
        """The filters of a group."""
        return self.filters // self.group


def read_convolution(c: KernelContext, weight: int = 1, channels_last: bool = False) -> Convolution:
    """The convolution of input 0 [N, C, *S] (or [N, *S, C]) with a weight [M, C/group, *K]."""
    x, w, y = c.input(0), c.input(weight), c.result
    kernel = w[2:]
    spatial = slice(1, -1) if channels_last else slice(2, None)
    is_padded = c.text("auto_pad", "NOTSET") == "NOTSET" and any(c.integers("pads"))
    strides = c.integers("strides")
    if not all(isinstance(size, int) for size in kernel):
        raise NotKnown("the size of the kernel is not known")
    return Convolution(
        batch=x[0],
        group=c.integer("group", 1),
        channels=x[-1] if channels_last else x[1],
        filters=w[0],
        kernel=kernel,
        depth=c.product(*w[1:]),
        inputs=c.product(*x[spatial]),
        outputs=c.product(*y[spatial]),
        pointwise=all(map(is_unit, kernel)) and all(map(is_unit, strides)) and not is_padded,
    )


@onnxruntime.scratch("Conv")
@onnxruntime.scratch("FusedConv", domain=MS)
def convolution(c: KernelContext) -> Scratch:
    """Slices of columns; nothing for a product of matrices as they are (kernel 1, stride 1, no padding)."""
    conv = read_convolution(c)
    if conv.pointwise:
        return NO_SCRATCH
    columns = c.product(4, conv.outputs, conv.depth)
    threads, is_bound = c.exact_or(lambda: slice_count(c, conv), c.options.threads)
    slices = c.product(SLICE_BYTES, threads)
    return Scratch([c.choose(conv.group_filters, conv.outputs, slices, columns)], is_bound=is_bound)


def slice_count(c: KernelContext, conv: Convolution) -> DimSize:
    """The threads that take part: one for each image and group, or else parts of the only product."""
    threads = c.options.threads
    if threads < 2:
        return 1
    products = c.product(conv.batch, conv.group)
    work = c.product(conv.group_filters, conv.outputs, conv.depth)
    count: DimSize = 1
    for more in range(2, min(threads, MOST_THREADS) + 1):
        added = _used_threads(c, conv.outputs, more) - _used_threads(c, conv.outputs, more - 1)
        count = count + c.choose((more - 1) * THREAD_WORK, work, added, 0)
    return c.choose(2, products, minimum(threads, products), count)


def _used_threads(c: KernelContext, positions: DimSize, threads: int) -> DimSize:
    """The threads of these that get positions, when each gets the same multiple of `COLUMNS`."""
    if threads < 2:
        return 1
    part = c.round_up(ceildiv(positions, threads), COLUMNS)
    fewer = c.choose(positions, c.product(threads - 1, part), threads - 1, threads)
    return c.choose(positions, part, 1, fewer)


@onnxruntime.scratch("ConvTranspose")
@onnxruntime.scratch("ConvTransposeWithDynamicPads", domain=MS)
def transposed_convolution(c: KernelContext) -> Scratch:
    """The columns of one image and group: a weight [C, M/group, *K] for each position of the input."""
    return Scratch([c.product(4, *c.input(1)[1:], *c.input(0)[2:])])


@onnxruntime.scratch("DeformConv")
def deformable_convolution(c: KernelContext) -> Scratch:
    """The sampled columns of one image, and for each offset indices and weights of its four neighbours."""
    x, w, positions = c.input(0), c.input(1), c.product(*c.result[2:])
    kernel = c.product(*w[2:])
    offsets = c.product(32, c.integer("offset_group", 1), kernel, c.round_up(positions, VECTOR))
    return Scratch([c.product(4, x[1], kernel, positions), offsets])
