"""An attribute of another kind than its definition is a defect of the file, for every operator."""

import random

import networkx as nx
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from opdefs.onnx.schemas import history
from shapeinf import infer_shapes
from shapeinf.ops import default_registry

BODY = helper.make_graph([], "body", [], [])
VALUES = {
    "int": 1,
    "float": 0.5,
    "string": "text",
    "ints": [1, 2],
    "floats": [0.5, 1.5],
    "strings": ["a", "b"],
    "tensor": numpy_helper.from_array(np.int64([3])),
    "graph": BODY,
    "graphs": [BODY],
    "type_proto": helper.make_tensor_type_proto(TensorProto.FLOAT, [1]),
}
NATIVE = {"int": 1, "float": 0.5, "string": "text", "ints": (1, 2), "floats": (0.5,), "strings": ("a",), "bool": True}
FITS = {("int", "float"), ("ints", "floats")}
"""(kind in the file, defined kind): an int is a number too."""


def attributes_of(op_def):
    """The attributes of an operator with the kinds of its schema, else of its rule."""
    kinds = {name: attribute.type for name, attribute in op_def.attributes.items()}
    named = {name: kinds.get(name, "") for name in (*op_def.rule.attributes, *op_def.rule.kinds)}
    return {**kinds, **named, **{name: kind for name, kind in op_def.rule.kinds.items() if not kinds.get(name)}}


def every(dialect):
    operators = default_registry().dialect(dialect)
    for domain, op, since in operators:
        op_def = operators.lookup(domain, op, since)
        for name, kind in attributes_of(op_def).items():
            yield domain, op, since, op_def, name, kind


def of_kind(name, kind):
    """An attribute that holds a value of a kind."""
    if kind == "nothing":
        return onnx.AttributeProto(name=name)
    return helper.make_attribute(name, VALUES[kind], attr_type=getattr(onnx.AttributeProto, kind.upper()))


def nodes(op_def, domain, op, attribute):
    """Nodes with that attribute and different numbers and shapes of inputs, so that some of them reach the rule."""
    most = 6 if op_def.rule.variadic else len(op_def.rule.params)
    for count in sorted({0, 1, 2, 3, most}):
        node = helper.make_node(op, [f"x{i}" for i in range(min(count, most))], ["y"], name="n", domain=domain)
        node.attribute.append(attribute)
        yield node


def model_of(node, since, rank):
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4, 4, 4][:rank]) for name in node.input]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, since)], ir_version=8)


SHARES = [0.04, pytest.param(1, marks=pytest.mark.slow)]
"""Of all cases, those that run."""


def sampled(cases, share):
    cases = list(cases)
    return random.Random(len(cases)).sample(cases, round(share * len(cases)))


@pytest.mark.parametrize("share", SHARES)
def test_no_rule_of_onnx_fails(share):
    failing = []
    cases = (
        (entry, value_kind) for entry in every("onnx") for value_kind in (*VALUES, "nothing") if value_kind != entry[-1]
    )
    for (domain, op, since, op_def, name, kind), value_kind in sampled(cases, share):
        for node in nodes(op_def, domain, op, of_kind(name, value_kind)):
            for rank in (1, 4):
                codes = {diagnostic.code for diagnostic in infer_shapes(model_of(node, since, rank)).diagnostics}
                if "S301" in codes:
                    failing.append((op, since, name, kind, value_kind, len(node.input), rank))
    assert not failing


@pytest.mark.parametrize("share", SHARES)
def test_a_wrong_kind_is_reported_with_its_name(share):
    """Where nothing else can be wrong before: the attribute is named, with the kind that it must be of."""
    unsaid = []
    cases = ((entry, value_kind) for entry in every("onnx") for value_kind in VALUES if entry[-1] in VALUES)
    for (domain, op, since, op_def, name, kind), value_kind in sampled(cases, share):
        if value_kind == kind or (value_kind, kind) in FITS:
            continue
        node = list(nodes(op_def, domain, op, of_kind(name, value_kind)))[-1]
        first = next((definition.since for definition in history(domain, op, since)), since)
        diagnostics = infer_shapes(model_of(node, max(since, first), 4)).diagnostics
        messages = "\n".join(diagnostic.message for diagnostic in diagnostics if diagnostic.code in ("S103", "S109"))
        if not any(
            text in messages for text in ("required", "takes ", f"has no attribute {name!r}", f"{name!r} must be of")
        ):
            unsaid.append((op, since, name, kind, value_kind, list(map(str, diagnostics))))
    assert not unsaid


def test_no_rule_of_nnef_fails():
    failing = []
    for _, op, since, op_def, name, kind in every("nnef"):
        for value_kind, value in NATIVE.items():
            for count in range(len(op_def.rule.params) + 1):
                graph = nx.DiGraph(
                    dialect="nnef",
                    opsets={"": since},
                    inputs={f"x{i}": [1, 4, 4, 4] for i in range(count)},
                    outputs=["y"],
                )
                graph.add_node("n", op=op, inputs=[f"x{i}" for i in range(count)], outputs=["y"], attrs={name: value})
                if "S301" in {diagnostic.code for diagnostic in infer_shapes(graph).diagnostics}:
                    failing.append((op, name, kind, value_kind, count))
    assert not failing
