"""The PNNX dialect: operators by their names in torch, rules from the modules of this package."""

from __future__ import annotations

from opdefs.pnnx.arguments import bind_arguments
from shapeinf.graph import Graph
from shapeinf.ops import ArgDef, Dialect, OpDef

_SAME_TYPE = (
    (ArgDef("input", type_attr="T", optional=True), ArgDef("others", variadic=True)),
    (ArgDef("output", type_attr="T", variadic=True),),
)
"""Outputs have the element type of the first input, unless the rule returns another one."""

_STATES_TYPES = frozenset({"pnnx.Expression"})
"""Operators whose rules state every element type: none that they leave unknown is that of the first input."""


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    inputs, outputs = _SAME_TYPE
    if op in _STATES_TYPES:
        outputs = (ArgDef("output"),)
    return OpDef(op, "pnnx", domain, inputs=inputs, outputs=outputs) if pnnx.has_rule(domain, op) else None


def _connect(graph: Graph) -> Graph:
    return bind_arguments(graph, lambda op: pnnx.lookup("", op, 1))


pnnx = Dialect("pnnx", _schema, versioned=False)
pnnx.connect = _connect
