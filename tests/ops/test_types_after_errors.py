"""After an error the outputs of a node keep their kinds and element types: for all operators of ONNX, by its schemas.

A node of each operator gets inputs of many ranks. Where inference reports an error, what is left of the types of its
outputs must be what onnx infers for inputs without shapes.
"""

from __future__ import annotations

from itertools import product

import onnx
import pytest
from onnx import TensorProto, helper, shape_inference

from shapeinf import infer_shapes
from shapeinf.lattice.dtypes import ONNX_NAMES
from tests.engine.runtime import parsed

SHAPES = ([], [7], [0], [2, 3], [2, 3, 5], [2, 3, 5, 7, 11, 13], ["n"], ["n", "m"])
SECOND = ([], [7], [0], [2, 3])
"""The shapes of all inputs but the first; where these are scalars, optional inputs are left out."""
DOMAINS = ("", "ai.onnx.ml")
KINDS = {"tensor_type": "tensor", "sequence_type": "sequence", "optional_type": "optional", "map_type": "map"}
_KIND = onnx.defs.OpSchema.AttrType
DEFAULTS = {_KIND.INT: 1, _KIND.FLOAT: 1.0, _KIND.STRING: "a", _KIND.INTS: [1], _KIND.FLOATS: [1.0], _KIND.STRINGS: "a"}
SCHEMAS = {
    f"{schema.domain}:{schema.name}": schema
    for schema in onnx.defs.get_all_schemas()
    if schema.domain in DOMAINS and not schema.deprecated
}
LEAST_FAILING = 120
"""Operators of which at least one node must fail: others accept all of these inputs."""


def type_of(text, shape):
    """The type of a text such as `seq(tensor(float))`, in which all tensors have this shape."""
    kind, inner = text[:-1].split("(", 1)
    if kind == "seq":
        return helper.make_sequence_type_proto(type_of(inner, shape))
    if kind == "optional":
        return helper.make_optional_type_proto(type_of(inner, shape))
    if kind == "map":
        key, value = inner.split(",", 1)
        proto = onnx.TypeProto()
        proto.map_type.key_type = getattr(TensorProto, key.strip().upper())
        proto.map_type.value_type.CopyFrom(type_of(value.strip(), shape))
        return proto
    return helper.make_tensor_type_proto(getattr(TensorProto, inner.upper()), shape)


def models(schema):
    """A node of the operator with inputs of many ranks, of two element types; required attributes have some value."""
    required = {name: a.type for name, a in schema.attributes.items() if a.required}
    if not required.keys() or set(required.values()) <= DEFAULTS.keys():
        for preferred, first, second in product(("tensor(float)", "tensor(int64)"), SHAPES, SECOND):
            yield model(schema, {name: DEFAULTS[kind] for name, kind in required.items()}, preferred, first, second)


def model(schema, attributes, preferred, first, second):
    chosen, inputs, names = {}, [], []
    for index, parameter in enumerate(schema.inputs):
        if index and second == [] and parameter.option == onnx.defs.OpSchema.FormalParameterOption.Optional:
            names.append("")
            continue
        allowed = sorted(t for t in parameter.types if not t.startswith("sparse"))
        text = chosen.setdefault(parameter.type_str, preferred if preferred in allowed else allowed[0])
        names.append(f"i{index}")
        inputs.append(helper.make_value_info(f"i{index}", type_of(text, second if index else first)))
    outputs = [f"o{index}" for index in range(len(schema.outputs))]
    node = helper.make_node(schema.name, names, outputs, "node", domain=schema.domain, **attributes)
    graph = helper.make_graph([node], "g", inputs, list(map(helper.make_empty_tensor_value_info, outputs)))
    imports = [helper.make_opsetid("", 24), helper.make_opsetid("ai.onnx.ml", 4)]
    return helper.make_model(graph, opset_imports=imports, ir_version=11)


def inner(proto):
    """The type inside of a sequence, an optional or a map; None for a tensor."""
    kind = proto.WhichOneof("value")
    if kind == "map_type":
        return proto.map_type.value_type
    return getattr(proto, kind).elem_type if kind in ("sequence_type", "optional_type") else None


