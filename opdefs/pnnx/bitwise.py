"""Bitwise operations on integers and booleans."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import convert_operands, require_kind, require_operand, result_type
from opdefs.rules.contents.bits import BITWISE, bitwise_operation, inversion, shift_operation
from opdefs.rules.contents.elements import (
    logical_and,
    logical_not,
    logical_or,
    map_elements,
)
from opdefs.rules.contents.logic import logical_xor
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Operand

_CONNECTIVES = {"and": logical_and, "or": logical_or, "xor": logical_xor}
"""The operations on booleans."""

_MESSAGE = "the operands must be booleans or integers"


@own_types(*(f"{module}bitwise_{name}" for name in BITWISE for module in ("torch.", "aten::")))
def bitwise(
    c: InferenceContext, input: Operand, other: Operand | None = None, *, other_: object = None
) -> PartialTensor:
    """Numpy broadcasting, in the promoted type; of booleans the logical connective."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    require_kind(c, dtype, _MESSAGE, "bool", "integer")
    a, b = convert_operands(c, dtype, input, second)
    shape = c.broadcast(a.shape, b.shape)
    name = function_name(c.op_def.name).rpartition("_")[2]
    if dtype == "bool":
        return map_elements(dtype, shape, _CONNECTIVES[name], a, b)
    return map_elements(dtype, shape, bitwise_operation(c, dtype, name), a, b)


@own_types("torch.bitwise_not", "aten::bitwise_not")
def bitwise_not(c: InferenceContext, input: Operand) -> PartialTensor:
    """[*S] -> [*S]: `-x - 1`, of booleans the negation."""
    require_kind(c, input.dtype, _MESSAGE, "bool", "integer")
    if input.dtype == "bool":
        return map_elements("bool", input.shape, logical_not, input)
    return map_elements(input.dtype, input.shape, inversion(c, input.dtype), input)


@own_types(*(f"{module}bitwise_{name}_shift" for name in ("left", "right") for module in ("torch.", "aten::")))
def shift(c: InferenceContext, input: Operand, other: Operand | None = None, *, other_: object = None) -> PartialTensor:
    """Numpy broadcasting, in the promoted type: products with powers of two, or quotients rounded down."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    require_kind(c, dtype, "the operands of a shift must be integers", "integer")
    a, b = convert_operands(c, dtype, input, second)
    operation = shift_operation(c, dtype, left="left" in c.op_def.name)
    return map_elements(dtype, c.broadcast(a.shape, b.shape), operation, a, b)
