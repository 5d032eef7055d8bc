"""Nodes behind a switch may not run: they add no constraint and no error; those before it and after the join do."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.graph import DeclaredType
from tests.engine.tf.graphs import errors, graph, infer, node, types

INPUTS = {"x": ("float32", ("N", 3)), "p": ("bool", ())}
AXIS = {"axis": np.int32(1), "four": np.zeros((4, 2), np.float32), "cube": np.zeros((2, 2, 2), np.float32)}


def concatenate(source, other, name):
    """Requires that two matrices have equally many rows."""
    return node("ConcatV2", [source, other, "axis"], name, N=2, T="float32", Tidx="int32")


SWITCH = node("Switch", ["x", "p"], "switch", 2)


def branches(on_true, *after):
    """A conditional with these nodes on its true side, which end in `last`."""
    merge = node("Merge", ["switch:0", "last"], "merge", 2, N=2)
    return graph(INPUTS, [SWITCH, *on_true, merge, *after], ["merge"], AXIS)


def test_a_requirement_behind_a_switch_is_no_constraint():
    result = infer(branches([concatenate("switch:1", "four", "last")]))
    assert types(result, "x") == ["float32[N, 3]"]
    assert str(result.interval(result.tensors["merge:0"].shape[1])) == "3..5"
    assert not result.contract.preconditions


def test_the_same_requirement_after_the_join_is_one():
    result = infer(branches([node("Identity", ["switch:1"], "last")], concatenate("merge", "four", "after")))
    assert types(result, "x", "after") == ["float32[4, 3]", "float32[4, 5]"]


@pytest.mark.parametrize(("second", "expected"), [("p", "float32[4, 3]"), ("q", "float32[N, 3]")])
def test_a_join_of_two_conditions_may_not_run(second, expected):
    """Where `p` is true and `q` is false neither input of the join has a value."""
    other = node("Switch", ["x", second], "other", 2)
    nodes = [
        SWITCH,
        other,
        node("Merge", ["switch:0", "other:1"], "merge", 2, N=2),
        concatenate("merge", "four", "after"),
    ]
    result = infer(graph({**INPUTS, "q": ("bool", ())}, nodes, ["after"], AXIS))
    assert types(result, "x") == [expected]


def test_a_requirement_before_the_switch_is_one():
    result = infer(branches([node("Identity", ["switch:1"], "last")], concatenate("x", "four", "outside")))
    assert types(result, "merge") == ["float32[4, 3]"]


@pytest.mark.parametrize("mode", ["best", "strict"])
def test_a_branch_that_cannot_run_is_a_warning(mode):
    """A cube and a matrix have no common rank."""
    model = branches([concatenate("switch:1", "cube", "last")])
    result = infer_shapes(model, mode=mode)
    assert not errors(result)
    assert [note.node for note in result.diagnostics] == ["last"]
    assert result.tensors["merge:0"].shape.dims is None


def test_a_node_that_runs_adds_its_constraint_even_if_an_equal_node_may_not_run():
    """Both concatenations have operands of the same types."""
    model = branches([concatenate("switch:1", "four", "last")], concatenate("x", "four", "outside"))
    assert types(infer(model), "x") == ["float32[4, 3]"]
    model = branches([concatenate("x", "four", "outside"), concatenate("switch:1", "four", "last")])
    assert types(infer(model), "x") == ["float32[4, 3]"]


def test_conditions_are_counted():
    """The inner join leaves one condition open, the outer one none."""
    nodes = [
        SWITCH,
        node("Switch", ["switch:1", "p"], "inner", 2),
        node("Merge", ["inner:0", "inner:1"], "inner_merge", 2, N=2),
        concatenate("inner_merge", "four", "last"),
    ]
    merge = node("Merge", ["switch:0", "inner_merge"], "merge", 2, N=2)
    result = infer(graph(INPUTS, [*nodes, merge], ["merge", "last"], AXIS))
    assert types(result, "x", "merge") == ["float32[N, 3]", "float32[N, 3]"]
    result = infer(graph(INPUTS, [*nodes, merge, concatenate("merge", "four", "after")], ["after"], AXIS))
    assert types(result, "x") == ["float32[4, 3]"]


def test_the_inputs_of_a_join_keep_what_they_have_in_common():
    model = branches([concatenate("switch:1", "switch:1", "last")])
    rows, columns = infer(model).tensors["merge:0"].shape
    result = infer(model)
    assert str(rows) == "N"
    assert str(result.interval(result.tensors["merge:0"].shape[1])) == "3..6"
    assert columns.is_anonymous
    assert types(result, "merge:1") == ["int32[]"]


def test_contents_pass_a_switch_and_a_join():
    """The shape of x, from either side."""
    nodes = [
        node("Shape", ["x"], "shape", out_type="int32"),
        node("Switch", ["shape", "p"], "switch", 2),
        node("Identity", ["switch:0"], "left"),
        node("Identity", ["switch:1"], "right"),
        node("Merge", ["left", "right"], "merge", 2, N=2),
        node("Fill", ["merge", "zero"], "y"),
    ]
    result = infer(graph(INPUTS, nodes, ["y"], {"zero": np.float32(0)}))
    assert types(result, "y") == ["float32[N, 3]"]


def test_declarations_of_nodes_that_may_not_run_are_only_compared():
    """The file declares 4 rows behind the switch; their number depends on data."""
    nodes = [
        node("Where", ["mask"], "where"),
        node("Switch", ["where", "p"], "switch", 2),
        node("Identity", ["switch:1"], "last"),
    ]
    inputs = {"mask": ("bool", ("N",)), "p": ("bool", ())}
    model = graph(inputs, nodes, ["last", "where"])
    model.declared["last:0"] = DeclaredType("int64", (4, 1))
    result = infer(model)
    assert not isinstance(result.tensors["where:0"].shape[0], int)
    assert not isinstance(result.tensors["last:0"].shape[0], int)
