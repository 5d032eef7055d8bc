"""Contents that grow evenly along the axes: positions in a sequence, and what is worked out from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from opdefs.rules.elements import as_dim, elements_of, fits, known_dims
from opdefs.rules.floats import float_format
from shapeinf.expr import Dim, Dimension
from shapeinf.lattice import BoundedTensor, PartialTensor, Progression, Shape, numpy_dtype
from shapeinf.ops import InferenceContext

INDEX_TYPES = ("int64", "int32")
"""The types of indices; narrower ones wrap around too early for sizes that are not known."""

MAX_STEP = 2**15
"""The largest step that is followed: a larger one may wrap around."""

MAX_ELEMENT = 2**31 - 1
"""No known element may be larger: it would wrap around where a model narrows its indices, or goes on to add."""


def progression(dtype: str | None, shape: Shape, base: Dim, steps: Sequence[int]) -> PartialTensor:
    """A progression, or only its shape where indices may not be of this type or some element may wrap around.

    Of other types only tensors that are filled with one int are kept, which the type must hold.
    """
    if dtype not in INDEX_TYPES:
        held = not any(steps) and isinstance(base, int) and _holds(dtype, base)
        return Progression(dtype, shape, base, steps) if held else PartialTensor(dtype, shape, None)
    if steps and not -MAX_STEP <= min(steps) <= max(steps) <= MAX_STEP:
        return PartialTensor(dtype, shape, None)
    spans = sum(abs(step) * (size - 1) for size, step in zip(shape, steps, strict=True) if isinstance(size, int))
    if _magnitude(base) + spans > MAX_ELEMENT:
        return PartialTensor(dtype, shape, None)
    return Progression(dtype, shape, base, steps)


def _holds(dtype: str | None, number: int) -> bool:
    """Whether a type that is none of indices holds an int exactly."""
    floats, kind = float_format(dtype), numpy_dtype(dtype)
    if floats is not None:
        return abs(number) <= min(floats.exact, floats.largest)
    if kind is None or kind.kind not in "biu":
        return False
    return number in (0, 1) if kind.kind == "b" else np.iinfo(kind).min <= number <= np.iinfo(kind).max


def _magnitude(d: Dim) -> int:
    """The largest number in a dim: itself, or a factor or summand of its symbols."""
    return abs(d) if isinstance(d, int) else max(abs(factor) for _, factor in d.terms)


def evenly(dtype: str | None, shape: Shape, first: Dim, step: Dim) -> PartialTensor:
    """A vector of numbers that are a step apart, where the step is a known int."""
    return progression(dtype, shape, first, (step,)) if isinstance(step, int) else PartialTensor(dtype, shape, None)


def progression_of(value: PartialTensor) -> Progression | None:
    """The contents as a progression, where they are one: a single number is, and so are listed ints in even steps."""
    if isinstance(value, Progression) or value.elements is None or value.dtype not in INDEX_TYPES:
        return value if isinstance(value, Progression) else None
    if len(value.elements) == 1:
        single = as_dim(value.elements[0])
        return None if single is None else Progression(value.dtype, value.shape, single, (0,) * len(value.shape))
    array = elements_of(value)
    if array is None or not array.size or any(type(e) is not int for e in value.elements):
        return None
    numbers = array.astype(object)
    first = numbers[(0,) * numbers.ndim]
    seconds = np.eye(numbers.ndim, dtype=int)  # the places next to the first along each axis
    pairs = zip(seconds, numbers.shape, strict=True)
    steps = [int(numbers[tuple(place)] - first) if size > 1 else 0 for place, size in pairs]
    ranges = (np.arange(n).astype(object) * s for n, s in zip(numbers.shape, steps, strict=True))
    even = first + reduce(np.add.outer, ranges)
    return Progression(value.dtype, value.shape, int(first), steps) if (numbers == even).all() else None


def spread(value: Progression, shape: Shape) -> tuple[int, ...] | None:
    """The steps of a progression that is broadcast to a shape; None where it is not decided which axes repeat."""
    lead = len(shape) - len(value.shape)
    steps = [0] * lead
    for size, wanted, step in zip(value.shape, shape[lead:], value.steps, strict=True):
        if size == 1 or step == 0:
            steps.append(0)
        elif size == wanted:
            steps.append(step)
        else:
            return None
    return tuple(steps)


def added(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a + b`, broadcast to a shape."""
    return _plus(a, b, shape, 1)


