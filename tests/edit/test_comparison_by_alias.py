"""`diff` of models whose inputs and outputs have different names, but the same arguments of a signature."""

from __future__ import annotations

from onnx import TensorProto, helper

from shapeinf.edit.comparison import diff
from shapeinf.edit.correspondence import match_names
from shapeinf.formats.tf.text import encode_text
from shapeinf.graph import Graph

SAVED_MODEL = """
saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" tensorflow_version: "2.21.0" }
  graph_def {
    node { name: "serving_default_a" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } } } } }
    node { name: "call" op: "Relu" input: "serving_default_a" attr { key: "T" value { type: DT_FLOAT } } }
    versions { producer: 2474 }
  }
  signature_def { key: "serving_default" value {
    inputs { key: "a" value { name: "serving_default_a:0" dtype: DT_FLOAT
      tensor_shape { dim { size: -1 } dim { size: 4 } } } }
    outputs { key: "b" value { name: "call:0" dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
  } }
}
"""


def export_model(width: int):
    """The model as an exporter to ONNX names its inputs and outputs."""
    shapes = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("a", ["n", width]), ("b", ["n", width]))
    ]
    graph = helper.make_graph([helper.make_node("Relu", ["a"], ["b"])], "g", shapes[:1], shapes[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])


def test_the_arguments_of_a_signature_match_the_inputs_and_outputs_of_an_export() -> None:
    model = encode_text(SAVED_MODEL, "SavedModel")
    assert [str(difference) for difference in diff(model, export_model(4))] == ["changed dim n: no name -> n"]
    assert [str(difference) for difference in diff(export_model(4), model)] == ["changed dim n: n -> no name"]
    changed = [str(difference) for difference in diff(model, export_model(5)) if difference.part != "dim"]
    assert changed == [
        "changed input serving_default_a:0: float32[a.shape[0], 4] -> float32[n, 5]",
        "changed output call:0: float32[a.shape[0], 4] -> float32[n, 5]",
    ]


def test_equal_names_take_precedence_and_a_value_is_matched_once() -> None:
    old = Graph(inputs=["x", "y", "z"], aliases={"a": "y", "b": "z"})
    new = Graph(inputs=["x", "a"], aliases={"b": "a", "y": "x"})
    assert match_names(old, new) == {"x": "x", "y": "a"}
