"""The recorded messages of runtimes: `tools/make_runtime_messages.py` writes them."""

from __future__ import annotations

import base64
import json
import lzma
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from shapeinf import Result, infer_shapes
from shapeinf.failures import FailureReport
from shapeinf.failures.conditions import Conditions
from shapeinf.solver.budget import WORK

FOLDER = Path(__file__).parent / "messages"
RUNTIMES = ("onnxruntime", "openvino", "tensorflow", "torch", "litert")


@attrs.frozen
class Message:
    """A message of a runtime, with what was run.

    Args:
        model: the model in bytes, or the path of a model of the corpus.
        sizes: the sizes of dims in the run; None where only the shapes of inputs are known.
        shapes: the shapes of inputs.
        data: whether the failure depends on values.
        node: the node that fails: its operator, name and first output.
        runs: other sizes, each with whether the runtime ran the model.
        runnable: whether the runtime ran the model at some sizes, or was not tried.
        axes: the names of the axes of inputs in `runs`, for a model whose dims have no names.
    """

    case: str
    text: str
    model: bytes | str
    sizes: Mapping[str, int] | None
    shapes: Mapping[str, list[int]]
    data: bool
    node: Mapping[str, str]
    runs: tuple[tuple[Mapping[str, int], bool], ...]
    axes: Mapping[str, list[int | str]]
    runnable: bool

    @property
    def caused_by_sizes(self) -> bool:
        """Whether the runtime runs the model at some sizes, and the values do not matter."""
        return not self.data and self.runnable

    @property
    def available(self) -> bool:
        """Whether the model can be read here."""
        return isinstance(self.model, bytes) or "SHAPEINF_CONFORMANCE" in os.environ

    def infer(self) -> Result:
        """The inference of the model."""
        if isinstance(self.model, bytes):
            return infer_shapes(self.model)
        return infer_shapes(str(Path(os.environ["SHAPEINF_CONFORMANCE"]) / self.model))

    def explain(self, result: Result) -> FailureReport:
        """The report for the sizes of the run."""
        if self.sizes is not None:
            return result.why(self.text, at=self.sizes)
        return result.why(self.text, shapes=self.shapes)

    def is_node(self, name: str) -> bool:
        """Whether a node of the report is the one that fails."""
        own = self.node["name"]
        if own == "target":
            return own in name.split("/")
        return name.split("/")[-1] == own.split("/")[-1] if own else name.endswith((self.node["output"], "0"))


@cache
def messages(runtime: str) -> tuple[Message, ...]:
    """The messages of a runtime."""
    document: dict[str, Any] = json.loads(lzma.decompress((FOLDER / f"{runtime}.json.xz").read_bytes()))
    models = {key: base64.b64decode(text) for key, text in document["models"].items()}
    listed = document["messages"]
    runnable = {entry["case"] for entry in listed if not entry["runs"] or any(ok for _, ok in entry["runs"])}
    return tuple(
        Message(
            entry["case"],
            entry["text"],
            models.get(entry["model"], entry["model"]),
            entry["sizes"],
            entry["shapes"],
            entry["data"],
            entry["node"],
            tuple((at, ok) for at, ok in entry["runs"]),
            entry.get("axes", {}),
            entry["case"] in runnable,
        )
        for entry in listed
    )


def names_the_cause(message: Message, report: FailureReport) -> bool:
    """Whether the first condition of a node is that of the node that fails, or the declaration of an input fails."""
    if report.verdict != "violated" or not report.conditions:
        return False
    assert report.message is not None
    if report.message.kind in ("input", "guard"):
        return report.conditions[0].match is None
    first = next((c for c in report.conditions if c.match is not None), None)
    return first is not None and first.match is not None and message.is_node(first.match.node)


def wrongly_excluded(message: Message, result: Result, report: FailureReport) -> list[Mapping[str, int]]:
    """The sizes at which the runtime runs the model and the condition of the report does not hold."""
    first = next((c for c in report.conditions if c.match is not None and c.condition), None)
    if first is None or first.match is None:
        return []
    conditions = Conditions(result.engine.inference, {}, WORK)
    listed = [p for p in conditions.by_node.get(first.match.node, []) if p.text == first.condition]
    wrong = []
    for at, ok in message.runs:
        sizes = at if message.sizes is not None else _sizes_of_axes(message, at)
        values = {symbol.name: sizes[label] for symbol, label in conditions.labels.items() if label in sizes}
        if ok and any(p.holds(values) is False for p in listed):
            wrong.append(at)
    return wrong


def _sizes_of_axes(message: Message, at: Mapping[str, int]) -> dict[str, int]:
    axes = [(name, i, d) for name, dims in message.axes.items() for i, d in enumerate(dims)]
    return {f"{name}.shape[{i}]": at[d] for name, i, d in axes if isinstance(d, str)}
