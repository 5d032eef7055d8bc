"""The cost rules and axis rules of torch's overloads for the calls in PNNX networks: see `raw_calls`.

They are looked up on use: those of torch are in part those of PNNX, whose modules may just be imported.
"""

from __future__ import annotations

from opdefs.pnnx.dialect import pnnx
from opdefs.torch.dialect import torch
from opdefs.torch.functions import function_table
from shapeinf.ops import CostContext, CostRule, OpCost
from shapeinf.ops.axes import AxisContext, AxisRule, AxisUse


def _cost(overload: str) -> CostRule:
    def cost(c: CostContext) -> OpCost:
        """That of the overload; a view costs nothing."""
        rule = torch.cost_rule("", overload, 1)
        return OpCost() if rule is None else rule(c)

    return cost


def _axes(overload: str) -> AxisRule:
    def use(c: AxisContext, position: int, axis: int) -> AxisUse:
        """That of the overload; unknown without an axis rule."""
        rule = torch.axis_rule("", overload, 1)
        return AxisUse.MIXED if rule is None else rule(c, position, axis)

    return use


for _overload in {op for _, op, _ in torch} | {*function_table().entries}:
    if _overload.startswith("aten."):
        _raw = _overload.replace("aten.", "aten::", 1)
        pnnx.cost(_raw)(_cost(_overload))
        pnnx.axes(_raw)(_axes(_overload))
