"""Every rule of TensorFlow has the attributes, defaults and inputs of its operator's OpDef."""

import inspect

import attrs
import pytest

from opdefs.tf import tf
from opdefs.tf.fixed_shapes import fixed_shape, table
from opdefs.tf.schemas import names
from opdefs.tf.web_schemas import WEB
from shapeinf.errors import ShapeError
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call

from .tf_calls import EXAMPLES

RULES = [op_def for name in {*names(), *WEB} if (op_def := tf.lookup("", name, 0)).rule is not None]
REQUIRED = inspect.Parameter.empty
UNSTATED = {("Ones", "T"), ("Zeros", "T")}
"""Types that graphs for the web need not state."""
SHARED = {("_If", "output_shapes")}
"""Attributes of a shared rule that this operator does not have."""


def declared_attributes(rule):
    """The attributes of a rule's signature with their defaults, those of groups too."""
    fields = [field for group in rule.groups.values() for field in attrs.fields(group)]
    return {**rule.attributes, **{f.name: REQUIRED if f.default is attrs.NOTHING else f.default for f in fields}}


def attribute_problems(op_def):
    for name, default in declared_attributes(op_def.rule).items():
        defined = op_def.attributes.get(name)
        if (op_def.name, name) in UNSTATED or (defined is None and (op_def.name, name) in SHARED):
            continue
        if defined is None:
            yield f"{name} is no attribute"
            continue
        expected = defined.default if defined.has_default else REQUIRED
        if not (defined.has_default or defined.required):
            yield f"{name} has no default, but is not required"
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


def test_inputs_in_whose_place_the_output_may_lie_exist():
    counts = {op_def: len(op_def.inputs) for op_def in RULES if not any(arg.repeated for arg in op_def.inputs)}
    assert not [op_def.name for op_def, count in counts.items() if max(op_def.in_place, default=-1) >= count]


def test_attributes_and_their_defaults():
    problems = {op_def.name: list(attribute_problems(op_def)) for op_def in RULES}
    assert not {name: found for name, found in problems.items() if found}


def test_numbers_of_inputs():
    problems = {op_def.name: input_problem(op_def) for op_def in RULES}
    assert not {name: found for name, found in problems.items() if found}


# -- the table of fixed shapes ---------------------------------------------------------------------------------------

OWN = [op for op in table() if tf.lookup("", op, 0).rule.function is not fixed_shape]
COUNT = 2
"""The number of values of each repeated argument."""


def example(kind):
    return (EXAMPLES[kind[5:-1]],) * COUNT if kind.startswith("list(") else EXAMPLES[kind]


def of_unknown_inputs(op_def):
    """The outputs of a rule for unknown inputs, with the names of their arguments."""
    required = {name: defined.type for name, defined in op_def.attributes.items() if not defined.has_default}
    attributes = {name: example(kind) for name, kind in required.items() if kind != "func"}
    counts = {arg.number_attr for arg in (*op_def.inputs, *op_def.outputs)} - {None}
    attributes |= dict.fromkeys(counts, COUNT)
    flat = op_def.flatten(attributes, 99, 99)
    inputs = [PartialTensor(None, Shape.unknown(), None) for _ in flat.inputs]
    store = ShapeStore()
    outcome = Call(op_def, attributes, 0, (True,) * len(flat.outputs)).run(inputs, store, "node")
    return [(arg.name, store.canon_shape(t.shape)) for arg, t in zip(flat.outputs, outcome.types, strict=True)]


@pytest.mark.parametrize("op", OWN)
def test_a_rule_agrees_with_the_table_of_fixed_shapes(op):
    op_def = tf.lookup("", op, 0)
    expected = {arg.name: sizes for arg, sizes in zip(op_def.outputs, table()[op], strict=True)}
    try:
        outputs = of_unknown_inputs(op_def)
    except ShapeError as error:
        pytest.skip(f"the attributes do not fit: {error}")
    for name, shape in outputs:
        if shape.dims is None or expected[name] is None:
            continue
        assert len(shape) == len(expected[name])
        fixed = [
            (d, size) for d, size in zip(shape, expected[name], strict=True) if isinstance(d, int) and size is not None
        ]
        assert all(d == size for d, size in fixed)
