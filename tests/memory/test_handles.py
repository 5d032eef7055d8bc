"""Variables, lists and arrays of tensors in TensorFlow graphs; the expected bytes are sums of products of sizes."""

from __future__ import annotations

import pytest

from shapeinf.expr import evaluate
from shapeinf.graph import DeclaredType
from tests.engine.tf.graphs import function, graph, infer, node, ref

FLOAT = {"dtype": "float32"}
N = 5
"""The size of the input's first axis, `n`."""


def variable(name, *dims, dtype="float32"):
    return node("VarHandleOp", (), name, dtype=dtype, shape=DeclaredType(dims=dims))


def read(handle, name):
    return node("ReadVariableOp", [handle], name, **FLOAT)


def memory_of(nodes, outputs, **fields):
    model = graph({"x": ("float32", ("n", 4))}, nodes, outputs, **fields)
    return infer(model).memory()


def totals(memory):
    """The bytes of activations and outputs at each program point."""
    sizes = [(b, bytes_at(b.size)) for b in memory.timeline.buffers]
    points = range(len(memory.timeline.points))
    counted = [(b, size) for b, size in sizes if b.role in ("activation", "output")]
    return [sum(size for b, size in counted if b.birth <= t < b.death) for t in points]


def bytes_at(size):
    return 0 if size is None else evaluate(size, {"n": N})


PRODUCT = node("MatMul", ["x", "r"], "y")
TWICE = [variable("v", 4, 6), read("v", "r"), PRODUCT, read("v", "s"), node("MatMul", ["x", "s"], "z")]


def test_a_variable_is_one_weight_however_often_it_is_read():
    memory = memory_of(TWICE, ["y", "z"])
    (weight,) = [b for b in memory.timeline.buffers if b.role == "weight"]
    assert (memory.weights, weight.size, str(weight.dtype), weight.shape.dims) == (
        4 * 4 * 6,
        4 * 4 * 6,
        "float32",
        (4, 6),
    )
    assert set(weight.values) == {"v:0", "r:0", "s:0"}
    assert not memory.unsized
    y = 4 * N * 6
    assert totals(memory) == [0, 0, y, y, 2 * y]


def test_a_variable_of_unknown_shape_has_a_cause():
    handle = node("VarHandleOp", (), "v", dtype="float32", shape=DeclaredType())
    memory = memory_of([handle, read("v", "r"), node("Relu", ["x"], "y")], ["y"])
    (buffer,) = memory.unsized
    assert (buffer.role, buffer.name) == ("weight", "v:0")
    assert "rank" in buffer.cause


def test_a_variable_that_a_function_reads_is_the_one_of_its_caller():
    body = function(["a", "h"], [read("h", "r"), node("MatMul", ["a", "r"], "y")], ["y"])
    calls = [node("PartitionedCall", [x, "v"], name, f=ref("F")) for x, name in (("x", "p"), ("p", "q"))]
    memory = memory_of([variable("v", 4, 4), *calls], ["q"], functions={"F": body})
    assert memory.weights == 4 * 4 * 4
    assert not memory.unsized
    assert max(totals(memory)) == 2 * 4 * N * 4


def test_a_variable_that_a_loop_reads_is_the_one_outside():
    condition = function(["i", "a", "h"], [node("Less", ["i", "three"], "b")], ["b"], {"three": 3})
    steps = [read("h", "r"), node("MatMul", ["a", "r"], "y"), node("AddV2", ["i", "one"], "j")]
    body = function(["i", "a", "h"], steps, ["j", "y", "h"], {"one": 1})
    loop = node("StatelessWhile", ["zero", "x", "v"], "w", 3, cond=ref("C"), body=ref("B"))
    memory = memory_of(
        [variable("v", 4, 4), loop], ["w:1"], constants={"zero": 0}, functions={"C": condition, "B": body}
    )
    constants = 3 * 8
    assert memory.weights == 4 * 4 * 4 + constants
    assert not memory.unsized


