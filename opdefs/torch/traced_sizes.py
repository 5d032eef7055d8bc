"""Sizes in the nodes of a traced program: those that it computes from its inputs, and numbers that may be such."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opdefs.pnnx.names import function_name
from opdefs.torch.functions import function_table
from opdefs.torch.schemas import find_schema
from shapeinf.graph import Graph, Node

_WINDOWS = ("stride", "padding", "dilation", "output_padding", "groups")
"""Arguments that torch lets be sizes, and that modules state as numbers."""
_NUMBERS = ("start", "end", "step", "steps", "kernel_size", "normalized_shape", "k", "index", "chunks", "sections")
"""Arguments that are sizes where a module computes them, though their type is no size in torch's schemas."""
_COUNTED = frozenset(("unbind", "unbind_copy", "split", "split_copy", "chunk"))
"""Functions whose number of results is a size, or computed from one."""
_CHECKS = frozenset(("_assert_scalar", "sym_constrain_range", "sym_constrain_range_for_size"))
_NO_SIZES = (0, -1, 2**63 - 1)
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod", "neg")},
    **{f"_operator.{name}": getattr(operator, name) for name in ("truediv", "lshift", "rshift")},
    **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "trunc")},
    **{"torch.sym_int": int, "torch.sym_float": float, "torch.sym_max": max, "torch.sym_min": min},
}


def may_hold_size(node: Node) -> bool:
    """Whether a number among the arguments of a node, or of its outputs, may be a size of the run that was traced."""
    if len(node.outputs) > 1 and function_name(node.op) in _COUNTED:
        return True
    schema, entry = find_schema(node.op), function_table().entries.get(node.op)
    for argument in schema.arguments if schema is not None else ():
        if argument.name in _NUMBERS or (argument.kind.startswith("SymInt") and argument.name not in _WINDOWS):
            name = argument.name if entry is None else entry.renamed.get(argument.name, argument.name)
            if _has_size(node.kind.attrs.get(name)):
                return True
    return False


def is_check(node: Node) -> bool:
    """Whether a node only checks sizes: torch adds such for what it concludes from its guards."""
    return function_name(node.op) in _CHECKS


def _has_size(value: object) -> bool:
    """Whether an argument is or has a number that an axis may have."""
    if isinstance(value, tuple):
        return any(map(_has_size, value))
    return type(value) is int and value not in _NO_SIZES


def compute_sizes(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> Mapping[str, int | float]:
    """The numbers that the nodes of a graph compute from the shapes of its inputs, by the names of the values."""
    numbers: dict[str, int | float] = {}
    for node in graph.nodes:
        value = _compute(node, shapes, numbers)
        if value is not None:
            numbers[node.outputs[0]] = value
    return numbers


def _compute(node: Node, shapes: Mapping[str, Sequence[int]], numbers: Mapping[str, int | float]) -> int | float | None:
    """The number that a node computes; None where it computes none, or fails."""
    if function_name(node.op) == "sym_size":
        shape, axis = shapes.get(node.inputs[0], ()), node.kind.attrs.get("dim")
        return shape[axis] if isinstance(axis, int) and -len(shape) <= axis < len(shape) else None
    function = _FUNCTIONS.get(node.op)
    if function is None:
        return None
    operands: list[object] = [numbers.get(name) if name else None for name in node.inputs]
    for at, name in enumerate(("a", "b")):
        written = node.kind.attrs.get(name)
        if written is not None:
            operands[at : at + 1] = [written]
    try:
        return None if None in operands else function(*operands)
    except (ArithmeticError, TypeError, ValueError):
        return None
