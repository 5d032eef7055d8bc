"""Speed on PNNX networks: from a path to a dict of all shapes, medians of CPU time.

    python tools/bench/pnnx.py NETWORKS... [--repeats 5]

PNNX has no inference to compare with: it runs the network. Where an export of the same network is in the same folder
(`net.onnx` for `net.pnnx.param`), `c++` is the onnx package's own inference of that export, in turns.
"""

from __future__ import annotations

import argparse
import glob
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

# Not the folder of this file, whose name may be that of a package, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402
from bench.timing import medians  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402

SUFFIX = ".pnnx.param"


def ours(path: str) -> dict[str, Any]:
    """Shapeinf."""
    return {name: info.shape for name, info in infer_shapes(path).tensors.items()}


def cpp(path: str) -> dict[str, Any]:
    """The documented use of the onnx package, on the export of the network."""
    model = onnx.load(_export(path), load_external_data=False)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    values = (*inferred.input, *inferred.value_info, *inferred.output)
    return {value.name: [d.dim_value or d.dim_param for d in value.type.tensor_type.shape.dim] for value in values}


def _export(path: str) -> str:
    return path.removesuffix(SUFFIX).removesuffix("_dyn") + ".onnx"


def main() -> None:
    """Print one line per network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", help="files or folders")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    options = parser.parse_args()
    per_node: list[float] = []
    for path in _files(options.networks):
        ways: dict[str, Callable[[str], Any]] = {"shapeinf": ours}
        if os.path.exists(_export(path)):
            ways["c++"] = cpp
        nodes = len(infer_shapes(path).graph.nodes)
        times = medians(path, ways, options.repeats)
        base = times["shapeinf"]
        per_node.append(base / max(nodes, 1))
        ratio = f"  c++ {times['c++'] / base:6.2f}x" if "c++" in times else ""
        own = f"{nodes:7} nodes {base * 1e3:9.2f} ms {per_node[-1] * 1e6:7.2f} us/node"
        print(f"{os.path.basename(path)[:44]:44} {own}{ratio}")
    print(f"median {statistics.median(per_node) * 1e6:.2f} us/node of {len(per_node)} networks")


def _files(paths: list[str]) -> list[str]:
    return [f for path in paths for f in (sorted(glob.glob(f"{path}/*{SUFFIX}")) if os.path.isdir(path) else [path])]


if __name__ == "__main__":
    main()
