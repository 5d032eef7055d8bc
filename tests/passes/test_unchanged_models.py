"""A model that no pass changes is returned as it was, apart from what onnx-ir normalizes."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from shapeinf.passes import clean


def body(result: str) -> onnx.GraphProto:
    output = helper.make_tensor_value_info(result, TensorProto.FLOAT, [3])
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], [result], name="")], "body", [], [output])
    graph.doc_string = "a branch"
    graph.metadata_props.add(key="k", value="v")
    return graph


def full_model() -> onnx.ModelProto:
    """Documentation, metadata, annotations, a function with an overload, a device, another domain, captured values."""
    nodes = [
        helper.make_node("If", ["c"], ["b"], name="if", then_branch=body("t"), else_branch=body("e"), doc_string="if"),
        helper.make_node("F", ["b"], ["f"], name="call", domain="my", overload="o", alpha=2.0),
        helper.make_node("Other", ["f", "", "x"], ["", "o"], name="call", domain="com.acme", texts=["a", "b"]),
        helper.make_node("Neg", ["o"], ["y"]),
    ]
    nodes[3].metadata_props.add(key="place", value="last")
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"], "an input", ["DATA_BATCH"]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None, "an output")]
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    weight.doc_string = "a weight"
    scale = numpy_helper.from_array(np.array(0.5, np.float32), "scale")
    graph = helper.make_graph(nodes, "main", inputs, outputs, [weight, scale], "a graph")
    graph.value_info.append(helper.make_tensor_value_info("o", TensorProto.FLOAT, ["n"], "in the middle"))
    graph.metadata_props.add(key="g", value="1")
    annotation = graph.quantization_annotation.add(tensor_name="o")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    leaky = helper.make_node("LeakyRelu", ["a"], ["r"], doc_string="inside")
    attribute = leaky.attribute.add(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    attribute.doc_string = "set by the call"
    imports = [helper.make_opsetid("", 17)]
    function = helper.make_function("my", "F", ["a"], ["r"], [leaky], imports, ["alpha"], overload="o")
    function.doc_string = "a function"
    domains = [*imports, helper.make_opsetid("my", 1), helper.make_opsetid("com.acme", 3)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=11, functions=[function], doc_string="a model")
    model.producer_name, model.producer_version, model.domain, model.model_version = "us", "1", "acme", 7
    model.metadata_props.add(key="author", value="nobody")
    model.configuration.add(name="one", num_devices=1)
    return model


def normalize(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without what onnx-ir writes differently: declared types of initializers, and empty texts."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    graphs = [copy.graph]
    for node in [*copy.graph.node, *(n for function in copy.functions for n in function.node)]:
        graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    for graph in graphs:
        weights = {tensor.name for tensor in graph.initializer}
        kept = [value for value in graph.value_info if value.name not in weights]
        del graph.value_info[:]
        graph.value_info.extend(kept)
    for nodes in [*(graph.node for graph in graphs), *(function.node for function in copy.functions)]:
        for node in nodes:
            for field in ("domain", "doc_string", "name", "overload"):
                if not getattr(node, field):
                    node.ClearField(field)
    for entry in [*copy.opset_import, *(entry for function in copy.functions for entry in function.opset_import)]:
        entry.domain = entry.domain or ""
    return copy


def test_nothing_is_lost_where_nothing_fires() -> None:
    model = full_model()
    cleaned = clean(model)
    assert not cleaned.report.changes
    assert normalize(cleaned.to_proto()) == normalize(model)
