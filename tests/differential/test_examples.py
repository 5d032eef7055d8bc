"""The example models run in onnxruntime with exactly the inferred shapes."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUNS = [
    ("decoder", {"batch": 1, "seq": 1}),
    ("decoder", {"batch": 3, "seq": 17}),
    ("convnet", {"batch": 2, "height": 8, "width": 6}),
    ("convnet", {"batch": 1, "height": 32, "width": 2}),
]


@pytest.mark.parametrize(("name", "sizes"), RUNS)
def test_every_tensor_has_the_inferred_shape(name, sizes):
    runtime = pytest.importorskip("onnxruntime")
    path = EXAMPLES / f"{name}.onnx"
    result = infer_shapes(path)
    model = onnx.load(path)
    del model.graph.output[:]
    names = [output for node in model.graph.node for output in node.output]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
    session = runtime.InferenceSession(model.SerializeToString())
    feeds = {
        i.name: np.zeros(
            [evaluate(d, sizes) for d in result.tensors[i.name].shape], "int64" if "int64" in i.type else "float32"
        )
        for i in session.get_inputs()
    }
    for tensor, value in zip(names, session.run(names, feeds), strict=True):
        info = result.tensors[tensor]
        assert tuple(evaluate(d, sizes) for d in info.shape) == value.shape, tensor
        assert info.dtype == value.dtype.name


@pytest.mark.parametrize("sizes", [(1, 224, 224), (3, 17, 6)])
def test_the_document_has_the_shapes_of_the_nnef_package(sizes):
    package = pytest.importorskip("nnef", reason="the nnef package is the oracle of this test")
    path = EXAMPLES / "squeezenet.nnef"
    batch, height, width = sizes
    text = path.read_text().replace("[1, 3, 224, 224]", f"[{batch}, 3, {height}, {width}]")
    graph = package.parse_string(text, lowered=["fire"])
    package.infer_shapes(graph)
    result = infer_shapes(path, inputs="[batch, 3, height, width]")
    bound = dict(zip(("batch", "height", "width"), sizes, strict=True))
    for name in ("features", "fired", "scores"):
        assert [evaluate(d, bound) for d in result.tensors[name].shape] == graph.tensors[name].shape


def test_a_saved_model_is_valid_and_has_the_same_shapes(tmp_path):
    path = tmp_path / "annotated.onnx"
    result = infer_shapes(EXAMPLES / "decoder.onnx")
    result.save(path, annotate="all")
    onnx.checker.check_model(str(path), full_check=True)
    saved = {v.name: v for v in onnx.load(path).graph.value_info}
    dims = saved["layer0.scores"].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["batch", 4, "seq", "seq"]
    again = infer_shapes(path)
    assert {n: str(i) for n, i in again.tensors.items()} == {n: str(i) for n, i in result.tensors.items()}
    assert not again.diagnostics
