"""Contents that grow evenly along the axes: ranges, positions in a sequence, and values computed from these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, nan

from opdefs.rules.contents.elements import INDEX_TYPES, clamp_at_zero, is_listable, known_dims, to_dim
from opdefs.rules.contents.float_formats import FLOAT64, float_format
from opdefs.rules.contents.float_intervals import are_numbers, float_ends, hull
from opdefs.rules.contents.floats import MAX_EXACT, FloatArithmetic, arithmetic
from opdefs.rules.contents.integers import USUAL_SIZES, wrap, wrap_element
from opdefs.rules.operands import require_single
from shapeinf.expr import Dimension, DimSize, ceildiv, usual_interval
from shapeinf.lattice import BoundedTensor, Element, PartialTensor, Progression, Shape
from shapeinf.lattice.dtypes import INTEGER_RANGES
from shapeinf.ops import InferenceContext, Value

MAX_STEP = 2**15
"""The largest step of a progression: a larger one may wrap around."""

MAX_ELEMENT = 2**31 - 1
"""The largest element of a progression: a larger one may wrap around when a model narrows or adds to its indices."""


def progression(dtype: str | None, shape: Shape, base: DimSize, steps: Sequence[int]) -> PartialTensor:
    """A progression; without contents where an element may wrap around, or where the type is not an index type.

    Constants of other types are progressions if the type represents them exactly.
    """
    if dtype not in INDEX_TYPES:
        exact = not any(steps) and isinstance(base, int) and _can_represent(dtype, base)
        return Progression(dtype, shape, base, steps) if exact else PartialTensor(dtype, shape, None)
    if steps and not -MAX_STEP <= min(steps) <= max(steps) <= MAX_STEP:
        return PartialTensor(dtype, shape, None)
    spans = sum(abs(step) * (size - 1) for size, step in zip(shape, steps, strict=True) if isinstance(size, int))
    if _magnitude(base) + spans > MAX_ELEMENT:
        return PartialTensor(dtype, shape, None)
    if not _fits_usually(str(dtype), shape, base, steps):
        return PartialTensor(dtype, shape, None)
    return Progression(dtype, shape, base, steps)


def _fits_usually(dtype: str, shape: Shape, base: DimSize, steps: Sequence[int]) -> bool:
    """Whether no element wraps around at usual sizes."""
    if isinstance(base, int) and dtype == "int64":  # steps are small
        return True
    cap, (least, most) = USUAL_SIZES[dtype], INTEGER_RANGES[dtype]
    spans = [(abs(step) * (size if isinstance(size, int) else cap)) for size, step in zip(shape, steps, strict=True)]
    low, high = usual_interval(base, cap)
    return least <= low - sum(spans) and high + sum(spans) <= most


def _can_represent(dtype: str | None, number: int) -> bool:
    """Whether a type other than those of indices represents an int exactly."""
    floats = float_format(dtype)
    if floats is not None:
        return abs(number) <= min(floats.max_exact, floats.largest)
    least, most = (0, 1) if dtype == "bool" else INTEGER_RANGES.get(dtype or "", (0, -1))
    return least <= number <= most


def _magnitude(d: DimSize) -> int:
    """The largest absolute value of an int, or of the coefficients of a dim."""
    return abs(d) if isinstance(d, int) else max(abs(factor) for _, factor in d.terms)


def arithmetic_vector(dtype: str | None, shape: Shape, first: DimSize, step: DimSize) -> PartialTensor:
    """The vector `first, first + step, ...`, where the step is a known int."""
    return progression(dtype, shape, first, (step,)) if isinstance(step, int) else PartialTensor(dtype, shape, None)


def to_progression(value: PartialTensor) -> Progression | None:
    """The contents as a progression, if they are one, a single number, or ints with constant steps; else None."""
    if isinstance(value, Progression) or value.elements is None or value.dtype not in INDEX_TYPES:
        return value if isinstance(value, Progression) else None
    if len(value.elements) == 1:
        single = to_dim(value.elements[0])
        return None if single is None else Progression(value.dtype, value.shape, single, (0,) * len(value.shape))
    numbers = [e for e in value.elements if type(e) is int]
    if not numbers or len(numbers) < len(value.elements):
        return None
    steps, even = [], numbers[:1]
    stride = len(numbers)
    for size in map(int, value.shape):  # tensors with listed contents have known sizes
        stride //= size
        step = numbers[stride] - numbers[0] if size > 1 else 0
        steps.append(step)
        even = [number + step * i for number in even for i in range(size)]
    return Progression(value.dtype, value.shape, numbers[0], steps) if even == numbers else None


def broadcast_steps(value: Progression, shape: Shape) -> tuple[int, ...] | None:
    """The steps of a progression that is broadcast to a shape; None where it is undecided which axes repeat."""
    lead = len(shape) - len(value.shape)
    steps = [0] * lead
    for size, target, step in zip(value.shape, shape[lead:], value.steps, strict=True):
        if size == 1 or step == 0:
            steps.append(0)
        elif size == target:
            steps.append(step)
        else:
            return None
    return tuple(steps)


def add(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a + b`, broadcast to a shape."""
    return _add_scaled(a, b, shape, 1)


