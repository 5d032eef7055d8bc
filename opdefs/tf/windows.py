"""Tensor formats, explicit paddings, and sizes of sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.window import describe_windows, same_size, truncated_window_size
from opdefs.tf.context import TensorFlowContext
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Ints


@attrs.frozen
class ConvWindow:
    """The attributes of convolutions of images."""

    strides: Ints
    padding: str
    explicit_paddings: Ints = ()
    data_format: str = "NHWC"
    dilations: Ints = (1, 1, 1, 1)


@attrs.frozen
class VolumeWindow:
    """The attributes of convolutions of volumes."""

    strides: Ints
    padding: str
    data_format: str = "NDHWC"
    dilations: Ints = (1, 1, 1, 1, 1)

    @property
    def explicit_paddings(self) -> Ints:
        """Empty: volumes have no explicit paddings."""
        return ()


VECTOR_SIZES = (4, 32)
"""The sizes of the inner axis of NCHW_VECT_C."""


@attrs.frozen
class TensorFormat:
    """The axes of the batch, the channels and the spatial sizes; NCHW_VECT_C also has an inner axis of channels."""

    name: str
    batch: int
    channels: int
    spatial: tuple[int, ...]
    has_inner: bool = False

    @property
    def length(self) -> int:
        """The number of values of attributes such as strides: one per axis, except for the inner one."""
        return 2 + len(self.spatial)

    @property
    def rank(self) -> int:
        """The rank of a tensor."""
        return self.length + self.has_inner

    def shape(
        self, batch: DimSize, spatial: Sequence[DimSize], channels: DimSize, inner: DimSize | None = None
    ) -> Shape:
        """The shape of a tensor in the format; `channels` are those of the outer axis if there is an inner one."""
        dims: list[DimSize] = [0] * self.length
        dims[self.batch], dims[self.channels] = batch, channels
        for axis, size in zip(self.spatial, spatial, strict=True):
            dims[axis] = size
        return Shape(dims if inner is None else (*dims, inner))


def tensor_format(name: str, spatial_rank: int = 2) -> TensorFormat:
    """The format with this name. Raises ShapeError for an unknown name.

    >>> tensor_format("NCDHW", 3).spatial
    (2, 3, 4)
    """
    if name in ("NHWC", "NDHWC", "NWC", "CHANNELS_LAST"):
        return TensorFormat(name, 0, spatial_rank + 1, tuple(range(1, spatial_rank + 1)))
    if name in ("NCHW", "NCDHW", "NCW", "CHANNELS_FIRST", "NCHW_VECT_C"):
        return TensorFormat(name, 0, 1, tuple(range(2, spatial_rank + 2)), name == "NCHW_VECT_C")
    if name in ("HWNC", "HWCN") and spatial_rank == 2:
        return TensorFormat(name, name.index("N"), name.index("C"), (0, 1))
    raise ShapeError(f"Invalid data format string: {name}")


def format_shape(c: TensorFlowContext, x: Shape, layout: TensorFormat) -> Shape:
    """The shape, with the rank of the format. Raises ShapeError for an inner axis of another size than 4 or 32."""
    x = c.with_rank(x, layout.rank)
    if layout.has_inner and isinstance(x[-1], int) and x[-1] not in VECTOR_SIZES:
        raise ShapeError(f"VECT_C dimension must be 4 or 32, but is {x[-1]}")
    return x


def spatial_values(c: TensorFlowContext, values: Ints, layout: TensorFormat, name: str) -> Ints:
    """The values of an attribute for the spatial axes. Raises ShapeError for another number of values."""
    if len(values) != layout.length:
        count = f"contain {layout.length} values, but got: {len(values)}"
        raise ShapeError(f"{c.op_def.name} requires the {name} attribute to {count}")
    return tuple(values[axis] for axis in layout.spatial)


def padding_pairs(padding: str, explicit: Ints, layout: TensorFormat) -> list[tuple[int, int]]:
    """The paddings before and after each spatial axis. Raises ShapeError for invalid ones."""
    if padding != "EXPLICIT":
        if explicit:
            raise ShapeError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
        return [(0, 0)] * len(layout.spatial)
    if len(explicit) != 2 * layout.length:
        count = f"must contain {2 * layout.length} values, but got: {len(explicit)}"
        raise ShapeError(f"explicit_paddings attribute {count}")
    if min(explicit) < 0:
        raise ShapeError("All elements of explicit_paddings must be nonnegative")
    if any(explicit[2 * axis] or explicit[2 * axis + 1] for axis in (layout.batch, layout.channels)):
        raise ShapeError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return [(explicit[2 * axis], explicit[2 * axis + 1]) for axis in layout.spatial]


def windowed_output_size(
    c: TensorFlowContext,
    size: DimSize,
    window: DimSize,
    dilation: int,
    stride: int,
    padding: str,
    before: int = 0,
    after: int = 0,
) -> DimSize:
    """The output size of a sliding window, for padding VALID, SAME or EXPLICIT (`before` and `after`).

    Known sizes must be at least as large as the window. For a symbolic size, kernels accept smaller ones, for which the
    output is empty: see `truncated_window_size`.
    """
    if stride <= 0:
        raise ShapeError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise ShapeError(f"Dilation rate must be >= 1, but got {dilation}")
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise ShapeError(f"Unknown padding type: {padding}")
    if padding == "SAME":
        return c.divide(c.add(size, stride - 1), stride) if isinstance(size, int) else same_size(size, stride)
    pads = (before, after) if padding == "EXPLICIT" else (0, 0)
    if isinstance(size, int) and isinstance(window, int):
        span = c.add(c.multiply(c.subtract(window, 1), dilation), 1) if dilation > 1 else window
        return c.divide(c.add(c.subtract(c.add(size, sum(pads)), span), stride), stride)
    return truncated_window_size(c, size, window, stride, pads, dilation)


def convolved_sizes(
    c: TensorFlowContext, x: Shape, kernel: Sequence[DimSize], window: ConvWindow | VolumeWindow, layout: TensorFormat
) -> list[DimSize]:
    """The output sizes of the spatial axes of a convolution."""
    return windowed_output_sizes(
        c,
        [x[axis] for axis in layout.spatial],
        kernel,
        spatial_values(c, window.strides, layout, "stride"),
        window.padding,
        dilations=spatial_values(c, window.dilations, layout, "dilation"),
        pads=padding_pairs(window.padding, window.explicit_paddings, layout),
    )


def windowed_output_sizes(
    c: TensorFlowContext,
    sizes: Sequence[DimSize],
    windows: Sequence[DimSize],
    strides: Ints,
    padding: str,
    *,
    dilations: Ints = (),
    pads: Sequence[tuple[int, int]] = (),
) -> list[DimSize]:
    """The output sizes of all spatial axes."""
    ones, none = (1,) * len(sizes), [(0, 0)] * len(sizes)
    axes = zip(sizes, windows, dilations or ones, strides, pads or none, strict=True)
    counts = [
        windowed_output_size(c, size, window, dilation, stride, padding, *pair)
        for size, window, dilation, stride, pair in axes
    ]
    describe_windows(c, counts, windows, strides, None if padding == "SAME" else pads or none, dilations or ones)
    return counts
