"""What follows an inference: memory, cost, plan, checks, summary and page of large models, in multiples of it.

    python tools/bench/questions.py models/deep/*.onnx [--copies 5] [--repeats 5] [--save-figures]

With `--copies`, the largest model is also measured with so many copies of its nodes in one graph: the time of a node
should not depend on their number. onnx-tool computes the cost too: both from the path to the totals. All run in one
process, in turns, each question on the result of a new inference; the least CPU time of several runs, since full
collections of garbage fall into some of them.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx_tool  # noqa: E402
from bench.figures import Row, save  # noqa: E402

from shapeinf import Result, infer_shapes  # noqa: E402
from shapeinf.checks import check  # noqa: E402
from shapeinf.compilation import build_name  # noqa: E402
from shapeinf.report.live import render_report  # noqa: E402
from shapeinf.report.summary import summarize  # noqa: E402

SIZE = 8
"""The size of every dim, where a question needs sizes."""


def sizes(result: Result) -> dict[str, int]:
    """A size for each dim of the inputs."""
    return dict.fromkeys(result.memory().labels.values(), SIZE)


QUESTIONS: dict[str, Callable[[Any], object]] = {
    "memory": lambda result: result.memory(),
    "peak": lambda memory: str(memory.peak),
    "cost": lambda result: result.cost().total,
    "contract": lambda result: str(result.contract),
    "plan": lambda result: result.memory().plan(sizes(result)),
    "check": check,
    "summary": summarize,
    "page": render_report,
}
EARLIER: dict[str, Callable[[Result], Any]] = {"peak": lambda result: result.memory()}
"""What a question is about, where that is not the result itself."""


def measure(path: Path, repeats: int) -> Row:
    """The least seconds of the inference of a model, and of each question about a new result; prints a line."""
    times: dict[str, list[float]] = {}
    for turn in range(repeats + 1):
        for name, question in QUESTIONS.items():
            gc.collect()
            start = time.process_time()
            result = infer_shapes(path)
            inferred = time.process_time()
            subject = EARLIER[name](result) if name in EARLIER else result
            middle = time.process_time()
            question(subject)
            end = time.process_time()
            if turn:  # the first one imports what the questions need
                times.setdefault("inference", []).append(inferred - start)
                times.setdefault(name, []).append(end - middle)
    seconds = {name: round(min(runs), 4) for name, runs in times.items()}
    nodes = len(infer_shapes(path).graph.nodes)
    ratios = [f"{name} {seconds[name] / seconds['inference']:.1f}x" for name in QUESTIONS]
    print(f"{path.stem:20} {seconds['inference'] * 1e3:6.0f} ms  {', '.join(ratios)}")
    return {"name": path.stem, "nodes": nodes, "seconds": seconds}


def compare_cost(path: Path, repeats: int) -> dict[str, float | None]:
    """The least seconds from a path to the totals of its cost at one size of all dims, by shapeinf and by onnx-tool.

    None where onnx-tool fails on the model.
    """
    bound = dict.fromkeys(infer_shapes(path).memory().labels.values(), SIZE)
    result = infer_shapes(path, bind=bound)
    types = {name: result.tensors[name] for name in result.graph.inputs if name not in result.graph.constants}
    arrays = {name: np.zeros(tuple(map(int, info.shape)), info.dtype) for name, info in types.items()}

    def by_onnx_tool() -> None:
        graph = onnx_tool.Model(str(path), {"verbose": False}).graph
        graph.shape_infer(arrays)
        graph.profile()

    def by_us() -> None:
        str(infer_shapes(path, bind=bound).cost().total)

    least: dict[str, float | None] = {}
    for name, way in {"shapeinf": by_us, "onnx-tool": by_onnx_tool}.items():
        times = []
        for _ in range(repeats):
            gc.collect()
            start = time.process_time()
            try:
                way()
            except Exception:  # a peer may fail on a model
                break
            times.append(time.process_time() - start)
        least[name] = round(min(times), 4) if len(times) == repeats else None
    return least


def with_copies(path: Path, count: int, folder: str) -> Path:
    """A file with copies of the nodes of a model, which read the same inputs and weights."""
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    nodes, outputs = list(graph.node), list(graph.output)
    computed = {name for node in nodes for name in node.output if name}
    for field in ("node", "output", "value_info"):
        graph.ClearField(field)
    for copy in range(count):
        names = {name: f"{name}/{copy}" for name in computed}
        for node in nodes:
            added = graph.node.add()
            added.CopyFrom(node)
            added.name += f"/{copy}"
            added.input[:] = [names.get(name, name) for name in node.input]
            added.output[:] = [names.get(name, name) for name in node.output]
        for output in outputs:
            added = graph.output.add()
            added.CopyFrom(output)
            added.name = names.get(output.name, output.name)
    copied = Path(folder, f"{path.stem}, {count} copies.onnx")
    onnx.save(model, copied)
    return copied


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--copies", type=int, help="also the largest model with so many copies of its nodes")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--save-figures", action="store_true", help="write to docs/figures.json")
    options = parser.parse_args()
    rows = [measure(path, options.repeats) for path in options.models]
    for row, path in zip(rows, options.models, strict=True):
        row["cost"] = compare_cost(path, options.repeats)
        print(f"{path.stem:20} seconds from the path to the totals of the cost: {row['cost']}")
    if options.copies:
        largest = max(zip(rows, options.models, strict=True), key=lambda pair: pair[0]["nodes"])[1]
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(with_copies(largest, options.copies, folder), options.repeats))
    if options.save_figures:
        save(f"questions, {build_name()}", sorted(rows, key=lambda row: -row["nodes"]))


if __name__ == "__main__":
    main()
