"""The operands of functions on elements: tensors, and numbers of Python, which rank behind them in promotion."""

from __future__ import annotations

from collections.abc import Iterable

from opdefs.pnnx.expression_types import Form, Operand, promotable
from opdefs.pnnx.promotion import promote
from shapeinf.lattice import SCALAR, PartialTensor
from shapeinf.lattice.dtypes import NUMBER_TYPES
from shapeinf.ops import InferenceContext

Numbers = tuple[str, ...]
"""The names of the parameters whose inputs are numbers; see `opdefs.torch.binding.NUMBERS`."""


def read_operand(
    c: InferenceContext, value: PartialTensor | None, literal: object, name: str, numbers: Numbers
) -> Operand:
    """The argument `name`: an input, which is a tensor or a number, or a literal number. Raises ShapeError."""
    if value is not None:
        return Operand(value, Form.NUMBER if name in numbers else Form.TENSOR)
    if not isinstance(literal, (bool, int, float, complex)):
        c.fail(f"{name} must be a tensor or a number", literal)
    return Operand(PartialTensor(NUMBER_TYPES[type(literal)], SCALAR, (literal,)), Form.NUMBER)


def promoted_type(operands: Iterable[Operand]) -> str | None:
    """The common element type; None if it is unknown."""
    return promote(*map(promotable, operands), tensors_only=True)


def is_in_place(op: str) -> bool:
    """Whether an overload writes into its first operand, which keeps its type.

    >>> is_in_place("aten.add_.Tensor"), is_in_place("aten.add.Tensor"), is_in_place("aten.__and__.Tensor")
    (True, False, False)
    """
    name = op.split(".")[1]
    return name.endswith("_") and not name.endswith("__")
