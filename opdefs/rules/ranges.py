"""Arithmetic ranges."""

from __future__ import annotations

import numpy as np

from opdefs.rules.elements import Array, as_dim, fits
from opdefs.rules.operands import one_value
from opdefs.rules.progressions import evenly
from shapeinf.algebra import Dim, ceildiv, maximum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


def arithmetic_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """`ceil((limit - start) / delta)` elements, at least none."""
    for v in (start, limit, delta):
        one_value(c, v.shape, "the ends and the step of a range must be single numbers")
    ends = [v.elements[0] if v.elements else None for v in (start, limit, delta)]
    if all(isinstance(e, (int, float)) for e in ends):
        return _concrete_range(c, start, limit, delta)
    first, last, step = (as_dim(e) for e in ends)
    if first is None or last is None or step is None:
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    shape = Shape((_count(c, last - first, step),))
    if not fits(shape):
        return evenly(start.dtype, shape, first, step)
    return PartialTensor(start.dtype, shape, [first + step * i for i in range(int(shape[0]))])  # type: ignore[arg-type]


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
    count = span if step == 1 else ceildiv(span, step)
    return count if c.prove_le(0, count) is True else maximum(count, 0)
