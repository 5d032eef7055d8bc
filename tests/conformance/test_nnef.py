"""NNEF documents of others, or with results computed by hand: valid ones agree, invalid ones are rejected."""

import io
import random
import re

import pytest

from shapeinf import NnefOptions, infer_shapes
from shapeinf.errors import ModelError, NnefError, ShapeError, ShapeInferenceError
from shapeinf.expr import Dimension
from shapeinf.formats.nnef.language.ast import names_in
from shapeinf.formats.nnef.language.types import DTYPES
from shapeinf.formats.nnef.reader import read
from tests.conformance.tract_types import ELSEWHERE, difference
from tests.vectors import ROOT, vectors

INDEX = "nnef/INDEX.json"
LISTED = vectors(INDEX) or {"ok": [], "bad": []}
VALID = [entry["name"] for entry in LISTED["ok"] if entry["name"] not in ELSEWHERE]
INVALID = [entry["name"] for entry in LISTED["bad"]]
missing = pytest.mark.skipif(not VALID, reason=f"{INDEX} does not exist: set SHAPEINF_CONFORMANCE")

BY_THE_RULE = {
    "tractsym_slice_to_end": {"y": "S - 2"},
    "tractsym_slice_neg": {"y": "S - 1"},
    "tract_dyn_slice": {"output_0": "S//2"},
}
"""Extents of sliced axes by the specification, where tract is wrong (see the README of the vectors) or has none."""
ABSENT = {"tract_submodel": "the vectors do not contain its submodel"}


def path_of(folder, name):
    return ROOT / "nnef" / folder / f"{name}.nnef"


def dialect_of(name):
    """The dialect to specify: some documents of tract lack its extension line; all others state their dialect."""
    return "tract" if name.startswith("tract") else None


def expected_of(name):
    return vectors(f"nnef/ok/{name}.expected.json")


def stripped(dims):
    """The dims without trailing ones, which are implicit in the provisional dialect."""
    leading = list(dims)
    while leading and leading[-1] == 1:
        leading.pop()
    return leading


def as_tuples(value):
    return tuple(map(as_tuples, value)) if isinstance(value, (list, tuple)) else value


@missing
@pytest.mark.parametrize("name", VALID)
def test_valid_documents(name):
    vector = expected_of(name)
    expected = vector["expect"]
    if name in ABSENT:
        pytest.skip(ABSENT[name])
    try:
        graph = read(path_of("ok", name), NnefOptions(dialect_of(name), vector.get("lower") or ()))
    except ModelError:
        assert not expected  # tract itself does not load it
        return
    result = infer_shapes(graph)
    assert not expected or not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    written = {name.name for statement in graph.model.document.graph.body for name in names_in(statement.target)}
    for tensor, dims in (expected.get("shapes") or {}).items():
        # Khronos' parsers also list the tensors in bodies of compounds, with names of their own
        if not name.startswith("khronos") or tensor in written:
            check_shape(result.tensors[tensor].shape, dims, vector["dialect"] == "provisional", tensor)
    for tensor, dtype in expected.get("dtypes", {}).items():
        assert result.tensors[tensor].dtype == DTYPES[dtype]
    operations = graph.model.operations
    for tensor, attributes in expected.get("attribs", {}).items():
        actual = next(op.attributes for op in operations if tensor in op.outputs)
        assert {name: as_tuples(actual[name]) for name in attributes} == {
            n: as_tuples(v) for n, v in attributes.items()
        }
    if "ops" in expected:
        check_operations([op.op for op in operations], expected["ops"])
    check_dumps(name, result, expected.get("tract_facts") or {})


def check_shape(shape, dims, provisional, tensor):
    assert shape.dims is not None, tensor
    shape = list(shape.dims)
    if provisional:
        shape, dims = stripped(shape), stripped(dims)
    assert len(shape) == len(dims), (tensor, shape, dims)
    for a, b in zip(shape, dims, strict=True):
        assert isinstance(a, Dimension) if b == "?" else a == b, (tensor, shape, dims)


def check_operations(operations, expected):
    """The operations are the expected ones; there may be more copies."""
    assert [op for op in operations if op != "copy"] == [op for op in expected if op != "copy"]
    assert operations.count("copy") >= expected.count("copy")


def check_dumps(name, result, store):
    for side, names in (("inputs", result.graph.inputs), ("outputs", result.graph.outputs)):
        dumps = store.get(side)
        if not dumps:
            continue
        if side == "inputs":
            pairs = [(n, dumps[n]) for n in names if n in dumps]
        else:
            # tract renames outputs, but keeps their order; of several that it gives one name the last is recorded.
            pairs = zip(names[-len(dumps) :], dumps.values(), strict=True)
        for tensor, dump in pairs:
            by_rule = BY_THE_RULE.get(name, {}).get(tensor)
            if by_rule is None:
                wrong = difference(dump, result.tensors[tensor], result.engine.store, quantized="(z:" in dump)
                assert wrong is None, (tensor, wrong)
            else:
                assert f"{by_rule}," in f"{str(result.tensors[tensor].shape)[1:-1]},"