def test_a_handle_from_the_caller_has_no_bytes():
    model = graph(
        {"x": ("float32", ("n", 4)), "h": ("resource", ())},
        [read("h", "r"), node("AssignAddVariableOp", ["h", "x"], "u", 0, **FLOAT), node("Relu", ["x"], "y")],
        ["y"],
    )
    memory = infer(model).memory()
    assert (memory.weights, memory.unsized) == (0, ())
    assert max(totals(memory)) == 4 * N * 4


LISTS = {
    "rows of a tensor": ([node("TensorListFromTensor", ["x", "row"], "l", element_dtype="float32")], 4 * N * 4),
    "a list without items": ([node("EmptyTensorList", ["row", "three"], "l", element_dtype="float32")], 0),
    "a list of zeros": ([node("TensorListReserve", ["row", "three"], "l", element_dtype="float32")], 4 * 4 * 3),
    "an item more": (
        [
            node("EmptyTensorList", ["row", "three"], "e", element_dtype="float32"),
            node("TensorListPushBack", ["e", "row_of_x"], "l", element_dtype="float32"),
        ],
        4 * 4,
    ),
}
LIST_CONSTANTS = {"row": [4], "three": 3}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_the_bytes_of_its_items(name):
    nodes, expected = LISTS[name]
    row = node("Max", ["x", "zero"], "row_of_x")
    memory = memory_of([row, *nodes], ["x"], constants=LIST_CONSTANTS | {"zero": 0})
    (size,) = [b.size for b in memory.timeline.buffers if b.name == "l:0"]
    assert bytes_at(size) == expected


def test_a_changed_list_may_overwrite_the_list():
    nodes = [
        node("TensorListFromTensor", ["x", "row"], "l", element_dtype="float32"),
        node("Max", ["x", "zero"], "item"),
        node("TensorListSetItem", ["l", "zero", "item"], "m", element_dtype="float32"),
        node("TensorListStack", ["m", "row"], "y", element_dtype="float32"),
    ]
    model = graph({"x": ("float32", ("n", 4))}, nodes, ["y"], {"row": [4], "zero": 0})
    result, list_bytes, item = infer(model), 4 * N * 4, 4 * 4
    assert totals(result.memory()) == [list_bytes, list_bytes + item, 2 * list_bytes + item, 2 * list_bytes]
    assert totals(result.memory(in_place=True)) == [list_bytes, list_bytes + item, list_bytes + item, 2 * list_bytes]


ARRAYS = [
    (DeclaredType(dims=(2, 3)), False, 4 * 6 * 3),
    (DeclaredType(), False, None),
    (DeclaredType(dims=(2, 3)), True, None),
]


@pytest.mark.parametrize(("shape", "grows", "expected"), ARRAYS)
def test_an_array_of_tensors_has_the_bytes_that_it_declares(shape, grows, expected):
    array = node("TensorArrayV3", ["three"], "a", 2, dtype="float32", element_shape=shape, dynamic_size=grows)
    memory = memory_of([array, node("TensorArraySizeV3", ["a", "a:1"], "s")], ["s"], constants={"three": 3})
    sizes = {b.name: b.size for b in memory.timeline.buffers}
    assert (sizes["a:0"], sizes["a:1"]) == (expected, 4)
    assert memory.peak.at_least is (expected is None)


@pytest.mark.parametrize("op", ["FIFOQueueV2", "StackV2", "HashTableV2", "IteratorV2"])
def test_what_other_resources_hold_is_not_known(op):
    types = {
        "FIFOQueueV2": {"component_types": ("float32",)},
        "StackV2": {"elem_type": "float32"},
        "HashTableV2": {"key_dtype": "int64", "value_dtype": "float32"},
        "IteratorV2": {"output_types": ("float32",), "output_shapes": (DeclaredType(dims=(4,)),)},
    }
    inputs = ["three"] if op == "StackV2" else []
    memory = memory_of([node(op, inputs, "h", **types[op])], ["x"], constants={"three": 3})
    assert [b.name for b in memory.unsized] == ["h:0"]
