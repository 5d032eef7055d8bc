"""Tensors made from nothing or from sizes."""

from __future__ import annotations

import numpy as np

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import as_dim, fits, wanted_dims
from shapeinf.algebra import Dim, ceildiv, maximum
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape, numpy_dtype
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
    result = _given_shape(c, shape)
    if not fits(result):
        return PartialTensor(dtype, result, None)
    return PartialTensor(dtype, result, (fill,) * int(c.numel(d for d in result if isinstance(d, int))))  # type: ignore[arg-type]


def _given_shape(c: InferenceContext, shape: Value) -> Shape:
    dims = wanted_dims(c, shape)
    for d in dims:
        if isinstance(d, int) and d < 0:
            c.fail("a dimension must be at least 0", d)
    return Shape(d if d is not None and c.prove_le(0, d) is True else c.fresh(f"shape.{i}") for i, d in enumerate(dims))


@onnx("Range")
def range_(c: InferenceContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """`ceil((limit - start) / delta)` elements, at least none."""
    dtype = start.dtype
    ends = [None if v.elements is None else v.elements[0] for v in (start, limit, delta)]
    dims = [as_dim(e) for e in ends]
    if all(isinstance(e, (int, float)) for e in ends):
        return _concrete_range(c, dtype, start, limit, delta)
    first, last, step = dims
    if first is None or last is None or not isinstance(step, int) or step == 0:
        return PartialTensor(dtype, Shape((c.fresh("range"),)), None)
    count = _count(c, last - first, step)
    shape = Shape((count,))
    return PartialTensor(dtype, shape, None)


def _concrete_range(c: InferenceContext, dtype: str | None, start: Value, limit: Value, delta: Value) -> PartialTensor:
    a, b, d = (v.array() for v in (start, limit, delta))
    assert a is not None and b is not None and d is not None
    if d.item() == 0:
        c.fail("a range's step must not be 0")
    count = max(0, int(np.ceil((b.astype(float) - a.astype(float)) / d.astype(float))))
    shape = Shape((count,))
    if not fits(shape):
        return PartialTensor(dtype, shape, None)
    values = a + np.arange(count, dtype=numpy_dtype(dtype)) * d
    return PartialTensor(dtype, shape, values.reshape(-1).tolist())


def _count(c: InferenceContext, span: Dim, step: int) -> Dim:
    if step < 0:
        span, step = -span, -step
    count = span if step == 1 else ceildiv(span, step)
    return count if c.prove_le(0, count) is True else maximum(count, 0)


@onnx("EyeLike")
def eye_like(c: InferenceContext, x: Shape, *, dtype: int = 0) -> PartialTensor:
    """The shape of the input, which must be a matrix."""
    return PartialTensor(dtype_name(dtype) or c.dtype(0), c.require_rank(x, 2, "input"), None)