@missing
@pytest.mark.parametrize("name", INVALID)
def test_invalid_documents(name):
    vector = vectors(f"nnef/bad/{name}.json")
    position = vector["suggested_position"]
    try:
        result = infer_shapes(path_of("bad", name))
    except NnefError as error:
        assert position is None or position["line"] in lines_of(error), (error, vector)
    except ModelError as error:
        assert position is None, (error, vector)
    else:
        errors = [d for d in result.diagnostics if d.severity == "error"]
        assert errors, (vector["rule_broken"], result.tensors)
        assert position is None or position["line"] in {line_of(d.location) for d in errors}, (errors, vector)
        with pytest.raises(ShapeError):
            infer_shapes(path_of("bad", name), mode="strict")


def lines_of(error):
    """The lines of all problems; a problem is also where its fragment is called."""
    return {line_of(at) for d in error.diagnostics for at in (d.location, *d.calls)}


def line_of(location):
    return int(location.split(", called at ")[0].rsplit(":", 2)[1]) if location else 0


TOKEN = re.compile(r"\s+|\w+|'[^']*'|.", re.DOTALL)
ODD = ["0", "-1", "9" * 20, "1e400", "[]", "()", "true", "''", "2.5", "[1,2]", "-", "!", "x", "if", "?"]


def damaged(chance, tokens, pool):
    """The tokens with a few deleted, swapped or replaced."""
    tokens = list(tokens)
    for _ in range(chance.randint(1, 3)):
        i, j = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(4):
            case 0:
                tokens[i] = ""
            case 1:
                tokens[i] = chance.choice(pool)
            case 2:
                tokens[i] = chance.choice(ODD)
            case _:
                tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


@missing
@pytest.mark.parametrize("count", [600, pytest.param(60_000, marks=pytest.mark.slow)])
def test_damaged_documents_are_results_or_errors_of_ours(count):
    texts = [path_of(folder, name).read_text() for folder, names in (("ok", VALID), ("bad", INVALID)) for name in names]
    split = [TOKEN.findall(text) for text in texts if len(text) < 4000]
    pool = [token for tokens in split for token in tokens if not token.isspace()]
    chance = random.Random(count)
    for _ in range(count):
        text = damaged(chance, chance.choice(split), pool)
        dialect = chance.choice([None, "tract", "final", "provisional"])
        try:
            result = infer_shapes(read(text.encode(), NnefOptions(dialect)))
        except ShapeInferenceError:
            continue
        assert not [d for d in result.diagnostics if d.code == "S301"], (result.diagnostics, text)
        copy = io.StringIO()
        result.save(copy)
        again = infer_shapes(copy.getvalue(), format_options=NnefOptions(result.graph.model.document.dialect))
        assert list(again.tensors) == list(result.tensors), text


FLAT = "version 1.0;\nextension KHR_enable_operator_expressions;\ngraph g( x ) -> ( y )\n{\n"
FLAT += "    x = external(shape = [2, 3]);\n"
DEEP = 20_000
"""More levels than a recursive reader has in its stack."""


@pytest.mark.parametrize(
    "statement",
    [
        "y = reshape(x, shape = " + "[" * DEEP,
        "y = reshape(x, shape = " + "[" * DEEP + "]" * DEEP + ");\n}",
        "y = " + "-" * DEEP + "x;\n}",
        "y = " + "- " * DEEP + "x;\n}",
        "y = " + "!" * DEEP + "x;\n}",
        "y = " + "(" * DEEP + "x" + ")" * DEEP + ";\n}",
        "y = " + "(" * DEEP,
        "y = " + "x if true else " * DEEP + "x;\n}",
        "y = " + "x + " * DEEP + "x;\n}",
        "y = " + "x ^ " * DEEP + "x;\n}",
        "y = x" + "[0]" * DEEP + ";\n}",
        "y = " + "relu(" * DEEP + "x" + ")" * DEEP + ";\n}",
        "y = " + "[for i in " * DEEP,
        "y = " + "shape_of(" * DEEP,
        "[" * DEEP + "y" + "]" * DEEP + " = x;\n}",
        "y = relu(x); }" + "}" * DEEP,
    ],
)
@pytest.mark.parametrize("dialect", ["final", "provisional", "tract"])
def test_nesting_ends(statement, dialect):
    text = FLAT + "    " + statement
    if dialect == "provisional":
        text = text.replace("1.0;\nextension KHR_enable_operator_expressions;", "1.0")
    with pytest.raises(NnefError) as caught:
        infer_shapes(text, format_options=NnefOptions(dialect))
    assert len(str(caught.value)) < 10_000
