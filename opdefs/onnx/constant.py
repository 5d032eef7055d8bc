"""Tensors made from nothing or from sizes."""

from __future__ import annotations

import numpy as np

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import Array, as_dim, fits, wanted_dims
from shapeinf.algebra import Dim, ceildiv, maximum
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape
from shapeinf.ops import Floats, InferenceContext, Ints, Value


@onnx("Constant")
def constant(
    c: InferenceContext,
    *,
    value: PartialTensor | None = None,
    value_int: int | None = None,
    value_ints: Ints | None = None,
    value_float: float | None = None,
    value_floats: Floats | None = None,
    value_string: str | None = None,
    value_strings: tuple[str, ...] | None = None,
    sparse_value: PartialTensor | None = None,
) -> PartialTensor:
    """The one attribute that is given."""
    if value is not None or sparse_value is not None:
        found = value if value is not None else sparse_value
        assert found is not None
        return found
    scalars = (("int64", value_int), ("float32", value_float), ("string", value_string))
    for dtype, single in scalars:
        if single is not None:
            return PartialTensor(dtype, SCALAR, (single,))
    for dtype, many in (("int64", value_ints), ("float32", value_floats), ("string", value_strings)):
        if many is not None:
            shape = Shape((len(many),))
            return PartialTensor(dtype, shape, many if fits(shape) else None)
    c.fail("a constant needs one value attribute")


@onnx("ConstantOfShape")
def constant_of_shape(c: InferenceContext, shape: Value, *, value: PartialTensor | None = None) -> PartialTensor:
    """A tensor of the shape that the input holds, filled with `value` (one float 0 without it)."""
    dtype = value.dtype if value is not None else "float32"
    fill: Element = value.elements[0] if value is not None and value.elements else 0.0
    result = _given_shape(c, shape, dtype)
    if not fits(result):
        return PartialTensor(dtype, result, None)
    return PartialTensor(dtype, result, (fill,) * int(c.numel(d for d in result if isinstance(d, int))))  # type: ignore[arg-type]


def _given_shape(c: InferenceContext, shape: Value, dtype: str | None) -> Shape:
    dims = wanted_dims(c, shape, dtype=dtype)
    if shape.dtype == "int32":
        c.fail("the shape must be of type int64", shape.dtype)
    for d in dims:
        if isinstance(d, int) and d < 0:
            c.fail("a dimension must be at least 0", d)
    return Shape(d if d is not None and c.prove_le(0, d) is True else c.fresh(f"shape.{i}") for i, d in enumerate(dims))


@onnx("Range")
def range_(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """`ceil((limit - start) / delta)` elements, at least none."""
    ends = [v.elements[0] if v.elements else None for v in (start, limit, delta)]
    if all(isinstance(e, (int, float)) for e in ends):
        return _concrete_range(c, start, limit, delta)
    first, last, step = (as_dim(e) for e in ends)
    if first is None or last is None or step is None:
        return PartialTensor(start.dtype, Shape((c.fresh("range"),)), None)
    shape = Shape((_count(c, last - first, step),))
    if not fits(shape):
        return PartialTensor(start.dtype, shape, None)
    return PartialTensor(start.dtype, shape, [first + step * i for i in range(int(shape[0]))])  # type: ignore[arg-type]


def _concrete_range(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    a, b, d = (v.array() for v in (start, limit, delta))
    assert a is not None and b is not None and d is not None
    if d.item() == 0:
        c.fail("a range's step must not be 0")
    count = _range_length(c, a, b, d)
    if not isinstance(count, int) or not fits(Shape((count,))):
        return PartialTensor(start.dtype, Shape((count,)), None)
    values = a.reshape(()) + np.arange(count).astype(a.dtype) * d.reshape(())
    return PartialTensor(start.dtype, Shape((count,)), values.tolist())


def _range_length(c: InferenceContext, a: Array, b: Array, d: Array) -> Dim:
    """Exact for ints; for floats unknown where the operands' own type and float64 round to another integer."""
    if a.dtype.kind in "iu":
        return int(max(0, -((a.item() - b.item()) // d.item())))
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


@onnx("EyeLike")
def eye_like(c: InferenceContext, x: Shape, *, dtype: int = 0) -> PartialTensor:
    """The shape of the input, which must be a matrix."""
    return PartialTensor(dtype_name(dtype) or c.dtype(0), c.require_rank(x, 2, "input"), None)
