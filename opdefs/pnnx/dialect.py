"""The PNNX dialect: operators by their names in torch, rules from the modules of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from opdefs.pnnx.arguments import bind_arguments
from shapeinf.graph import Graph
from shapeinf.ops import ArgDef, Dialect, OpDef, RuleIndex
from shapeinf.ops.registry import Function

_SAME_TYPE = (
    (ArgDef("input", type_attr="T", optional=True), ArgDef("others", variadic=True)),
    (ArgDef("output", type_attr="T", variadic=True),),
)
"""Outputs have the element type of the first input, unless the rule returns another."""

_OWN_TYPES: set[str] = set()


def own_types(
    *names: str, in_place: tuple[int, ...] = (), container: Literal["", "pack", "unpack"] = ""
) -> Callable[[Function], Function]:
    """Register a rule whose outputs may have other element types than its first input.

    The rule returns these types, None for an unknown one. If it raises NotKnown, the types are unknown too.
    """
    _OWN_TYPES.update(names)
    return pnnx(*names, in_place=in_place, container=container)


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    inputs, outputs = _SAME_TYPE
    if op in _OWN_TYPES:
        outputs = (ArgDef("output", variadic=True),)
    if not pnnx.has_rule(domain, op):
        return None
    return OpDef(op, "pnnx", domain, inputs=inputs, outputs=outputs, by_name=True)


def _connect(graph: Graph) -> Graph:
    return bind_arguments(graph, lambda op: pnnx.lookup("", op, 1))


pnnx = Dialect(
    "pnnx",
    _schema,
    versioned=False,
    costs=["opdefs.pnnx.costs"],
    axes=["opdefs.pnnx.axis_rules"],
    kernels={"executorch": "opdefs.executorch:executorch"},
    rule_index=RuleIndex("opdefs.pnnx"),
)
pnnx.connect = _connect
