"""Command lines of every command on every example, in a folder of their own; `{model}` stands for the path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SIZES = {"convnet": "batch=2,height=32,width=32", "decoder": "batch=2,seq=5"}
"""A binding of an example's dims."""

EXPORTED = (
    "An error of a runtime: Non-zero status code returned while running Relu node. Name:'act' Status Message: failed"
)


def models() -> list[Path]:
    """The models of `examples/`, one of each form."""
    files = [path for path in sorted(EXAMPLES.iterdir()) if path.is_file() and path.suffix != ".md"]
    return [*files, EXAMPLES / "pnnx" / "slices.onnx"]


def command_lines(model: Path) -> Iterator[list[str]]:
    """Every command on a model, the written files with the suffix of the format."""
    path, suffix = str(model), model.name[model.name.index(".") :]
    sizes = SIZES.get(model.name.partition(".")[0], "")
    bind = ["--bind", sizes] if sizes else []
    ranges = [part for pair in sizes.split(",") if pair for part in ("--dim", pair.replace("=", "=1.."))]
    yield from (["summary", path, *more] for more in ([], ["--json"], bind))
    yield from (["infer", path, *more] for more in ([], ["--json"], ["-o", f"typed{suffix}"]))
    yield ["infer", path, "-o", f"with-contract{suffix}", "--contract"]
    yield from (["check", path, *more] for more in ([], ["--json"]))
    yield from (["explain", path], ["guards", path], ["ops", "missing", path], ["why", EXPORTED, path])
    yield from (["contract", path, *more] for more in ([], ["--json"], ["--format", "c"], ["--format", "js"]))
    yield from (["memory", path, *more] for more in ([], bind, [*bind, "--json"], [*bind, "--html", "memory.html"]))
    yield from (["memory", path, *bind, "--export", f"memory.{end}"] for end in ("csv", "h", "parquet"))
    yield from (["memory", path, *bind, *more] for more in (["--runtime", "onnxruntime"], ["--png", "memory.png"]))
    yield from (["cost", path, *bind, *more] for more in ([], ["--json"], ["--csv", "cost.csv"]))
    yield from (["plan", path, *bind, *more] for more in ([], ["-o", "plan.json"], ["--planner", "omnimalloc"]))
    yield from ([command, path, *ranges] for command in ("memory", "plan", "profile", "triton") if ranges)
    yield from (["program", path, "-o", f"shapes.{end}"] for end in ("mjs", "rs", "py"))
    yield from (["report", path, "-o", "page.html", *bind], ["diff", path, path])
    yield ["bind", path, *sizes.split(",")[:1], "-o", f"bound{suffix}"]
    yield from (["rebatch", path, "-o", f"rebatched{suffix}"], ["clean", path, "-o", "clean.onnx"], ["verify", path])
    yield ["view", path, *bind, "--export", "model-explorer", "-o", "view.json"]
    yield ["scan", path, "-o", "scanned", "--jobs", "1"]


def other_lines() -> Iterator[list[str]]:
    """The commands that need no model."""
    yield from (["ops", "list"], ["ops", "show", "Relu"], ["expression", "add(@0,@1)", "[N,8]", "[8]"])
    yield ["page", "-o", "site"]  # without Pyodide, which is no Python package
