"""Only two modules create inferences: `session` for models, `bodies` for graphs inside nodes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import shapeinf
from shapeinf import Dim, InferenceOptions, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.api import infer
from shapeinf.errors import Contradiction
from tests.checks.models import model, node

ROOT = Path(shapeinf.__file__).parent
IMAGE = model([node("Relu", "image", "y")], {"image": ["batch", 3, "H", "W"]}, {"y": None})


def creators(name: str) -> set[str]:
    """The files with a call of a class."""
    files = set()
    for path in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
                files.add(str(path.relative_to(ROOT)))
    return files


def test_only_sessions_and_bodies_create_inferences() -> None:
    copies = "engine/inference.py"
    assert creators("Inference") == {"engine/session.py", "engine/bodies.py", copies}
    runtimes = "memory/runtimes/onnxruntime/node_inference.py"  # of a single node, as a session infers it
    guards = "guards/examination.py"  # of the model whose axes are all free
    assert creators("Session") == {"api.py", guards, runtimes}


def test_keywords_and_a_record_of_options_are_the_same() -> None:
    keywords = {"dims": [Dim("batch", max=8)], "bind": {"H": 4}, "assume": "W <= H", "min_dim": 0}
    by_keyword, by_record = infer_shapes(IMAGE, **keywords), infer(IMAGE, InferenceOptions(**keywords))
    for result in (by_keyword, by_record):
        assert str(result.tensors["y"].shape) == "[batch, 3, 4, W]"
        assert [str(result.interval(dim)) for dim in result.tensors["y"].shape] == ["0..8", "3..3", "4..4", "0..4"]


def test_the_initial_constraints_are_those_before_any_node_whenever_they_are_requested() -> None:
    matmul = model([node("MatMul", "a b", "y")], {"a": ["n", "k"], "b": ["m", 8]}, {"y": None})
    for options in ({}, {"dims": {"n": "1..8"}}):
        inference = infer_shapes(matmul, **options).engine.inference
        assert inference.nodes_added_constraints
        n, k, m = map(inference.store.scope.symbol, ("n", "k", "m"))
        assert inference.store.prove_eq(k, m) is True
        assert inference.initial_store.prove_eq(k, m) is None
        assert str(inference.initial_store.interval(n)) == ("1..8" if options else "1..")


def test_a_result_at_sizes_is_an_inference_with_these_sizes() -> None:
    result = infer_shapes(IMAGE, dims={"batch": "1..8"})
    fixed = result.at({"W": 6}, batch=2)
    bound = infer_shapes(IMAGE, dims={"batch": "1..8"}, bind={"batch": 2, "W": 6})
    assert {name: str(t) for name, t in fixed.tensors.items()} == {n: str(t) for n, t in bound.tensors.items()}
    assert str(fixed.tensors["y"].shape) == "[2, 3, H, 6]"
    assert str(result.tensors["y"].shape) == "[batch, 3, H, W]"
    assert str(fixed.at(H=4).tensors["y"].shape) == "[2, 3, 4, 6]"


@pytest.mark.parametrize(
    ("sizes", "error"), [({"N": 1}, UnknownNameError), ({"batch": 9}, Contradiction), ({"H": -1}, ShapeInferenceError)]
)
def test_a_result_at_impossible_sizes(sizes: dict[str, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        infer_shapes(IMAGE, dims={"batch": "1..8"}).at(sizes)
