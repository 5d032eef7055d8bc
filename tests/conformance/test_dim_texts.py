"""The set of dim texts of many writers: each is read as the sizes that its writer's own code computes, or as a name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, Scope, evaluate, parse_dim, parse_dim_lenient, parse_known_dim

FOLDER = Path(__file__).parent / "dim_texts"
FILES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def rows(writer: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{writer}.jsonl").read_text(encoding="utf-8").splitlines()]


EXPRESSIONS = [line for writer in FILES for line in rows(writer) if line["points"] is not None]


def test_the_set_has_all_writers() -> None:
    assert FILES == ["jax", "names", "onnx", "onnxruntime", "torch"]
    assert len(EXPRESSIONS) > 200


@pytest.mark.parametrize("line", EXPRESSIONS, ids=lambda line: f"{line['writer'].split()[0]}: {line['text']}")
def test_an_expression_has_the_sizes_of_its_writer(line) -> None:
    """Read as a dim of an input, whose names are new, as one of a node, and as one of a user."""
    scope = Scope()
    symbols = {scope.symbol(name) for name in line["names"]}
    dim, note = parse_dim_lenient(line["text"], scope)
    assert note is None and dim is not None
    assert parse_known_dim(line["text"], scope) == dim
    assert not isinstance(dim, Dimension) or dim.symbols() <= symbols
    for sizes, expected in line["points"]:
        assert evaluate(dim, dict(zip(line["names"], sizes, strict=True))) == expected
    if all(name.isidentifier() for name in line["names"]):
        assert parse_dim(line["text"], scope) == dim
        is_name = re.search(r"[a-z]-[a-z]", line["text"])  # words that no dim has may be joined by a hyphen
        assert bool(parse_dim_lenient(line["text"], Scope())[1]) == bool(is_name)


@pytest.mark.parametrize("line", rows("names"), ids=lambda line: line["text"])
def test_a_text_without_a_certain_value_is_a_name(line) -> None:
    dim, _ = parse_dim_lenient(line["text"], Scope())
    names = [dim.name] if isinstance(dim, Dimension) else []
    assert names == line["names"]


@pytest.mark.parametrize("line", [line for line in EXPRESSIONS if line["writer"].startswith(("torch", "jax", "onnx "))])
def test_input_specs_read_the_same_texts(line) -> None:
    """A text may be less than 0 at some sizes; a size is none of these."""
    graph = "version 1.0; graph g(x) -> (y) { x = external(shape = [1, 3]); y = relu(x); }\n"
    sizes = dict(zip(line["names"], line["points"][0][0], strict=True))
    try:
        result = infer_shapes(graph, inputs={"x": f"[{line['text']}, 3]"})
        dim = result.outputs["y"].shape[0]
    except ShapeInferenceError as error:
        assert "size of at least 0" in str(error)
        return
    assert evaluate(dim, sizes) == line["points"][0][1]
