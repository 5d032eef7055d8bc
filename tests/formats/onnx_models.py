"""ONNX models for tests of the readers and the writer, and the comparison of both readers."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from shapeinf.formats.onnx.source import read
from shapeinf.formats.protobuf.wire import encode_varint
from tests.formats.graphs import record


def tensor_value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs=(), outputs=(), initializers=(), **options):
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers), **options)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def field(number, data):
    """A protobuf field that holds bytes."""
    return encode_varint(number << 3 | 2) + encode_varint(len(data)) + data


def agreed(model):
    """The graph of a model, which must be the same from both readers."""
    scanned, objects = read(model.SerializeToString()), read(model)
    assert record(scanned) == record(objects)
    return scanned


def inner(name="inner"):
    nodes = [helper.make_node("Add", ["x", "k"], ["z"])]
    return helper.make_graph(nodes, name, [], [tensor_value("z", [2])], [numpy_helper.from_array(np.ones(2), "k")])


def everything():
    """A small model with every kind of attribute, type and part that ONNX has."""
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("sp", TensorProto.FLOAT, [2], [1.0, 2.0]),
        helper.make_tensor("", TensorProto.INT64, [2], [0, 5]),
        [3, 3],
    )
    attributes = {
        "a_int": -3,
        "a_float": 0.1,
        "a_text": "täxt",
        "ints": [1, -2, 3],
        "floats": [0.5, float("nan"), float("inf")],
        "strings": ["a", "ü"],
        "tensor": numpy_helper.from_array(np.arange(3), "t"),
        "graph": inner(),
        "graphs": [inner("one"), inner("two")],
        "sparse": sparse,
        "type": helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.INT8, ["n", None, 3])),
    }
    nodes = [
        helper.make_node("Any", ["x", "", "k"], ["y", "", "z"], "named", doc_string="doc", domain="my", **attributes),
        helper.make_node("Local", ["x"], ["w"], domain="my", alpha=2.0, overload="two"),
    ]
    body = helper.make_node("Elu", ["p"], ["q"])
    body.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
    function = helper.make_function(
        "my",
        "Local",
        ["p"],
        ["q"],
        [body],
        [helper.make_opsetid("ai.onnx", 18)],
        attributes=["beta"],
        attribute_protos=[helper.make_attribute("alpha", 1.5)],
        overload="two",
    )
    function.value_info.append(tensor_value("q", ["n", 4]))
    inputs = [
        tensor_value("x", ["batch", None, 3, "a + 1"]),
        tensor_value("r", None),
        helper.make_tensor_sequence_value_info("s", TensorProto.INT64, [None]),
        helper.make_value_info("o", helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2]))),
        helper.make_value_info("m", helper.make_map_type_proto(7, helper.make_tensor_type_proto(1, []))),
        helper.make_sparse_tensor_value_info("sv", TensorProto.FLOAT, [3, 3]),
    ]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "all",
            inputs,
            [tensor_value("y", [1])],
            [numpy_helper.from_array(np.ones((2, 2), "float16"), "k")],
            doc_string="doc",
            value_info=[tensor_value("z", ["batch"])],
            sparse_initializer=[sparse],
        ),
        functions=[function],
        opset_imports=[helper.make_opsetid("ai.onnx", 21), helper.make_opsetid("my", 1)],
        producer_name="tests",
    )
    helper.set_model_props(model, {"key": "value"})
    return model


def external(path, array, location, offset=0, name="t"):
    """A model with a reshape by a shape that lies in another file."""
    tensor = numpy_helper.from_array(array, name)
    set_external_data(tensor, location, offset, len(tensor.raw_data))
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    weight = numpy_helper.from_array(np.zeros((4, 4), "float32"), "w")
    set_external_data(weight, "no-such-file.bin", 0, 64)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    nodes = [helper.make_node("Reshape", ["x", name], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
    x = tensor_value("x", ["batch", 8])
    path.write_bytes(model_of(nodes, [x], [tensor_value("y", None)], [tensor, weight]).SerializeToString())
    return path


SHAPE = np.array([-1, 2, 4], "int64")
"""The contents of the shape that is in the other file."""
