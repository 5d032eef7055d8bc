"""Operators that pnnx leaves as torch's own, `aten::NAME`: all their arguments are inputs, in the order of the schema.

Those that take tensors only are registered with their functions in torch; here are those that take numbers too.
"""

from __future__ import annotations

from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.concat import cat
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.operands import is_kind, require_kind, require_operand, result_type
from opdefs.pnnx.promotion import to_float
from opdefs.rules.elements import known_ints
from shapeinf.lattice import PartialTensor, SequenceType, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value

_CODES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bool"),
)
"""torch's element types by their codes (c10::ScalarType), which stand for `dtype` arguments."""


@own_types("torch.lgamma", "aten::lgamma", *(f"aten::{name}" for name in ("erf", "log", "sigmoid", "sqrt", "tanh")))
def float_function(c: InferenceContext, input: Shape) -> TensorType:
    """Element by element: floats, also of integers."""
    dtype = to_float(c.dtype(0))
    if c.op_def.name.endswith(("lgamma", "erf")):
        require_kind(c, dtype, "the function takes no complex numbers", "float")
    return TensorType(dtype, input)


@pnnx("aten::relu", "aten::relu6", "aten::copy", "aten::copy_")
def same_type(c: InferenceContext, input: Shape, *others: Value) -> Shape:
    """Shape and element type of the first argument."""
    return input


@own_types("aten::add", "aten::sub", "aten::mul", "aten::div")
def arithmetic(
    c: InferenceContext, input: Operand, other: Operand | None = None, *factors: Value, other_: object = None
) -> TensorType:
    """Broadcasting, in the promoted type; quotients are floats. A third input is a factor of the second."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    if c.op_def.name == "aten::div":
        dtype = None if factors else to_float(dtype)  # with a rounding mode, integers stay integers
    shape = c.broadcast(input.shape, second.shape) if isinstance(second, PartialTensor) else input.shape
    return TensorType(dtype, shape)


@own_types("aten::cat")
def cat_of_list(c: InferenceContext, *tensors: TensorType | SequenceType, dim: int = 0) -> TensorType:
    """As `torch.cat`; a list of tensors with the axis as an input is not analysed."""
    operands = [tensor for tensor in tensors if isinstance(tensor, TensorType)]
    if len(operands) < len(tensors):
        raise c.unknowable("the tensors are a list")
    return cat(c, *(_with_contents(operand) for operand in operands), dim=dim)


def _with_contents(x: TensorType) -> PartialTensor:
    return x if isinstance(x, PartialTensor) else PartialTensor(x.dtype, x.shape, None)


@own_types("aten::prod")
def product_of_all(c: InferenceContext, input: Value, *arguments: Value) -> TensorType:
    """The product of all elements; with more arguments than the element type, of some axis."""
    if len(arguments) > 1:
        raise c.unknowable("the arguments are not known")
    if not arguments:
        return TensorType("int64" if is_kind(input.dtype, "bool", "integer") else input.dtype, Shape(()))
    code = known_ints(arguments[0])
    return TensorType(_CODES[code[0]] if code and 0 <= code[0] < len(_CODES) else None, Shape(()))


@own_types("aten::std", "aten::var")
def deviation_of_all(c: InferenceContext, input: Shape, *arguments: Value) -> TensorType:
    """The deviation of all elements; with more arguments than `unbiased`, of some axes."""
    require_kind(c, c.dtype(0), "the deviation is of floats or complex numbers", "float", "complex")
    if len(arguments) > 1:
        raise c.unknowable("the arguments are not known")
    return TensorType(real_type(c.dtype(0)), Shape(()))
