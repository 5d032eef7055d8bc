"""Models with types written into them by the drop-in modules and by peers: time, completeness, contradictions.

    python tools/bench/annotate.py CORPUS [--tools onnx ort ...] [--only SUBSTRING]

CORPUS is a folder of models, each with its `.truth.json`: the shapes of all tensors in three runs. Each tool gets a
`ModelProto` and returns one; only that is timed. A tool that is not installed here is left out; each run is in a
process of its own with a folder of its own, since some peers write scratch files or do not end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# Not the folder of this file, whose modules have the names of packages, but the project.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import onnx  # noqa: E402

Tool = Callable[[onnx.ModelProto], onnx.ModelProto]
SECONDS = 120
REPEATS = 3
LONG = 2
"""Seconds after which a run is not repeated."""
GENERATED = re.compile(r"unk__\d+")
"""Names that onnx makes for unknown dims: they are new for most values, so that they say nothing."""


def by_compat_onnx() -> Tool:
    from shapeinf.compat.onnx import infer_shapes

    return infer_shapes


def by_compat_onnxruntime() -> Tool:
    from shapeinf.compat.onnxruntime import SymbolicShapeInference

    return SymbolicShapeInference.infer_shapes


def by_onnx() -> Tool:
    from onnx.shape_inference import infer_shapes

    return lambda model: infer_shapes(model, data_prop=True)


def by_onnxruntime() -> Tool:
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    return lambda model: SymbolicShapeInference.infer_shapes(model, auto_merge=True)


def by_onnxslim() -> Tool:
    from onnxslim.third_party.symbolic_shape_infer import SymbolicShapeInference

    return lambda model: SymbolicShapeInference.infer_shapes(model, auto_merge=True)


def by_onnx_shape_inference() -> Tool:
    import onnx_ir
    from onnx_shape_inference import infer_symbolic_shapes

    def infer(model: onnx.ModelProto) -> onnx.ModelProto:
        return onnx_ir.to_proto(infer_symbolic_shapes(onnx_ir.from_proto(model), warn_on_missing=False))

    return infer


TOOLS: dict[str, Callable[[], Tool]] = {
    "shapeinf.compat.onnx": by_compat_onnx,
    "shapeinf.compat.onnxruntime": by_compat_onnxruntime,
    "onnx": by_onnx,
    "onnxruntime": by_onnxruntime,
    "onnxslim": by_onnxslim,
    "onnx-shape-inference": by_onnx_shape_inference,
}


class Score(NamedTuple):
    """One tool on one model: CPU seconds, outputs of nodes, those with all dims, and dims that are contradicted."""

    seconds: float
    tensors: int
    complete: int
    contradicted: int


def score(path: Path, make: Callable[[], Tool]) -> Score:
    """Run a tool in this process."""
    model, tool = onnx.load(str(path)), make()
    seconds: list[float] = []
    while len(seconds) < REPEATS and sum(seconds) < LONG:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        start = time.process_time()
        inferred = tool(copy)
        seconds.append(time.process_time() - start)
    dims = declared_dims(inferred)
    names = [name for node in model.graph.node for name in node.output if name]
    complete = [name for name in names if name in dims and None not in dims[name]]
    truth = json.loads(path.with_name(f"{path.stem}.truth.json").read_text(encoding="utf-8"))["tensors"]
    return Score(statistics.median(seconds), len(names), len(complete), contradictions(dims, truth))


def declared_dims(model: onnx.ModelProto) -> dict[str, list[int | str | None]]:
    """The declared dims by value; those of the tensors in it for a sequence or an optional."""
    found: dict[str, list[int | str | None]] = {}
    for value in (*model.graph.value_info, *model.graph.output):
        proto = value.type
        while proto.WhichOneof("value") in ("sequence_type", "optional_type"):
            found[value.name] = []  # its items may differ
            proto = getattr(proto, proto.WhichOneof("value")).elem_type
        if proto.WhichOneof("value") == "map_type":
            found[value.name] = []
        elif proto.HasField("tensor_type") and proto.tensor_type.HasField("shape") and value.name not in found:
            dims = [getattr(d, d.WhichOneof("value") or "", None) for d in proto.tensor_type.shape.dim]
            found[value.name] = [None if GENERATED.fullmatch(str(dim)) else dim for dim in dims]
    return found


def contradictions(dims: dict[str, list[int | str | None]], truth: dict[str, Any]) -> int:
    """The dims with another number than in a run, and those whose text is another size for more values."""
    wrong: set[tuple[str, int]] = set()
    for run in range(3):
        sizes: dict[str, dict[int, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
        for name, texts in dims.items():
            shape = (truth.get(name, {}).get("shapes") or [None] * 3)[run]
            if shape is None or len(shape) != len(texts):
                continue
            for axis, (text, size) in enumerate(zip(texts, shape, strict=True)):
                if isinstance(text, int) and text != size:
                    wrong.add((name, axis))
                elif isinstance(text, str):
                    sizes[text][size].append((name, axis))
        for places in sizes.values():
            usual = max(places.values(), key=len)
            wrong.update(place for group in places.values() if group is not usual for place in group)
    return len(wrong)


def _child(path: Path, make: Callable[[], Tool], connection: Any) -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="utf-8") as sink:
        os.chdir(folder)
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            try:
                connection.send(score(path, make))
            except Exception as error:  # a peer may fail on a model
                connection.send(f"{type(error).__name__}: {error}"[:200])
        os.chdir("/")


def run(path: Path, make: Callable[[], Tool]) -> Score | str:
    """Run a tool in a child; the error where it fails."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(path.resolve(), make, sender))
    process.start()
    sender.close()
    result: Score | str = "no answer"
    if receiver.poll(SECONDS):
        with contextlib.suppress(EOFError):
            result = receiver.recv()
    process.kill()
    process.join()
    return result


def installed(names: list[str]) -> Iterator[str]:
    for name in names:
        try:
            TOOLS[name]()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
        else:
            yield name


def main() -> None:
    """Print one line per tool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tools", nargs="+", default=[*TOOLS], choices=[*TOOLS])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    paths = [path for path in sorted(options.corpus.glob("*.onnx")) if options.only in path.name]
    baseline = {path: run(path, by_onnx) for path in paths}
    for name in installed(options.tools):
        results = {path: baseline[path] if name == "onnx" else run(path, TOOLS[name]) for path in paths}
        print(f"{name}: {line(results, baseline)}", flush=True)
        for error, count in Counter(result[:60] for result in results.values() if isinstance(result, str)).items():
            print(f"    {count} x {error}")


def line(results: dict[Path, Score | str], baseline: dict[Path, Score | str]) -> str:
    """The sums over all models; a model that ends in an error has no complete tensor."""
    pairs = [(results[path], baseline[path]) for path in results]
    scores = [score for score, _ in pairs if isinstance(score, Score)]
    tensors = sum(first.tensors for _, first in pairs if isinstance(first, Score))
    ratios = [a.seconds / b.seconds for a, b in pairs if isinstance(a, Score) and isinstance(b, Score) and b.seconds]
    complete, contradicted = (sum(getattr(score, field) for score in scores) for field in ("complete", "contradicted"))
    text = f"{complete} of {tensors} tensors complete ({100 * complete / max(tensors, 1):.1f} %)"
    text += f", {contradicted} dims contradicted, {len(results) - len(scores)} of {len(results)} models end in an error"
    if ratios:
        text += f", time {statistics.median(ratios):.2f}x that of onnx ({min(ratios):.2f}x to {max(ratios):.2f}x)"
    return text


if __name__ == "__main__":
    main()
