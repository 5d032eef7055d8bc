"""The verdicts of the checker on the documents of its tables, against those of the `nnef` package."""

import pytest

from tests.formats.nnef.test_checker import RIGHT, WRONG

CRASHES = {"? in the graph", "array of another length", "not allowed: p[2]"}
"""Documents on which the package crashes."""

ACCEPTS = {
    "external in an expression",
    "two updates",
    "array in the graph",
    "loop variable in another's array",
    "type argument of an operation that is not generic",
    "? in a fragment that is not generic",
    *(f"no operator: {e}" for e in ("i == s", "i < s", "t < t", "b < b", "i * a", "s in a", "x in xs", "a in a")),
    *(f"no operator: {e}" for e in ("!x", "x && x", "c == c")),
}
"""Documents that the specification forbids and shapeinf rejects, but the package accepts or evaluates."""

REJECTS = {
    "declared later",
    "variables at once",
    *(f"value: {e}" for e in ("+x", "!c", "c && b", "t * 2", "a + []", "[] + a", "shape_of(x)", "shape_of(i)")),
}
"""Documents that no known rule of the specification forbids and shapeinf accepts, but the package rejects."""


def accepted(text):
    package = pytest.importorskip("nnef", reason="the nnef package is the oracle of these tests")
    try:
        package.parse_string(text)
    except package.Error:
        return False
    return True


@pytest.mark.parametrize("rule", [rule for rule in WRONG if rule not in CRASHES])
def test_invalid_documents_have_diagnostics(rule):
    assert accepted(WRONG[rule]) == (rule in ACCEPTS)


@pytest.mark.parametrize("rule", RIGHT)
def test_valid_documents_have_none(rule):
    assert accepted(RIGHT[rule]) == (rule not in REJECTS)
