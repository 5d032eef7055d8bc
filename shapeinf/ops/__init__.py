"""Operators: their definitions, their rules, and the context that a rule works in."""

from shapeinf.ops.builder import OpDefBuilder, OpDefError
from shapeinf.ops.context import InferenceContext
from shapeinf.ops.opdef import ArgDef, AttrDef, OpDef
from shapeinf.ops.registry import Dialect, OpRegistry, default_registry
from shapeinf.ops.rule import Floats, Ints, Rule, Value
from shapeinf.ops.run import Outcome, run_rule

__all__ = [
    "ArgDef",
    "AttrDef",
    "Dialect",
    "Floats",
    "InferenceContext",
    "Ints",
    "OpDef",
    "OpDefBuilder",
    "OpDefError",
    "OpRegistry",
    "Outcome",
    "Rule",
    "Value",
    "default_registry",
    "run_rule",
]
