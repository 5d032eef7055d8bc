"""Repairs are confirmed by inference and name the attribute or constant; what ranges imply is not reported."""

from __future__ import annotations

import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check
from tests.checks.models import INT64, helper, model, node, numbers, weights


def run_check(proto, **options):
    return [f for f in check(infer_shapes(proto, declared="check", **options), options.get("dims")) if f.fails]


def classifier_model(kernel, step, pads=0):
    """A convolution in large steps and a head for one pixel: it runs where the steps leave one."""
    nodes = [
        node("Conv", "x w", "c", strides=[step, step], pads=[pads] * 4),
        node("Flatten", "c", "f", axis=1),
        node("MatMul", "f v", "y"),
    ]
    constants = [weights("w", 8, 3, kernel, kernel), weights("v", 8, 5)]
    return model(nodes, {"x": ["b", 3, "H", "W"]}, {"y": ["b", 5]}, constants=constants)


@pytest.mark.parametrize(
    ("proto", "low", "high"),
    [(classifier_model(1, 32), 1, 32), (classifier_model(32, 32), 32, 63), (classifier_model(3, 32, 1), 1, 32)],
)
def test_conditions_that_all_requested_sizes_satisfy_are_not_reported(proto, low, high) -> None:
    dims = {"H": (low, high), "W": (low, high)}
    assert run_check(proto, dims=dims) == []
    assert list(infer_shapes(proto, dims=dims).contract) == []
    wider = {**dims, "H": (low, high + 1)}
    assert {f.code for f in run_check(proto, dims=wider)} >= {"C101"}
    assert len(infer_shapes(proto, dims=wider).contract) == 1


def attention_model(index=1, parts="batch seq count rest", drop=None):
    """x [batch, seq, 12] as 3 heads of 4, after a Shape and Gathers; then turned as attention does."""
    names = [name for name in parts.split() if name != drop]
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "batch", axis=0),
        node("Gather", "shape one", "seq", axis=0),
        node("Concat", " ".join(names), "sizes", axis=0),
        node("Reshape", "x sizes", "cut"),
        node("Transpose", "cut", "turned", perm=[0, 2, 1, 3]),
        node("MatMul", "turned w", "out"),
        node("Add", "out mask", "y"),
    ]
    constants = [numbers("zero", 0), numbers("one", index), numbers("count", 3), numbers("rest", 4), weights("w", 4, 4)]
    inputs = {"x": ["batch", "seq", 12], "mask": ["batch", 1, "seq", 1]}
    return model(nodes, inputs, {"y": ["batch", 3, "seq", 4]}, constants=constants)


@pytest.mark.parametrize(
    ("proto", "subject", "message"),
    [
        (attention_model(index=0), "make_seq", "[1] instead of [0] in one"),
        (attention_model(parts="batch batch seq count rest"), "make_sizes", "removed"),
        (attention_model(drop="seq"), "make_sizes", "an added number, seq, at index 1"),
    ],
)
def test_numbers_that_make_a_shape_are_traced_to_their_node(proto, subject, message) -> None:
    """Nothing inside of the graph is declared; the sizes go wrong long before a node breaks."""
    assert run_check(attention_model()) == []
    first, *_ = run_check(proto)
    assert (first.code, first.subject) == ("C114", subject)
    assert message in first.message


def test_sizes_of_a_broken_declaration_are_traced_too() -> None:
    """The Reshape is the first node that differs from its declaration; a Gather computes one of its sizes."""
    inner = {"cut": ["batch", "seq", 3, 4], "turned": ["batch", 3, "seq", 4], "out": ["batch", 3, "seq", 4]}
    proto = attention_model(index=0)
    proto.graph.value_info.extend(helper.make_tensor_value_info(name, 1, dims) for name, dims in inner.items())
    first, *_ = run_check(proto)
    assert (first.code, first.subject) == ("C114", "make_seq")
    assert "[1] instead of [0] in one" in first.message


BY_ITSELF = {
    "a block": model([node("DepthToSpace", "x", "y", blocksize=2)], {"x": ["b", 6, 8, 8]}, {"y": None}),
    "an index": model([node("Gather", "x i", "y", axis=1)], {"x": ["b", 4]}, {"y": None}, (), [numbers("i", 7)]),
    "a weight": model(
        [node("ReduceMax", "x axes", "h", keepdims=0), node("MatMul", "h w", "y")],
        {"x": ["b", 6, 5]},
        {"y": None},
        (),
        [numbers("axes", 2), weights("w", 7, 3)],
    ),
}


@pytest.mark.parametrize("proto", BY_ITSELF.values(), ids=list(BY_ITSELF))
def test_a_node_that_fails_for_its_own_constants_comes_before_guesses(proto) -> None:
    first, *_ = run_check(proto)
    assert (first.code, first.severity, first.subject) == ("S101", "error", "make_y")


def fixed_batch_behind_an_output():
    """Two inputs joined as an output of the name that a mask has; behind it a Reshape pins the sum of their lengths."""
    nodes = [
        node("Concat", "past x", "all", axis=1),
        node("Reshape", "all sizes", "cut"),
        node("Relu", "mask", "kept"),
    ]
    inputs = {"past": ["batch", "past", 4], "x": ["batch", "seq", 4], "mask": ["total"]}
    outputs = {"all": ["batch", "total", 4], "cut": [2, 7, 4], "kept": ["total"]}
    return model(nodes, inputs, outputs, (), [numbers("sizes", 2, 7, 4)])


def test_a_declaration_that_only_a_later_requirement_breaks_comes_behind_it() -> None:
    first, *rest = run_check(fixed_batch_behind_an_output())
    assert (first.code, first.subject) == ("C101", "make_cut")
    assert {diagnostic.cause for diagnostic in rest if diagnostic.subject == "make_all"} <= {"make_cut"}


def index_model():
    """A table of rank 2 is read at indices of the length of x, which cannot be longer than 2."""
    zero = helper.make_tensor("zero", INT64, [1], [0])
    nodes = [
        node("Shape", "x", "shape"),
        node("ConstantOfShape", "shape", "indices", value=zero),
        node("GatherND", "table indices", "y"),
    ]
    return model(nodes, {"x": ["batch", "length"]}, {"y": None}, constants=[weights("table", 64, 16)])


def test_a_name_that_the_length_of_an_index_bounds_is_reported() -> None:
    (diagnostic,) = run_check(index_model())
    assert (diagnostic.code, diagnostic.subject) == ("C101", "make_y")
    assert "can only be 2 or 1" in diagnostic.message
    assert run_check(index_model(), dims={"length": (1, 2)}) == []


def test_two_names_of_two_caches_are_no_reason_to_change_a_node() -> None:
    """Any size upstream that has one of the names could have the other: only the names are reported."""
    nodes = [
        node("Concat", "past_key k", "keys", axis=2),
        node("Concat", "past_value v", "values", axis=2),
        node("Transpose", "keys", "turned", perm=[0, 1, 3, 2]),
        node("MatMul", "k turned", "scores"),
        node("MatMul", "scores values", "y"),
    ]
    tokens = {"k": ["b", 3, "s", 4], "v": ["b", 3, "s", 4]}
    proto = model(nodes, {**tokens, "past_key": ["b", 3, "past", 4], "past_value": ["b", 3, "cached", 4]}, {"y": None})
    assert [(f.code, f.node) for f in run_check(proto)] == [("C102", "make_y")]
