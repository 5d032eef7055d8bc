"""The expressions of a PNNX network in torch: torch computes with tensors, Python with numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from shapeinf.errors import ExpressionError
from shapeinf.formats.pnnx.expression import Argument, Call, Expression, ListOf, Literal, parse, walk
from shapeinf.graph import Node
from shapeinf.runtime import torch_calls
from shapeinf.runtime.protocol import Refusal
from shapeinf.runtime.torch_indexing import advanced_index

_NUMBER_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "int": int,
    "neg": operator.neg,
    "round": round,
    "square": lambda x: x * x,
    "torch.bool": bool,
    "torch.float": float,
    "torch.long": int,
    "trunc": math.trunc,
    "fmod": math.fmod,
    "max": max,
    "maximum": max,
    "min": min,
    "minimum": min,
}
"""The functions that Python computes for numbers; the others are computed in torch."""

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
"""The functions that are operators of Python, for numbers and tensors."""

MAX_POWER = 1 << 12
"""The most bits of a power or a shift of integers: larger ones are no sizes."""


def expression_call(torch: Any, node: Node, arguments: torch_calls.Arguments) -> torch_calls.Call | None:
    """The call of a `pnnx.Expression`, or of a `Tensor.index` with an expression; None for other operators.

    Raises NotRunnable for an expression that does not parse.
    """
    if node.op not in ("pnnx.Expression", "Tensor.index"):
        return None
    text = arguments.parameters.get("expr")
    if text is None and node.op == "Tensor.index":
        return lambda values: values[0][advanced_index(torch, values[1] if len(values) == 2 else list(values[1:]))]
    try:
        tree = parse(str(text))
    except ExpressionError as error:
        raise torch_calls.NotRunnable(f"its expression does not parse: {error}") from error
    if node.op == "Tensor.index":
        return lambda values: values[0][advanced_index(torch, evaluate(torch, tree, values[1:]))]
    return partial(evaluate, torch, tree)


def evaluate(torch: Any, tree: Expression, values: Sequence[Any]) -> Any:
    """The value of an expression; `values` are its inputs. Raises Refusal for an input that it does not have."""
    stack: list[Any] = []
    for node in walk(tree):
        if isinstance(node, Argument):
            if node.index >= len(values):
                raise Refusal(f"@{node.index} is not an input of the expression")
            stack.append(values[node.index])
        elif isinstance(node, Literal):
            stack.append(node.value)
        else:
            count = len(node.items)
            operands = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            stack.append(_apply(torch, node, operands))
    return stack[0]


def _apply(torch: Any, node: Expression, operands: list[Any]) -> Any:
    if isinstance(node, ListOf):
        return [item.item() if isinstance(item, torch.Tensor) and not item.dim() else item for item in operands]
    assert isinstance(node, Call)
    if node.function == "size":
        return list(operands[0].shape) if len(operands) == 1 else operands[0].shape[int(operands[1])]
    if any(isinstance(operand, torch.Tensor) for operand in operands):
        return _apply_to_tensors(torch, node.function, operands)
    _refuse_huge_number(node.function, operands)
    function = _NUMBER_FUNCTIONS.get(node.function) or _OPERATORS.get(node.function)
    if function is not None:
        return function(*operands)
    numbers = [torch.tensor(operand, dtype=torch.float64) for operand in operands]
    return getattr(torch, node.function)(*numbers).item()


def _apply_to_tensors(torch: Any, name: str, operands: list[Any]) -> Any:
    """Apply a function of the language to operands with at least one tensor; torch has the same names."""
    if name == "int":
        return int(operands[0])
    if name.startswith("torch."):
        return operands[0].to(getattr(torch, name.removeprefix("torch.")))
    if name in _OPERATORS:
        return _OPERATORS[name](*operands)
    if len(operands) == 2 and name != "fmod":
        operands = [x if isinstance(x, torch.Tensor) else torch.tensor(x) for x in operands]
    return getattr(torch, name)(*operands)


def _refuse_huge_number(name: str, operands: list[Any]) -> None:
    """Raise Refusal for a power or a shift of integers with too many bits."""
    if name in ("pow", "lshift") and all(isinstance(operand, int) for operand in operands):
        base, exponent = operands
        bits = max(base.bit_length(), 1) * exponent if name == "pow" else base.bit_length() + exponent
        if bits > MAX_POWER:
            raise Refusal(f"{name}({base}, {exponent}) has more than {MAX_POWER} bits")
