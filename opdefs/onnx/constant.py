"""Tensors made from nothing or from sizes."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import fits, wanted_dims
from opdefs.rules.progressions import filled
from opdefs.rules.ranges import arithmetic_range
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape
from shapeinf.ops import Floats, InferenceContext, Ints, Value


@onnx("Constant", stored=True)
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
        return filled(dtype, result, fill)
    return PartialTensor(dtype, result, (fill,) * int(c.numel(d for d in result if isinstance(d, int))))  # type: ignore[arg-type]


def _given_shape(c: InferenceContext, shape: Value, dtype: str | None) -> Shape:
    dims = wanted_dims(c, shape, dtype=dtype)
    if shape.dtype == "int32":
        c.fail("the shape must be of type int64", shape.dtype)
    for d in dims:
        if d is not None:
            c.at_least(d, 0, "a dimension must be at least 0")
    return Shape(c.fresh(f"shape.{i}") if d is None else d for i, d in enumerate(dims))


onnx("Range")(arithmetic_range)


@onnx("EyeLike")
def eye_like(c: InferenceContext, x: Shape, *, dtype: int = 0) -> PartialTensor:
    """The shape of the input, which must be a matrix."""
    return PartialTensor(dtype_name(dtype) or c.dtype(0), c.require_rank(x, 2, "input"), None)
