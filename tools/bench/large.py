"""Large ONNX models: CPU seconds and peak memory, each in a process of its own.

    python tools/bench/large.py [--save-figures]

A file of 1 GB with its weights inside, once few large and once many small ones, and graphs of 50,000 and 500,000 nodes,
as chains and with nodes that read values far away: the time of a node should not depend on their number. The files are
written to a temporary folder, which needs 3 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Not the folder of this file, whose modules have the names of packages, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402
from bench.figures import Row, save  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

from shapeinf.compilation import build_name  # noqa: E402

CHILD = """
import json, sys, time
from shapeinf import infer_shapes
infer_shapes(sys.argv[2])
start = time.process_time()
shapes = {name: info.shape for name, info in infer_shapes(sys.argv[1]).tensors.items()}
taken = time.process_time() - start
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
peak = next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)
print(json.dumps({"seconds": taken, "peak_bytes": peak}))
"""
"""A small model first: operators are loaded by then."""


def weights(count: int, size: int) -> onnx.ModelProto:
    """A chain of products with this many weights of size x size inside of the file."""
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(count)]
    tensors = [TensorProto(name=f"w{i}", data_type=1, dims=[size, size]) for i in range(count)]
    content = bytes(4 * size * size)
    for tensor in tensors:
        tensor.raw_data = content
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["batch", size])
    y = helper.make_tensor_value_info(f"x{count}", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "weights", [x], [y], tensors))


def chain(nodes: int) -> onnx.ModelProto:
    """Element-wise operators, one after the other."""
    return _elementwise(nodes, lambda i: (i, i))


def far_reads(nodes: int) -> onnx.ModelProto:
    """Each node also reads a value from the first half of the graph before it."""
    return _elementwise(nodes, lambda i: (i, i // 2))


def _elementwise(nodes: int, reads: Callable[[int], tuple[int, int]]) -> onnx.ModelProto:
    made = [
        helper.make_node("Add" if i % 2 else "Mul", [f"x{read}" for read in reads(i)], [f"x{i + 1}"], name=f"n{i}")
        for i in range(nodes)
    ]
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["batch", 64])
    y = helper.make_tensor_value_info(f"x{nodes}", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(made, "nodes", [x], [y]))


MODELS: dict[str, tuple[int, Callable[[], onnx.ModelProto]]] = {
    "1 GB in 16 weights": (16, lambda: weights(16, 4096)),
    "1 GB in 256 weights": (256, lambda: weights(256, 1024)),
    "chain of 50,000 nodes": (50_000, lambda: chain(50_000)),
    "chain of 500,000 nodes": (500_000, lambda: chain(500_000)),
    "far reads, 50,000 nodes": (50_000, lambda: far_reads(50_000)),
    "far reads, 500,000 nodes": (500_000, lambda: far_reads(500_000)),
}


def measure(name: str, folder: Path, repeats: int) -> Row:
    """The least seconds and the least peak of several processes; prints a line."""
    nodes, write = MODELS[name]
    path, small = folder / "model.onnx", folder / "small.onnx"
    onnx.save(write(), str(path))
    onnx.save(chain(3), str(small))
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-c", CHILD, str(path), str(small)]
        # Not in the current folder: in that of the sources, Python would import these instead of what is installed.
        runs.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=folder).stdout))
    path.unlink()
    least = {key: min(run[key] for run in runs) for key in ("seconds", "peak_bytes")}
    each = least["seconds"] / nodes * 1e6
    print(f"{name:28} {least['seconds'] * 1e3:9.1f} ms {each:8.2f} us/node {least['peak_bytes'] / 1e6:7.0f} MB")
    return {"name": name, "nodes": nodes, **least}


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="processes of each (3)")
    parser.add_argument("--save-figures", action="store_true", help="write to docs/figures.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(name, Path(folder), options.repeats) for name in MODELS]
    if options.save_figures:
        save(
            f"large, {build_name()}",
            [{**row, "seconds": round(row["seconds"], 4)} for row in rows],
            onnx=onnx.__version__,
        )


if __name__ == "__main__":
    main()
