"""The table of forms against the schemas of the onnx package: no change of a schema is without a converter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import onnx.defs
import pytest

from shapeinf.passes.forms import CONVERTERS, FIRST, LAST, versions

Schema = onnx.defs.OpSchema


def history() -> dict[str, list[Schema]]:
    """All schemas of each operator, from the first opset on."""
    schemas = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            schemas[schema.name].append(schema)
    return {name: sorted(listed, key=lambda schema: schema.since_version) for name, listed in schemas.items()}


def changes(old: Schema, new: Schema) -> Iterator[str]:
    """Why a node of the old schema is not one of the new schema, or not the same."""
    if new.deprecated and not old.deprecated:
        yield "deprecated"
    for name, attribute in old.attributes.items():
        successor = new.attributes.get(name)
        if successor is None:
            yield f"{name} is gone"
        elif (attribute.type, attribute.default_value) != (successor.type, successor.default_value):
            yield f"{name} has another type or default"
    yield from (f"{n} is required" for n, a in new.attributes.items() if a.required and n not in old.attributes)
    if new.min_input > old.min_input or new.max_input < old.max_input:
        yield "other inputs"
    if new.min_output > old.min_output or new.max_output < old.max_output:
        yield "other outputs"


CHANGES = [
    pytest.param(new.name, new.since_version, reasons, id=f"{new.name}-{new.since_version}")
    for schemas in history().values()
    for old, new in pairwise(schemas)
    if FIRST < new.since_version <= LAST and (reasons := list(changes(old, new)))
]


@pytest.mark.parametrize(("operator", "opset", "reasons"), CHANGES)
def test_each_change_of_a_schema_has_a_converter(operator, opset, reasons):
    assert (operator, opset) in CONVERTERS, reasons


def test_there_are_changes():
    assert {change.values[0] for change in CHANGES} > {"Clip", "Pad", "Slice", "Upsample", "Softmax"}


def test_each_converter_is_for_a_change():
    assert [key for key in CONVERTERS if key[1] not in versions(key[0])] == []
