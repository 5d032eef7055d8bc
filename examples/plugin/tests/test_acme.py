"""What Acme's operators infer, forwards and backwards, and what they refuse; the package must be installed."""

from __future__ import annotations

import networkx as nx
import onnx
import pytest

from shapeinf import Result, infer_shapes

MODEL = """<ir_version: 10, opset_import: ["": 21, "com.acme": 1]>
g (float[batch, H, W, 3] image, float[rows, 96] w) => (merged) {
    relu = Relu(image)
    merged = com.acme.PatchMerge<block = 4>(relu, w)
}"""


def infer(**options: object) -> Result:
    """The shapes of the model, with the options of `infer_shapes`."""
    return infer_shapes(onnx.parser.parse_model(MODEL), **options)  # type: ignore[arg-type]


def frames(**inputs: list[object]) -> Result:
    """The shapes of a graph of the dialect for inputs of these shapes."""
    graph: nx.DiGraph[str] = nx.DiGraph(dialect="acme", inputs=inputs, outputs=["gated"])
    graph.add_node("cut", op="Frames", inputs=["x"], outputs=["framed"], attrs={"size": 320, "step": 160})
    graph.add_node("gate", op="Gate", inputs=["framed", "control"], outputs=["gated"])
    return infer_shapes(graph)


def test_an_operator_of_a_domain_of_onnx() -> None:
    """Forwards the sizes of the output, backwards what is required of the inputs."""
    result = infer()
    assert not result.diagnostics
    assert str(result.tensors["merged"]) == "float32[batch, H//4, W//4, 96]"
    assert {condition.text for condition in result.contract} >= {"H % 4 == 0", "W % 4 == 0", "rows == 48"}


@pytest.mark.parametrize(
    ("image", "message"),
    [([1, 30, 64, 3], "height and width must be multiples of `block`"), ([1, 32, 64], "x must be of rank 4")],
)
def test_what_the_operator_refuses(image: list[int], message: str) -> None:
    """One error at the node, with the message of the rule."""
    diagnostics = infer(inputs={"image": image}, declared="ignore").diagnostics
    (diagnostic,) = [d for d in diagnostics if d.severity == "error"]
    assert diagnostic.code == "S101" and message in diagnostic.message


def test_the_dialect() -> None:
    """Operators without a schema: the signature of each function defines it."""
    result = frames(x=["n", "samples"], control=[None])
    assert str(result.tensors["framed"].shape) == "[n, samples//160 - 1, 320]"
    assert str(result.tensors["control"].shape) == "[320]"
    assert "samples >= 320" in {condition.text for condition in result.contract}


def test_what_the_dialect_refuses() -> None:
    """One error at the node, with the message of the rule."""
    (diagnostic,) = frames(x=["n", 319], control=[320]).diagnostics
    assert "a frame must fit into the signal" in diagnostic.message
