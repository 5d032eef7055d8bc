"""Constants that mean the same as a computed operand of sizes: the target of a Reshape, the ends of a Slice.

Each function takes the dims of the data and the elements of the operand, and returns numbers with which the node has
the same result at every size, and fails at the same sizes; None where there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from shapeinf.expr import Dimension, DimSize

Least = Callable[[DimSize], float]
"""The least number that a dim may be."""


def reshape_target(x: Sequence[DimSize], target: Sequence[object], least: Least) -> list[int] | None:
    """The target of a Reshape in which 0 copies a size, for one whose sizes mean themselves: see `means_itself`.

    A size that is that of the same axis of the input is 0. A single other one is -1, which fails where the rest is
    empty: so the rest must have elements at every size, and the input as many as the target.
    """
    result: list[int] = []
    open_axes: list[int] = []
    for axis, size in enumerate(target):
        if isinstance(size, Dimension):
            copies = axis < len(x) and x[axis] == size
            result.append(0 if copies else -1)
            open_axes += [] if copies else [axis]
        elif type(size) is int:
            result.append(size)
        else:
            return None
    if not open_axes:
        return result
    sizes = [size for size in target if isinstance(size, (int, Dimension))]
    rest = [size for axis, size in enumerate(sizes) if axis != open_axes[0]]
    if len(open_axes) > 1 or any(least(size) < 1 for size in rest):
        return None
    return result if prod(x, start=1) == prod(sizes, start=1) else None


def means_itself(x: Sequence[DimSize], target: Sequence[object], zero_copies: bool, least: Least) -> bool:
    """Whether every size in the target of a Reshape is the size of the result, also where it is 0.

    Where `zero_copies`, a size of 0 stands for that of the same axis of the input. Otherwise it must not be next to -1,
    which onnxruntime accepts nevertheless.
    """
    has_open_size = -1 in target and not zero_copies
    for axis, size in enumerate(target):
        if isinstance(size, Dimension):
            same = axis < len(x) and x[axis] == size
            if least(size) < (0 if (same or not zero_copies) and not has_open_size else 1):
                return False
        elif type(size) is not int:
            return False
    return True


def expand_target(x: Sequence[DimSize], target: Sequence[object]) -> list[int] | None:
    """The target of an Expand: 1 leaves a size as it is."""
    result: list[int] = []
    for axis, size in enumerate(target, len(x) - len(target)):
        if axis >= 0 and isinstance(size, (int, Dimension)) and x[axis] == size:
            result.append(1)
        elif type(size) is int:
            result.append(size)
        else:
            return None
    return result


def slice_position(size: DimSize, position: object, last: int, least: Least) -> int | None:
    """A start or end of a Slice with a positive step; `last` is the largest number of its type.

    A position at or behind the end of the axis is the largest number. One that is k before the end is -k, where the
    axis has at least k elements: otherwise the position would be negative itself.
    """
    if type(position) is int:
        return position
    if not isinstance(position, Dimension):
        return None
    before_end = size - position
    if not isinstance(before_end, int):
        return None
    if before_end <= 0:
        return last if least(size) >= 0 else None
    return -before_end if least(size) >= before_end else None
