"""Nodes that load values which others store behind a handle: which are connected, and the types they then infer."""

import pytest

from opdefs.tf.stored_values import connect
from shapeinf import infer_shapes
from shapeinf.graph import DeclaredType, Graph, Node

QUEUE = {"component_types": ("float32",)}
OUT = "out:0"


def graph(*nodes, outputs=(), **inputs):
    declared = {f"{name}:0": DeclaredType("float32", dims) for name, dims in inputs.items()}
    return Graph("", "tf", {"": 2474}, list(declared), list(outputs), list(nodes), declared)


def queue(**attributes):
    return Node.make("FIFOQueueV2", (), ("q:0",), QUEUE | attributes, "q")


def enqueue(value, handle="q:0", op="QueueEnqueueV2"):
    return Node.make(op, (handle, value), (), {"Tcomponents": ("float32",)}, f"in {value}")


def dequeue(handle="q:0"):
    return Node.make("QueueDequeueV2", (handle,), (OUT,), QUEUE, "out")


def node(op, *inputs, output=None, **attributes):
    return Node.make(op, inputs, (output,) if output else (), attributes, output or op)


@pytest.mark.parametrize(
    ("nodes", "inputs", "expected"),
    [
        ([queue(), enqueue("x:0"), dequeue()], {"x": ("b", 3)}, ["b", 3]),
        ([queue(), enqueue("x:0"), enqueue("y:0"), dequeue()], {"x": (2, 3), "y": (4, 3)}, [(2, 4), 3]),
        ([queue(), enqueue("x:0", op="QueueEnqueueManyV2"), dequeue()], {"x": ("n", 3)}, [3]),
        (
            [
                queue(),
                node("Identity", "q:0", output="same:0", T="resource"),
                enqueue("x:0", "same:0"),
                dequeue(),
            ],
            {"x": ("b", 3)},
            ["b", 3],
        ),
        ([queue(shapes=(DeclaredType(dims=(None, 3)),)), enqueue("x:0"), dequeue()], {"x": ("b", None)}, ["b", 3]),
    ],
    ids=["one", "two", "rows", "through an identity", "a declaration adds"],
)
def test_what_is_stored_is_loaded(nodes, inputs, expected):
    result = infer_shapes(graph(*nodes, **inputs))
    dims = result.tensors[OUT].shape.dims
    for dim, wanted in zip(dims, expected, strict=True):
        if isinstance(wanted, tuple):
            interval = result.interval(dim)
            assert (interval.lo, interval.hi) == wanted
        else:
            assert str(dim) == str(wanted)


@pytest.mark.parametrize(
    "nodes",
    [
        [queue(shared_name="jobs"), enqueue("x:0"), dequeue()],
        [queue(), enqueue("x:0"), node("Elsewhere", "q:0", output="y:0"), dequeue()],
        [queue(), node("Pack", "q:0", "q:0", output="pair:0", N=2), enqueue("x:0"), dequeue()],
        [queue(), dequeue()],
        [queue(shapes=(DeclaredType(dims=(2,)),)), enqueue("x:0"), dequeue()],
        [enqueue("x:0", "x:0"), dequeue("x:0")],
    ],
    ids=["shared", "unknown use", "packed", "nothing stored", "declared", "no resource"],
)
def test_a_resource_that_others_may_use_is_left_alone(nodes):
    original = graph(*nodes, x=(2, 3))
    assert connect(original) is original


def test_a_handle_that_is_an_output_is_left_alone():
    original = graph(queue(), enqueue("x:0"), dequeue(), outputs=["q:0"], x=(2, 3))
    assert connect(original) is original


def test_a_node_that_loads_what_depends_on_itself_is_left_alone():
    again = node("Identity", OUT, output="next:0", T="float32")
    original = graph(queue(), enqueue("x:0"), dequeue(), again, enqueue("next:0"), x=(2, 3))
    assert [n.inputs for n in connect(original).nodes] == [n.inputs for n in original.nodes]
    assert infer_shapes(original).tensors[OUT].dtype == "float32"


def test_the_values_of_an_iterator_are_those_of_its_datasets():
    types = {"output_types": ("float32",), "output_shapes": (DeclaredType(),)}
    result = infer_shapes(
        graph(
            node(
                "TensorSliceDataset",
                "x:0",
                output="rows:0",
                Toutput_types=("float32",),
                output_shapes=(DeclaredType(),),
            ),
            node("IteratorV2", output="it:0", shared_name="", container="", **types),
            node("MakeIterator", "rows:0", "it:0"),
            node("IteratorGetNext", "it:0", output=OUT, **types),
            x=("n", "b", 3),
        )
    )
    assert [str(d) for d in result.tensors[OUT].shape.dims] == ["b", "3"]
