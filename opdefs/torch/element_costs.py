"""The cost rules of functions of elements, reductions, primitives, numbers and bodies: one for the rules of a module.

Overloads that are others under another name have the cost of these.
"""

from __future__ import annotations

from opdefs.rules import cost_elements as elements
from opdefs.torch.dialect import torch
from opdefs.torch.functions import function_table
from shapeinf.ops import CostContext, CostRule, OpCost


def _of_module(module: str, rule: CostRule, *others: str) -> None:
    """The cost rule of the operators of a module without these."""
    keys = torch.rule_index.keys_by_module.get(f"opdefs.torch.{module}", ())  # no table while a tool writes it
    torch.cost(*(op for _, op, _ in keys if op not in others))(rule)


_of_module("elements", elements.elementwise)
_of_module("special_functions", elements.elementwise, "aten.dist.default")
_of_module("reductions", elements.input_cost(2))
_of_module("prims", elements.movement, "prims.var.default")
_of_module("numbers", elements.shape_query)
torch.cost("aten.dist.default")(elements.input_cost(3))
torch.cost(
    "prims.var.default", *(f"aten.{n}_mean.{f}" for n in ("var", "std") for f in ("default", "dim", "correction"))
)(elements.input_cost(4))
torch.cost("aten.cov.default", "aten.corrcoef.default")(
    elements.exclusion("the number of operations of covariances is not modeled")
)
torch.cost(
    *("aten.histogram.bin_ct", "aten.histogram.bins_tensor", "aten.sum_to_size.default"),
    *(f"aten.{name}.{form}" for name in ("trapezoid", "trapz", "cumulative_trapezoid") for form in ("dx", "x")),
    *(f"aten.gradient.{form}" for form in ("scalarint", "scalararray", "array")),
)(elements.input_cost(3))
torch.cost("aten.combinations.default", "aten.pad_sequence.default")(elements.movement)
torch.cost("aten.vander.default", "aten.linalg_vander.default")(elements.elementwise)
torch.cost(
    *(
        f"aten.{private}ctc_loss.{form}"
        for private, form in (("", "IntList"), ("", "Tensor"), ("_", "default"), ("_", "Tensor"))
    )
)(elements.exclusion("the number of paths of a CTC loss depends on the lengths of the targets"))
torch.cost("higher_order.cond")(elements.body_choice)
_of_module("control", elements.movement, "higher_order.cond")


def _same(overload: str) -> CostRule:
    """The cost of another overload, whose rule may be registered later."""

    def cost(c: CostContext) -> OpCost:
        rule = torch.cost_rule("", overload, 1)
        return OpCost() if rule is None else rule(c)

    return cost


for _overload, _entry in function_table().entries.items():
    if _entry.overload:
        torch.cost(_overload)(_same(_entry.overload))
