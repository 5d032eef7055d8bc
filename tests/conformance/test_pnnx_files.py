"""PNNX's files: the values, types and texts of the vectors; every file of the folder is read and written again."""

from __future__ import annotations

import io
import re

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ModelError
from shapeinf.formats.pnnx.document import parse
from shapeinf.formats.pnnx.reader import build
from shapeinf.formats.pnnx.values import DTYPES, parse_parameter, parse_tensor
from tests.formats.pnnx.rewriting import rewrite
from tests.vectors import ROOT, need, vectors

RELATIVE = "pnnx/pnnx_param.json"
VECTORS = vectors(RELATIVE)
FILES = sorted((ROOT / "pnnx").glob("*/*.param"))

KINDS = {"bool": bool, "str": str, "int": int, "float": float}
# PNNX reads only the first half of a complex number; with both, the element type of a result would differ.
COMPLEX = "1.000000e+00+2.000000e+00j"


def cases(name):
    return [] if VECTORS is None else VECTORS[name]


def test_the_vectors_are_there():
    need(VECTORS, RELATIVE)
    assert all(cases(name) for name in ("parameter_values", "shape_annotations", "param_files"))
    assert FILES


@pytest.mark.parametrize("case", cases("parameter_values"), ids=lambda case: case["text"])
def test_parameters(case):
    if "error" in case:
        with pytest.raises(ValueError, match="32 bits"):
            parse_parameter(case["text"])
        return
    value = parse_parameter(case["text"])
    if case["text"] == COMPLEX:
        assert value == 1 + 2j
    elif "elements" in case:
        assert value == tuple(case["elements"])
    elif case["type"] == "null":
        assert value is None or value == ()
    elif case["type"] in KINDS:
        assert type(value) is KINDS[case["type"]]
        assert value == case["value"]
    else:
        assert value == tuple(case["value"])
        assert {type(item).__name__ + "s" for item in value} == {case["type"]}


@pytest.mark.parametrize("case", cases("shape_annotations"), ids=lambda case: case["text"])
def test_types(case):
    text = f"7767517\n1 1\npnnx.Input x 0 1 x #x={case['text']}\n"
    if case["strict"] == "error":
        with pytest.raises(ModelError, match=":3: "):
            parse(text, "net")
        return
    tensor = parse(text, "net").operators[0].types["x"]
    assert tensor == parse_tensor(case["text"])
    assert list(tensor.dims) == case["dims"]
    assert tensor.dtype == (case["dtype"] and DTYPES[case["dtype"]])


@pytest.mark.parametrize("case", cases("param_files"), ids=lambda case: case["case"])
def test_texts(case):
    verdict = case["strict"]
    if verdict.startswith("error"):
        line = verdict.removeprefix("error").removeprefix(" line ")
        with pytest.raises(ModelError, match=f"^net:{line}"):
            parse(case["text"], "net")
        return
    graph = build(parse(case["text"], "net"))
    assert graph.inputs
    stated = re.search(r"key (\S+) value (\S+)", verdict)
    if stated is not None:
        assert graph.model.operators[0].parameters[stated[1]] == stated[2]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.param')}")
def test_files_read_and_write_back(path):
    assert rewrite(path) == path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.param')}")
def test_inferred_types_are_those_of_the_file(path):
    """A saved file equals the read one if all types are inferred; unknown types are left out."""
    target = io.StringIO()
    result = infer_shapes(path)
    result.save(target)
    text = path.read_bytes().decode("utf-8")
    if result.coverage.unknown_ops or any(d.severity == "error" for d in result.diagnostics):
        types = {field for field in target.getvalue().split() if field[0] == "#"}
        assert types < {field for field in text.split() if field[0] == "#"}
    else:
        assert target.getvalue() == text
