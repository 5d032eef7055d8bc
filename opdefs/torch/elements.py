"""Arithmetic of tensors, element by element: the functions of PNNX's expressions, with torch's promotion."""

from __future__ import annotations

from opdefs.pnnx.expression_contents import contents
from opdefs.pnnx.expression_types import Operand as FormedOperand
from opdefs.pnnx.expression_types import result_type
from opdefs.pnnx.names import function_name
from opdefs.rules.contents.elements import INDEX_TYPES, known_dims
from opdefs.rules.operands import require_broadcast_to
from opdefs.torch.dialect import torch
from opdefs.torch.operands import Numbers, is_in_place, read_operand
from opdefs.torch.schemas import with_tensors
from shapeinf.lattice import ChosenIndices, PartialTensor
from shapeinf.ops import InferenceContext, Operand

UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor"),
    *("log", "log10", "log1p", "neg", "reciprocal", "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan"),
    "trunc",
)
"""The functions of one tensor."""

BINARY = {
    **{name: name for name in ("add", "sub", "mul", "div", "fmod", "remainder", "pow", "maximum", "minimum", "atan2")},
    **{"floor_divide": "floor_divide", "logaddexp": "logaddexp"},
    **{f"__{name}__": name for name in ("and", "or", "xor", "lshift", "rshift")},
    **{f"bitwise_{name}": name for name in ("and", "or", "xor")},
    **{"bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift"},
    **{"shift_left": "lshift", "shift_right_arithmetic": "rshift"},
}
"""The functions of two operands, by their names in torch."""

_OVERLOADS = ("Tensor", "Scalar", "Tensor_Scalar", "Tensor_Tensor", "Scalar_Tensor", "default")


@torch(
    *with_tensors(*(f"aten.{name}{suffix}.default" for name in UNARY for suffix in ("", "_"))),
    *with_tensors(*(f"prims.{name}.default" for name in UNARY)),
    *("aten.round.decimals", "aten.round_.decimals"),
    in_place=(0,),
)
def function_of_elements(c: InferenceContext, self: Operand, *, decimals: int = 0) -> PartialTensor:
    """[*S] -> [*S]."""
    operand = read_operand(c, self, None, "self", ())
    name = function_name(c.op_def.name)
    dtype = result_type(c, name, (operand,))
    if decimals:
        return PartialTensor(dtype, self.shape, None)
    return contents(c, name, dtype, self.shape, (operand,))


@torch(
    *with_tensors(
        *(f"aten.{name}{suffix}.{overload}" for name in BINARY for suffix in ("", "_") for overload in _OVERLOADS),
        *(f"prims.{name}.default" for name in BINARY),
    ),
    *(f"aten.{name}.{kind}_mode" for name in ("div", "div_") for kind in ("Tensor", "Scalar")),
    in_place=(0, 1),
)
def arithmetic(
    c: InferenceContext,
    self: Operand | None = None,
    other: Operand | None = None,
    *,
    self_: object = None,
    other_: object = None,
    alpha: object = 1,
    rounding_mode: object = None,
    numbers: Numbers = (),
) -> PartialTensor:
    """Broadcasting, in the promoted type. `alpha` is a factor of the second operand of sums and differences."""
    first = read_operand(c, self, self_, "self", numbers)
    second = read_operand(c, other, other_, "other", numbers)
    name = BINARY[_function(c.op_def.name)]
    if rounding_mode is not None:
        name = "floor_divide"
    dtype = result_type(c, name, (first, second))
    shape = c.broadcast(first.value.shape, second.value.shape)
    if is_in_place(c.op_def.name):
        shape = first.value.shape
        require_broadcast_to(c, second.value.shape, shape, "other must broadcast to the shape of self")
        dtype = first.dtype
    if isinstance(first.value, ChosenIndices) or isinstance(second.value, ChosenIndices):
        return _choose(c, name, PartialTensor(dtype, shape, None), first.value, second.value)
    if alpha != 1 or rounding_mode == "trunc":
        return PartialTensor(dtype, shape, None)
    return contents(c, name, dtype, shape, (first, second))


def _choose(c: InferenceContext, name: str, result: PartialTensor, a: PartialTensor, b: PartialTensor) -> PartialTensor:
    """The result of arithmetic on indices that data chooses: such indices if it has integers.

    Quotients and remainders of a positive number have a known range, as the rows and columns of indices into matrices.
    """
    if result.dtype not in INDEX_TYPES:
        return result
    known = known_dims(b) or (None,)
    size, divisor = a.size if isinstance(a, ChosenIndices) else None, known[0]
    if size is None or len(known) > 1 or divisor is None or c.prove_le(1, divisor) is not True:
        return ChosenIndices(result.dtype, result.shape, None)
    sizes = {"floor_divide": (size + divisor - 1) // divisor, "remainder": divisor, "fmod": divisor}
    return ChosenIndices(result.dtype, result.shape, sizes.get(name))


def _function(op: str) -> str:
    """The function of an overload; those with underscores at both ends have them in their name."""
    name = op.split(".")[1]
    return name if name in BINARY else name.removesuffix("_")


@torch("aten.rsub.Scalar", "aten.rsub.Tensor")
def reversed_difference(
    c: InferenceContext,
    self: Operand,
    other: Operand | None = None,
    *,
    other_: object = None,
    alpha: object = 1,
    numbers: Numbers = (),
) -> PartialTensor:
    """`other - alpha * self`, broadcast, in the promoted type."""
    operands: tuple[FormedOperand, FormedOperand] = (
        read_operand(c, other, other_, "other", numbers),
        read_operand(c, self, None, "self", ()),
    )
    dtype = result_type(c, "sub", operands)
    shape = c.broadcast(*(operand.value.shape for operand in operands))
    return PartialTensor(dtype, shape, None) if alpha != 1 else contents(c, "sub", dtype, shape, operands)
