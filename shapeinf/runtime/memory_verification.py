"""`verify_memory`: run a model in a process whose allocations are counted, and compare with the predicted peak."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import attrs

from shapeinf.api import as_graph
from shapeinf.formats.onnx.model_bytes import path_or_bytes
from shapeinf.graph import Graph
from shapeinf.inputs.options import DEFAULT_OPTIONS, InferenceOptions
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.session_memory import RunAt, SessionMemory
from shapeinf.result import Result
from shapeinf.runtime.allocation_counter import AllocationCounter, SessionOptions
from shapeinf.runtime.memory_records import MemoryRun, MemoryVerification
from shapeinf.runtime.model_runs import ModelRuns, choose_run, refuse_huge, run_feeds
from shapeinf.runtime.protocol import NotLoaded, Refusal, StoppedRun, choose_runtime
from shapeinf.runtime.sizes import RunSizes

MEASURED: Final = "onnxruntime"
"""The runtime whose allocations are counted, and predicted."""


def verify_memory(
    model: Any,
    *,
    at: Iterable[Mapping[str, int]] = ({},),
    arrays: Mapping[str, Any] | None = None,
    optimize: Literal["off", "all"] = "all",
    seed: int = 0,
    timeout: float | None = None,
    options: InferenceOptions = DEFAULT_OPTIONS,
) -> MemoryVerification:
    """Measure the peak of runs of an ONNX model in onnxruntime, and compare it with the predicted one.

    The peak is that of a first run with one thread, without an arena: what `Result.memory(runtime="onnxruntime")`
    predicts as `at(sizes).first`. The model runs in a process of its own, whose allocations are counted by a library
    that a C compiler builds; without one, pages of memory are counted, which are too coarse to compare.

    Args:
        model: an ONNX model. It is optimized in this process and run in another: run only models that you trust.
        at: the sizes of named dims, a mapping for every run. Other dims get small legal sizes.
        arrays: values of inputs by name; other inputs get random numbers, integer ones 0 or 1.
        optimize: whether the session optimizes the model, "all" as it does by default.
        seed: of the random numbers.
        timeout: the most seconds that one measurement may take, which loads and runs the model.
        options: as for `infer_shapes`; `bind` has the sizes that all runs share.

    Raises:
        MissingPackageError: onnxruntime is not installed.
        UnknownNameError: a dim or input that the model does not have.
        ModelError: the model cannot be read, or is not an ONNX model.
        ShapeInferenceError: sizes that contradict each other or the model, or no small sizes are legal.
    """
    graph = as_graph(model, options)
    runtime = choose_runtime(graph, MEASURED)
    model_runs = ModelRuns.of_graph(graph, arrays, seed, options)
    with _Measurements.open(graph, timeout, optimized=optimize == "all") as measurements:
        verifier = _MemoryVerifier(
            model_runs, measurements, OnnxRuntimeOptions(optimize=optimize, arena=False, pattern=False)
        )
        runs = [choose_run(verifier.attempt(sizes) for sizes in model_runs.sizes(binding)) for binding in at]
    return MemoryVerification(f"{runtime.name} {runtime.version}", optimize, measurements.obstacle, tuple(runs))


@attrs.frozen
class _Measurements:
    """Runs of a model in a process whose memory is counted.

    Args:
        counter: the process.
        obstacle: why it counts pages; empty if it counts allocations.
        path: the file of the model.
        folder: the folder of its external data; None for that of the file.
        options: of each session.
    """

    counter: AllocationCounter
    obstacle: str
    path: str
    folder: str | None
    options: SessionOptions

    @classmethod
    @contextmanager
    def open(cls, graph: Graph, timeout: float | None, *, optimized: bool) -> Iterator[_Measurements]:
        """Begin without a run; a model that is not in a file of its own is written to one. Raises ModelError."""
        model, folder = path_or_bytes(graph), None
        with ExitStack() as stack:
            if isinstance(model, bytes):
                source = graph.source
                folder = None if source is None else os.path.dirname(os.path.abspath(source))
                path = os.path.join(stack.enter_context(TemporaryDirectory()), "model.onnx")
                with open(path, "wb") as file:
                    file.write(model)
            else:
                path = model
            counter, obstacle = _open_counter(timeout)
            yield cls(stack.enter_context(counter), obstacle, path, folder, SessionOptions(optimized=optimized))

    def peak(self, arrays: Mapping[str, Any]) -> int:
        """The most bytes in use in a first run, besides those that the session holds. Raises Refusal."""
        return self.counter.measure(self.path, arrays, self.options, self.folder).peaks[0]


def _open_counter(timeout: float | None) -> tuple[AllocationCounter, str]:
    """A process whose allocations are counted; where they cannot be, one whose pages are, and the reason."""
    try:
        return AllocationCounter(timeout=timeout), ""
    except Refusal as obstacle:
        return AllocationCounter(pages=True, timeout=timeout), str(obstacle)


@attrs.define
class _MemoryVerifier:
    """Measured runs of a model, each with its prediction."""

    runs: ModelRuns
    measurements: _Measurements
    options: OnnxRuntimeOptions
    symbolic: dict[Result, SessionMemory] = attrs.Factory(dict)
    """The predictions for all sizes, by their inference: most runs have the same one."""

    def attempt(self, sizes: RunSizes) -> tuple[MemoryRun, str, bool]:
        """A measured run with its prediction, for `choose_run`."""
        run = MemoryRun(sizes.sizes, sizes.chosen)
        try:
            refuse_huge(sizes.result)
            values, measured = run_feeds(self.runs.feeds(sizes), self.measurements.peak)
        except Refusal as refusal:
            retry = bool(sizes.chosen) and not isinstance(refusal, (NotLoaded, StoppedRun))
            return attrs.evolve(run, refused=str(refusal)), str(refusal), retry
        memory, predicted = self._predict(sizes)
        run = attrs.evolve(
            run,
            values=values,
            predicted=predicted.first.bytes,
            at_least=predicted.first.at_least or bool(predicted.unknown),  # a runtime copies inputs of strings
            at_most=predicted.first.at_most,
            measured=measured,
            in_pages=bool(self.measurements.obstacle),
            notes=tuple(_notes(memory, predicted)),
        )
        return run, "", False

    def _predict(self, sizes: RunSizes) -> tuple[SessionMemory, RunAt]:
        """The prediction for all sizes at these; with the sizes bound where it is a bound, which may be exact then."""
        widened = self.runs.widen(sizes)
        memory = self.symbolic.get(widened)
        if memory is None:
            memory = self.symbolic[widened] = self._memory(widened)
        if memory.peak.exact:
            return memory, memory.at(sizes.sizes)
        memory = self._memory(sizes.result)
        return memory, memory.at()

    def _memory(self, result: Result) -> SessionMemory:
        return result.memory(runtime=MEASURED, options=self.options)


def _notes(memory: SessionMemory, predicted: RunAt) -> Iterator[str]:
    """Why a prediction is a bound, or may differ."""
    yield from (f"not counted: {buffer.name}: {buffer.cause}" for buffer in predicted.unknown)
    yield from memory.notes
