"""Sliding windows: the output sizes of convolution and pooling, along one spatial axis and along all of them."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.expr import Dimension, DimSize, ceildiv, maximum, minimum
from shapeinf.expr.extremum import expand_maximum
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Ints


@attrs.frozen
class Window:
    """The attributes of a sliding window: a value for each spatial axis, and the padding."""

    kernel_shape: Ints = ()
    strides: Ints = ()
    pads: Ints = ()
    dilations: Ints = ()
    auto_pad: str = "NOTSET"


def window_size(size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int) -> DimSize:
    """`(size + pads - dilation*(kernel - 1) - 1) // stride + 1`: the output size where the window fits."""
    return _window_count(size, _least_size(kernel, pads, dilation), stride)


def _window_count(size: DimSize, least: DimSize, stride: int) -> DimSize:
    """`(size - least) // stride + 1`, with one sum and one division: the number of windows that fit into an axis.

    `least` is the size of an axis for one window. A size that is a maximum is divided part by part.
    """
    before = least - stride
    if stride == 1:
        return size - before if before != 0 else size
    if isinstance(size, int) or not size.scope.has_maxima:
        return (size - before) // stride
    return maximum(*((part - before) // stride for part in expand_maximum(size)))


def window_span(kernel: DimSize, dilation: int) -> DimSize:
    """The number of elements from the first to the last one of a dilated window."""
    return (kernel - 1) * dilation + 1


def transposed_window_size(
    size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """The output size of a transposed convolution: the least one, without padding, that has `size` windows."""
    return (size - 1) * stride + window_span(kernel, dilation) - pads[0] - pads[1]


def same_size(size: DimSize, stride: int) -> DimSize:
    """`ceil(size / stride)`: the output size with SAME padding."""
    return ceildiv(size, stride)


def ceil_window_size(size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int) -> DimSize:
    """`window_size` rounded up; without a last window that would start in the end padding."""
    padded = size + pads[0] + pads[1]
    count = ceildiv(padded - window_span(kernel, dilation), stride) + 1
    starts = ceildiv(size + pads[0], stride)  # windows that start before the end padding
    return minimum(count, starts)


def spatial_attribute(
    values: Sequence[int], rank: int, default: int, c: InferenceContext, name: str
) -> tuple[int, ...]:
    """The values of an attribute, one per spatial axis; the default for each if there are none.

    Raises ShapeError for another number of values, and for values below the default.
    """
    if not values:
        return (default,) * rank
    if min(values) < default:
        c.fail(f"{name} must be at least {default}", tuple(values))
    if len(values) != rank:
        c.fail(f"{name} must have {rank} values, one per spatial axis", tuple(values))
    return tuple(values)


def pad_pairs(pads: Sequence[int], rank: int, c: InferenceContext) -> list[tuple[int, int]]:
    """ONNX's `pads` (all begins, then all ends) as (begin, end) pairs."""
    flat = spatial_attribute(pads, 2 * rank, 0, c, "pads")
    return [(flat[i], flat[i + rank]) for i in range(rank)]


def describe_windows(
    c: InferenceContext,
    outputs: Sequence[DimSize],
    kernel: Sequence[DimSize],
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]] | None,
    dilations: Sequence[int],
) -> None:
    """Record how the sizes of the spatial axes are computed, for explanations; `pads` of None are SAME padding."""
    if c.size_terms is not None:
        for axis, size in enumerate(outputs):
            padding = "same" if pads is None else pads[axis]
            c.describe_size(size, kernel=kernel[axis], stride=strides[axis], pads=padding, dilation=dilations[axis])


def windows(
    c: InferenceContext,
    sizes: Sequence[DimSize],
    kernel: Sequence[DimSize],
    window: Window,
    ceil_mode: bool = False,
    must_fit: bool = True,
) -> tuple[DimSize, ...]:
    """The output sizes of all spatial axes, for windows as in ONNX.

    With `must_fit`, requires that the window fits into the padded input; in ceil mode, it may be larger by less than a
    stride.
    """
    rank = len(sizes)
    if len(kernel) != rank:
        c.fail(f"the kernel must have {rank} spatial axes, like the input", tuple(kernel))
    steps = spatial_attribute(window.strides, rank, 1, c, "strides")
    spread = spatial_attribute(window.dilations, rank, 1, c, "dilations")
    for k in kernel:
        if isinstance(k, int) and k < 1:
            c.fail("the kernel must be at least 1 along each axis", tuple(kernel))
    if window.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        counts = tuple([same_size(d, s) for d, s in zip(sizes, steps, strict=True)])
        describe_windows(c, counts, kernel, steps, None, spread)
        return counts
    pairs = [(0, 0)] * rank if window.auto_pad == "VALID" else pad_pairs(window.pads, rank, c)
    floor, ceil = (_conv_size, _ceil_conv_size) if must_fit else (_pool_size, _ceil_pool_size)
    along = ceil if ceil_mode else floor
    axes = zip(sizes, kernel, steps, pairs, spread, strict=True)
    counts = tuple([along(c, *axis) for axis in axes])
    describe_windows(c, counts, kernel, steps, pairs, spread)
    return counts


