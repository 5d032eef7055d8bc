"""`rebatch --verify`: the new model runs a batch, the old one each of its parts, and the numbers are compared.

A spatial axis has no parts: the new model runs at other sizes, and its shapes are compared with the inferred ones.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from shapeinf.api import as_graph, infer
from shapeinf.edit.rebatch import Rebatched
from shapeinf.expr import Dimension
from shapeinf.formats.onnx.model_bytes import path_or_bytes
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.inputs.reader import SpecLike
from shapeinf.result import Result
from shapeinf.runtime.feeds import feeds
from shapeinf.runtime.numbers import Comparison, difference_of
from shapeinf.runtime.onnx_runtime import create_session, import_onnxruntime
from shapeinf.runtime.protocol import Refusal, refusals
from shapeinf.runtime.sizes import RunSizes, choose_sizes
from shapeinf.runtime.verification import verify

PARTS = 3
"""The parts of a batch, each of the old size."""


def verify_rebatched(
    model: Any, rebatched: Rebatched, *, seed: int = 0, options: InferenceOptions = DEFAULT_OPTIONS
) -> Comparison:
    """Run what `rebatch` returned for an ONNX model in onnxruntime, and compare it with the model.

    The outputs of a batch are those of its parts, with tolerances for floats. For a spatial axis the shapes at other
    legal sizes are those of the inference.

    Raises:
        MissingPackageError: onnxruntime is not installed.
        ModelError: the model is not ONNX.
        ShapeInferenceError: no small sizes of other dims are legal.
    """
    package = import_onnxruntime("rebatch --verify")
    graph = as_graph(model, options)
    source = path_or_bytes(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rebatched.onnx")
        rebatched.save(path, external_data="copy")
        if rebatched.spatial:
            return _compare_shapes(path, rebatched, seed)
        try:
            own = None if graph.source is None else os.path.dirname(os.path.abspath(graph.source))
            sessions = [create_session(package, source, own, optimized=False)]
            sessions.append(create_session(package, path, None, optimized=False))
            return _BatchRun(graph, rebatched, options, sessions).compare(seed)
        except Refusal as error:
            return Comparison((), (), str(error))


def _compare_shapes(path: str, rebatched: Rebatched, seed: int) -> Comparison:
    """The shapes of all tensors at the old size, and at the other ones that the rebatched model was checked at."""
    sizes = [rebatched.size, *rebatched.sizes]
    verification = verify(path, at=[{rebatched.name: size} for size in sizes], seed=seed)
    refused = "; ".join(dict.fromkeys(run.refused for run in verification.runs if run.refused))
    differences = tuple(map(str, verification.mismatches))
    return Comparison(tuple({rebatched.name: size} for size in sizes), differences, refused)


@attrs.frozen
class _BatchRun:
    """A batch of `PARTS` parts in the new model (the second session), and each part in the old one."""

    graph: Graph
    rebatched: Rebatched
    options: InferenceOptions
    sessions: list[Any]

    def compare(self, seed: int) -> Comparison:
        """The comparison on the first random inputs that the old model runs with. Raises Refusal."""
        refusal: Refusal | None = None
        sizes = self._sizes()
        for parts in self._draw_parts(sizes, seed):
            try:
                with refusals():
                    expected, repeated = ([self._run(0, part) for part in parts] for _ in range(2))
            except Refusal as error:
                refusal = refusal or error
                continue
            where = {**sizes.sizes, self.rebatched.name: PARTS * self.rebatched.size}
            try:
                with refusals():
                    results = self._run(1, self._join_inputs(parts))
            except Refusal as error:
                return Comparison((where,), (f"the new model does not run: {error}",))
            return Comparison((where,), tuple(self._differences(expected, repeated, results)))
        raise refusal or Refusal("there are no values for its inputs")

    def _sizes(self) -> RunSizes:
        def run(bind: Mapping[str, int], inputs: Mapping[str, SpecLike]) -> Result:
            named = {**self.options.inputs_by_name(self.graph), **inputs}
            return infer(self.graph, attrs.evolve(self.options, bind={**self.options.bind, **bind}, inputs=named))

        return choose_sizes(run({}, {}), run, self.options.bind, {})

    def _draw_parts(self, sizes: RunSizes, seed: int) -> Iterator[list[dict[str, Any]]]:
        """Arrays of several parts; an input without the axis has the same array in all."""
        draws = (feeds(sizes.result, sizes.shapes, {}, seed + k, sizes.elements) for k in range(PARTS))
        for drawn in zip(*draws, strict=True):
            parts = [arrays for _, arrays in drawn]
            yield [{name: (part if name in self.rebatched.axes else parts[0])[name] for name in part} for part in parts]

    def _join_inputs(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        axes = self.rebatched.axes
        return {
            name: np.concatenate([part[name] for part in parts], axes[name]) if name in axes else array
            for name, array in parts[0].items()
        }

    def _run(self, index: int, arrays: dict[str, Any]) -> dict[str, Any]:
        session = self.sessions[index]
        return dict(zip((o.name for o in session.get_outputs()), session.run(None, arrays), strict=True))

    def _differences(
        self, expected: list[dict[str, Any]], repeated: list[dict[str, Any]], results: dict[str, Any]
    ) -> Iterator[str]:
        """A text for each output whose numbers differ; random outputs, which differ from run to run, are omitted."""
        for name, result in results.items():
            axis = self._axis(name)
            parts = [part[name] for part in expected]
            random = any(difference_of(a, b[name]) for a, b in zip(parts, repeated, strict=True))
            if random or (axis is None and not isinstance(result, list)):
                continue
            joined = [item for part in parts for item in part] if axis is None else np.concatenate(parts, axis)
            text = difference_of(joined, result)
            if text:
                yield f"{name}: {text} in a batch of {PARTS} parts"

    def _axis(self, output: str) -> int | None:
        """The dynamic axis of an output; None where it has none."""
        tensors, scope = self.rebatched.result.tensors, self.rebatched.result.engine.scope
        symbol = scope.symbol(self.rebatched.name)
        dims = tensors[output].shape.dims or ()
        return next((k for k, d in enumerate(dims) if isinstance(d, Dimension) and symbol in d.symbols()), None)
