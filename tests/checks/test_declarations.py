"""Declarations are compared with shapes at all sizes, not only at those that later nodes allow."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.checks.models import model, node, skip_model, weights


def run_check(proto, **options):
    return [f for f in check(infer_shapes(proto, declared="check", **options)) if f.fails]


def transpose_model(times, perm, inner=("q", "k")):
    """x [batch, seq, 4] repeated, transposed and concatenated on the last axis; declared as if not transposed."""
    first = "batch" if times == 1 else f"{times}*batch"
    nodes = [
        node("Concat", " ".join(["x"] * times), "q", axis=0),
        node("Transpose", "q", "k", perm=perm),
        node("Concat", "q k", "y", axis=2),
    ]
    declared = {name: [first, "seq", 4] for name in inner}
    return model(nodes, {"x": ["batch", "seq", 4]}, {"y": [first, "seq", 8]}, declared)


@pytest.mark.parametrize("times", [1, 2, 4])
def test_a_declaration_that_only_a_later_requirement_makes_true_is_wrong(times) -> None:
    first, *_ = run_check(transpose_model(times, [1, 0, 2]))
    assert (first.code, first.subject) == ("C110", "make_k")
    assert first.message.endswith("but the graph computes seq: equal only because make_y requires it")
    assert run_check(transpose_model(times, [0, 1, 2])) == []


def test_a_declaration_that_a_later_constant_makes_true_is_stale_too() -> None:
    """The product needs seq to be 4; before it, the declaration of k as [seq, 4] is wrong."""
    nodes = [node("Transpose", "x", "k", perm=[1, 0]), node("MatMul", "k w", "y")]
    declared = {"k": ["seq", 4]}
    proto = model(nodes, {"x": ["seq", 4]}, {"y": None}, declared, [weights("w", 4, 5)])
    first, *_ = run_check(proto)
    assert (first.code, first.subject) == ("C110", "make_k")


def declare(proto, **declared):
    for name, dims in declared.items():
        proto.graph.value_info.append(model([], {name: dims}, {}).graph.input[0])
    return proto


def decoder_model(**declared):
    """[past + seq] is concatenated with a mask [total]; both may be declared with the same name before they meet."""
    nodes = [
        node("Concat", "p x", "keys", axis=0),
        node("Relu", "m", "visible"),
        node("Concat", "keys visible", "y", axis=1),
    ]
    inputs = {"p": ["past", 1], "x": ["seq", 1], "m": ["total", 1]}
    return declare(model(nodes, inputs, {"y": ["total", 2]}), **declared)


def concat_model(second, **declared):
    """x [a, 6] and z join, and go on."""
    nodes = [node("Relu", "x", "p"), node("Relu", "z", "q"), node("Concat", "p q", "c", axis=1), node("Relu", "c", "y")]
    return declare(model(nodes, {"x": ["a", 6], "z": [second, 6]}, {"y": None}), **declared)


@pytest.mark.parametrize(
    "proto",
    [
        declare(skip_model(), u=[1, 3, "H", 8]),  # of even H, as the skip requires
        concat_model(None, q=["a", 6]),  # an axis without a name may be called a
    ],
)
def test_declarations_that_hold_at_all_legal_sizes_are_silent(proto) -> None:
    assert run_check(proto) == []


def test_equalities_that_declarations_state_hold_behind_them() -> None:
    assert run_check(decoder_model(keys=["total", 1], visible=["past + seq", 1])) == []
    first, *_ = run_check(decoder_model(visible=["past + seq", 1]))
    assert (first.code, first.subject) == ("C110", "make_visible")


def test_three_names_that_may_go_together_do() -> None:
    nodes = [node("Concat", "p x", "keys", axis=0), node("Add", "keys m", "y")]
    assert run_check(model(nodes, {"p": ["past"], "x": ["seq"], "m": ["total"]}, {"y": None})) == []


def test_behind_the_node_that_requires_it_both_names_are_right() -> None:
    """Only C102 reports that the names differ."""
    assert {f.code for f in run_check(concat_model("b", c=["b", 12], p=["a", 6], q=["b", 6]))} == {"C102"}
