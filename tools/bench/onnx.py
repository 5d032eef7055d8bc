"""Speed on ONNX models against peers: from a path to a dict of all shapes, in turns, medians of CPU time.

    python tools/bench/onnx.py MODELS... [--repeats 5] [--peers] [--save] [--save-figures]

`c++` is the documented way of the onnx package: `onnx.load`, `infer_shapes(data_prop=True)`, every shape read into a
dict. Ratios above 1 are how many times longer a peer takes than shapeinf. `--peers` also runs onnx-shape-inference and
ONNX Runtime's symbolic_shape_infer, if installed; `--save` compares writing annotated files.
`--save-figures` puts the result into `docs/figures.json`, from which `tools/bench/figures.py` makes the tables of
`docs/performance.md`.
"""

from __future__ import annotations

import argparse
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

# Not the folder of this file, whose name is that of the package it imports, but the one above.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import onnx  # noqa: E402
from bench.figures import Row, by_size, ratio, save, spread  # noqa: E402
from bench.timing import medians  # noqa: E402

from shapeinf import infer_shapes  # noqa: E402
from shapeinf.compilation import build_name  # noqa: E402

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
    """Annotate and save with shapeinf, in the folder of the model."""
    infer_shapes(path).save(path + ".annotated")


def saved_by_cpp(path: str) -> None:
    """Load, infer and save with the onnx package."""
    model = onnx.load(path, load_external_data=False)
    onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), path + ".annotated")


def ways_of(options: argparse.Namespace) -> dict[str, Callable[[str], Any]]:
    """The functions that are compared, by name."""
    if options.save:
        return {"shapeinf": saved_by_us, "c++": saved_by_cpp}
    peers = {"onnx-shape-inference": onnx_shape_inference, "symbolic_shape_infer": symbolic} if options.peers else {}
    return {"shapeinf": ours, "c++": cpp, **peers}


def measure(path: str, ways: dict[str, Callable[[str], Any]], options: argparse.Namespace) -> Row:
    """One model; prints a line."""
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    with tempfile.TemporaryDirectory() as folder:  # the annotated file is written next to a copy
        copy = shutil.copy(path, folder) if options.save else path
        times = medians(copy, ways, options.repeats)
    seconds = {way: round(taken, 6) for way, taken in times.items() if taken != float("inf")}
    row: Row = {"name": os.path.basename(path).removesuffix(".onnx"), "nodes": nodes, "seconds": seconds}
    columns = "  ".join(f"{way} {ratio(row, way):6.2f}x" for way in ways if way != "shapeinf")
    own = f"{nodes:7} nodes {times['shapeinf'] * 1e3:9.2f} ms {times['shapeinf'] / nodes * 1e6:7.2f} us/node"
    print(f"{row['name'][:36]:36} {own}  {columns}", flush=True)
    return row


def summarize(rows: list[Row], ways: Iterable[str]) -> None:
    """Print median, least and most ratios, by classes of models, and the largest delay of a small one."""
    for way in (way for way in ways if way != "shapeinf"):
        for title, members in {**by_size(rows), "all": rows}.items():
            print(f"{way}: {title:16} {len(members):4} models  {spread([ratio(row, way) for row in members])}")
        large = [ratio(row, way) for row in rows if row["nodes"] >= 200]
        print(f"{way}: 200 or more      {len(large):4} models  {spread(large)}")
        small = [r for r in rows if r["nodes"] < 200 and way in r["seconds"]]
        delays = {row["seconds"]["shapeinf"] - row["seconds"][way]: row["name"] for row in small}
        if delays and max(delays) > 0:
            print(f"{way}: up to 199 nodes  at most {max(delays) * 1e3:.2f} ms slower ({delays[max(delays)]})")


def main() -> None:
    """Print one line per model, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="files or folders")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--peers", action="store_true", help="also run other tools, if installed")
    parser.add_argument("--save", action="store_true", help="compare writing annotated files")
    parser.add_argument("--save-figures", action="store_true", help="write to docs/figures.json")
    options = parser.parse_args()
    ways = ways_of(options)
    rows = [measure(path, ways, options) for path in _files(options.models)]
    summarize(rows, ways)
    if options.save_figures:
        section = "peers" if options.peers else "saving" if options.save else build_name()
        save(f"onnx, {section}", rows, onnx=onnx.__version__)


def _files(paths: list[str]) -> list[str]:
    return [f for path in paths for f in (sorted(glob.glob(f"{path}/*.onnx")) if os.path.isdir(path) else [path])]


if __name__ == "__main__":
    main()