def types_without_shapes(original):
    """What onnx infers of the outputs if no input has a shape: pairs of kind and element type."""
    copy = onnx.ModelProto.FromString(original.SerializeToString())
    for value in copy.graph.input:
        proto = value.type
        while inner(proto) is not None:
            proto = inner(proto)
        proto.tensor_type.ClearField("shape")
    types = {}
    for value in shape_inference.infer_shapes(copy).graph.output:
        proto = value.type
        kind = proto.WhichOneof("value")
        while kind is not None and inner(proto) is not None:
            proto = inner(proto)
        if kind is not None:
            types[value.name] = KINDS[kind], ONNX_NAMES.get(proto.tensor_type.elem_type)
    return types


def failures(schema):
    """The models of an operator with an error, each with its result; onnx infers types of wrong types as they come."""
    for built in models(schema):
        result = infer_shapes(built)
        codes = {note.code for note in result.diagnostics if note.severity == "error"}
        if codes and codes.isdisjoint(("S106", "S107")):
            yield built, result


@pytest.mark.parametrize("name", SCHEMAS)
def test_kinds_and_element_types_stay(name):
    known = {}
    for built, result in failures(SCHEMAS[name]):
        inputs = tuple(value.type.WhichOneof("value") or "" for value in built.graph.input)
        dtypes = tuple(value.type.tensor_type.elem_type for value in built.graph.input)
        if (inputs, dtypes) not in known:
            known[inputs, dtypes] = types_without_shapes(built)
        for output, (kind, dtype) in known[inputs, dtypes].items():
            info = result.tensors[output]
            assert info.kind.split("(")[0] == kind, (output, info)
            assert info.dtype == dtype, (output, info, result.diagnostics[0].message)


def test_most_operators_fail_for_some_inputs():
    assert sum(any(True for _ in failures(schema)) for schema in SCHEMAS.values()) >= LEAST_FAILING


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("far = Constant<value = int64 {-7}>() s = SequenceConstruct(x) y = SequenceInsert(s, x, far)", "sequence"),
        ("far = Constant<value = int64 {-7}>() s = SequenceConstruct(x) y = SequenceErase(s, far)", "sequence"),
        ("far = Constant<value = int64 {-7}>() s = SequenceConstruct(x) y = SequenceAt(s, far)", "tensor"),
        (
            "f = Constant<value = bool[2] {1, 1}>() s = SequenceConstruct(x) y = If (f) <then_branch = a () => (p) "
            "{ p = SequenceConstruct(x) }, else_branch = b () => (q) { q = SequenceConstruct(x) }>",
            "sequence",
        ),
        (
            "w = Constant<value = float[2] {1, 1}>() y = If (c) <then_branch = a () => (p) "
            "{ m = MatMul(w, x) p = SequenceConstruct(m) }, else_branch = b () => (q) "
            "{ n = MatMul(w, x) q = SequenceConstruct(n) }>",
            "sequence",
        ),
        (
            "two = Constant<value = int64[2] {1, 1}>() y = Loop (two, , x) <body = b (int64 i, bool go, float[a, 3] h) "
            "=> (bool more, float[d, 3] after) { more = Identity(go) after = Relu(h) }>",
            "tensor",
        ),
        (
            "seven = Constant<value = int64[2] {7, 3}>() wide = ConstantOfShape(seven) y = Scan <num_scan_inputs = 2, "
            "body = b (float[3] h, float[3] k) => (p) { p = Add(h, k) }> (x, wide)",
            "tensor",
        ),
    ],
)
def test_values_of_several_kinds(nodes, expected):
    text = f"g (float[5, 3] x, bool c) => (y) {{ {nodes} }}"
    model = parsed(text)
    model.graph.output[0].ClearField("type")
    result = infer_shapes(model)
    assert any(note.severity == "error" for note in result.diagnostics)
    assert result.tensors["y"].kind == expected
    assert result.tensors["y"].dtype == "float32"
