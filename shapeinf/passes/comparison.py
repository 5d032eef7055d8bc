"""The comparison of the outputs of two models in onnxruntime, on random inputs of several sizes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import onnx_ir as ir

from shapeinf.api import as_graph, infer
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.errors import MissingPackageError, ShapeInferenceError
from shapeinf.formats.onnx.external_tensors import DataFolder
from shapeinf.formats.onnx.saving import embed_small
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS
from shapeinf.inputs.reader import SpecLike
from shapeinf.passes.skeleton import skeleton, to_proto
from shapeinf.passes.weights import external_tensors
from shapeinf.result import Result
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.numbers import Comparison, difference_of
from shapeinf.runtime.onnx_runtime import create_session, import_onnxruntime
from shapeinf.runtime.protocol import Refusal, refusals
from shapeinf.runtime.sizes import RunSizes, choose_sizes

def compare(original: ir.Model, cleaned: ir.Model, seed: int = 0) -> Comparison:
    """Run both models at two bindings (one where all sizes are fixed) and compare. Raises MissingPackageError."""
    graph = as_graph(skeleton(original), DEFAULT_OPTIONS)
    bindings: list[Mapping[str, int]] = []
    differences: list[str] = []
    refused = ""
    try:
        session = _session(original)
        with _cleaned_refusals():
            sessions = [session, _session(cleaned)]
        for sizes in _bindings(graph):
            try:
                differences += _compare_run(sessions, sizes, seed)
                bindings.append(sizes.sizes)
            except Refusal as error:
                refused = refused or str(error)
    except _ResultRefusedError as error:
        differences.append(f"the cleaned model does not run: {error}")
    except (Refusal, ShapeInferenceError) as error:
        if isinstance(error, MissingPackageError):
            raise
        refused = refused or str(error)
    return Comparison(tuple(bindings), tuple(differences), "" if bindings or differences else refused)


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


def _bindings(graph: Graph) -> Iterator[RunSizes]:
    """Small legal sizes, then sizes larger by one, where these are legal."""

    def run(bind: Mapping[str, int], inputs: Mapping[str, SpecLike]) -> Result:
        return infer(graph, attrs.evolve(DEFAULT_OPTIONS, bind=bind, inputs=inputs))

    symbolic = run({}, {})
    first = choose_sizes(symbolic, run, {}, {})
    yield first
    larger = {name: size + 1 for name, size in first.chosen.items() if symbolic.scope.has(name)}
    if larger:
        second = choose_sizes(symbolic, run, larger, {})
        if not certain_violations(second.result.inference):
            yield second


def _compare_run(sessions: list[Any], sizes: RunSizes, seed: int) -> list[str]:
    """The outputs that differ, on the first random inputs that the original runs with. Raises Refusal."""
    refusal: Refusal | None = None
    for _, arrays in feeds(sizes.result, sizes.shapes, {}, seed):
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
