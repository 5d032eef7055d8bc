"""Calls, branches, loops and maps of functions."""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import UnknownNameError
from shapeinf.graph import DeclaredType
from tests.engine.tf.graphs import errors, function, graph, infer, node, ref, types
from tests.engine.tf.loops import CONSTANTS, SLICE, TRIPS, functional_loop

INPUTS = {"x": ("float32", ("N", 3)), "p": ("bool", ()), "index": ("int32", ())}
COLUMNS = {"columns": np.int32(1), "rows": np.int32(0), "four": np.zeros((4, 2), np.float32)}

GRADIENT = {"Tin": ("float32", "float32"), "Tout": ("float32",)}
BATCHING = {"Tin": ("float32",), "Tcaptured": (), "Tout": ("float32",)}
BATCHING |= {"num_batch_threads": 1, "max_batch_size": 8, "batch_timeout_micros": 1}
UNKNOWN = DeclaredType(dims=None)


def concat(parts, axis, name):
    return node("ConcatV2", [*parts, axis], name, N=len(parts), T="float32", Tidx="int32")


FUNCTIONS = {
    "same": function(["a"], [node("Identity", ["a"], "b")], ["b"]),
    "tall": function(["a"], [concat(["a", "a"], "rows", "b")], ["b"], COLUMNS),
    "wide": function(["a"], [concat(["a", "a"], "columns", "b")], ["b"], COLUMNS),
    "four": function(["a"], [concat(["a", "four"], "columns", "b")], ["b"], COLUMNS),
    "fails": function(["a"], [node("MatMul", ["a", "four"], "b", T="float32")], ["b"], COLUMNS),
    "outer": function(["a"], [node("PartitionedCall", ["a"], "inner", f=ref("tall"))], ["inner"]),
}


def model(*nodes, outputs=("y",), constants=(), inputs=INPUTS):
    return graph(inputs, nodes, outputs, {**COLUMNS, **dict(constants)}, FUNCTIONS)


def call(f, source="x", name="y", op="PartitionedCall"):
    return node(op, [source], name, f=ref(f), Tin=("float32",), Tout=("float32",))


def if_(then, other, cond="p", name="y", **attributes):
    branches = {"then_branch": ref(then), "else_branch": ref(other)}
    return node("StatelessIf", [cond, "x"], name, Tin=("float32",), Tout=("float32",), **branches, **attributes)


def case(*names, index="index"):
    return node("Case", [index, "x"], "y", branches=tuple(map(ref, names)), Tin=("float32",), Tout=("float32",))


# -- calls -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([call("same")], "float32[N, 3]"),
        ([call("tall", op="StatefulPartitionedCall")], "float32[2*N, 3]"),
        ([call("tall", name="a"), call("wide", "a")], "float32[2*N, 6]"),
        ([call("outer")], "float32[2*N, 3]"),
        ([call("four")], "float32[4, 5]"),  # certain to run: N is 4
        ([node("TPUPartitionedCall", ["x", "index"], "y", f=ref("tall"))], "float32[2*N, 3]"),
        ([node("AsString", ["p"], "t"), node("RemoteCall", ["t", "x"], "y", f=ref("wide"))], "float32[N, 6]"),
        ([node("XlaLaunch", ["x"], "y", function=ref("wide"))], "float32[N, 6]"),
        ([node("BatchFunction", ["x"], "y", f=ref("wide"), **BATCHING)], "float32[N, 6]"),
        ([node("BatchFunction", ["x"], "y", f=ref("same"), **BATCHING)], "float32[N, 3]"),
        ([node("tall", ["x"], "y")], "float32[2*N, 3]"),  # old style: the function is the operator
        ([node("SymbolicGradient", ["x", "x"], "y", f=ref("tall"), **GRADIENT)], "float32[N, 3]"),
        (
            [node("MapDefun", ["x"], "y", Targuments=("float32",), f=ref("same"), output_shapes=(UNKNOWN,))],
            "float32[N, 3]",
        ),
    ],
)
def test_calls(nodes, expected):
    result = infer(model(*nodes))
    assert not errors(result)
    assert types(result, "y") == [expected]


@pytest.mark.parametrize(
    "nodes",
    [
        [call("nowhere")],
        [node("PartitionedCall", ["x", "x"], "y", f=ref("same"))],
        [node("PartitionedCall", ["x"], "y", 2, f=ref("same"))],
        [node("PartitionedCall", ["x"], "y")],
        [node("PartitionedCall", ["x"], "y", f=3)],
        [node("Case", ["index", "x"], "y", branches=())],
        [node("Case", ["index", "x"], "y", branches=(ref("same"), 3))],
        [node("While", ["x", "p"], "y", cond=ref("same"), body=ref("same"))],
        [node("StatelessIf", ["p", "x"], "y", then_branch=ref("same"))],
    ],
)
def test_damaged_nodes_are_errors_of_their_own(nodes):
    result = infer(model(*nodes))
    assert [note.code for note in result.diagnostics] in (["S103"], ["S101"], ["S100"]) or errors(result)
    assert result.tensors["y:0"].shape.dims is None


