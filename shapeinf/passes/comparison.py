"""The comparison of the outputs of two models in onnxruntime, on random inputs of several sizes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import onnx_ir as ir

from shapeinf.api import as_graph, infer
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.errors import MissingPackageError, ShapeInferenceError, UnknownNameError
from shapeinf.formats.onnx.external_tensors import DataFolder
from shapeinf.formats.onnx.saving import embed_small
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS
from shapeinf.inputs.reader import SpecLike
from shapeinf.passes.outline import outline
from shapeinf.passes.proto import to_proto
from shapeinf.passes.weights import external_tensors
from shapeinf.result import Result
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.numbers import Comparison, difference_of
from shapeinf.runtime.onnx_runtime import create_session, import_onnxruntime
from shapeinf.runtime.protocol import Refusal, refusals
from shapeinf.runtime.sizes import MAX_SIZES, RunSizes, legal_sizes


def compare(original: ir.Model, cleaned: ir.Model, seed: int = 0, at: Sequence[Mapping[str, int]] = ()) -> Comparison:
    """Run both models at these sizes, else at two bindings (one where all sizes are fixed), and compare.

    Raises MissingPackageError, and UnknownNameError for a dim that the model does not have.
    """
    graph = as_graph(outline(original), DEFAULT_OPTIONS)
    comparing = _Comparing(seed)
    try:
        comparing.sessions.append(_session(original))
        with _cleaned_refusals():
            comparing.sessions.append(_session(cleaned))
        sizes = _Sizes(graph)
        if not at:
            comparing.run_first(sizes.legal({}))
            comparing.run_first(sizes.larger(comparing.bindings[0]) if comparing.bindings else iter(()))
        for binding in at:
            comparing.run_first(sizes.legal(binding))
    except _ResultRefusedError as error:
        comparing.differences.append(f"the cleaned model does not run: {error}")
    except (Refusal, ShapeInferenceError) as error:
        if isinstance(error, (MissingPackageError, UnknownNameError)):
            raise
        comparing.refused = comparing.refused or str(error)
    return comparing.result(bool(at))


@attrs.define
class _Comparing:
    """The runs of two models so far."""

    seed: int
    sessions: list[Any] = attrs.Factory(list)
    bindings: list[Mapping[str, int]] = attrs.Factory(list)
    differences: list[str] = attrs.Factory(list)
    refused: str = ""

    def run_first(self, candidates: Iterator[RunSizes]) -> None:
        """Compare a run at the first of some sizes that the runtime does not refuse."""
        for sizes in itertools.islice(candidates, MAX_SIZES):
            try:
                self.differences += _compare_run(self.sessions, sizes, self.seed)
                self.bindings.append(sizes.sizes)
                return
            except Refusal as error:
                self.refused = self.refused or str(error)

    def result(self, requested: bool) -> Comparison:
        """The record; a refusal counts where no run succeeded, or for sizes that the user requested."""
        refused = self.refused if requested or not (self.bindings or self.differences) else ""
        return Comparison(tuple(self.bindings), tuple(self.differences), refused)


class _ResultRefusedError(Exception):
    """The runtime does not load or run the cleaned model; the text is its message.

    Internal: caught in `passes.comparison`.
    """


@contextmanager
def _cleaned_refusals() -> Iterator[None]:
    """Turn a Refusal of the cleaned model into a _ResultRefusedError: the original is not refused."""
    try:
        with refusals():
            yield
    except Refusal as error:
        raise _ResultRefusedError(str(error)) from error


def _session(model: ir.Model) -> Any:
    """A session without the optimizations of the runtime, which would clean the model up too."""
    package = import_onnxruntime("clean --verify")
    folders = {os.path.abspath(tensor.base_dir) if tensor.base_dir else "" for tensor in external_tensors(model)}
    data, folder = to_proto(model).SerializeToString(), None
    if folders:
        if len(folders) > 1 or "" in folders:
            raise Refusal("its weights are in a folder that is unknown, or in several folders")
        folder = folders.pop()
        data = embed_small(data, DataFolder(folder))  # onnxruntime reads no shapes from other files
    return create_session(package, data, folder, optimized=False)


class _Sizes:
    """The sizes of the runs of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.symbolic = self._infer({}, {})

    def _infer(self, bind: Mapping[str, int], inputs: Mapping[str, SpecLike]) -> Result:
        return infer(self.graph, attrs.evolve(DEFAULT_OPTIONS, bind=bind, inputs=inputs))

    def legal(self, sizes: Mapping[str, int]) -> Iterator[RunSizes]:
        """Legal sizes with these ones; all other dims are small."""
        return legal_sizes(self.symbolic, self._infer, sizes, {})

    def larger(self, sizes: Mapping[str, int]) -> Iterator[RunSizes]:
        """Sizes larger by one, where these are legal."""
        bind = {name: size + 1 for name, size in sizes.items() if self.symbolic.engine.scope.has(name)}
        runs = itertools.islice(self.legal(bind), 1) if bind else iter(())
        return (run for run in runs if not certain_violations(run.result.engine.inference))


def _compare_run(sessions: list[Any], sizes: RunSizes, seed: int) -> list[str]:
    """The outputs that differ, on the first random inputs that the original runs with. Raises Refusal."""
    refusal: Refusal | None = None
    for _, arrays in feeds(sizes.result, sizes.shapes, {}, seed, sizes.elements):
        try:
            with refusals():
                expected, repeated = (sessions[0].run(None, arrays) for _ in range(2))
        except Refusal as error:
            refusal = refusal or error
            continue
        with _cleaned_refusals():
            results = sessions[1].run(None, arrays)
        names = [output.name for output in sessions[0].get_outputs()]
        pairs = zip(names, expected, repeated, results, strict=True)
        where = ", ".join(f"{name}={size}" for name, size in sizes.sizes.items())
        texts = [(name, difference_of(a, c)) for name, a, b, c in pairs if not difference_of(a, b)]
        return [f"{name}: {text}" + (f" at {where}" if where else "") for name, text in texts if text]
    raise refusal or Refusal("there are no values for its inputs")
