"""Views that copy nothing: whether the strides of a tensor allow another shape.

A stride is a product of sizes, or unknown where it depends on an axis that was cut or removed: then it is a multiple of
that axis, which stands for its unknown size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from opdefs.pnnx.reshape import reshape
from opdefs.rules.operands import is_unit, prove_unit
from opdefs.torch.declared_strides import Layout, apply_layout
from opdefs.torch.dialect import torch
from opdefs.torch.view_steps import VIEWS, Step, Steps
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Value


@torch(*sorted(VIEWS), views={0: 0})
def view(
    c: InferenceContext, self: Value, *, shape: object, steps: Steps = (), declared_layout: Layout | None = None
) -> PartialTensor:
    """The sizes in `shape`; -1 is inferred. Left open where the strides of the operand may not allow it.

    A program may have a view where the module has a reshape, which copies elements at sizes that require it.
    """
    result = reshape(c, self, shape=shape)
    dims, wanted = self.shape.dims, result.shape.dims
    if dims is None or wanted is None or 0 in dims or not (steps or declared_layout):
        return result
    known = (
        _strides(dims, steps) if steps else None,
        _declared_strides(c, dims, declared_layout) if declared_layout else None,
    )
    if not any(strides is not None and allows_view(c, dims, wanted, strides) for strides in known):
        reason = "torch refuses a view that would copy elements, and a reshape of the module copies them"
        c.store.add_disjunction("the strides of the operand allow the view", c.source(reason))
    return result


class Stride(NamedTuple):
    """A stride: a number of elements, times the unknown sizes of these axes."""

    number: DimSize
    unknown: frozenset[int] = frozenset()


def allows_view(
    c: InferenceContext, dims: Sequence[DimSize], wanted: Sequence[DimSize], strides: Sequence[Stride]
) -> bool | None:
    """Whether a tensor with elements, of these sizes and strides, has a view with the sizes `wanted`.

    None where it is unknown. Axes that lie in memory like one axis are a block; a view splits and joins axes of the
    same block only. Source: `computeStride` in torch's `aten/src/ATen/TensorUtils.cpp`.
    """
    finest = _blocks(c, dims, strides, unknown=False)
    if _fits(c, finest, wanted) is True:
        return True
    return False if _fits(c, _blocks(c, dims, strides, unknown=True), wanted) is False else None


def _blocks(c: InferenceContext, dims: Sequence[DimSize], strides: Sequence[Stride], unknown: bool) -> list[DimSize]:
    """The sizes of the blocks, the last one first; `unknown` is whether axes are of one block where that is unknown."""
    blocks: list[DimSize] = []
    size: DimSize = 1
    base: Stride | None = None
    for dim, stride in zip(reversed(dims), reversed(strides), strict=True):
        if is_unit(dim):
            continue
        joined = base is not None and _continues(c, dim, stride, Stride(base.number * size, base.unknown))
        if joined is None and unknown:
            joined = True
        if base is None or not joined:
            blocks, size, base = [*blocks, 1], 1, stride
        size *= dim
        blocks[-1] = size
    return blocks


def _continues(c: InferenceContext, dim: DimSize, stride: Stride, expected: Stride) -> bool | None:
    """Whether an axis lies in memory like the next part of a block."""
    if stride.unknown != expected.unknown:
        return None
    equal = c.prove_eq(stride.number, expected.number)
    return None if equal is False and prove_unit(c, dim) is not False else equal


def _fits(c: InferenceContext, blocks: Sequence[DimSize], wanted: Sequence[DimSize]) -> bool | None:
    """Whether each block is the product of consecutive wanted sizes."""
    remaining = list(wanted)
    for block in blocks:
        size: DimSize = 1
        while c.prove_eq(size, block) is not True:
            if not remaining:
                return False if all(isinstance(d, int) for d in (*blocks, *wanted)) else None
            size *= remaining.pop()
    rest = math.prod(remaining)
    return True if is_unit(rest) else False if isinstance(rest, int) else None


# -- declared strides --------------------------------------------------------------------------------------------------


def _declared_strides(c: InferenceContext, dims: Sequence[DimSize], layout: Layout) -> list[Stride] | None:
    """The declared strides at these sizes; None for sizes that are not as declared."""
    strides = apply_layout(c, dims, layout)
    return None if strides is None else [Stride(stride) for stride in strides]


# -- the strides after the steps ---------------------------------------------------------------------------------------


class _Axes:
    """The axes of a tensor during the steps, by numbers that they keep."""

    def __init__(self, rank: int) -> None:
        self.order = list(range(rank))
        """In the order of the shape."""
        self.memory = list(range(rank))
        """In the order of memory, the outermost first, with axes that were removed."""
        self.cut: set[int] = set()
        """Those whose size in memory is unknown."""
        self.factors: dict[int, int] = {}
        """The steps of slices."""
        self.count = rank

    def apply(self, step: Step) -> None:
        """Raises IndexError and ValueError for axes that do not exist."""
        name, *numbers = step
        at = [number for number in numbers if isinstance(number, int)]
        if name == "permute":
            self.order = [self.order[axis] for axis in at]
        elif name == "swap" and self.order:
            first, second = at
            self.order[first], self.order[second] = self.order[second], self.order[first]
        elif name == "cut":
            axis = self.order[at[0]]
            self.cut.add(axis)
            self.factors[axis] = self.factors.get(axis, 1) * at[1]
        elif name == "remove":
            self.cut.add(self.order.pop(at[0]))
        elif name == "insert":  # of size 1, so that its place in memory has no influence
            self.order.insert(at[0] if at[0] >= 0 else len(self.order) + 1 + at[0], self.count)
            self.count += 1
        elif name == "copy":
            self.memory = [axis for axis in self.memory if axis in self.order]
            self.cut, self.factors = set(), {}


def _strides(dims: Sequence[DimSize], steps: Sequence[Step]) -> list[Stride] | None:
    """The strides of a tensor with these sizes after the steps; None for steps that do not fit its rank."""
    changes = {"insert": 1, "remove": -1}
    rank = len(dims) - sum(changes.get(str(step[0]), 0) for step in steps)
    axes = _Axes(max(rank, 0))
    try:
        for step in steps:
            axes.apply(step)
    except (IndexError, ValueError):
        return None
    if len(axes.order) != len(dims):
        return None
    sizes = dict(zip(axes.order, dims, strict=True))
    strides: dict[int, Stride] = {}
    number: DimSize = 1
    unknown: frozenset[int] = frozenset()
    for axis in reversed(axes.memory):
        strides[axis] = Stride(number * axes.factors.get(axis, 1), unknown)
        if axis in axes.cut:
            unknown |= {axis}
        else:
            number *= sizes[axis]
    return [strides.get(axis, Stride(1)) for axis in axes.order]
