"""The temporaries of LiteRT's kernels, and its planner, against what LiteRT allocates: `kernels.json`.

`tools/make_litert_kernels.py` wrote the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opdefs.litert import litert
from shapeinf.lattice import Shape, ShapeStore, TensorType, element_bits
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.runtimes.litert.planner import IN_ARENA, plan_arena
from shapeinf.memory.runtimes.litert.subgraph import Call, PreparedGraph, Subgraph, Value, prepare
from shapeinf.ops import OpDef

RECORDS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "kernels.json").read_text(encoding="utf-8"))


def value_of(item: list[Any], index: int) -> Value:
    """A tensor of a record."""
    dtype, dims, what, scales = item
    bits, count = element_bits(dtype) or 0, 1
    for size in dims:
        count *= size
    size = -(-bits * count // 8)
    is_constant = what not in ("input", "variable")
    return Value(
        f"t{index}", TensorType(dtype, Shape(tuple(dims))), size, size, is_constant, what == "variable", tuple(scales)
    )


def subgraph_of(record: dict[str, Any]) -> Subgraph:
    """The model of one operator."""
    values: list[Value] = []
    inputs: list[int] = []
    for item in record["inputs"]:
        inputs.append(-1 if item is None else len(values))
        values += [] if item is None else [value_of(item, len(values))]
    outputs = tuple(range(len(values), len(values) + len(record["outputs"])))
    values += [value_of(item, len(values) + i) for i, item in enumerate(record["outputs"])]
    graph_inputs = tuple([i for i in inputs if i >= 0 and not values[i].is_constant and not values[i].is_variable])
    call = Call("0", OpDef(record["op"], "tflite"), tuple(inputs), outputs, record["options"])
    return Subgraph(0, "main", tuple(values), (call,), graph_inputs, outputs)


def prepared(record: dict[str, Any]) -> PreparedGraph:
    """The subgraph after its kernel was prepared."""
    return prepare(subgraph_of(record), litert, ShapeStore(), KernelOptions())


@pytest.mark.parametrize("record", RECORDS, ids=[f"{i}-{record['op']}" for i, record in enumerate(RECORDS)])
def test_offsets_and_temporaries(record: dict[str, Any]) -> None:
    graph = prepared(record)
    assert not graph.unknown
    sizes = [tensor.size if isinstance(tensor.size, int) else 0 for tensor in graph.tensors]
    plan = plan_arena(graph.arena_graph(sizes))
    tensors = len(graph.subgraph.values)
    for index, offset in enumerate(record["offsets"]):
        if index in plan.placed and offset is not None and graph.tensors[index].storage in IN_ARENA:
            assert plan.placed[index].offset == offset, graph.tensors[index].name
    needed = [i for i in range(tensors, len(sizes)) if sizes[i]]
    in_arena = sorted((sizes[i], plan.placed[i].offset) for i in needed if graph.tensors[i].storage in IN_ARENA)
    measured = [(size, at) for size, at in record["arena"] if at < plan.invoked]  # what is behind is another block
    assert sorted(size for size, _ in in_arena) == sorted(size for size, _ in measured)
    assert sorted(at for _, at in in_arena) == sorted(at for _, at in measured)
    apart = sorted(sizes[i] for i in needed if graph.tensors[i].storage not in IN_ARENA)
    measured_apart = sorted([*record["apart"], *[size for size, at in record["arena"] if at >= plan.invoked]])
    assert measured_apart == apart or record["op"] == "SUM"  # a sum of integers never fills one of its temporaries


def test_an_operator_without_a_rule_is_never_counted_as_nothing() -> None:
    record = {"op": "OF_TOMORROW", "options": {}, "inputs": [["float32", [4], "input", []]], "outputs": []}
    assert prepared(record).unknown == {0: "the temporaries of this kernel of litert are not known"}


def test_sparse_weights_of_a_hybrid_kernel_are_not_known() -> None:
    record = next(r for r in RECORDS if r["op"] == "FULLY_CONNECTED" and r["inputs"][1][0] == "int8")
    subgraph = subgraph_of(record)
    weights = subgraph.values[1]
    sparse = Value(weights.name, weights.type, weights.size, weights.stated, True, is_sparse=True)
    changed = Subgraph(0, "main", (subgraph.values[0], sparse, *subgraph.values[2:]), subgraph.calls, (0,), (3,))
    assert prepare(changed, litert, ShapeStore(), KernelOptions()).unknown
