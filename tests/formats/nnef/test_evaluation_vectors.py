"""Evaluation against the vectors: values of attributes and sequences of operations of the valid documents."""

import pytest

from opdefs.nnef.library import LAYERS, library
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.builder import build
from shapeinf.formats.nnef.checking.checker import check
from shapeinf.formats.nnef.checking.library import Library
from shapeinf.formats.nnef.evaluation.evaluator import evaluate
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse
from tests.vectors import ROOT, need, vectors

INDEX = vectors("nnef/INDEX.json")
VALID = sorted((ROOT / "nnef/ok").glob("hand_*.nnef"))
INVALID = sorted((ROOT / "nnef/bad").glob("*.nnef"))
EVALUATED = {"093", "095", "097", "105", "112", "114", "117", "150", "155", "156", "159", "227", "235"}
"""The invalid documents that break a rule of evaluation, or of tensors from outside."""


def read(path):
    source = SourceText(path.read_text(encoding="utf8"), path.name)
    document = parse(source)
    operations = Library(library(document.dialect))
    return source, document, operations, LAYERS if document.dialect == "provisional" else ()


def as_lists(value):
    return [as_lists(item) for item in value] if isinstance(value, (tuple, list)) else value


def test_there_are_vectors():
    need(INDEX, "nnef/INDEX.json")
    assert VALID
    assert INVALID


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_values_and_operations(path):
    expected = vectors(f"nnef/ok/{path.stem}.expected.json")["expect"]
    source, document, operations, expand = read(path)
    flat = evaluate(document, source, operations, expand)
    assert build(flat, document, source).outputs == [name.name for name in document.graph.results]
    producers = {output: operation for operation in flat for output in operation.outputs}
    for tensor, attributes in expected.get("attribs", {}).items():
        for name, value in attributes.items():
            assert as_lists(producers[tensor].attributes[name]) == value
    if "ops" in expected:
        assert [o.op for o in flat if o.op != "copy"] == [op for op in expected["ops"] if op != "copy"]


@pytest.mark.parametrize("path", [p for p in INVALID if p.stem[4:7] in EVALUATED], ids=lambda path: path.stem)
def test_documents_without_a_value_are_rejected_at_their_position(path):
    position = vectors(f"nnef/bad/{path.stem}.json")["suggested_position"]
    source, document, operations, expand = read(path)
    assert not check(document, source, operations)
    with pytest.raises(NnefError) as raised:
        build(evaluate(document, source, operations, expand), document, source)
    assert (raised.value.line, raised.value.column) == (position["line"], position["col"])
