"""The rules of torch's overloads against the schemas of torch: every argument has a parameter, or is omitted."""

from __future__ import annotations

import pytest

from opdefs.pnnx.dialect import pnnx
from opdefs.torch.binding import LENGTHS, NUMBERS
from opdefs.torch.dialect import torch
from opdefs.torch.functions import OWN, function_table
from opdefs.torch.schemas import REQUIRED, find_schema, overloads, parse_schema

TABLE = function_table()
OWN_RULES = sorted({op for _, op, _ in torch} - {op for op, entry in TABLE.entries.items() if entry.function != OWN})


def test_every_schema_is_read() -> None:
    listed = overloads()
    assert len(listed) == len(set(listed)) > 2000
    for overload in listed:
        schema = find_schema(overload)
        assert schema is not None and all(argument.name.isidentifier() for argument in schema.arguments), overload


def test_a_schema_has_names_kinds_and_defaults() -> None:
    schema = parse_schema(
        'aten.f.x(Tensor self, int[2] k=[1, 1], *, Scalar? a=None, str mode="a, b", bool c=True, float e=1e-5) -> X'
    )
    assert [(a.name, a.kind, a.default, a.keyword) for a in schema.arguments] == [
        ("self", "Tensor", REQUIRED, False),
        ("k", "int[2]", (1, 1), False),
        ("a", "Scalar?", None, True),
        ("mode", "str", "a, b", True),
        ("c", "bool", True, True),
        ("e", "float", 1e-5, True),
    ]


@pytest.mark.parametrize("overload", sorted(TABLE.entries))
def test_a_line_of_the_table_is_an_overload_and_a_function(overload: str) -> None:
    entry = TABLE.entries[overload]
    schema = find_schema(overload)
    assert schema is not None
    assert entry.function == OWN or entry.overload in OWN_RULES or pnnx.has_rule("", entry.function)
    assert {*entry.renamed, *entry.omitted} <= {*schema.names}


@pytest.mark.parametrize("overload", sorted({*TABLE.entries, *OWN_RULES}))
def test_every_argument_has_a_parameter(overload: str) -> None:
    """Arguments that are always tensors may take a parameter by their position."""
    op_def, schema = torch.lookup("", overload, 1), find_schema(overload)
    assert op_def is not None and op_def.rule is not None and schema is not None
    entry = TABLE.entries.get(overload)
    omitted = TABLE.omitted | (entry.omitted if entry is not None else frozenset())
    rule = op_def.rule
    taken = {param.name for param in rule.params} | rule.attribute_names
    taken |= {name.removesuffix("_") for name in taken}
    free = [p.name for p in rule.params if not p.variadic and p.name not in schema.names]
    assert not (entry is not None and entry.omitted & rule.attribute_names)
    for argument in schema.arguments:
        name = entry.renamed.get(argument.name, argument.name) if entry is not None else argument.name
        if argument.name in omitted or name in taken:
            continue
        assert argument.kind.startswith("Tensor"), f"{argument.name} of {overload} has no parameter"
        assert rule.variadic or free, f"{argument.name} of {overload} has no parameter"
        if not rule.variadic:
            free.pop(0)


@pytest.mark.parametrize("overload", OWN_RULES)
def test_a_parameter_of_a_rule_is_an_argument(overload: str) -> None:
    """Rules of several overloads have the parameters of all of them, so that most have some that others lack."""
    op_def, schema = torch.lookup("", overload, 1), find_schema(overload)
    assert op_def is not None and op_def.rule is not None and schema is not None
    entry = TABLE.entries.get(overload)
    names = {entry.renamed.get(name, name) if entry is not None else name for name in schema.names}
    required = {name for name, default in op_def.rule.attributes.items() if name not in (LENGTHS, NUMBERS)}
    assert required & names or not required or op_def.rule.params, overload
