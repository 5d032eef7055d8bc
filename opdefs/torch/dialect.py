"""The dialect of torch's overloads: rules from `functions.txt`, which are those of PNNX, and from this package."""

from __future__ import annotations

import attrs

from opdefs.pnnx.dialect import pnnx
from opdefs.torch.binding import bind_graph
from opdefs.torch.functions import OWN, function_table
from opdefs.torch.traced_sizes import compute_sizes, is_check, may_hold_size
from shapeinf.graph import Graph
from shapeinf.ops import ArgDef, Dialect, OpDef, RuleIndex

_VALUES = (ArgDef("value", variadic=True, optional=True),)


def _schema(domain: str, op: str, version: int) -> OpDef | None:
    """The operator of an overload: without its rule where this package has one, else with that of PNNX."""
    entry = function_table().entries.get(op)
    if entry is None or entry.function == OWN:
        known = torch.has_rule(domain, op)
        return OpDef(op, "torch", domain, inputs=_VALUES, outputs=_VALUES) if known else None
    if entry.overload:
        return torch.lookup(domain, entry.overload, version)
    function = pnnx.lookup("", entry.function, 1)
    if function is None:
        return None
    rule = None if torch.has_rule(domain, op) else function.rule
    return attrs.evolve(function, name=op, dialect="torch", by_name=False, rule=rule)


def _connect(graph: Graph) -> Graph:
    return bind_graph(graph, lambda op: torch.lookup("", op, 1))


torch = Dialect(
    "torch",
    _schema,
    versioned=False,
    costs=["opdefs.torch.costs", "opdefs.torch.layer_costs", "opdefs.torch.element_costs"],
    axes=["opdefs.torch.axis_rules", "opdefs.torch.layer_axes"],
    kernels={"executorch": "opdefs.executorch:executorch"},
    rule_index=RuleIndex("opdefs.torch"),
)
torch.connect = _connect
torch.compute_sizes = compute_sizes
torch.may_hold_size = may_hold_size
torch.is_check = is_check