def subtracted(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a - b`, broadcast to a shape."""
    return _plus(a, b, shape, -1)


def _plus(a: PartialTensor, b: PartialTensor, shape: Shape, sign: int) -> PartialTensor:
    left, right = progression_of(a), progression_of(b)
    if left is None or right is None:
        return PartialTensor(a.dtype, shape, None)
    first, second = spread(left, shape), spread(right, shape)
    if first is None or second is None:
        return PartialTensor(a.dtype, shape, None)
    steps = [x + sign * y for x, y in zip(first, second, strict=True)]
    return progression(a.dtype, shape, left.base + sign * right.base, steps)


def scaled(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a * b` where one of them is a single known int."""
    for value, factor in ((a, b), (b, a)):
        known = known_dims(factor)
        found = progression_of(value)
        steps = None if found is None else spread(found, shape)
        if found is not None and steps is not None and known and len(known) == 1 and isinstance(known[0], int):
            return progression(a.dtype, shape, found.base * known[0], [step * known[0] for step in steps])
    return PartialTensor(a.dtype, shape, None)


def kept(value: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor of `shape` with the same elements in the same order, such as a reshape makes."""
    if isinstance(value, Progression):
        return _regrouped(value, shape)
    return PartialTensor(value.dtype, shape, value.elements if value.elements is not None and fits(shape) else None)


def _regrouped(value: Progression, shape: Shape) -> PartialTensor:
    """Followed where only axes of size 1 come or go, or all elements are one number."""
    if not any(value.steps):
        return progression(value.dtype, shape, value.base, (0,) * len(shape))
    old = [(size, step) for size, step in zip(value.shape, value.steps, strict=True) if size != 1]
    if [size for size, _ in old] == [size for size in shape if size != 1]:
        steps = iter(old)
        return progression(value.dtype, shape, value.base, [0 if size == 1 else next(steps)[1] for size in shape])
    return PartialTensor(value.dtype, shape, None)


def spread_out(value: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor broadcast to a shape."""
    found = progression_of(value)
    steps = None if found is None else spread(found, shape)
    if found is None or steps is None:
        return PartialTensor(value.dtype, shape, None)
    return progression(value.dtype, shape, found.base, steps)


def transposed(value: Progression, shape: Shape, order: Sequence[int]) -> PartialTensor:
    """The tensor with its axes in another order."""
    return progression(value.dtype, shape, value.base, [value.steps[i] for i in order])


def cut(x: PartialTensor, shape: Shape, firsts: Sequence[Dim | None], strides: Sequence[int]) -> PartialTensor:
    """Part of a progression: of every axis from a first element on (None: not known) in a stride."""
    found = progression_of(x)
    if found is None or None in firsts:
        return PartialTensor(x.dtype, shape, None)
    base = found.base
    for first, step in zip(firsts, found.steps, strict=True):
        base = base + step * first if first is not None else base
    return progression(x.dtype, shape, base, [a * b for a, b in zip(found.steps, strides, strict=True)])


def summed(x: PartialTensor, axis: int, exclusive: bool, reverse: bool) -> PartialTensor:
    """The running sums along an axis of a tensor that is filled with one int."""
    found = progression_of(x)
    if found is None or any(found.steps) or not isinstance(found.base, int):
        return PartialTensor(x.dtype, x.shape, None)
    fill = found.base
    first = x.shape[axis] * fill - (fill if exclusive else 0) if reverse else 0 if exclusive else fill
    step = -fill if reverse else fill
    return progression(x.dtype, x.shape, first, [step if i == axis else 0 for i in range(len(x.shape))])


def ends(c: InferenceContext, value: PartialTensor) -> tuple[list[Dim], list[Dim]]:
    """Elements that are surely there, the least and the greatest of all among them; none where that is not known."""
    if isinstance(value, BoundedTensor):
        return [value.least], [value.most]
    if isinstance(value, Progression):
        low = high = value.base
        for size, step in zip(value.shape, value.steps, strict=True):
            if c.prove_le(1, size) is not True:
                return [], []
            last = (size - 1) * step
            low, high = (low, high + last) if step > 0 else (low + last, high)
        return [low], [high]
    elements = value.elements or ()
    ints: list[Dim] = [e for e in elements if type(e) is int]
    symbolic: list[Dim] = []
    if len(ints) < len(elements):
        symbolic = list({e: None for e in elements if isinstance(e, Dimension)})
    return ([*symbolic, min(ints)], [*symbolic, max(ints)]) if ints else (symbolic, symbolic)  # type: ignore[type-var]


def filled(dtype: str | None, shape: Shape, fill: object) -> PartialTensor:
    """A tensor of one whole number, of which the elements are not listed."""
    if shape.dims is None or not isinstance(fill, (int, float)) or fill != fill // 1:
        return PartialTensor(dtype, shape, None)
    return progression(dtype, shape, int(fill), (0,) * len(shape))


def converted_to(value: Progression, dtype: str) -> PartialTensor:
    """The tensor in another type."""
    if dtype != "bool":
        return progression(dtype, value.shape, value.base, value.steps)
    known = not any(value.steps) and isinstance(value.base, int)
    return filled(dtype, value.shape, int(value.base != 0)) if known else PartialTensor(dtype, value.shape, None)


def without_zeros(c: InferenceContext, value: PartialTensor) -> bool | None:
    """Whether no element is 0 (True), or all are (False), of a tensor whose elements are not listed."""
    if not isinstance(value, (Progression, BoundedTensor)):
        return None
    if isinstance(value, Progression) and not any(value.steps):
        zero = c.prove_eq(value.base, 0)
        return None if zero is None else not zero
    least, most = ends(c, value)
    nonzero = (least and c.prove_le(1, least[0]) is True) or (most and c.prove_le(most[0], -1) is True)
    return True if nonzero else None
