"""Temporaries of interpolations: indices and weights for each position of the output, along each axis that changes."""

from __future__ import annotations

from math import ceil

from opdefs.onnxruntime.kernels import onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

SUPPORT = {"linear": 1, "cubic": 2}
"""The positions on either side that a filter reads at the size of the input."""
WEIGHT = 4
"""The bytes of a weight: float32, or int32 for an input of integers."""


@onnxruntime.scratch("Upsample", "Resize")
def interpolation(c: KernelContext) -> Scratch:
    """16 bytes for each position of two axes, 24 for each of three; the input itself may be the result."""
    if c.integer("antialias"):
        return filtered_interpolation(c)
    if c.text("mode", "nearest") != "linear":
        return NO_SCRATCH
    before, after = c.input(0), c.result
    are_equal = [c.store.prove_eq(a, b) for a, b in zip(before, after, strict=True)]
    if all(are_equal) and c.text("coordinate_transformation_mode") != "tf_crop_and_resize":
        return NO_SCRATCH
    axes = changed_axes(after, are_equal)
    width = 16 if len(axes) == 2 else 24
    return Scratch([c.product(width, c.sum(*axes))], is_bound=False not in are_equal)


def changed_axes(after: Shape, are_equal: list[bool | None]) -> tuple[DimSize, ...]:
    """The sizes along the axes of the interpolation: two of rank 2 and 4, three of rank 3 and 5, mostly the last ones.

    Raises NotKnown for other axes.
    """
    count = 2 + len(after) % 2
    outer = len(after) - count
    if outer >= 0 and all(are_equal[:outer]):
        return after[outer:]
    if len(after) == 4 and are_equal[0] and are_equal[3]:
        return after[1:3]
    raise NotKnown("the temporaries of an interpolation along other axes than the last ones were not measured")


def filtered_interpolation(c: KernelContext) -> Scratch:
    """With antialias: the weights of both axes, and one image of which only the last axis has its new size."""
    before, after, mode = c.input(0), c.result, c.text("mode", "nearest")
    if mode not in SUPPORT or len(after) not in (2, 4) or before[:-2] != after[:-2]:
        raise NotKnown("the temporaries of an interpolation with antialias along other axes were not measured")
    weights = [c.product(WEIGHT, _filter_length(c, mode, axis), after[axis]) for axis in (-1, -2)]
    channels = before[1] if len(before) == 4 else 1
    return Scratch([*weights, c.product(c.width(0), channels, before[-2], after[-1])])


def _filter_length(c: KernelContext, mode: str, axis: int) -> int:
    """The number of weights for a position: the filter is wider where the output is smaller."""
    shrink = 1 / max(_scale(c, axis), 1e-9)
    return 2 * ceil(round(SUPPORT[mode] * max(shrink, 1.0), 4)) + 1


def _scale(c: KernelContext, axis: int) -> float:
    """The scale of an axis. Raises NotKnown if neither the scales nor both sizes are numbers."""
    before, after = c.input(0)[axis], c.result[axis]
    if c.has_input(2):
        scales = c.contents(2)
        if scales:
            scale = scales[axis]
            if isinstance(scale, (int, float)):
                return float(scale)
            raise NotKnown("the scale of an interpolation is not known")
    if isinstance(before, int) and isinstance(after, int) and before:
        return after / before
    raise NotKnown("the scale of an interpolation is not known")
