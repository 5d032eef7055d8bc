"""The provenance of sizes, and the first causes of unknowns, in small models where both are evident."""

from __future__ import annotations

import pytest

import shapeinf
from shapeinf import Result
from tests.engine.runtime import inferred

LOOP = """g (int64 n, float["batch", 4] x) => (float[] y, float[] z) {
  go = Constant <value = bool {1}> ()
  y, z = Loop <body = body (int64 i, bool c, float[] h) => (bool c2, float[] h2, float[] e) {
    c2 = Identity(c)
    h2 = Relu(h)
    e = Identity(h2)
  }> (n, go, x)
}"""

SHAPES = """g (float["batch", "seq", 12] x) => (float[] y) {
  s = Shape(x)
  zero = Constant <value = int64[1] {0}> ()
  b = Gather <axis = 0> (s, zero)
  rest = Constant <value = int64[2] {-1, 6}> ()
  shape = Concat <axis = 0> (b, rest)
  y = Reshape(x, shape)
}"""

IF = """g (bool c, float["batch", 8] x) => (float[] y) {
  y = If <then_branch = a () => (float[] p) { p = Relu(x) },
          else_branch = b () => (float[] q) {
            k = Constant <value = int64[1] {1}> ()
            q = ReduceMean <keepdims = 1> (x, k)
          }> (c)
}"""

FUNCTION = """g (float["batch", 8] x) => (float[] y) {
  y = my.twice(x)
}
<domain: "my", opset_import: ["" : 19]>
twice (v) => (w) {
  t = Transpose <perm = [1, 0]> (v)
  w = Concat <axis = 0> (t, t)
}"""


def explained(text: str, tensor: str, axis: int) -> list[str]:
    return inferred(text).explain(tensor, axis)


CHAINS = [
    pytest.param(
        SHAPES,
        ("y", 0),
        [
            "y.shape[0] = batch by Reshape .* from shape[0]",
            "shape[0] = batch by Concat .* from b[0]",
            "b[0] = batch by Gather .* from s[0]",
            "s[0] = batch by Shape .* from x.shape[0]",
            "x.shape[0] = batch, declared by an input",
        ],
        id="through the contents of shapes",
    ),
    pytest.param(
        SHAPES,
        ("y", 2),
        [
            "y.shape[2] = 6 by Reshape .* from shape[2]",
            "shape[2] = 6 by Concat .* from rest[1]",
            "rest[1] = 6 by Constant",
        ],
        id="a number in a constant",
    ),
    pytest.param(
        IF,
        ("y", 0),
        [
            "y.shape[0] = batch by If .* from y/p.shape[0] in then_branch and else_branch",
            "y/p.shape[0] = batch by Relu .* from x.shape[0]",
            "x.shape[0] = batch, declared by an input",
        ],
        id="both branches agree",
    ),
    pytest.param(
        IF,
        ("y", 1),
        ["y.shape[1] = .* by If .*: it depends on which of its bodies runs: then_branch has .*8.* else_branch has .*1"],
        id="the branches differ",
    ),
    pytest.param(
        LOOP,
        ("y", 1),
        [
            "y.shape[1] = 4 by Loop .* from y/h2.shape[1] in body",
            "y/h2.shape[1] = 4 by Relu .* from y/h.shape[1]",
            "y/h.shape[1] = 4 is x.shape[1]",
            "x.shape[1] = 4, declared by an input",
        ],
        id="through a loop",
    ),
    pytest.param(
        LOOP,
        ("z", 2),
        [
            "z.shape[2] = 4 by Loop",
        ],
        id="a number may be any axis of an element of a scan: no claim",
    ),
    pytest.param(
        FUNCTION,
        ("y", 1),
        [
            "y.shape[1] = batch by my.twice .* from y/w.shape[1]",
            "y/w.shape[1] = batch by Concat .* from y/t.shape[1]",
            "y/t.shape[1] = batch by Transpose .* from y/v.shape[0]",
            "y/v.shape[0] = batch is x.shape[0]",
            "x.shape[0] = batch, declared by an input",
        ],
        id="through a function",
    ),
    pytest.param(
        'g (float["batch", 6] x, int64[2] s) => (float[] y) { r = Reshape(x, s)  y = Relu(r) }',
        ("y", 0),
        [
            "y.shape[0] = .* by Relu .* from r.shape[0]",
            "r.shape[0] = .* by Reshape .*, since the content s[0] is unknown",
            "s[0] = ?, the contents of an input, known only at run time",
        ],
        id="a shape that is an input",
    ),
    pytest.param(
        "g (float[2, 3] x) => (float[] y) { m = my.Mystery(x)  y = Relu(m) }",
        ("y", 0),
        [
            "y has an unknown rank by Relu .*, since the rank of m is unknown",
            "m has an unknown rank by my.Mystery .*: operator is not known",
        ],
        id="an operator without a rule",
    ),
]