# -- branches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node_", "constants", "expected"),
    [
        (if_("tall", "wide", "yes"), {"yes": np.bool_(True)}, "[2*N, 3]"),
        (if_("tall", "wide", "no"), {"no": np.bool_(False)}, "[N, 6]"),
        (if_("tall", "wide", "one"), {"one": np.int32(7)}, "[2*N, 3]"),
        (if_("tall", "wide", "list"), {"list": np.zeros(2, np.int32)}, "[2*N, 3]"),  # not empty
        (if_("tall", "wide", "list"), {"list": np.zeros((0, 2), np.int32)}, "[N, 6]"),
        (if_("tall", "wide", "text"), {"text": np.array("", object)}, "[N, 6]"),
        (if_("same", "fails"), {}, "[N, 3]"),  # a branch that fails is never taken
        (if_("same", "four"), {}, "[N, ?]"),  # [N, 3], or [4, 5] where N is 4
        (case("same", "tall", "wide", index="k"), {"k": np.int32(1)}, "[2*N, 3]"),
        (case("same", "tall", "wide", index="k"), {"k": np.int32(-1)}, "[N, 6]"),  # out of range: the last one
        (case("same", "tall", "wide", index="k"), {"k": np.int32(9)}, "[N, 6]"),
        (case("tall"), {}, "[2*N, 3]"),
        (case("same", "same", "fails"), {}, "[N, 3]"),
        (case("same", "tall", "wide"), {}, "[?, ?]"),
    ],
)
def test_branches(node_, constants, expected):
    result = infer(model(node_, constants=constants))
    assert not errors(result)
    shape = result.tensors["y:0"].shape
    assert "[" + ", ".join("?" if getattr(d, "is_anonymous", False) else str(d) for d in shape) + "]" == expected


def test_a_branch_that_may_run_adds_no_constraint():
    result = infer(model(if_("same", "four")))
    assert types(result, "x") == ["float32[N, 3]"]
    assert str(result.interval(result.tensors["y:0"].shape[1])) == "3..5"


def test_both_branches_fail():
    assert "neither branch can run" in errors(infer(model(if_("fails", "fails"))))[0]


@pytest.mark.parametrize(
    ("declared", "expected", "warned"),
    [
        ((None, 3), "[2*N, 3]", False),
        ((None, 4), "[2*N, 3]", True),
        ((6, None), "[2*N, 3]", False),  # it may be so
        ((5, None), "[2*N, 3]", True),
        ((None, None, None), "[2*N, 3]", True),
        (None, "[2*N, 3]", False),
    ],
)
def test_declared_shapes_never_replace_what_is_inferred(declared, expected, warned):
    result = infer(model(if_("tall", "tall", output_shapes=(DeclaredType(dims=declared),))))
    assert str(result.tensors["y:0"].shape) == expected
    assert [(note.severity, note.code) for note in result.diagnostics] == [("warning", "S120")] * warned


def test_declared_shapes_complete_what_is_unknown():
    inputs = {**INPUTS, "x": ("float32", None)}
    declared = (DeclaredType(dims=(None, 7)),)
    result = infer(model(if_("same", "same", output_shapes=declared), inputs=inputs))
    rows, columns = result.tensors["y:0"].shape
    assert (columns, rows.is_anonymous) == (7, True)


# -- loops -------------------------------------------------------------------------------------------------------------


def test_a_loop_without_trips_keeps_its_variables():
    looped, outputs, _ = functional_loop(["append"], ["N"])
    looped.constants["trips_0:0"] = looped.constants["zero:0"]
    looped.nodes = [n._replace(inputs=tuple("zero:0" if i == "trips:0" else i for i in n.inputs)) for n in looped.nodes]
    assert types(infer(looped), *outputs) == ["float32[N, 3]"]


def test_the_counter_is_known_after_the_loop():
    looped, _, _ = functional_loop(["append"], ["N"])
    nodes = [node("Pack", ["loop:0"], "dims", N=1), node("Fill", ["dims", "nothing"], "y")]
    looped.nodes = [*looped.nodes, *nodes]
    looped.constants.update(graph({}, [], [], {"nothing": np.float32(0)}).constants)
    assert types(infer(looped), "y") == ["float32[T]"]


def test_a_value_that_grows_evenly_keeps_its_formula_beside_others():
    looped, outputs, _ = functional_loop(["append", "double"], ["N", 1])
    result = infer(looped)
    assert types(result, outputs[0]) == ["float32[T + N, 3]"]
    assert str(result.interval(result.tensor(outputs[1]).shape[0])) == "2.."  # T is at least 1


