"""Speed against peers: from a path to a dict of all shapes, interleaved in one process, medians of CPU time.

    python tools/bench/onnx.py MODELS... [--repeats 5] [--peers] [--save]

`c++` is the documented way of the onnx package: `onnx.load`, `infer_shapes(data_prop=True)`, every shape read into a
dict. Ratios above 1 are how many times longer a peer takes than shapeinf. `--peers` also runs those that are installed
of onnx-shape-inference and ONNX Runtime's symbolic_shape_infer; `--save` compares writing annotated files.
"""

from __future__ import annotations

import argparse
import glob
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from typing import Any

# Not the folder of this file, whose name is that of the package it imports, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402
from bench.timing import medians  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402

Shapes = dict[str, Any]


def ours(path: str) -> Shapes:
    """Shapeinf."""
    return {name: info.shape for name, info in infer_shapes(path).tensors.items()}


def cpp(path: str) -> Shapes:
    """The documented use of the onnx package."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False), data_prop=True)
    return _declared(model)


def _declared(model: onnx.ModelProto) -> Shapes:
    shapes: Shapes = {}
    for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        dims = value.type.tensor_type.shape.dim
        shapes[value.name] = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in dims]
    return shapes


def symbolic(path: str) -> Shapes:
    """ONNX Runtime's symbolic_shape_infer."""
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    model = onnx.load(path, load_external_data=False)
    return _declared(SymbolicShapeInference.infer_shapes(model, auto_merge=True))


def onnx_shape_inference(path: str) -> Shapes:
    """onnx-shape-inference, on onnx_ir."""
    import onnx_ir
    import onnx_shape_inference as peer

    model = peer.infer_symbolic_shapes(onnx_ir.load(path))
    return {value.name: value.shape for node in model.graph for value in node.outputs}


def saved_by_us(path: str) -> None:
    """Annotate and save with shapeinf, next to the model (where its weights are)."""
    infer_shapes(path).save(path + ".annotated")


def saved_by_cpp(path: str) -> None:
    """Load, infer and save with the onnx package."""
    model = onnx.load(path, load_external_data=False)
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), path + ".annotated")


def main() -> None:
    """Print one line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="files or folders")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    ways: dict[str, Callable[[str], Any]] = {"shapeinf": ours, "c++": cpp}
    if options.save:
        ways = {"shapeinf": saved_by_us, "c++": saved_by_cpp}
    elif options.peers:
        ways |= {"onnx-shape-inference": onnx_shape_inference, "symbolic": symbolic}
    ratios: dict[str, list[float]] = {name: [] for name in ways}
    for path in _files(options.models):
        nodes = len(onnx.load(path, load_external_data=False).graph.node)
        with tempfile.TemporaryDirectory() as folder:  # a copy that may be written beside
            copy = shutil.copy(path, folder) if options.save else path
            times = medians(copy, ways, options.repeats)
        base = times["shapeinf"]
        columns = "  ".join(f"{name} {t / base:6.2f}x" for name, t in times.items() if name != "shapeinf")
        own = f"{nodes:7} nodes {base * 1e3:9.2f} ms {base / nodes * 1e6:7.2f} us/node"
        print(f"{os.path.basename(path)[:36]:36} {own}  {columns}")
        for name, taken in times.items():
            ratios[name].append(taken / base)
    for name, all_of_them in ratios.items():
        if name != "shapeinf":
            finite = [r for r in all_of_them if r != float("inf")]
            print(f"{name}: median {statistics.median(finite):.2f}x, least {min(finite):.2f}x, of {len(finite)}")


def _files(paths: list[str]) -> list[str]:
    return [f for path in paths for f in (sorted(glob.glob(f"{path}/*.onnx")) if os.path.isdir(path) else [path])]


if __name__ == "__main__":
    main()
