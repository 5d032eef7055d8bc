"""Every rule of TensorFlow has the attributes, defaults and inputs of its operator's OpDef."""

import inspect

import attrs

from opdefs.tf import tf
from opdefs.tf.schemas import names

RULES = [op_def for name in names() if (op_def := tf.lookup("", name, 0)).rule is not None]
REQUIRED = inspect.Parameter.empty
SHARED = {("_If", "output_shapes")}
"""Attributes of a rule that some of its operators do not have."""


def declared_attributes(rule):
    """The attributes of a rule's signature with their defaults, those of groups too."""
    fields = [field for group in rule.groups.values() for field in attrs.fields(group)]
    return {**rule.attributes, **{f.name: REQUIRED if f.default is attrs.NOTHING else f.default for f in fields}}


def attribute_problems(op_def):
    for name, default in declared_attributes(op_def.rule).items():
        defined = op_def.attributes.get(name)
        if defined is None and (op_def.name, name) in SHARED:
            continue
        if defined is None:
            yield f"{name} is no attribute"
            continue
        expected = defined.default if defined.has_default else REQUIRED
        if default != expected or type(default) is not type(expected):
            yield f"{name} is {default!r} by default, not {expected!r}"


def input_problem(op_def):
    rule, inputs = op_def.rule, op_def.inputs
    if rule.raw:
        return None
    if any(arg.repeated for arg in inputs):
        return None if rule.variadic else "takes a fixed number of inputs"
    if rule.variadic:
        return None if len(rule.params) - 1 <= len(inputs) else f"requires {len(rule.params) - 1} inputs"
    required = sum(not param.optional for param in rule.params)
    if required <= len(inputs) <= len(rule.params):
        return None
    return f"takes {required} to {len(rule.params)} inputs, not {len(inputs)}"


def test_attributes_and_their_defaults():
    problems = {op_def.name: list(attribute_problems(op_def)) for op_def in RULES}
    assert not {name: found for name, found in problems.items() if found}


def test_numbers_of_inputs():
    problems = {op_def.name: input_problem(op_def) for op_def in RULES}
    assert not {name: found for name, found in problems.items() if found}
