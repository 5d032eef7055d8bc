"""Windows that slide over axes (chapter 4.3): their attributes, and the extents that they make and come from."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.nnef.laws import Listed, check_count, ints_of, one_of
from opdefs.rules.window import same_size, window_span
from shapeinf.expr import Dim
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.ops import InferenceContext

SLIDES = "axis that the window slides over"

BORDERS = ("constant", "ignore", "replicate", "reflect", "reflect-even")

TRACT_BORDERS = (*BORDERS, "replicated")
"""What tract writes for "replicate", and reads."""


@attrs.frozen
class Sliding:
    """The attributes of a window: one value (of padding a pair) an axis, or nothing."""

    border: str = "constant"
    padding: Listed = ()
    stride: Listed = ()
    dilation: Listed = ()


Pairs = list[tuple[int, int]]


def slid(c: InferenceContext, sizes: Sequence[Dim], kernel: Sequence[Dim], sliding: Sliding) -> list[Dim]:
    """The number of places of a window on each axis.

    Without padding so much is added that there are `ceil(extent / stride)` places.
    """
    rank = len(sizes)
    steps, spread, pairs = _attributes(c, rank, sliding)
    if pairs is None:
        return [same_size(size, step) for size, step in zip(sizes, steps, strict=True)]
    found = []
    for size, k, step, (before, after), dilation in zip(sizes, kernel, steps, pairs, spread, strict=True):
        least = window_span(k, dilation) - (before + after)
        if not (isinstance(least, int) and c.store.bounds(size)[0] >= least):
            c.at_most(least, size, "the window must fit into the padded input")
        found.append((size - least) // step + 1)
    return found


def unslid(
    c: InferenceContext, sizes: Sequence[Dim], kernel: Sequence[Dim], sliding: Sliding, wanted: Sequence[int]
) -> list[Dim]:
    """The extents that a window with so many places slides over: those that are `wanted`, if any."""
    rank = len(sizes)
    steps, spread, pairs = _attributes(c, rank, sliding)
    if wanted and c.version == TRACT:  # whose exporters ask for any extents, as torch's output_padding does
        return list(wanted)
    if wanted:
        for size, places in zip(sizes, slid(c, wanted, kernel, sliding), strict=True):
            c.merge(places, size, "a window that slides over output_shape must have as many places as the input")
        return list(wanted)
    if pairs is None:  # even where the stride is more than the window, which then skips elements
        return [size * step for size, step in zip(sizes, steps, strict=True)]
    found = []
    for size, k, step, (before, after), dilation in zip(sizes, kernel, steps, pairs, spread, strict=True):
        extent = (size - 1) * step + window_span(k, dilation) - (before + after)
        if c.prove_le(1, extent) is not True:
            c.at_least(extent, 1, "padding must leave something of the output")
        found.append(extent)
    return found


def _attributes(c: InferenceContext, rank: int, sliding: Sliding) -> tuple[Sequence[int], Sequence[int], Pairs | None]:
    check_border(c, sliding.border)
    steps = _per_axis(c, sliding.stride, rank, "stride")
    spread = _per_axis(c, sliding.dilation, rank, "dilation")
    if not sliding.padding:
        return steps, spread, None
    return steps, spread, pairs_of(c, _complete(c, sliding.padding, rank, (0, 0)), rank, SLIDES)


def check_border(c: InferenceContext, border: str) -> None:
    """Tell that a border is one of those that the dialect has."""
    one_of(c, border, TRACT_BORDERS if c.version == TRACT else BORDERS, "border")


def _per_axis(c: InferenceContext, values: Listed, rank: int, what: str) -> tuple[int, ...]:
    if not values:
        return (1,) * rank
    return ints_of(c, _complete(c, values, rank, 1), what, 1, rank, SLIDES)


def _complete(c: InferenceContext, values: Listed, rank: int, default: object) -> Listed:
    """The values; in the provisional dialect, where every shape goes on with ones, one for each axis."""
    return (*values, *(default for _ in range(rank - len(values)))) if c.version == PROVISIONAL else values


def pairs_of(c: InferenceContext, padding: Listed, rank: int, each: str = "axis of the input") -> Pairs:
    """Padding before and after each axis; negative ones crop."""
    check_count(c, padding, "padding", rank, each)
    pairs = []
    for pair in padding:
        before, after = ints_of(c, pair, "a pair of padding", None, 2, "side")
        pairs.append((before, after))
    return pairs
