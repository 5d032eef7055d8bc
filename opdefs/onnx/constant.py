"""Tensors created from attributes, from shapes, or at random."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.constants import number_of
from opdefs.rules.contents.elements import is_listable, requested_dims
from opdefs.rules.contents.progressions import arithmetic_range, fill_tensor
from opdefs.rules.contents.rearrangement import identity_matrix
from shapeinf.lattice import SCALAR, Element, PartialTensor, Shape, TensorType
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
    """The value of the attribute that is set."""
    if value is not None or sparse_value is not None:
        tensor = value if value is not None else sparse_value
        assert tensor is not None
        return tensor
    scalars = (("int64", value_int), ("float32", value_float), ("string", value_string))
    for dtype, single in scalars:
        if single is not None:
            return PartialTensor(dtype, SCALAR, (single,))
    for dtype, many in (("int64", value_ints), ("float32", value_floats), ("string", value_strings)):
        if many is not None:
            shape = Shape((len(many),))
            return PartialTensor(dtype, shape, many if is_listable(shape) else None)
    c.fail("a Constant requires one of the attributes value, value_int, value_float, ..., sparse_value")


@onnx("ConstantOfShape")
def constant_of_shape(c: InferenceContext, shape: Value, *, value: PartialTensor | None = None) -> PartialTensor:
    """A tensor of the shape in the input, filled with the only element of `value` (default: the float 0)."""
    dtype = value.dtype if value is not None else "float32"
    fill: Element = value.elements[0] if value is not None and value.elements else 0.0
    c.state_types(dtype)
    result = _constant_shape(c, shape, dtype)
    if not is_listable(result):
        return fill_tensor(dtype, result, fill)
    return PartialTensor(dtype, result, (fill,) * int(c.numel(d for d in result if isinstance(d, int))))


def _constant_shape(c: InferenceContext, shape: Value, dtype: str | None) -> Shape:
    dims = requested_dims(c, shape, dtype=dtype)
    if shape.dtype == "int32":
        c.fail("`input` must have type int64", shape.dtype)
    for d in dims:
        if d is not None:
            c.at_least(d, 0, "the sizes in `input` must be at least 0")
    return Shape(c.fresh(f"shape.{i}") if d is None else d for i, d in enumerate(dims))


onnx("Range")(arithmetic_range)


@onnx("EyeLike")
def eye_like(c: InferenceContext, x: Shape, *, dtype: int = 0, k: int = 0) -> PartialTensor:
    """[M, N] -> [M, N]: ones on the diagonal `k`, zeros elsewhere."""
    kind = dtype_name(dtype) or c.dtype(0)
    c.state_types(kind)
    shape = c.require_rank(x, 2, "input")
    return identity_matrix(kind, shape, k, number_of(kind, 1), number_of(kind, 0))


@onnx("RandomNormal", "RandomUniform")
def random(c: InferenceContext, *, shape: Ints, dtype: int = 1) -> TensorType:
    """The attribute `shape`."""
    c.state_types(dtype_name(dtype))
    for d in shape:
        if d < 0:
            c.fail("the sizes in shape must be at least 0", d)
    return TensorType(dtype_name(dtype), Shape(shape))


@onnx("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(c: InferenceContext, x: Shape, *, dtype: int = 0) -> TensorType:
    """[*S] -> [*S] in the type `dtype`, else that of the input."""
    return TensorType(dtype_name(dtype) or c.dtype(0), x)


@onnx("Multinomial")
def multinomial(c: InferenceContext, x: Shape, *, sample_size: int = 1, dtype: int = 6) -> TensorType:
    """[batch, classes] -> [batch, sample_size]."""
    c.state_types(dtype_name(dtype))
    return TensorType(dtype_name(dtype), Shape((c.require_rank(x, 2, "input")[0], sample_size)))


@onnx("Shape")
def shape(c: InferenceContext, x: Shape, *, start: int = 0, end: int | None = None) -> PartialTensor | Shape:
    """The dims `start:end` of the input, as int64 elements."""
    if x.dims is None:
        return Shape((c.fresh("rank"),))
    dims = x.dims[slice(start, end)]
    return PartialTensor("int64", Shape((len(dims),)), dims)


@onnx("Size")
def size(c: InferenceContext, x: Shape) -> PartialTensor | Shape:
    """The number of elements, as an int64 scalar."""
    return SCALAR if x.dims is None else PartialTensor("int64", SCALAR, (c.numel(x),))
