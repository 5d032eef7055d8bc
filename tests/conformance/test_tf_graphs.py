"""Graphs with the shapes that TensorFlow's two inference engines infer: Grappler and ShapeRefiner.

Inference is at least as precise as the better engine: in ranks, sizes, and equalities of unknown sizes (Grappler has a
negative number for each class). For graphs that show a defect of Grappler (`tf_bug`), only ShapeRefiner counts, and the
correct shapes are in RIGHT. The vectors name the functions of a graph without their bodies: values that depend on calls
are not compared.
"""

from collections import defaultdict

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import DeclaredType, Graph, Node
from tests.vectors import need, vectors

from .tf_calls import array_type, attribute, dtype_of

FILE = "tf/graphs.json"
DATA = vectors(FILE)
GRAPHS = {graph["name"]: graph for graph in (DATA or {"graphs": []})["graphs"]}

INPUTS = ("Placeholder", "_Arg")

RIGHT = {
    "g8": {"a": [7], "b": [7], "c": [7], "d": [7], "n1": [7], "n2": [7], "n3": [7]},
    "g19": {name: [3, 4] for name in ("a", "u", "c", "n1", "n2", "v")},
    "g9": {name: [3, 4] for name in ("a", "u", "c", "n1", "n2")},
    "bug_conflict_through_unknown_rank": None,
    "bug_conflict_drops_all_equalities": None,
}
"""The correct shapes where Grappler is wrong; None: the graph is contradictory, which is an error."""


def value_name(name):
    return name if ":" in name else f"{name}:0"


def build(record):
    """The graph of a record, as the reader builds it from a file."""
    graph = Graph(record["name"], dialect="tf", opsets={"": record["versions"]})
    recorded = record.get("grappler") or record["refiner"]
    for node in record["nodes"]:
        name, op = node["name"], node["op"]
        attributes = {n: attribute(v) for n, v in node["attrs"].items() if not n.startswith("_")}
        inputs = tuple(value_name(i) for i in node["inputs"] if not i.startswith("^"))
        outputs = tuple(f"{name}:{k}" for k in range(len(recorded.get(name, ()))))
        if op == "Const":
            graph.constants[f"{name}:0"] = array_type(node["attrs"]["value"]["tensor"])
        elif op in INPUTS:
            graph.inputs.append(f"{name}:0")
            shape = attributes.get("shape", DeclaredType())
            dtype = dtype_of(attributes.get("dtype", attributes.get("T")))
            graph.declared[f"{name}:0"] = DeclaredType(dtype, shape.dims)
        else:
            graph.nodes.append(Node.make(op, inputs, outputs, attributes, name))
    graph.cyclic = any(node.op == "NextIteration" for node in graph.nodes)
    return graph


def after_calls(record):
    """The nodes whose shapes follow from functions, of which there are no bodies."""
    calls = {node["name"] for node in record["nodes"] if node["op"] in record["library"]}
    while True:
        more = {n["name"] for n in record["nodes"] if any(i.split(":")[0] in calls for i in n["inputs"])} - calls
        if not more:
            return calls
        calls |= more


def after_loops(record):
    """The values behind loops: the outputs of exits and of what reads these, and of the switches before the exits.

    Grappler has one number for a size that differs between trips and for the last of these.
    """
    exits = {node["name"] for node in record["nodes"] if node["op"] in ("Exit", "RefExit")}
    behind = {value_name(i) for node in record["nodes"] if node["name"] in exits for i in node["inputs"]}
    nodes = set(exits)
    while True:
        more = {n["name"] for n in record["nodes"] if any(i.split(":")[0] in nodes for i in n["inputs"])} - nodes
        if not more:
            return behind, nodes
        nodes |= more


def known_shapes(record, engine):
    """The sizes, or None, that an engine infers for each tensor that does not depend on functions."""
    skipped = after_calls(record)
    for name, shapes in record.get(engine, {}).items():
        if name not in skipped:
            yield from ((f"{name}:{k}", shape) for k, shape in enumerate(shapes))


def differences(record, result, engine):
    """The sizes and equalities that an engine infers, and inference does not."""
    classes, (behind, nodes) = defaultdict(list), after_loops(record)
    for name, wanted in known_shapes(record, engine):
        info = result.tensors[name]
        if wanted is None or info.dtype == "resource":  # the kernels return other shapes of some handles
            continue
        got = info.shape
        if got.dims is None or len(got.dims) != len(wanted):
            yield f"{name}: {got}, {engine} says {wanted}"
            continue
        for axis, (dim, size) in enumerate(zip(got.dims, wanted, strict=True)):
            if size is not None and size >= 0 and dim != size:
                yield f"{name}, axis {axis}: {dim}, {engine} says {size}"
            elif size is not None and size < 0:
                is_behind = name in behind or name.split(":")[0] in nodes
                classes[size, is_behind].append((f"{name}, axis {axis}", dim))
    for members in classes.values():
        first, dim = members[0]
        yield from (f"{where}: {other} is not that of {first}, {dim}" for where, other in members if other != dim)


@pytest.mark.parametrize("name", sorted(GRAPHS) or ["-"])
def test_at_least_what_tensorflow_knows(name):
    need(DATA, FILE)
    record = GRAPHS[name]
    if name in RIGHT and RIGHT[name] is None:
        with pytest.raises(ShapeInferenceError):
            infer_shapes(build(record), mode="strict")
        return
    result = infer_shapes(build(record))
    engines = ["refiner"] if "tf_bug" in record else ["refiner", "grappler"]
    assert not [line for engine in engines for line in differences(record, result, engine)]
    for value, wanted in RIGHT.get(name, {}).items():
        assert list(result.tensors[f"{value}:0"].shape.dims) == wanted


def test_every_defect_has_a_right_answer():
    need(DATA, FILE)
    assert {name for name, record in GRAPHS.items() if "tf_bug" in record} <= set(RIGHT)
