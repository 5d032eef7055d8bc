"""Assertions for tests: the shapes of models, checks of models, and the rules of operators."""

from shapeinf.testing.contracts import check_contract, contract_violations
from shapeinf.testing.differential import verify_case
from shapeinf.testing.models import assert_shapes, shapeinf_check
from shapeinf.testing.operands import check_operands, operand_violations
from shapeinf.testing.properties import check_properties, property_violations
from shapeinf.testing.rules import RuleCase

__all__ = [
    "RuleCase",
    "assert_shapes",
    "check_contract",
    "check_operands",
    "check_properties",
    "contract_violations",
    "operand_violations",
    "property_violations",
    "shapeinf_check",
    "verify_case",
]
