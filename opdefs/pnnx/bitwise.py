"""Bitwise operations on integers and booleans."""

from __future__ import annotations

from typing import Any

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import convert_operands, require_kind, require_operand, result_type
from opdefs.rules.contents.elements import (
    dim_operation,
    fold_elements,
    integer_operation,
    logical_and,
    logical_not,
    logical_or,
    map_elements,
)
from opdefs.rules.contents.logic import logical_xor
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor
from shapeinf.ops import InferenceContext, Operand

_CONCRETE: dict[str, Any] = {
    "and": numpy_function("bitwise_and"),
    "or": numpy_function("bitwise_or"),
    "xor": numpy_function("bitwise_xor"),
}

_CONNECTIVES = {"and": logical_and, "or": logical_or, "xor": logical_xor}
"""The operations on booleans."""

_MESSAGE = "the operands must be booleans or integers"


@own_types(*(f"{module}bitwise_{name}" for name in _CONCRETE for module in ("torch.", "aten::")))
def bitwise(
    c: InferenceContext, input: Operand, other: Operand | None = None, *, other_: object = None
) -> PartialTensor:
    """Numpy broadcasting, in the promoted type; of booleans the logical connective."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    require_kind(c, dtype, _MESSAGE, "bool", "integer")
    a, b = convert_operands(c, dtype, input, second)
    shape = c.broadcast(a.shape, b.shape)
    name = c.op_def.name.rpartition("_")[2]
    if dtype == "bool":
        return map_elements(dtype, shape, _CONNECTIVES[name], a, b)
    return fold_elements(dtype, shape, _CONCRETE[name], dim_operation(lambda x, y: None), a, b)


@own_types("torch.bitwise_not", "aten::bitwise_not")
def bitwise_not(c: InferenceContext, input: Operand) -> PartialTensor:
    """[*S] -> [*S]: `-x - 1`, of booleans the negation."""
    require_kind(c, input.dtype, _MESSAGE, "bool", "integer")
    if input.dtype == "bool":
        return map_elements("bool", input.shape, logical_not, input)
    return fold_elements(input.dtype, input.shape, numpy_function("invert"), dim_operation(lambda x: None), input)


@own_types(*(f"{module}bitwise_{name}_shift" for name in ("left", "right") for module in ("torch.", "aten::")))
def shift(c: InferenceContext, input: Operand, other: Operand | None = None, *, other_: object = None) -> PartialTensor:
    """Numpy broadcasting, in the promoted type: products with powers of two, or quotients rounded down."""
    second = require_operand(c, other, other_, "other")
    dtype = result_type(input, second)
    require_kind(c, dtype, "the operands of a shift must be integers", "integer")
    a, b = convert_operands(c, dtype, input, second)
    left = "left" in c.op_def.name

    def operation(x: Dim, amount: Dim) -> Dim | None:
        if not isinstance(amount, int) or not 0 <= amount < 31:
            return None
        return x * (1 << amount) if left else x // (1 << amount)

    return map_elements(dtype, c.broadcast(a.shape, b.shape), integer_operation(c, dtype, operation), a, b)
