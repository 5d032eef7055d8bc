"""Bounds and relations that users specify for sizes that depend on data hold from the creation of the size on."""

from __future__ import annotations

import onnx
import pytest

from shapeinf import Dim, Result, ShapeInferenceError, UnknownNameError, infer_shapes
from shapeinf.errors import Contradiction

PLAIN = "t = NonZero (x) y = Transpose (t)"
LOOP = """s = Constant <value = int64[1, 1] {0}> ()
    [y] y = Loop (k, go, s) <body = b (int64 i, bool c, int64[p, q] a) => (bool d, int64[u, v] o) {
        d = Identity (c)
        [nz] z = NonZero (x)
        o = Concat <axis = 1> (a, z)
    }>"""
BRANCH = """[y] y = If (go) <
    then_branch = one () => (int64[a, b] z) { [nz] z = NonZero (x) },
    else_branch = two () => (int64[c, d] w) { w = Constant <value = int64[1, 2] {0, 0}> () }>"""


def infer(nodes: str, **options: object) -> Result:
    text = nodes.replace("t = NonZero", "[nz] t = NonZero")
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g (float[n] x, int64 k, bool go) => (int64[?, ?] y) {{ {text} }}'
    )
    return infer_shapes(model, **options)  # type: ignore[arg-type]


def test_bounds_hold_in_every_question() -> None:
    result = infer(PLAIN, dims={"nz.count": (2, 5), "n": (1, 100)})
    axis = result.tensors["y"].shape[0]
    assert str(result.interval(axis)) == "2..5"
    assert result.assumptions == ("`nz.count` in 2..5",)
    assert result.contract.check(n=1).verdict is False  # more than n
    assert result.contract.check(n=9).verdict is True
    smaller = result.without_assumptions({"n": 0})
    assert smaller is not None and str(smaller.interval(smaller.tensors["y"].shape[0])) == "2..5"
    assert result.memory().peak.over().value == 2 * 5 * 8
    updated = result.update({"x": [7]})
    assert str(updated.interval(updated.tensors["y"].shape[0])) == "2..5"


def test_a_number_is_put_in() -> None:
    assert infer(PLAIN, bind={"nz.count": 5}).tensors["y"].shape == (5, 1)


def test_divisors() -> None:
    result = infer(PLAIN, dims={"nz.count": {"min": 1, "max": 15, "multiple_of": 8}})
    assert result.tensors["y"].shape[0] == 8


def test_divisors_under_two_numbers_of_a_name_both_hold() -> None:
    result = infer(PLAIN, dims=[Dim("nz.count", multiple_of=4), Dim("nz.count#2", multiple_of=6)])
    assert result.assumptions == ("`nz.count` % 12 == 0",)


def test_bodies() -> None:
    loop = infer(LOOP)
    name = str(loop.body_tensors["y/z"].shape[1]).strip("`")
    assert name.startswith("y/nz.count")
    for spelling in (name, "y/nz.count", "`y/nz.count`"):
        result = infer(LOOP, dims={spelling: (1, 3)})
        assert str(result.interval(result.body_tensors["y/z"].shape[1])) == "1..3"
    joined = infer(BRANCH, dims={"y/nz.count": (4, 6)})
    assert str(joined.interval(joined.tensors["y"].shape[1])) == "2..6"


@pytest.mark.parametrize(
    ("relation", "bounds", "legal"),
    [
        ("`nz.count` <= 7", "0..7", True),
        ("2 * `nz.count` == n", "1..50", False),
        ("`nz.count` + 3 <= n", "0..100", False),
    ],
)
def test_relations(relation: str, bounds: str, legal: bool) -> None:
    result = infer(PLAIN, assume=relation, dims={"n": (1, 100)})
    assert str(result.interval(result.tensors["y"].shape[0])) == bounds
    assert result.assumptions == (relation,)
    assert result.contract.check(n=1).verdict is legal  # of one element


def test_an_unknown_name_of_a_relation() -> None:
    with pytest.raises(UnknownNameError, match="no dim is named 'k'"):
        infer(PLAIN, assume="k <= 3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dims": {"nz.count": (9, 12), "n": (1, 8)}}, "because `nz.count` in 0..8 is inferred"),
        ({"dims": {"nz.count": (9, 12)}, "bind": {"nz.count": 5}}, "because `nz.count` in 9..12 is specified"),
        ({"dims": {"nz.count": (9, 12)}, "assume": "`nz.count` <= 3"}, "cannot hold|must lie in"),
    ],
)
def test_contradictions_name_both_sources(options: dict[str, object], message: str) -> None:
    with pytest.raises(Contradiction, match=message):
        infer(PLAIN, **options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nz.cout", "did you mean '`nz.count`'"),
        ("y.carried.0.1", "it stands for sizes of several"),
    ],
)
def test_other_names_are_errors(name: str, message: str) -> None:
    with pytest.raises(ShapeInferenceError, match=message):
        infer(LOOP if "carried" in name else PLAIN, dims={name: (1, 8)})
