"""The CPU seconds of every query of graphs of several sizes: `python -m tests.limits.linear NODES...`.

It prints a line for each query: the seconds at each number of nodes, and the factor by which the seconds per node grow.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable

from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.edit.comparison import diff
from shapeinf.passes import clean
from shapeinf.report.live import render_report
from shapeinf.report.summary import summarize

_BLOCK = 8


def layers(nodes: int) -> bytes:
    """A graph of blocks of 8 nodes: a product with weights, a residual sum, a reshape by sizes of the input."""
    steps, last = [], "x"
    constants = [
        helper.make_tensor("w", TensorProto.FLOAT, [8, 8], [0.0] * 64),
        helper.make_tensor("rest", TensorProto.INT64, [1], [-1]),
    ]
    for i in range(nodes // _BLOCK):
        names = [f"{kind}{i}" for kind in ("p", "a", "s", "h", "t", "r", "v", "y")]
        p, a, s, h, t, r, v, y = names
        steps += [
            helper.make_node("MatMul", [last, "w"], [p]),
            helper.make_node("Add", [p, last], [a]),
            helper.make_node("Shape", [a], [s]),
            helper.make_node("Slice", [s, "zero", "one"], [h]),
            helper.make_node("Concat", [h, "rest"], [t], axis=0),
            helper.make_node("Reshape", [a, t], [r]),
            helper.make_node("Reshape", [r, s], [v]),
            helper.make_node("Relu", [v], [y]),
        ]
        last = y
    constants += [helper.make_tensor(name, TensorProto.INT64, [1], [i]) for i, name in enumerate(("zero", "one"))]
    inputs = [helper.make_tensor_value_info("x", 1, ["batch", "length", 8])]
    graph = helper.make_graph(steps, "g", inputs, [helper.make_empty_tensor_value_info(last)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()


def queries(data: bytes) -> dict[str, Callable[[], object]]:
    """The queries by name; the result of the first is that of all others."""
    results = []

    def infer() -> None:
        results.append(infer_shapes(data, declared="check"))

    def save() -> None:
        with tempfile.TemporaryDirectory() as folder:
            results[0].save(os.path.join(folder, "m.onnx"))

    def last() -> str:
        return str(results[0].graph.outputs[0])

    sizes = {"batch": 2, "length": 16}
    return {
        "infer": infer,
        "contract": lambda: str(results[0].contract),
        "contract.check": lambda: results[0].contract.check(**sizes),
        "memory": lambda: str(results[0].memory().peak),
        "peak.at": lambda: results[0].memory().peak.at(sizes),
        "plan": lambda: results[0].memory().plan(sizes),
        "cost": lambda: str(results[0].cost()),
        "program": lambda: results[0].program()(sizes),
        "check": lambda: check(results[0]),
        "summary": lambda: summarize(results[0]),
        "report": lambda: render_report(results[0]),
        "explain": lambda: results[0].explain(last(), 0),
        "unknowns": lambda: results[0].unknowns(),
        "str": lambda: str(results[0]),
        "diff": lambda: diff(results[0], results[0]),
        "save": save,
        "clean": lambda: clean(data).to_proto(),
    }


def measure(nodes: int) -> dict[str, float]:
    """The CPU seconds of each query on a graph of this number of nodes."""
    seconds = {}
    for name, query in queries(layers(nodes)).items():
        gc.collect()
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            query()
        seconds[name] = time.process_time() - start
    return seconds


def main() -> None:
    counts = list(map(int, sys.argv[1:]))
    measure(80)  # imports
    measured = {}
    for count in counts:
        measured[count] = measure(count)
        print(count, {name: round(seconds, 2) for name, seconds in measured[count].items()}, flush=True)
    for name in measured[counts[0]]:
        per_node = [measured[count][name] / count for count in counts]
        row = "  ".join(f"{measured[count][name]:8.2f} s" for count in counts)
        print(f"{name:16} {row}  x {per_node[-1] / max(per_node[0], 1e-9):.2f}")


if __name__ == "__main__":
    main()