def matches(line: str, pattern: str) -> bool:
    """Whether the pieces of the pattern (between `.*`) come in this order, the first at the start."""
    first, *rest = pattern.split(".*")
    at = len(first) if line.startswith(first.rstrip()) else -1
    for piece in rest:
        at = -1 if at < 0 else line.find(piece.strip(), at)
    return at >= 0


@pytest.mark.parametrize(("text", "axis", "patterns"), CHAINS)
def test_a_chain_leads_to_the_first_cause(text: str, axis: tuple[str, int], patterns: list[str]) -> None:
    lines = explained(text, *axis)
    assert len(lines) == len(patterns), lines
    for line, pattern in zip(lines, patterns, strict=True):
        assert matches(line, pattern), (line, pattern)


def test_an_axis_out_of_range_is_an_error() -> None:
    result = inferred(SHAPES)
    with pytest.raises(shapeinf.ShapeInferenceError, match=r"y has no axis 3: its shape is \[batch, "):
        result.explain("y", 3)
    assert result.explain("y", -1) == result.explain("y", 2)
    with pytest.raises(shapeinf.UnknownNameError, match="did you mean"):
        result.explain("shap", 0)


def causes(result: Result) -> dict[str, tuple[str, int]]:
    """The node or input of each group, with the kind of its cause and the count."""
    return {group.cause.node: (group.cause.kind, group.count) for group in result.unknowns()}


CAUSES = [
    pytest.param(
        'g (float["N", 4] x) => (int64[] z) { c = NonZero(x)  t = Transpose(c)  z = Shape(t) }',
        {"c": ("data", 2)},
        id="data",
    ),
    pytest.param("g (float[?, 4] x) => (float[] y) { y = Relu(x) }", {"x": ("input", 2)}, id="an input"),
    pytest.param('g (float["N", 4] x) => (float[] y) { y = Relu(x) }', {}, id="a name is no unknown"),
    pytest.param(
        "g (float[2, 3] x) => (float[] y) { m = my.Mystery(x)  s = Shape(m)  e = Expand(x, s)  y = Relu(e) }",
        {"m": ("operator", 4)},
        id="what comes of a shape that is unknown",
    ),
    pytest.param(
        "g (float[2, 3] x, float[4, 5] w) => (float[] y) { m = MatMul(x, w)  y = Relu(m) }",
        {"m": ("error", 2)},
        id="a broken law",
    ),
    pytest.param(IF, {"y": ("body", 1)}, id="branches"),
    pytest.param(LOOP, {"y": ("body", 1)}, id="how often a loop runs"),
    pytest.param(
        "g (float[2, 3] x, int64[2] s) => (float[] y) { r = Reshape(x, s)  c = NonZero(r)  y = Cast <to = 1> (c) }",
        {"r": ("data", 2), "c": ("data", 2)},
        id="data twice: each its own",
    ),
    pytest.param("g () => (int64[] n) { e = SequenceEmpty()  n = SequenceLength(e) }", {}, id="an empty sequence"),
]


@pytest.mark.parametrize(("text", "expected"), CAUSES)
def test_unknowns_are_grouped_by_first_cause(text: str, expected: dict[str, tuple[str, int]]) -> None:
    assert causes(inferred(text)) == expected


def test_a_cause_in_a_body_has_its_path_and_outer_values() -> None:
    text = FUNCTION.replace("t = Transpose <perm = [1, 0]> (v)", "t = NonZero(v)")
    (group,) = inferred(text).unknowns()
    assert (group.cause.node, group.cause.values) == ("y/t", ("y",))
    assert [str(unknown) for unknown in group.unknowns] == ["y.shape[1]"]


def test_names_of_unknowns_do_not_double_from_layer_to_layer() -> None:
    layers = "  ".join(f"x{i + 1} = Add(x{i}, {'vw'[i % 2]})" for i in range(14))
    inputs = 'float[3, 3] i, float["V", 2] v, float["W", 2] w'
    result = inferred(
        f"g ({inputs}) => (float[] x14) {{ n = NonZero(i)  t = Transpose(n)  x0 = Cast <to = 1> (t)  {layers} }}"
    )
    name = str(result.tensors["x14"].shape[0])
    assert "broadcast" in name and len(name) < 1000
