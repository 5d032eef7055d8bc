"""The vectors of NNEF documents with violations of the grammar or the static semantics, and all valid ones."""

import json

import pytest

from shapeinf.diagnostics import text_position
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.checking.checker import check
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.language.parser import parse
from tests.formats.nnef.test_checker import operations
from tests.vectors import ROOT, need

FOLDER = ROOT / "nnef"

OF_VALUES = {
    "array_repeat_negative",
    "subscript_out_of_range",
    "subscript_range_oob",
    "comprehension_lengths",
    "cast_bad_string_int",
    "cast_real_string_int",
    "int_division_by_zero",
    "lvalue_array_length_frag",
}
"""Rules that are checked only when values are evaluated."""


def cases(kind, wanted=lambda case: True):
    params = []
    for path in sorted(FOLDER.glob(f"{kind}/*.nnef")):
        record = path.with_suffix(".json" if kind == "bad" else ".expected.json")
        case = json.loads(record.read_text(encoding="utf8"))
        if wanted(case):
            params.append(pytest.param(path, case, id=path.stem))
    return params or [pytest.param(None, None, id="none")]


def is_static(case):
    from_graph = case["suggested_position"]["file"] == "graph"
    return from_graph and case["kind"] != "argument/shape" and case["id"] not in OF_VALUES


def diagnostics_of(path, dialect=None):
    source = SourceText(path.read_bytes().decode("utf8", "replace"))
    try:
        document = parse(source, dialect)
    except NnefError as error:
        return error.diagnostics
    return check(document, source, operations(document.dialect))


@pytest.mark.parametrize(("path", "case"), cases("bad", is_static))
def test_a_violation_of_a_static_rule_is_reported_at_its_line(path, case):
    need(path, "nnef/bad")
    problems = diagnostics_of(path)
    assert problems
    assert text_position(problems[0])[0] == case["suggested_position"]["line"]


@pytest.mark.parametrize(("path", "case"), cases("ok"))
def test_a_valid_document_has_no_diagnostics(path, case):
    need(path, "nnef/ok")
    dialect = "tract" if case.get("dialect", "").endswith("leniency") or path.stem.startswith("tract") else None
    assert diagnostics_of(path, dialect) == []
