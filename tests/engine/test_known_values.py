"""`TensorInfo.value` against a run: what is known of the contents of a tensor is what onnxruntime computes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import onnx
import pytest

from shapeinf import Result, infer_shapes
from shapeinf.engine.tensor_info import MAX_VALUE, TensorInfo
from shapeinf.expr import Dimension
from shapeinf.expr.evaluation import evaluate
from shapeinf.lattice import BoundedTensor, BroadcastAxes, ChosenIndices, IndexTuples, PartialTensor, Progression, Shape
from shapeinf.lattice.contents import format_contents, nest_elements
from tests.differential.ort import session_of

SIZES = ({"batch": 2, "seq": 5}, {"batch": 1, "seq": 512})

SCAFFOLD = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[batch, seq, 64] x, int64 n) => (float[] y)
<int64 one = {1}, int64[1] axis = {0}, int64[1] minus = {-1}, int64[1] heads = {4}> {
  shape = Shape(x)
  size = Gather(shape, one)
  sizes = Unsqueeze(size, axis)
  first = Shape <start = 0, end = 1>(x)
  free = Unsqueeze(n, axis)
  target = Concat <axis = 0>(first, sizes, heads, minus)
  partly = Concat <axis = 0>(first, free)
  table = Reshape(target, two)
  two = Constant <value_ints = [2, 2]>()
  long = Greater(size, heads)
  half = Cast <to = 1>(size)
  ratio = Div(half, three)
  three = Constant <value_float = 3.0>()
  range = Range(zero, size, one)
  zero = Constant <value_int = 0>()
  y = Reshape(x, target)
}"""


def expected_element(element: object, sizes: dict[str, int]) -> object:
    """The number of an element at these sizes; None where the element is not one number."""
    return evaluate(element, sizes) if isinstance(element, Dimension) else element


def scaffold() -> onnx.ModelProto:
    """A model whose nodes compute with sizes, in an order that runs."""
    model = onnx.parser.parse_model(SCAFFOLD)
    constants = [node for node in model.graph.node if node.op_type == "Constant"]
    others = [node for node in model.graph.node if node.op_type != "Constant"]
    del model.graph.node[:]
    model.graph.node.extend([*constants, *others])
    return model


def values_of_run(model: onnx.ModelProto, result: Result, sizes: dict[str, int]) -> dict[str, Any]:
    """What onnxruntime computes for every tensor whose value is known."""
    names = [name for name, info in result.tensors.items() if info.value is not None]
    computed = {output for node in model.graph.node for output in node.output}
    names = [name for name in names if name in computed]
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = session_of(probe)
    feeds = {}
    for declared in session.get_inputs():
        shape = [sizes[dim] if isinstance(dim, str) else int(dim) for dim in declared.shape]
        feeds[declared.name] = np.ones(shape, "int64" if declared.type == "tensor(int64)" else "float32")
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("model", ["decoder", "scaffold"])
def test_values_are_those_of_a_run(model: str, sizes: dict[str, int]) -> None:
    proto = scaffold() if model == "scaffold" else onnx.load("examples/decoder.onnx")
    result = infer_shapes(proto)
    bound = result.at(sizes)
    compared = 0
    for name, array in values_of_run(proto, result, sizes).items():
        info = result.tensors[name]
        value = np.array(info.value, dtype=object)
        assert value.shape == array.shape, name
        numbers = np.array(bound.tensors[name].value, object)
        for element, number, real in zip(value.flat, numbers.flat, array.flat, strict=True):
            if element is not None and type(element) in (int, float, bool, Dimension):
                assert expected_element(element, sizes) == real == number, name
                compared += 1
    assert compared >= 10


def test_the_forms_of_a_value() -> None:
    tensors = infer_shapes(scaffold()).tensors
    batch, seq = tensors["shape"].shape, tensors["x"].shape[:2]
    assert batch == (3,)
    assert tensors["target"].value == (*seq, 4, -1) == tensors["target"].elements
    assert tensors["table"].value == (seq, (4, -1))
    assert tensors["size"].value is seq[1]
    assert tensors["partly"].value == (seq[0], None)
    assert tensors["long"].value_text == "[seq - 5 >= 0]"
    assert tensors["range"].value is None
    assert tensors["range"].value_text == "0 + 1*i0"
    assert tensors["y"].value is None
    assert tensors["y"].value_text == ""


@pytest.mark.parametrize(("length", "known"), [(0, True), (MAX_VALUE, True), (MAX_VALUE + 1, False)])
def test_values_of_many_elements_are_not_kept(length: int, known: bool) -> None:
    numbers = onnx.numpy_helper.from_array(np.arange(length, dtype=np.int64), "numbers")
    node = onnx.helper.make_node("Identity", ["numbers"], ["y"])
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [length])
    graph = onnx.helper.make_graph([node], "g", [], [output], initializer=[numbers])
    info = infer_shapes(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])).tensors["y"]
    assert info.value == (tuple(range(length)) if known else None)


def test_an_empty_array_of_many_rows_is_one_value() -> None:
    empty = PartialTensor("int64", Shape((10**9, 0)), ())
    assert nest_elements(empty) == ()
    assert format_contents(empty) == "[]"


@pytest.mark.parametrize(
    "contents",
    [
        PartialTensor("int64", Shape((2,)), (1, -1)),
        BoundedTensor("int64", Shape((5000,)), 0, 511),
        BroadcastAxes("int64", Shape((2,)), (3, 1), (1, None)),
        ChosenIndices("int64", Shape((10,)), 40),
        IndexTuples("int64", Shape((4, 9, 2)), [(0, (1, 0)), None]),
        Progression("int64", Shape((1, 4)), 3, (0, 2)),
    ],
)
def test_pickles_keep_all_kinds_of_contents(contents: PartialTensor) -> None:
    loaded = pickle.loads(pickle.dumps(TensorInfo("int64", contents.shape, contents=contents)))
    assert type(loaded._contents) is type(contents)
    assert loaded._contents == contents


def test_records_with_other_contents_are_equal_and_pickles_keep_them() -> None:
    info = infer_shapes(scaffold()).tensors["target"]
    loaded = pickle.loads(pickle.dumps(info))
    assert loaded == info
    assert loaded.value_text == info.value_text == "[batch, seq, 4, -1]"
    one, two = (infer_shapes(scaffold()).at(seq=size).tensors["target"] for size in (7, 8))
    assert one == two
    assert one.value != two.value


def test_diagnostics_show_integers_and_no_weights():
    result = infer_shapes(
        onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[n, 3] x) => (y, z) <float[5] weights = {0.5, 0.25, 0.125, 2, 4}, int64[2] target = {-1, -1}> {
            y = Add(x, weights)
            z = Reshape(x, target)
        }""")
    )
    added, reshaped = ("\n".join(diagnostic.operands) for diagnostic in result.diagnostics)
    assert "weights  float32[5]   an input or constant" in added and "0.25" not in added
    assert "target  int64[2]{-1, -1}" in reshaped
