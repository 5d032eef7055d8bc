"""Items of lists, stacks and iterators whose types differ from those of earlier items."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf.graph import DeclaredType
from tests.engine.tf.graphs import errors, graph, infer, node, types

OPEN = DeclaredType(dims=None)
INPUTS = {
    "x": ("float32", ("N",)),
    "y": ("float32", ("M",)),
    "two": ("float32", (2, 3)),
    "five": ("float32", (5, 3)),
    "none": ("float32", (0, 3)),
    "n": ("int32", ()),
}
CONSTANTS = {"any": np.int32(-1), "zero": np.int32(0), "at": np.array([0, 4], np.int32)}


def empty(name, dtype="float32"):
    return node("EmptyTensorList", ["any", "any"], name, element_dtype=dtype)


def push(source, item, name, dtype="float32"):
    return node("TensorListPushBack", [source, item], name, element_dtype=dtype)


def pop(source, name, dtype="float32"):
    return node("TensorListPopBack", [source, "any"], name, 2, element_dtype=dtype)


def from_tensor(source, name):
    return node("TensorListFromTensor", [source, "any"], name, element_dtype="float32", shape_type="int32")


def stack(source, name):
    return node("TensorListStack", [source, "any"], name, element_dtype="float32")


def rows(first, second):
    return node("ConcatV2", [first, second, "zero"], "rows", N=2, T="float32", Tidx="int32")


def run(*nodes, outputs):
    result = infer(graph(INPUTS, nodes, outputs, CONSTANTS))
    assert not errors(result)
    return types(result, *outputs)


@pytest.mark.parametrize(
    ("before", "item", "expected"),
    [
        ([empty("l"), push("l", "x", "a"), pop("a", "b")], "y", "float32[1, M]"),
        ([empty("l"), push("l", "two", "a"), pop("a", "b")], "five", "float32[1, 5, 3]"),
        (
            [empty("l"), push("l", "two", "a"), node("TensorListResize", ["a", "zero"], "b")],
            "five",
            "float32[1, 5, 3]",
        ),
        ([from_tensor("none", "b")], "five", "float32[1, 5, 3]"),
    ],
    ids=["popped", "popped of another size", "resized", "no rows"],
)
def test_an_empty_list_takes_items_of_any_shape(before, item, expected):
    assert run(*before, push("b", item, "c"), stack("c", "s"), outputs=["s"]) == [expected]


LISTS = [from_tensor("two", "a"), from_tensor("five", "b")]


def test_lists_in_a_list_may_differ_in_length():
    items = [empty("l", "variant"), push("l", "a", "l1", "variant"), push("l1", "b", "l2", "variant")]
    last = [pop("l2", "p", "variant"), pop("p", "q", "variant")]
    (total,) = run(*LISTS, *items, *last, stack("p:1", "s"), stack("q:1", "t"), rows("s", "t"), outputs=["rows"])
    assert "2*" not in total
    assert "+" in total


def test_lists_on_a_stack_may_differ_in_length():
    items = [node("StackPushV2", ["k", name], f"push_{name}", T="variant") for name in "ab"]
    pops = [node("StackPopV2", ["k"], name, elem_type="variant") for name in "pq"]
    nodes = [node("StackV2", ["any"], "k", elem_type="variant"), *LISTS, *items, *pops]
    (total,) = run(*nodes, stack("p", "s"), stack("q", "t"), rows("s", "t"), outputs=["rows"])
    assert "2*" not in total
    assert "+" in total


def test_a_list_as_long_as_its_last_index_requires():
    scattered = node("TensorListScatterV2", ["two", "at", "any", "n"], "l", element_dtype="float32")
    (stacked,) = run(scattered, stack("l", "s"), outputs=["s"])
    assert stacked == "float32[`s.length`, 3]"  # an `n` of -1 is the length 5


@pytest.mark.parametrize(("read", "expected"), [(False, "float32[3]"), (True, "float32?")])
def test_an_iterator_by_name_may_have_another_dataset(read, expected):
    types_of = {"output_types": ("float32",), "output_shapes": (OPEN,)}
    named = node("IteratorFromStringHandleV2", ["name"], "again", **types_of)
    nodes = [
        node("IteratorV2", [], "iterator", shared_name="", container="", **types_of),
        node("TensorSliceDataset", ["two"], "d", Toutput_types=("float32",), output_shapes=(OPEN,)),
        node("MakeIterator", ["d", "iterator"], "make", 0),
        node("IteratorToStringHandle", ["iterator"], "name"),
        *([named] if read else []),
        node("IteratorGetNext", ["iterator"], "next", **types_of),
    ]
    assert run(*nodes, outputs=["next"]) == [expected]
