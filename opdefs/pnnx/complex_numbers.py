"""Complex numbers and their parts."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import is_kind, require_kind
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

_COMPLEX = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}
_REAL = {name: part for part, name in _COMPLEX.items()}


def complex_type(dtype: str | None) -> str | None:
    """The type of complex numbers with parts of this type; None where there is none."""
    return dtype if is_kind(dtype, "complex") else _COMPLEX.get(dtype or "")


def real_type(dtype: str | None) -> str | None:
    """The type of the parts of complex numbers; real types are returned as they are."""
    return _REAL.get(dtype or "", dtype)


@own_types("torch.complex", "aten::complex")
def complex_of_parts(c: InferenceContext, real: Shape, imag: Shape) -> TensorType:
    """Numpy broadcasting of the real and the imaginary parts, which have the same type."""
    first, second = c.dtype(0), c.dtype(1)
    if first is not None and second is not None and first != second:
        c.fail("the real and the imaginary part must have the same element type", first, second)
    dtype = first or second
    if dtype is not None and dtype not in _COMPLEX:
        c.fail("the parts must be floats of 16, 32 or 64 bits", dtype)
    return TensorType(complex_type(dtype), c.broadcast(real, imag))


@own_types("torch.real", "aten::real")
def real_part(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S]; real numbers are returned as they are."""
    return TensorType(real_type(c.dtype(0)), input)


@own_types("torch.imag", "aten::imag")
def imaginary_part(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S]."""
    _require_complex(c)
    return TensorType(real_type(c.dtype(0)), input)


@own_types("torch.view_as_real", "aten::view_as_real")
def parts_as_axis(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S, 2]: the real and the imaginary part."""
    _require_complex(c)
    shape = input if input.dims is None else Shape((*input.dims, 2))
    return TensorType(real_type(c.dtype(0)), shape)


@own_types("torch.view_as_complex", "aten::view_as_complex")
def axis_as_parts(c: InferenceContext, input: Shape) -> TensorType:
    """[*S, 2] -> [*S]: from the real and the imaginary part."""
    dtype = c.dtype(0)
    if dtype is not None and dtype not in _COMPLEX:
        c.fail("the parts must be floats of 16, 32 or 64 bits", dtype)
    if input.dims is None:
        return TensorType(complex_type(dtype), input)
    if not input.dims:
        c.fail("the input must have an axis for the real and the imaginary part")
    c.merge(input.dims[-1], 2, "the last axis must have size 2, for the real and the imaginary part")
    return TensorType(complex_type(dtype), Shape(input.dims[:-1]))


def _require_complex(c: InferenceContext) -> None:
    require_kind(c, c.dtype(0), "the input must have complex numbers", "complex")
