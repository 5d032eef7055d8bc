"""Loops as cycles of single nodes: frames of TensorFlow's version 1."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.tf.graphs import errors, graph, infer, node, types
from tests.engine.tf.loops import CONSTANTS, INPUTS, SLICE, TRIPS, frame


def with_nodes(model, *nodes, **constants):
    """A loop with more nodes."""
    built = graph({}, nodes, [], constants)
    model.nodes = [*model.nodes, *built.nodes]
    model.constants.update(built.constants)
    return model


def test_what_holds_after_the_last_iteration_says_nothing_of_the_others():
    """N rows are doubled until there are 8: the value has 8 rows after the loop, but not in it."""
    model, (output,), _ = frame(["double"], ["N"])
    concatenated = node("ConcatV2", [output, "eight", "columns"], "after", N=2)
    model = with_nodes(model, concatenated, eight=np.zeros((8, 2), np.float32), columns=np.int32(1))
    result = infer(model)
    assert types(result, "after", output) == ["float32[8, 5]", "float32[8, 3]"]
    assert not isinstance(result.tensors["v0/merge:0"].shape[0], int)
    assert not isinstance(result.tensors["next0:0"].shape[0], int)


def test_a_value_after_the_loop_is_not_that_of_a_trip():
    result = infer(frame(["double"], ["N"])[0])
    inside, after = (result.tensors[name].shape[0] for name in ("v0/merge:0", "v0/exit:0"))
    assert inside.is_anonymous
    assert not set(inside.symbols()) & set(after.symbols())


def test_a_requirement_inside_a_frame_is_no_constraint():
    """The body may never run; it requires that x has 4 rows."""
    model, _, _ = frame(["keep"], ["N"])
    concatenated = node("ConcatV2", ["v0/switch:1", "four", "columns"], "inside", N=2)
    result = infer(with_nodes(model, concatenated, four=np.zeros((4, 2), np.float32), columns=np.int32(1)))
    assert types(result, "x0", "v0/exit") == ["float32[N, 3]", "float32[N, 3]"]
    assert not errors(result)


def test_the_first_iteration_leaves_no_contents_behind():
    """A counter is 0 only in the first iteration: a matrix with as many rows has any number of rows, at last T."""
    model, _, _ = frame(["keep"], ["N"])
    nodes = [
        node("Pack", ["i/switch:1", "three"], "dims", N=2),
        node("Fill", ["dims", "nothing"], "inside"),
        node("Pack", ["i/exit", "three"], "dims_after", N=2),
        node("Fill", ["dims_after", "nothing"], "after"),
    ]
    nodes.insert(0, node("Exit", ["i/switch:0"], "i/left"))
    result = infer(with_nodes(model, *nodes, three=np.int32(3), nothing=np.float32(0)))
    rows, columns = result.tensors["inside:0"].shape
    assert columns == 3
    bounds = result.interval(rows)
    assert (bounds.lo or 0) <= 0 and (bounds.hi is None or bounds.hi >= 4)
    assert types(result, "after") == ["float32[T, 3]"]


def nested_frames():
    """An outer loop that appends a row, and an inner one that appends a column, in each of its iterations."""
    outer = [
        node("Enter", ["zero"], "i/enter", frame_name="outer"),
        node("Enter", ["x"], "v/enter", frame_name="outer"),
        node("Enter", ["trips"], "limit", frame_name="outer", is_constant=True),
        node("Merge", ["i/enter", "i/again"], "i/merge", 2, N=2),
        node("Merge", ["v/enter", "v/again"], "v/merge", 2, N=2),
        node("Less", ["i/merge", "limit"], "less"),
        node("LoopCond", ["less"], "condition"),
        node("Switch", ["i/merge", "condition"], "i/switch", 2),
        node("Switch", ["v/merge", "condition"], "v/switch", 2),
        node("AddV2", ["i/switch:1", "one"], "next_i"),
        node("NextIteration", ["next_i"], "i/again"),
        node("ConcatV2", ["w/exit", "row", "axis"], "next_v", N=2),
        node("NextIteration", ["next_v"], "v/again"),
        node("Exit", ["v/switch:0"], "v/exit"),
    ]
    inner = [
        node("Enter", ["zero"], "j/enter", frame_name="inner"),
        node("Enter", ["v/switch:1"], "w/enter", frame_name="inner"),
        node("Enter", ["limit"], "inner_limit", frame_name="inner", is_constant=True),
        node("Merge", ["j/enter", "j/again"], "j/merge", 2, N=2),
        node("Merge", ["w/enter", "w/again"], "w/merge", 2, N=2),
        node("Less", ["j/merge", "inner_limit"], "inner_less"),
        node("LoopCond", ["inner_less"], "inner_condition"),
        node("Switch", ["j/merge", "inner_condition"], "j/switch", 2),
        node("Switch", ["w/merge", "inner_condition"], "w/switch", 2),
        node("AddV2", ["j/switch:1", "one"], "next_j"),
        node("NextIteration", ["next_j"], "j/again"),
        node("Relu", ["w/switch:1"], "next_w"),
        node("NextIteration", ["next_w"], "w/again"),
        node("Exit", ["w/switch:0"], "w/exit"),
    ]
    inputs = {"x": ("float32", ("N", 3)), **INPUTS}
    return graph(inputs, [*TRIPS, *outer, *inner], ["v/exit"], {**CONSTANTS, **SLICE}, cyclic=True)


def test_frames_in_frames():
    """The inner loop keeps what the outer one makes longer; the columns stay exact in both."""
    result = infer(nested_frames())
    assert not errors(result)
    for name in ("v/exit:0", "w/merge:0", "next_w:0", "w/exit:0", "next_v:0", "v/merge:0"):
        rows, columns = result.tensors[name].shape
        assert (columns, result.interval(rows).hi) == (3, None)
    assert types(result, "i/merge:1") == ["int32[]"]


def test_an_update_of_the_inputs_is_a_new_inference():
    model, outputs, _ = frame(["keep", "append"], ["N", 2])
    updated = infer(model).update({"x0:0": [7, 3]})
    fresh = infer(model, inputs={"x0:0": [7, 3]})
    assert types(updated, *outputs) == types(fresh, *outputs)


@pytest.mark.parametrize("source", ["v0/merge", "v0/switch:1"])
def test_calls_under_narrow_bounds_are_made_again_when_these_widen(source):
    """A value loses a row in each trip, from 4 to 1; its first 2 rows are 1 row in the end.

    The value that the next trip gets depends on the first rows, through the number of columns: they are in the cycle.
    """
    model, _, _ = frame(["keep"], [4])
    model.nodes = [step for step in model.nodes if step.name != "next0"]
    nodes = [
        node("StridedSlice", [source, "from", "to", "by"], "first", begin_mask=2, end_mask=2),
        node("Shape", ["first"], "sizes", out_type="int32"),
        node("StridedSlice", ["sizes", "one_", "two_", "one_"], "columns", shrink_axis_mask=1),
        node("Pack", ["all", "columns"], "size", N=2),
        node("Slice", ["v0/switch:1", "second_row", "size"], "next0"),
    ]
    vectors = {"from": [0, 0], "to": [2, 0], "by": [1, 1], "one_": [1], "two_": [2], "second_row": [1, 0]}
    constants = {name: np.int32(vector) for name, vector in vectors.items()}
    result = infer(with_nodes(model, *nodes, all=np.int32(-1), **constants))
    for name, values in {"v0/switch:1": (4, 3, 2, 1), "first:0": (2, 1), "next0:0": (3, 2, 1, 0)}.items():
        rows, columns = result.tensors[name].shape
        assert columns == 3
        assert all(value in result.interval(rows) for value in values), name
