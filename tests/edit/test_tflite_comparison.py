"""`diff` of a TensorFlow Lite file and the model that it was converted from: values correspond by signature."""

from __future__ import annotations

import attrs
from onnx import TensorProto, helper

from shapeinf.edit.comparison import diff
from shapeinf.formats.tf.text import encode_text
from tests.formats.tflite.files import Tensor, doubled, file, signature

SAVED_MODEL = """
saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" tensorflow_version: "2.21.0" }
  graph_def {
    node { name: "serving_default_a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } } } } }
    node { name: "saver_filename" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
      attr { key: "shape" value { shape { } } } }
    node { name: "twice" op: "AddV2" input: "serving_default_a" input: "serving_default_a"
      attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "sizes" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
      tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: -1 int_val: 2 } } } }
    node { name: "pairs" op: "Reshape" input: "twice" input: "sizes" attr { key: "T" value { type: DT_FLOAT } }
      attr { key: "Tshape" value { type: DT_INT32 } } }
    versions { producer: 2474 }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "a" value { name: "serving_default_a:0" dtype: DT_FLOAT
      tensor_shape { dim { size: -1 } dim { size: 4 } } } }
    outputs { key: "pairs" value { name: "pairs:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
    outputs { key: "twice" value { name: "twice:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
  } }
}
"""


def converted(rows: int) -> bytes:
    """The model as a converter writes it: its outputs in another order, with names that others have there."""
    main = doubled((rows, 2), Tensor("serving_default_a:0", (1, 4), signature=(-1, 4)), (2, 2))
    names = {1: "pairs:0", 3: "twice:0"}
    tensors = [attrs.evolve(tensor, name=names.get(index, tensor.name)) for index, tensor in enumerate(main.tensors)]
    own = signature("serving_default", 0, {"a": 0}, {"twice": 1, "pairs": 3})
    return file(attrs.evolve(main, tensors=tensors, outputs=[1, 3]), more={7: [own]})


def exported() -> object:
    """The same model in ONNX, which has the names of the signature."""
    nodes = [helper.make_node("Add", ["a", "a"], ["twice"]), helper.make_node("Reshape", ["twice", "sizes"], ["pairs"])]
    shapes = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("a", [None, 4]), ("pairs", [None, 2]), ("twice", [None, 4]))
    ]
    sizes = helper.make_tensor("sizes", TensorProto.INT64, [2], [-1, 2])
    graph = helper.make_graph(nodes, "g", shapes[:1], shapes[1:], [sizes])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])


def test_the_same_network_has_no_differences() -> None:
    model = encode_text(SAVED_MODEL, "SavedModel")
    for other in (model, exported()):
        assert [str(difference) for difference in diff(other, converted(-1))] == []
        assert [str(difference) for difference in diff(converted(-1), other)] == []


def test_a_size_in_a_constant_is_a_difference() -> None:
    """A converter that writes the batch of 1 into the target of a reshape: all sizes are those of this batch."""
    for other in (encode_text(SAVED_MODEL, "SavedModel"), exported()):
        found = [difference for difference in diff(other, converted(2)) if difference.part == "output"]
        assert {d.name: d.after for d in found} == {"pairs": "float32[2, 2]", "twice": "float32[1, 4]"}