def test_what_holds_after_the_last_trip_says_nothing_of_the_others():
    """See the test of frames; at least one trip is certain."""
    looped, (output,), (inside,) = functional_loop(["double"], ["N"])
    concatenated = concat([output, "eight"], "columns", "after")
    looped.nodes = [*looped.nodes, concatenated]
    looped.constants.update(
        graph({}, [], [], {"eight": np.zeros((8, 2), np.float32), "columns": np.int32(1)}).constants
    )
    result = infer(looped)
    assert types(result, "after") == ["float32[8, 5]"]
    assert not isinstance(result.tensor(inside).shape[0], int)


@pytest.mark.parametrize(
    ("limit", "most"),
    [("trips", None), ("twelve", 12)],
)
def test_a_loop_that_may_end_early_is_bounded(limit, most):
    """It runs while a condition that depends on data holds, at most T or 12 times."""
    arguments = ["i", "go", "n", "a"]
    body = function(
        arguments,
        [node("AddV2", ["i", "one"], "next"), concat(["a", "row"], "rows", "b"), node("LogicalNot", ["go"], "stop")],
        ["next", "stop", "n", "b"],
        {**COLUMNS, "one": np.int32(1), "row": np.zeros((1, 3), np.float32)},
    )
    test = [node("Less", ["i", "n"], "less"), node("LogicalAnd", ["go", "less"], "both")]
    functions = {"body": body, "cond": function(arguments, test, ["both"])}
    loop = node("While", ["zero", "p", limit, "x"], "loop", 4, cond=ref("cond"), body=ref("body"))
    constants = {**CONSTANTS, **SLICE, "twelve": np.int32(12)}
    inputs = {**INPUTS, "steps": ("float32", ("T",))}
    result = infer(graph(inputs, [*TRIPS, loop], ["loop:3"], constants, functions), bind={"N": 2})
    rows = result.tensors["loop:3"].shape[0]
    assert result.interval(rows).hi == (None if most is None else most + 2)
    (trips,) = rows.symbols()
    assert str(result.engine.scope.limits[trips]) == ("T" if most is None else "12")


@pytest.mark.parametrize(
    ("start", "limit", "delta", "rows"), [(0, 5, 1, "[N + 5, 3]"), (5, 0, -2, "[N + 3, 3]"), (3, 3, 1, "[N, 3]")]
)
def test_for(start, limit, delta, rows):
    constants = {"start": np.int32(start), "limit": np.int32(limit), "delta": np.int32(delta)}
    body = function(["i", "a"], [concat(["a", "row"], "rows", "b")], ["b"], {**COLUMNS, "row": np.zeros((1, 3))})
    loop = node("For", ["start", "limit", "delta", "x"], "y", T=("float32",), body=ref("append"))
    built = graph(INPUTS, [loop], ["y"], constants, {"append": body})
    assert str(infer(built).tensors["y:0"].shape) == rows


# -- names of inner tensors --------------------------------------------------------------------------------------------


def test_tensors_in_bodies_have_the_names_of_the_inliner():
    result = infer(
        model(call("outer", name="call"), if_("tall", "wide", name="if"), case("same", "tall"), outputs=["y"])
    )
    assert types(result, "call/inner/b", "if/then/b", "if/else/b", "y/branch0/b", "y/branch1/b", "call/a") == [
        "float32[2*N, 3]",
        "float32[2*N, 3]",
        "float32[N, 6]",
        "float32[N, 3]",
        "float32[2*N, 3]",
        "float32[N, 3]",
    ]


def test_a_tensor_in_a_loop_covers_all_trips():
    looped, _, (inside,) = functional_loop(["append"], ["N"])
    result = infer(looped, bind={"N": 2, "T": 4})
    assert inside in result.body_tensors
    assert str(result.interval(result.tensor(inside).shape[0])) == "3..6"
    assert types(result, "loop/cond/less", "loop/body/next_i") == ["bool[]", "int32[]"]


def test_requirements_in_a_branch_hold_in_the_branch():
    """Where the branch runs N is 4; outside of it nothing is known of N."""
    result = infer(model(if_("same", "four")))
    assert types(result, "y/else/b", "y/then/b") == ["float32[4, 5]", "float32[N, 3]"]


def test_explain_takes_names_inside_of_bodies():
    result = infer(model(call("outer", name="call"), outputs=["call"]))
    assert any("x" in line for line in result.explain("call/inner/b:0", 0))
    with pytest.raises(UnknownNameError):
        result.explain("call/nothing", 0)
    with pytest.raises(UnknownNameError):
        result.tensor("call/nothing")
