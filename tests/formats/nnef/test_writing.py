"""NNEF documents written with the inferred shapes as comments."""

from __future__ import annotations

import io

import pytest

from shapeinf import (
    ModelError,
    infer_shapes,
)
from tests.formats.nnef.models import PLAIN, shapes


def test_annotated_copies(tmp_path):
    text = (
        "version 1.0;\nextension KHR_enable_operator_expressions, KHR_enable_fragment_definitions;\n"
        "fragment f( x: tensor<scalar> ) -> ( a: tensor<scalar>, b: tensor<scalar> ) { a = relu(x); b = x * 2.0; }\n"
        "graph g( x ) -> ( y, z ) { # comments go\n x = external(shape=[2,6]);\n"
        "(a, b) = f(x); [y, c] = split(a, axis=1, ratios=[1,2]); z = c + -c; }"
    )
    result = infer_shapes(text)
    result.save(tmp_path / "out.nnef")
    lines = (tmp_path / "out.nnef").read_text().splitlines()
    assert [line.split("#")[1].strip() for line in lines if "#" in line] == [
        "[2, 6]",
        "[2, 6], [2, 6]",
        "[2, 2], [2, 4]",
        "[2, 4]",
    ]
    again = infer_shapes(tmp_path / "out.nnef")
    assert shapes(again) == shapes(result)
    stream = io.StringIO()
    again.save(stream)
    assert stream.getvalue().splitlines() == lines


def test_copies_of_models_with_symbols_and_repeated_names():
    text = (
        "version 1.0;\nextension tract_registry tract_core;\ngraph g( x ) -> ( y )\n{\n"
        "    x = external(shape = [B, 2*S]);\n    t = unsqueeze(x, axes = [0]);\n    t = concat([t, t], axis = 2);\n"
        "    p = split(t, axis = 2, ratios = [1, 1]);\n    y = relu(p[0]);\n}\n"
    )
    stream = io.StringIO()
    infer_shapes(text).save(stream)
    comments = [line.partition("#")[2].strip() for line in stream.getvalue().splitlines() if "#" in line]
    assert comments == [
        "[B, 2*S]",
        "[1, B, 2*S]",
        "[1, B, 4*S]",
        "[[1, B, 2*S], [1, B, 2*S]]",
        "[1, B, 2*S]",
    ]


def test_copies_of_the_provisional_dialect_end_statements():
    text = (
        "version 1.0\ngraph g( x ) -> ( y ) { x = external(shape = [2,4]); [a, b] = split(x, axis = 1, ratios = [1,1]);"
        " y = relu(a) }"
    )
    stream = io.StringIO()
    infer_shapes(text).save(stream)
    assert "    x = external(shape = [2, 4]);  # [2, 4]\n    [a, b] = " in stream.getvalue()
    assert shapes(infer_shapes(stream.getvalue())) == shapes(infer_shapes(text))


def test_where_copies_go(tmp_path):
    result = infer_shapes(PLAIN)
    for name in ("m.tgz", "m.nnef.tar.gz", ""):
        with pytest.raises(ModelError, match="not an archive or a folder"):
            result.save(tmp_path / name)
    with pytest.raises(ModelError, match="cannot be written: No such file"):
        result.save(tmp_path / "none" / "m.nnef")
    result.graph.model = None
    with pytest.raises(ModelError, match="not read from an NNEF model"):
        result.save(tmp_path / "m.nnef")
    assert list(tmp_path.iterdir()) == []


def test_streams_are_for_texts():
    import onnx

    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> g (float[N] x) => (y) { y = Relu(x) }')
    with pytest.raises(ModelError, match="stream"):
        infer_shapes(model).save(io.StringIO())
