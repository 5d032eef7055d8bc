"""Loops over matrices of 3 columns, as functions and as frames, and the numbers of rows that they compute.

An update is the change of a variable in one trip: it keeps its rows, gets more, or takes those of another variable.
"""

from __future__ import annotations

import numpy as np

from tests.engine.tf.graphs import function, graph, node, ref

UPDATES = ("keep", "append", "double", "swap", "join", "reset", "maybe")


def rows_after(update, rows, k, choice):
    """The rows of variable k after a trip; `choice` is the value of the condition inside the body."""
    other = rows[(k + 1) % len(rows)]
    return {
        "keep": rows[k],
        "append": rows[k] + 1,
        "double": 2 * rows[k],
        "swap": other,
        "join": rows[k] + other,
        "reset": 2,
        "maybe": rows[k] + 4 if choice else rows[k],
    }[update]


def update_nodes(update, k, width, at):
    """The nodes that compute the next value of variable k; `at` names the value of a variable."""
    mine, other, name = at(k), at((k + 1) % width), f"next{k}"
    if update in ("keep", "swap", "reset"):
        source = {"keep": mine, "swap": other, "reset": "two_rows"}[update]
        return [node("Identity", [source], name)]
    if update == "maybe":
        branches = {"then_branch": ref("grow"), "else_branch": ref("stay")}
        return [
            node("StatelessIf", ["choice", mine], name, Tcond="bool", Tin=("float32",), Tout=("float32",), **branches)
        ]
    parts = {"append": (mine, "row"), "double": (mine, mine), "join": (mine, other)}[update]
    return [node("ConcatV2", [*parts, "axis"], name, N=2, T="float32", Tidx="int32")]


CONSTANTS = {
    "row": np.zeros((1, 3), np.float32),
    "two_rows": np.zeros((2, 3), np.float32),
    "axis": np.int32(0),
    "one": np.int32(1),
    "zero": np.int32(0),
}
BRANCHES = {
    "stay": function(["p"], [node("Identity", ["p"], "q")], ["q"]),
    "grow": function(
        ["p"],
        [node("ConcatV2", ["p", "four", "axis"], "q", N=2)],
        ["q"],
        {"four": np.zeros((4, 3), np.float32), "axis": np.int32(0)},
    ),
}
INPUTS = {"choice": ("bool", ()), "steps": ("float32", ("T",))}
TRIPS = [
    node("Shape", ["steps"], "shape", out_type="int32"),
    node("StridedSlice", ["shape", "begin", "end", "stride"], "trips", shrink_axis_mask=1),
]
SLICE = {"begin": np.int32([0]), "end": np.int32([1]), "stride": np.int32([1])}


def starts(start):
    """The inputs of the loop variables: of N rows, or of a number of them."""
    return {f"x{k}": ("float32", (rows, 3)) for k, rows in enumerate(start)}


def functional_loop(updates, start, *, decided=True):
    """A While of T trips, or of an unknown number; `loop:0` is the trip counter, `loop:1` and so on are its outputs."""
    width = len(updates)
    arguments = ["i", "n", "choice", *(f"a{k}" for k in range(width))]
    nodes = [update for k, name in enumerate(updates) for update in update_nodes(name, k, width, "a{}".format)]
    nodes.append(node("AddV2", ["i", "one"], "next_i"))
    body = function(arguments, nodes, ["next_i", "n", "choice", *(f"next{k}" for k in range(width))], CONSTANTS)
    test = node("Less", ["i", "n"], "less") if decided else node("Identity", ["choice"], "less")
    cond = function(arguments, [test], ["less"])
    inputs = ["zero", "trips", "choice", *(f"x{k}" for k in range(width))]
    dtypes = ("int32", "int32", "bool", *["float32"] * width)
    loop = node("StatelessWhile", inputs, "loop", width + 3, T=dtypes, cond=ref("cond"), body=ref("body"))
    functions = {"body": body, "cond": cond, **BRANCHES}
    outputs = [f"loop:{k + 3}" for k in range(width)]
    model = graph({**INPUTS, **starts(start)}, [*TRIPS, loop], outputs, {**CONSTANTS, **SLICE}, functions)
    return model, outputs, [f"loop/body/next{k}:0" for k in range(width)]


def frame(updates, start, *, decided=True):
    """The same loop as a frame of version 1; its outputs are the exits."""
    width = len(updates)
    names = ["i", *(f"v{k}" for k in range(width))]
    sources = ["zero", *(f"x{k}" for k in range(width))]
    nodes = [node("Enter", ["trips"], "limit", frame_name="loop", is_constant=True)]
    nodes.append(node("Enter", ["choice"], "choice_inside", frame_name="loop", is_constant=True))
    for name, source in zip(names, sources, strict=True):
        nodes += [
            node("Enter", [source], f"{name}/enter", frame_name="loop"),
            node("Merge", [f"{name}/enter", f"{name}/again"], f"{name}/merge", 2, N=2),
            node("Switch", [f"{name}/merge", "condition"], f"{name}/switch", 2),
            node("Exit", [f"{name}/switch:0"], f"{name}/exit"),
        ]
    test = node("Less", ["i/merge", "limit"], "less") if decided else node("Identity", ["choice_inside"], "less")
    nodes += [test, node("LoopCond", ["less"], "condition")]
    nodes.append(node("AddV2", ["i/switch:1", "one"], "next_i"))
    nodes.append(node("NextIteration", ["next_i"], "i/again"))
    for k, name in enumerate(updates):
        nodes += update_nodes(name, k, width, "v{}/switch:1".format)
        nodes.append(node("NextIteration", [f"next{k}"], f"v{k}/again"))
    outputs = [f"v{k}/exit:0" for k in range(width)]
    constants = {**CONSTANTS, **SLICE}
    model = graph({**INPUTS, **starts(start)}, [*TRIPS, *nodes], outputs, constants, BRANCHES, cyclic=True)
    return model, outputs, [f"next{k}:0" for k in range(width)]
