"""The table of forms against the schemas of the onnx package: no change of a schema is without a converter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import onnx.defs
import onnx.version_converter
import pytest

from shapeinf.passes import clean
from shapeinf.passes.opset_conversion import CONVERTERS, FIRST, LAST, versions
from tests.passes.cases.opset_conversion import FIRES
from tests.passes.models import Case, feeds

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


# -- opset 6, of which onnxruntime has few operators -------------------------------------------------------------------

OLD = [case for case in FIRES if case.options["opset"] == 6]
ALIGNED = {"last": (4,), "scalar": (), "one": (), "aligned": (3, 4), "from-axis": (3, 1), "from-the-end": (3, 1)}
"""By case, the shape with which the second operand broadcasts as numpy does, by the definition of Add 6."""
CONVERTED = [case for case in OLD if case.name != "slope-6" and not case.name.startswith("broadcast-6-")]


def of_fixed_sizes(case: Case) -> onnx.ModelProto:
    """The model of a case, with 2 in place of its open sizes."""
    model = case.model()
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = 2
    return model


def run(model: onnx.ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime runs the models")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


@pytest.mark.parametrize("case", CONVERTED, ids=lambda case: case.name)
def test_models_of_opset_6_have_the_numbers_of_the_converter_of_the_onnx_package(case: Case) -> None:
    model = of_fixed_sizes(case)
    mine = clean(model, case.passes).to_proto()
    other = onnx.version_converter.convert_version(model, 8)
    for feed in feeds(model):
        for ours, theirs in zip(run(mine, feed), run(other, feed), strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", ALIGNED)
def test_operands_of_opset_6_broadcast_by_its_definition(name: str) -> None:
    """The converter of the onnx package refuses operands that are not aligned with the last axes."""
    (case,) = [case for case in OLD if case.name == f"broadcast-6-{name}"]
    model = of_fixed_sizes(case)
    mine, addend = clean(model, case.passes).to_proto(), case.constants["k"].reshape(ALIGNED[name])
    for feed in feeds(model):
        assert np.array_equal(run(mine, feed)[0], (feed["x"] + addend)[:, 1:3])


def test_a_slope_of_opset_6_is_one_per_channel() -> None:
    """The definition of PRelu 6; the converter of the onnx package keeps the shape of the slope."""
    (case,) = [case for case in OLD if case.name == "slope-6"]
    model = of_fixed_sizes(case)
    mine, slope = clean(model, case.passes).to_proto(), case.constants["k"].reshape(3, 1)
    for feed in feeds(model):
        x = feed["x"]
        assert np.array_equal(run(mine, feed)[0], np.where(x < 0, x * slope, x)[:, 1:3])
