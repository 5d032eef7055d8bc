"""Source text in other languages: straight-line programs as functions, and guards that check sizes by a contract."""

from shapeinf.codegen.conditions import Condition, ConditionProgram, Parameter, condition_program
from shapeinf.codegen.guards import GUARD_LANGUAGES, GuardLanguage, guard_text

__all__ = [
    "GUARD_LANGUAGES",
    "Condition",
    "ConditionProgram",
    "GuardLanguage",
    "Parameter",
    "condition_program",
    "guard_text",
]