def subtract(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a - b`, broadcast to a shape."""
    return _add_scaled(a, b, shape, -1)


def _add_scaled(a: PartialTensor, b: PartialTensor, shape: Shape, sign: int) -> PartialTensor:
    left, right = to_progression(a), to_progression(b)
    if left is None or right is None:
        return PartialTensor(a.dtype, shape, None)
    first, second = broadcast_steps(left, shape), broadcast_steps(right, shape)
    if first is None or second is None:
        return PartialTensor(a.dtype, shape, None)
    steps = [x + sign * y for x, y in zip(first, second, strict=True)]
    return progression(a.dtype, shape, left.base + sign * right.base, steps)


def multiply(a: PartialTensor, b: PartialTensor, shape: Shape) -> PartialTensor:
    """`a * b`, broadcast to a shape, where one operand is a single known int."""
    for value, factor in ((a, b), (b, a)):
        known = known_dims(factor)
        source = to_progression(value)
        steps = None if source is None else broadcast_steps(source, shape)
        if source is not None and steps is not None and known and len(known) == 1 and isinstance(known[0], int):
            return progression(a.dtype, shape, source.base * known[0], [step * known[0] for step in steps])
    return PartialTensor(a.dtype, shape, None)


def reshape_elements(value: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor of `shape` with the same elements in the same order, as in a reshape."""
    if isinstance(value, Progression):
        return _reshape_progression(value, shape)
    if value.elements is None or not is_listable(shape):
        return value.rearranged(shape)
    return PartialTensor(value.dtype, shape, value.elements)


def _reshape_progression(value: Progression, shape: Shape) -> PartialTensor:
    """The reshaped tensor; with contents if all elements are equal, or only axes of size 1 come or go."""
    if not any(value.steps):
        return progression(value.dtype, shape, value.base, (0,) * len(shape))
    old = [(size, step) for size, step in zip(value.shape, value.steps, strict=True) if size != 1]
    if [size for size, _ in old] == [size for size in shape if size != 1]:
        steps = iter(old)
        return progression(value.dtype, shape, value.base, [0 if size == 1 else next(steps)[1] for size in shape])
    return PartialTensor(value.dtype, shape, None)


def broadcast_progression(value: PartialTensor, shape: Shape) -> PartialTensor:
    """The tensor broadcast to a shape."""
    source = to_progression(value)
    steps = None if source is None else broadcast_steps(source, shape)
    if source is None or steps is None:
        return value.rearranged(shape)
    return progression(value.dtype, shape, source.base, steps)


def transpose_progression(value: Progression, shape: Shape, order: Sequence[int]) -> PartialTensor:
    """The tensor with its axes in another order."""
    return progression(value.dtype, shape, value.base, [value.steps[i] for i in order])


def slice_progression(
    x: PartialTensor, shape: Shape, firsts: Sequence[DimSize | None], strides: Sequence[int]
) -> PartialTensor:
    """The strided slice of a progression, of `shape`, from a first index of each axis (None: unknown)."""
    source = to_progression(x)
    if source is None or None in firsts:
        return x.rearranged(shape)
    base = source.base
    for first, step in zip(firsts, source.steps, strict=True):
        base = base + step * first if first is not None else base
    return progression(x.dtype, shape, base, [a * b for a, b in zip(source.steps, strides, strict=True)])


def running_sum(x: PartialTensor, axis: int, exclusive: bool, reverse: bool) -> PartialTensor:
    """The running sums of a tensor along an axis; contents for equal ints."""
    source = to_progression(x)
    if source is None or any(source.steps) or not isinstance(source.base, int):
        return PartialTensor(x.dtype, x.shape, None)
    fill = source.base
    first = x.shape[axis] * fill - (fill if exclusive else 0) if reverse else 0 if exclusive else fill
    step = -fill if reverse else fill
    return progression(x.dtype, x.shape, first, [step if i == axis else 0 for i in range(len(x.shape))])


def extremes(c: InferenceContext, value: PartialTensor) -> tuple[list[DimSize], list[DimSize]]:
    """Elements that include the least, and elements that include the greatest; empty lists where they are unknown.

    Every element is one that the tensor certainly has.
    """
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
    ints: list[DimSize] = [e for e in elements if type(e) is int]
    symbolic: list[DimSize] = []
    if len(ints) < len(elements):
        symbolic = list({e: None for e in elements if isinstance(e, Dimension)})
    return ([*symbolic, min(ints)], [*symbolic, max(ints)]) if ints else (symbolic, symbolic)  # type: ignore[type-var]


def fill_tensor(dtype: str | None, shape: Shape, fill: object) -> PartialTensor:
    """A constant tensor as a progression; without contents if `fill` is not an integral number."""
    if shape.dims is None or not isinstance(fill, (int, float)) or fill != fill // 1:
        return PartialTensor(dtype, shape, None)
    return progression(dtype, shape, int(fill), (0,) * len(shape))


def convert_progression(value: Progression, dtype: str) -> PartialTensor:
    """The tensor in another element type."""
    if dtype != "bool":
        return progression(dtype, value.shape, value.base, value.steps)
    known = not any(value.steps) and isinstance(value.base, int)
    return fill_tensor(dtype, value.shape, int(value.base != 0)) if known else PartialTensor(dtype, value.shape, None)


def has_no_zeros(c: InferenceContext, value: PartialTensor) -> bool | None:
    """Whether no element is 0 (True) or every element is (False), for contents that are not listed; else None."""
    if not isinstance(value, (Progression, BoundedTensor)):
        return None
    if isinstance(value, Progression) and not any(value.steps):
        zero = c.prove_eq(value.base, 0)
        return None if zero is None else not zero
    least, most = extremes(c, value)
    nonzero = (least and c.prove_le(1, least[0]) is True) or (most and c.prove_le(most[0], -1) is True)
    return True if nonzero else None


def arithmetic_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """[], [], [] -> [max(ceil((limit - start) / delta), 0)]."""
    for v in (start, limit, delta):
        require_single(c, v.shape, "the start, limit and step of a range must each have exactly one element")
    operands = [v.elements[0] if v.elements else None for v in (start, limit, delta)]
    floats = arithmetic(c, start.dtype)
    if floats is not None:
        return _float_range(floats, *operands)
    if start.dtype not in INDEX_TYPES and all([isinstance(e, (int, float)) for e in operands]):
        return _concrete_range(c, start, limit, delta)
    first, last, step = map(to_dim, operands)
    if step == 0:
        c.fail("the step of a range must not be 0")
    if first is None or last is None or step is None:
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    span = last - first
    if wrap_element(c, start.dtype, span) != span:  # runtimes subtract in the type of the operands
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    shape = Shape((_range_count(c, span, step),))
    if not is_listable(shape):
        return arithmetic_vector(start.dtype, shape, first, step)
    return PartialTensor(start.dtype, shape, [first + step * i for i in range(int(shape[0]))])


def _float_range(floats: FloatArithmetic, first: Element, last: Element, step: Element) -> PartialTensor:
    """The range of floats."""
    dtype = floats.format.name
    shape = Shape((_float_range_length(floats, first, last, step),))
    if not is_listable(shape):
        return PartialTensor(dtype, shape, None)
    return PartialTensor(dtype, shape, _float_range_elements(floats, first, step, int(shape[0])))


def _float_range_length(floats: FloatArithmetic, first: Element, last: Element, step: Element) -> DimSize:
    """The length of a range of floats. Runtimes subtract and divide in the type of the operands or in float64."""
    c = floats.c
    operands = (first, last, step)
    if step == 0:
        c.fail("the step of a range must not be 0")
    if any([isinstance(e, float) and not isfinite(e) for e in operands]):
        c.fail("the start, limit and step of a range must be finite")
    wide = FloatArithmetic(c, FLOAT64)
    spans = [floats.subtract(last, first)]
    if are_numbers(*operands):
        spans.append(wide.subtract(last, first))
    elif floats.exact(spans[0]) is None:
        return c.fresh("range")
    counts = {to_dim(kind.ceil(kind.divide(span, step))) for span in spans for kind in (floats, wide)}
    known = [clamp_at_zero(c, count) for count in counts if count is not None]
    if len(known) < len(counts):
        return c.fresh("range")
    if len(known) == 1:
        return known[0]
    bounds = [c.interval(count) for count in known]
    highs = [b.hi for b in bounds]
    return c.fresh("range", min(b.lo or 0 for b in bounds), None if None in highs else max(h or 0 for h in highs))


def _float_range_elements(floats: FloatArithmetic, first: Element, step: Element, count: int) -> Iterator[Element]:
    """The elements of a range of floats. Runtimes add the step again and again, or multiply it."""
    if not are_numbers(first, step):
        yield from (floats.add(first, floats.multiply(step, i)) for i in range(count))
        return
    wide = FloatArithmetic(floats.c, FLOAT64)
    added = first
    for i in range(count):
        multiplied = floats.add(first, floats.multiply(step, float(i)))
        rounded_once = wide.add(first, wide.multiply(step, float(i)))
        yield hull([end for e in (added, multiplied, rounded_once) for end in float_ends(e) or (nan,)])
        added = floats.add(added, step)


def _concrete_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """The range of known integers."""
    a, b, d = (v.array() for v in (start, limit, delta))
    assert a is not None and b is not None and d is not None
    if a.dtype.kind not in "iu":
        c.fail("a range requires numbers", str(a.dtype))
    if d.item() == 0:
        c.fail("the step of a range must not be 0")
    span, step = b.item() - a.item(), d.item()
    if wrap(start.dtype, span) != span or abs(span) > MAX_EXACT:  # runtimes subtract in the type, and divide in float64
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    count = max(0, -(-span // step))
    if not is_listable(Shape((count,))):
        return arithmetic_vector(start.dtype, Shape((count,)), a.item(), d.item())
    return PartialTensor(start.dtype, Shape((count,)), [a.item() + i * d.item() for i in range(count)])


def _range_count(c: InferenceContext, span: DimSize, step: DimSize) -> DimSize:
    """The length of a range of integers; unknown where the sign of the step is."""
    if c.prove_le(step, -1) is True:
        span, step = -span, -step
    if c.prove_le(1, step) is not True:
        return c.fresh("range")
    return clamp_at_zero(c, span if step == 1 else ceildiv(span, step))
