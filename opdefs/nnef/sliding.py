"""Sliding windows (chapter 4.3): their attributes, the number of their positions, and its inverse."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.nnef.attributes import Listed, check_choice
from opdefs.rules.numbers import check_count, read_ints
from opdefs.rules.window import describe_windows, same_size, window_span
from shapeinf.expr import DimSize
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.ops import InferenceContext

SLIDES = "axis that the window slides over"

BORDERS = ("constant", "ignore", "replicate", "reflect", "reflect-even")

TRACT_BORDERS = (*BORDERS, "replicated")
"""The borders of tract, which also writes and reads "replicated" for "replicate"."""


@attrs.frozen
class Sliding:
    """The attributes of a window: one item per axis, of `padding` a pair, or none."""

    border: str = "constant"
    padding: Listed = ()
    stride: Listed = ()
    dilation: Listed = ()


Pairs = list[tuple[int, int]]


def slide(c: InferenceContext, sizes: Sequence[DimSize], kernel: Sequence[DimSize], sliding: Sliding) -> list[DimSize]:
    """The number of window positions on each axis.

    Without the attribute `padding`, windows are padded so that there are `ceil(extent / stride)` positions.
    """
    rank = len(sizes)
    steps, spread, pairs = _attributes(c, rank, sliding)
    if pairs is None:
        counts: list[DimSize] = [same_size(size, step) for size, step in zip(sizes, steps, strict=True)]
        describe_windows(c, counts, kernel, steps, None, spread)
        return counts
    counts = []
    for size, k, step, (before, after), dilation in zip(sizes, kernel, steps, pairs, spread, strict=True):
        least = window_span(k, dilation) - (before + after)
        if not (isinstance(least, int) and c.store.bounds(size)[0] >= least):
            c.at_most(least, size, "the window must fit into the padded input")
        counts.append((size - least) // step + 1)
    describe_windows(c, counts, kernel, steps, pairs, spread)
    return counts


def unslide(
    c: InferenceContext, sizes: Sequence[DimSize], kernel: Sequence[DimSize], sliding: Sliding, requested: Sequence[int]
) -> list[DimSize]:
    """The extents over which a window slides to `sizes` positions; `requested` if it is not empty."""
    rank = len(sizes)
    steps, spread, pairs = _attributes(c, rank, sliding)
    if requested and c.version == TRACT:  # its exporters write any extents, as torch's output_padding allows
        return list(requested)
    if requested:
        for size, count in zip(sizes, slide(c, requested, kernel, sliding), strict=True):
            c.merge(
                count, size, "a window that slides over output_shape must have the extents of the input as positions"
            )
        return list(requested)
    if pairs is None:  # even where the stride exceeds the window
        return [size * step for size, step in zip(sizes, steps, strict=True)]
    extents = []
    for size, k, step, (before, after), dilation in zip(sizes, kernel, steps, pairs, spread, strict=True):
        extent = (size - 1) * step + window_span(k, dilation) - (before + after)
        if c.prove_le(1, extent) is not True:
            c.at_least(extent, 1, "padding must leave at least one element of the output")
        extents.append(extent)
    describe_windows(c, extents, kernel, steps, pairs, spread)
    return extents


def _attributes(c: InferenceContext, rank: int, sliding: Sliding) -> tuple[Sequence[int], Sequence[int], Pairs | None]:
    """Strides, dilations and padding of each axis; the padding is None where it follows from the extents."""
    check_border(c, sliding.border)
    steps = _read_per_axis(c, sliding.stride, rank, "stride")
    spread = _read_per_axis(c, sliding.dilation, rank, "dilation")
    if not sliding.padding:
        return steps, spread, None
    return steps, spread, read_pairs(c, _complete(c, sliding.padding, rank, (0, 0)), rank, SLIDES)


def check_border(c: InferenceContext, border: str) -> None:
    """Require a border of the dialect."""
    check_choice(c, border, TRACT_BORDERS if c.version == TRACT else BORDERS, "border")


def _read_per_axis(c: InferenceContext, values: Listed, rank: int, name: str) -> tuple[int, ...]:
    """One item of at least 1 per axis, by default 1."""
    if not values:
        return (1,) * rank
    return read_ints(c, _complete(c, values, rank, 1), name, 1, rank, SLIDES)


def _complete(c: InferenceContext, values: Listed, rank: int, default: object) -> Listed:
    """The values; in the provisional dialect, where shapes have implicit trailing ones, one per axis."""
    return (*values, *(default for _ in range(rank - len(values)))) if c.version == PROVISIONAL else values


def read_pairs(c: InferenceContext, padding: Listed, rank: int, each: str = "axis of the input") -> Pairs:
    """The padding before and after each axis; negative padding crops."""
    check_count(c, padding, "padding", rank, each)
    pairs = []
    for pair in padding:
        before, after = read_ints(c, pair, "each item of padding", None, 2, "side")
        pairs.append((before, after))
    return pairs
