"""Arithmetic ranges."""

from __future__ import annotations

import numpy as np

from opdefs.rules.elements import Array, as_dim, fits
from opdefs.rules.floats import FLOAT64, FloatArithmetic, arithmetic
from opdefs.rules.operands import one_value
from opdefs.rules.progressions import evenly
from shapeinf.expr import Dim, ceildiv, maximum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


def arithmetic_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """`ceil((limit - start) / delta)` elements, at least none."""
    for v in (start, limit, delta):
        one_value(c, v.shape, "the ends and the step of a range must be single numbers")
    ends = [v.elements[0] if v.elements else None for v in (start, limit, delta)]
    if all(isinstance(e, (int, float)) for e in ends):
        return _concrete_range(c, start, limit, delta)
    floats = arithmetic(c, start.dtype)
    if floats is not None:
        return _float_range(floats, *ends)
    first, last, step = (as_dim(e) for e in ends)
    if first is None or last is None or step is None:
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    shape = Shape((_count(c, last - first, step),))
    if not fits(shape):
        return evenly(start.dtype, shape, first, step)
    return PartialTensor(start.dtype, shape, [first + step * i for i in range(int(shape[0]))])  # type: ignore[arg-type]


def _float_range(floats: FloatArithmetic, first: Element, last: Element, step: Element) -> PartialTensor:
    """Runtimes divide in the operands' own type or in float64: the length is known where both come to the same."""
    c, dtype = floats.c, floats.format.name
    span = floats.subtract(last, first)
    counts: list[Element] = [None]
    if floats.exact(span) is not None:
        counts = [kind.ceil(kind.divide(span, step)) for kind in (floats, FloatArithmetic(c, FLOAT64))]
    count = as_dim(counts[0])
    if count is None or len(set(counts)) > 1:
        return PartialTensor(dtype, Shape((c.fresh("range"),)), None)
    shape = Shape((_not_negative(c, count),))
    if not fits(shape):
        return PartialTensor(dtype, shape, None)
    elements = (floats.add(first, floats.multiply(step, i)) for i in range(int(shape[0])))  # type: ignore[arg-type]
    return PartialTensor(dtype, shape, elements)


def _concrete_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    a, b, d = (v.array() for v in (start, limit, delta))
    assert a is not None and b is not None and d is not None
    if d.item() == 0:
        c.fail("a range's step must not be 0")
    count = _range_length(c, a, b, d)
    if not isinstance(count, int) or not fits(Shape((count,))):
        return evenly(start.dtype, Shape((count,)), a.item(), d.item())
    values = a.reshape(()) + np.arange(count).astype(a.dtype) * d.reshape(())
    return PartialTensor(start.dtype, Shape((count,)), values.tolist())


def _range_length(c: InferenceContext, a: Array, b: Array, d: Array) -> Dim:
    """Exact for ints; for floats unknown where the operands' own type and float64 round to another integer."""
    if a.dtype.kind in "bOSU":
        c.fail("a range is one of numbers", str(a.dtype))
    if a.dtype.kind in "iu":
        return int(max(0, -((a.item() - b.item()) // d.item())))
    with np.errstate(all="ignore"):
        wide = np.ceil((b.astype(float) - a.astype(float)) / d.astype(float)).item()
        narrow = np.ceil((b - a).astype(float) / d.astype(float)).item()
    if not (np.isfinite(wide) and np.isfinite(narrow)):
        c.fail("the ends and the step of a range must be finite")
    low, high = (int(max(0.0, n)) for n in sorted((wide, narrow)))
    return low if low == high else c.fresh("range", low, high)


def _count(c: InferenceContext, span: Dim, step: Dim) -> Dim:
    if c.prove_le(step, -1) is True:
        span, step = -span, -step
    if c.prove_le(1, step) is not True:
        return c.fresh("range")
    return _not_negative(c, span if step == 1 else ceildiv(span, step))


def _not_negative(c: InferenceContext, count: Dim) -> Dim:
    return count if c.prove_le(0, count) is True else maximum(count, 0)
