"""Real TensorFlow graphs: at every program point the bytes of an account with the shapes of TensorFlow's runs.

The live names at each node follow from the nodes' inputs alone. Sizes of all values of the main graph come from the
recorded shapes at three bindings; what a run did not record, or what differs from run to run, is left out of both.
"""

from __future__ import annotations

import json
import math
import random

import pytest

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice import element_bits
from tests.vectors import ROOT

FOLDER = ROOT / "tf_graphs"
TRUTHS = sorted(FOLDER.glob("*.truth.json"))
SLICE = set(random.Random(7).sample(TRUTHS, min(8, len(TRUTHS))))


def cases():
    if not TRUTHS:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{FOLDER} is not there"))]
    marks = {path: () if path in SLICE else pytest.mark.slow for path in TRUTHS}
    return [pytest.param(path, id=path.name.removesuffix(".truth.json"), marks=marks[path]) for path in TRUTHS]


def recorded_bytes(record, run):
    """The bytes of a value of the run; None where it was not recorded, varies, or has no fixed width."""
    if record is None or record.get("rv") or record.get("dd") or record.get("it"):
        return None
    dims = [real[run] if isinstance(real, list) else real for real in record["d"]]
    bits = element_bits(record["dt"])
    return None if bits is None or None in dims else bits // 8 * math.prod(dims)


def live_ranges(graph):
    """For each computed value that is no weight its first and its last point, as positions of nodes.

    Variables, what is read from them and views of constants are weights.
    """
    held, first, last = set(graph.constants), {}, {}
    for at, node in enumerate(graph.nodes):
        for name in node.inputs:
            last[name] = at
        stored = node.op in ("VarHandleOp", "VariableV2", "ReadVariableOp", "Variable")
        for name in node.outputs:
            if stored:
                held.add(name)
            elif name:
                first[name] = at
    end = len(graph.nodes) - 1
    last |= dict.fromkeys(graph.outputs, end)
    return {name: (at, max(at, last.get(name, at))) for name, at in first.items() if name not in held}


@pytest.mark.parametrize("path", cases())
def test_the_totals_of_a_corpus_graph(path):
    truth = json.loads(path.read_text(encoding="utf8"))
    shapes = {entry["name"]: entry["dims"] for entry in truth["inputs"] if entry["dims"] is not None}
    result = infer_shapes(path.parent / truth["file"], inputs=shapes)
    if result.engine.inference.compiled.groups is not None:
        pytest.skip("the values of a cycle are live together")
    memory = result.memory()
    weights = {name for b in memory.timeline.buffers if b.role == "weight" for name in b.values}
    live = {name: at for name, at in live_ranges(result.graph).items() if name not in weights}
    sites = {node.name: at for at, node in enumerate(result.graph.nodes)}
    points = {sites[point.node]: t for t, point in enumerate(memory.timeline.points) if point.node in sites}
    buffers = {b.name: b for b in memory.timeline.buffers if b.role in ("activation", "output")}
    for run, binding in enumerate(truth["bindings"]):
        expected, actual = [0] * len(points), [0] * len(points)
        for name, (first, last) in live.items():
            size, buffer = recorded_bytes(truth["tensors"].get(name), run), buffers.get(name)
            if size is None or buffer is None or buffer.size is None:
                continue
            if any(s.name not in binding for s in getattr(buffer.size, "symbols", tuple)()):
                continue
            for at in range(first, last + 1):
                expected[at] += size
            for at, t in points.items():
                actual[at] += evaluate(buffer.size, binding) if buffer.birth <= t < buffer.death else 0
        assert actual == expected
