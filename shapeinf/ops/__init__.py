"""Operators: their definitions, their rules, and the context that a rule works in."""

from typing import TYPE_CHECKING

from shapeinf.lazy_names import import_on_first_use
from shapeinf.ops.arguments import InputUse
from shapeinf.ops.bodies import Body
from shapeinf.ops.context import InferenceContext
from shapeinf.ops.opdef import ArgDef, AttrDef, OpDef
from shapeinf.ops.registry import Dialect, DialectEntry, OpRegistry, default_registry
from shapeinf.ops.rule import Floats, Ints, Operand, Rule, Value
from shapeinf.ops.rule_index import RuleIndex
from shapeinf.ops.run import Call, Contents, Outcome, unknown_outputs

__all__ = [
    "ArgDef",
    "AttrDef",
    "Body",
    "Call",
    "Contents",
    "CostContext",
    "CostRule",
    "Dialect",
    "DialectEntry",
    "Floats",
    "InferenceContext",
    "InputUse",
    "Ints",
    "OpCost",
    "OpDef",
    "OpRegistry",
    "Operand",
    "Outcome",
    "Rule",
    "RuleIndex",
    "Value",
    "default_registry",
    "unknown_outputs",
]

if TYPE_CHECKING:
    from shapeinf.ops.cost import CostContext, CostRule, OpCost
else:  # most models need no costs
    __getattr__ = import_on_first_use(
        __name__,
        {
            "CostContext": "shapeinf.ops.cost",
            "CostRule": "shapeinf.ops.cost",
            "OpCost": "shapeinf.ops.cost",
        },
    )
