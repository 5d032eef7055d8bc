"""Changes of element type."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.conversion import convert, reinterpret
from shapeinf.lattice import PartialTensor, Shape, element_bits
from shapeinf.lattice.dtypes import FROM_ONNX_NAMES, ONNX_CODES, ONNX_NAMES
from shapeinf.ops import InferenceContext, Value


def dtype_name(number: object) -> str | None:
    """The dtype of an attribute such as `to`: ONNX's number or, in opset 1, a name. None for any other value."""
    if isinstance(number, str):
        return ONNX_NAMES.get(ONNX_CODES.get(number.lower(), 0)) or FROM_ONNX_NAMES.get(number)
    return ONNX_NAMES.get(number) if isinstance(number, int) else None


@onnx("Cast", in_place=(0,))
def cast(c: InferenceContext, x: Value, *, to: object, saturate: int = 1) -> PartialTensor:
    """[*S] -> [*S] in the type `to`; contents stay known where both types represent them."""
    return convert(c, x, dtype_name(to), bool(saturate))


@onnx("BitCast", in_place=(0,))
def bit_cast(c: InferenceContext, x: Value, *, to: int) -> PartialTensor:
    """[*S] -> [*S] in the type `to`, which has as many bits as that of the input."""
    c.state_types(dtype_name(to))
    target, source = dtype_name(to), c.dtype(0)
    if target is None or target == "string" or source == "string":
        c.fail("the type of the input and `to` must be numeric", source, target or to)
    if source is not None and bits(source) != bits(target):
        c.fail("the type of the input and `to` must have the same number of bits", source, target)
    return reinterpret(x, target, x.shape)


def bits(dtype: str) -> int:
    """The bits of one element; the names of types narrower than a byte contain them."""
    return element_bits(dtype) or 0


@onnx("CastLike", in_place=(0,))
def cast_like(c: InferenceContext, x: Value, like: Shape, *, saturate: int = 1) -> PartialTensor:
    """[*S] -> [*S] in the type of the second input."""
    return convert(c, x, c.dtype(1), bool(saturate))
