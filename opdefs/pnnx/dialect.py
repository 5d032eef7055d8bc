"""The PNNX dialect: operators by their names in torch, rules from the modules of this package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal

from opdefs.pnnx.arguments import bind_arguments
from opdefs.pnnx.constants import inline_texts, without_unread
from shapeinf.graph import Graph
from shapeinf.ops import ArgDef, Dialect, OpDef, RuleIndex
from shapeinf.ops.registry import Function

_SAME_TYPE = (
    (ArgDef("input", type_attr="T", optional=True), ArgDef("others", variadic=True)),
    (ArgDef("output", type_attr="T", variadic=True),),
)
"""Outputs have the element type of the first input, unless the rule returns another."""

_OWN_TYPES: set[str] = set()
_RAW = "aten::"
"""The prefix of torch's own functions."""
_PARTIAL = frozenset(f"{_RAW}{name}" for name in ("add", "sub", "mul", "div", "prod", "std", "var", "new_full"))
"""The functions whose rules here are for calls with fewer arguments than torch's overloads have."""
_RAW_CALLS = "opdefs.torch.raw_calls"
"""The rules of these functions, which build on this dialect; imported for a network that has some."""


def own_types(
    *names: str, in_place: tuple[int, ...] = (), container: Literal["", "pack", "unpack"] = ""
) -> Callable[[Function], Function]:
    """Register a rule whose outputs may have other element types than its first input.

    The rule returns these types, None for an unknown one. If it raises NotKnown, the types are unknown too.
    """
    _OWN_TYPES.update(names)
    return pnnx(*names, in_place=in_place, container=container)


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    if op.startswith(_RAW) and "." in op:  # an overload of torch: see `opdefs.torch.raw_calls`
        op_def: OpDef | None = import_module(_RAW_CALLS).overload_rule(op)
        return op_def
    inputs, outputs = _SAME_TYPE
    if op in _OWN_TYPES:
        outputs = (ArgDef("output", variadic=True),)
    if not pnnx.has_rule(domain, op):
        return None
    return OpDef(op, "pnnx", domain, inputs=inputs, outputs=outputs, by_name=True)


def _connect(graph: Graph) -> Graph:
    inlined = inline_texts(graph)
    bound = bind_arguments(inlined, lambda op: pnnx.lookup("", op, 1))
    if any(_is_raw(node.op) for node in bound.nodes):
        bound = import_module(_RAW_CALLS).bind_raw_calls(bound, lambda op: not _is_raw(op))
    return without_unread(bound, graph)


def _is_raw(op: str) -> bool:
    """Whether an operator is a call of torch that has no rule here, or one for some of its arguments only."""
    return op.startswith(_RAW) and "." not in op and (op in _PARTIAL or not pnnx.has_rule("", op))


pnnx = Dialect(
    "pnnx",
    _schema,
    versioned=False,
    costs=["opdefs.pnnx.costs", "opdefs.torch.raw_rules"],
    axes=["opdefs.pnnx.axis_rules", "opdefs.torch.raw_rules"],
    kernels={"executorch": "opdefs.executorch:executorch"},
    rule_index=RuleIndex("opdefs.pnnx"),
)
pnnx.connect = _connect
