"""Speed against TensorFlow: from a path to a dict of all shapes, each warm in a process of its own.

    python tools/bench/tf.py FOLDER... [--python EXECUTABLE] [--least-nodes 500] [--repeats 5]

TensorFlow's way is the documented one: parse the file, `tf.import_graph_def` into a new graph, read every static shape.
Ratios above 1 are how many times longer it takes than shapeinf. Both read all files of the folders once before the runs
that count. `--python` is an interpreter that has TensorFlow, where this one has none.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
# Not the folder of this file, whose modules have the names of packages, but the checkout.
sys.path[0] = str(HERE.parents[2])

SUFFIXES = (".pb", ".pbtxt", ".meta")
Shapes = dict[str, Any]


def ours(path: str) -> Shapes:
    """Shapeinf."""
    from shapeinf import infer_shapes

    return {name: info.shape for name, info in infer_shapes(path).tensors.items()}


def tensorflow(path: str) -> Shapes:
    """The documented use of TensorFlow."""
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(_read(path), name="")
    return {tensor.name: tensor.shape for op in graph.get_operations() for tensor in op.outputs}


def _read(path: str) -> Any:
    from google.protobuf import text_format
    from tensorflow.core.framework.graph_pb2 import GraphDef
    from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    raw = Path(path, "saved_model.pb").read_bytes() if os.path.isdir(path) else Path(path).read_bytes()
    if os.path.isdir(path):
        return SavedModel.FromString(raw).meta_graphs[0].graph_def
    if path.endswith(".meta"):
        return MetaGraphDef.FromString(raw).graph_def
    return text_format.Parse(raw, GraphDef()) if path.endswith(".pbtxt") else GraphDef.FromString(raw)


WAYS: dict[str, Callable[[str], Shapes]] = {"shapeinf": ours, "tensorflow": tensorflow}


def serve(way: Callable[[str], Shapes], repeats: int) -> None:
    """Time a way on each path of the standard input, after one run of all; print one JSON line for each path."""
    paths = [line.strip() for line in sys.stdin if line.strip()]
    for path in paths:
        _attempt(way, path)
    for path in paths:
        runs = [_attempt(way, path) for _ in range(repeats)]
        seconds = [taken for taken, _ in runs]
        print(json.dumps({"path": path, "seconds": statistics.median(seconds), "nodes": runs[-1][1]}), flush=True)


def _attempt(way: Callable[[str], Shapes], path: str) -> tuple[float, int]:
    """CPU seconds and the number of nodes; infinite for a graph that the way refuses."""
    gc.collect()
    start = time.process_time()
    try:
        shapes = way(path)
    except Exception:
        return float("inf"), 0
    return time.process_time() - start, len({name.partition(":")[0] for name in shapes})


def measure(way: str, executable: str, paths: list[str], repeats: int) -> dict[str, dict[str, Any]]:
    """CPU seconds and numbers of nodes by path for one way, in a new process."""
    command = [executable, str(HERE), "--serve", way, "--repeats", str(repeats)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        command, input="\n".join(paths), text=True, stdout=subprocess.PIPE, env=environment, check=True
    )
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"path"')]
    return {record["path"]: record for record in records}


def models(folders: Iterable[str]) -> list[str]:
    """The graphs of folders: files by their suffixes, and folders of SavedModels."""
    paths: list[Path] = []
    for folder in map(Path, folders):
        entries = sorted(folder.iterdir()) if folder.is_dir() and not (folder / "saved_model.pb").exists() else [folder]
        paths += [e for e in entries if e.suffix in SUFFIXES or (e / "saved_model.pb").exists()]
    return [str(path) for path in paths]


def main() -> None:
    """Print one line per graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="files or folders")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has TensorFlow")
    parser.add_argument("--least-nodes", type=int, default=500, help="smaller graphs are not measured")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--serve", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(WAYS[options.serve], options.repeats)
        return
    report(models(options.folders), options)


def report(paths: list[str], options: argparse.Namespace) -> None:
    """Measure both and print the ratios, of the graphs that are large enough."""
    theirs = measure("tensorflow", options.python, paths, options.repeats)
    large = [path for path in paths if theirs[path]["nodes"] >= options.least_nodes]
    own = measure("shapeinf", sys.executable, large, options.repeats)
    ratios = []
    for path in large:
        mine, other = own[path]["seconds"], theirs[path]["seconds"]
        ratios.append(other / mine)
        count = f"{theirs[path]['nodes']:6} nodes"
        print(f"{Path(path).name[:36]:36} {count} {mine * 1e3:9.1f} ms  tensorflow {other / mine:6.2f}x")
    if ratios:
        print(f"tensorflow: median {statistics.median(ratios):.2f}x, least {min(ratios):.2f}x, of {len(ratios)}")


if __name__ == "__main__":
    main()