def advise_no_cropping(c: InferenceContext, x: Shape, window: Window) -> None:
    """Advise sizes whose SAME padding is not negative: it is where windows with gaps end before the axis does."""
    if window.auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        return
    rank = len(window.kernel_shape)
    steps = spatial_attribute(window.strides, rank, 1, c, "strides")
    spread = spatial_attribute(window.dilations, rank, 1, c, "dilations")
    for size, kernel, stride, dilation in zip(x[2:], window.kernel_shape, steps, spread, strict=True):
        span = window_span(kernel, dilation)
        if isinstance(span, int) and stride > span:
            end = (same_size(size, stride) - 1) * stride + span
            c.advise_at_most(size, end, "some runtimes reject the negative padding of windows that end before the axis")


FIT = "the window must fit into the padded input"
CEIL_FIT = "the window must fit into the padded input, but for less than a stride"
MAX_NESTED = 2
"""The largest nesting depth of a size for which there may be no windows: deeper formulas are unknowns."""

ASSUMED_TO_FIT = "the window is assumed to fit into the padded input"
ASSUMED_TO_EXIST = "the input is assumed to be long enough for one window"
NOT_NEGATIVE = "the number of windows must not be negative"


def _conv_size(
    c: InferenceContext, size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """The number of windows along an axis; requires one."""
    least = _least_size(kernel, pads, dilation)
    if not _is_long_enough(c, size, least):
        c.at_most(least, size, FIT)
    return _window_count(size, least, stride)


def _ceil_conv_size(
    c: InferenceContext, size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """The number of windows along an axis, rounded up; requires one."""
    least = _least_size(kernel, pads, dilation) - stride + 1
    if not _is_long_enough(c, size, least):
        c.at_most(least, size, CEIL_FIT)
    return ceil_window_size(size, kernel, stride, pads, dilation)


def _pool_size(
    c: InferenceContext, size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """The number of windows along an axis; assumes one, else requires that the number is not negative."""
    least = _least_size(kernel, pads, dilation)
    if not _is_long_enough(c, size, least):
        c.at_most(least - 2 * stride + 1, size, NOT_NEGATIVE)
        if stride > 1 and not c.assume_at_most(least, size, ASSUMED_TO_FIT):
            c.assume_at_most(
                least - stride + 1, _part_above(c, size, least - stride), ASSUMED_TO_EXIST, include_user_sizes=True
            )
            return _truncated_count(c, size, least, stride)
    return _window_count(size, least, stride)


def _ceil_pool_size(
    c: InferenceContext, size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """The number of windows along an axis, rounded up; requires that it is not negative."""
    least = _least_size(kernel, pads, dilation)
    if not _is_long_enough(c, size, least):
        c.at_most(least - 2 * stride + 1, size, NOT_NEGATIVE)
    return ceil_window_size(size, kernel, stride, pads, dilation)


def _least_size(kernel: DimSize, pads: tuple[int, int], dilation: int) -> DimSize:
    """The least size of an axis into which a window fits."""
    return window_span(kernel, dilation) - (pads[0] + pads[1])


def _is_long_enough(c: InferenceContext, size: DimSize, least: DimSize) -> bool:
    return isinstance(least, int) and c.store.bounds(size)[0] >= least


def truncated_window_size(
    c: InferenceContext, size: DimSize, kernel: DimSize, stride: int, pads: tuple[int, int], dilation: int
) -> DimSize:
    """`(size + pads - span + stride) / stride`, rounded towards zero; requires that it is not negative.

    So an input that is shorter than the window has 0 windows, if it is shorter by less than two strides.
    """
    least = _least_size(kernel, pads, dilation)
    count = _window_count(size, least, stride)
    if _is_long_enough(c, size, least):
        return count
    c.at_most(least - 2 * stride + 1, size, NOT_NEGATIVE)
    if c.assume_at_most(least, size, ASSUMED_TO_FIT, include_user_sizes=True):
        return count
    if stride == 1 or c.prove_le(least - stride, size) is True:
        return count
    limited = maximum(count, 0)
    too_long = isinstance(size, Dimension) and size.depth > MAX_NESTED
    return c.fresh_at_most(limited, "windows") if too_long else limited


def _part_above(c: InferenceContext, size: DimSize, bound: DimSize) -> DimSize:
    """The only part of a maximum that may exceed a bound; the maximum itself if several may."""
    above = [part for part in expand_maximum(size) if c.prove_le(part, bound) is not True]
    return above[0] if len(above) == 1 else size


def _truncated_count(c: InferenceContext, size: DimSize, least: DimSize, stride: int) -> DimSize:
    """`(size - least) / stride + 1`, where the quotient is rounded towards zero.

    This is 1 if the axis is too short by less than a stride, and 0 if it is by less than two.
    """
    room = size - least
    if isinstance(room, int):
        return room // stride + 1 if room >= 0 else 1 - -room // stride
    if c.store.bounds(room)[0] > -stride:
        return maximum(_window_count(size, least, stride), 1)
    if room.depth > MAX_NESTED:
        return c.fresh_at_most(maximum(_window_count(size, least, stride), 1), "windows")
    rounded_up = maximum(*(ceildiv(part - least, stride) + 1 for part in expand_maximum(size)))
    return maximum(_window_count(size, least, stride), minimum(rounded_up, 1))
