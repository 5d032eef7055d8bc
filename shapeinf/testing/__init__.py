"""Assertions for tests: the shapes of models, checks of models, and the rules of operators."""

from shapeinf.testing.differential import verify_case
from shapeinf.testing.models import assert_shapes, shapeinf_check
from shapeinf.testing.properties import check_properties, property_violations
from shapeinf.testing.rules import RuleCase

__all__ = ["RuleCase", "assert_shapes", "check_properties", "property_violations", "shapeinf_check", "verify_case"]
