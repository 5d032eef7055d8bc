"""`RuntimeMemory`: the memory of a model in a runtime, whichever it is."""

from __future__ import annotations

from typing import Any

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.errors import ShapeInferenceError
from shapeinf.memory.memory import Memory
from shapeinf.memory.runtimes.kernels import RuntimeKernels, find_kernels
from shapeinf.memory.runtimes.protocol import load_runtime
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.sharing import cached_property, synchronized


@synchronized
class RuntimeMemory(Memory):
    """The buffers that a runtime allocates, in its order and with its sizes.

    `Result.memory(runtime=...)` creates it. It is a `Memory`, with the queries of one: peak, plan and totals.
    """

    name: str
    """The runtime."""
    notes: tuple[str, ...]
    """Why the runtime may need another amount than is counted here."""
    sized_in_runs: tuple[str, ...] = ()
    """The values that get their sizes when their nodes run, so that the runtime plans no memory for them before."""

    def _begin_run(
        self, inference: Inference, name: str, timeline: Timeline, notes: tuple[str, ...], work: int
    ) -> None:
        self._begin(inference, work)
        self.name = name
        self.timeline = timeline
        self.notes = notes

    @cached_property
    def unknown_scratch(self) -> tuple[Buffer, ...]:
        """The temporaries of unknown size; each has a `cause`."""
        return tuple([buffer for buffer in self.unsized if buffer.role == "scratch"])


def runtime_memory(inference: Inference, session: Session | None, name: str, options: Any, work: int) -> RuntimeMemory:
    """The memory of a model in a runtime.

    Raises UnknownNameError for a runtime, ShapeInferenceError for a model that it does not run, or for the options of
    another one; what else it raises depends on the runtime.
    """
    runtime = load_runtime(name)
    if options is not None and not isinstance(options, runtime.options):
        raise ShapeInferenceError(f"the options of {name} are {runtime.options.__name__}, not {type(options).__name__}")
    return runtime.memory(inference, session, runtime.options() if options is None else options, work)


def kernels_of(inference: Inference, name: str) -> RuntimeKernels:
    """The kernels of a runtime for the operators of a model. Raises ShapeInferenceError for another dialect."""
    compiled = inference.compiled
    kernels = find_kernels(compiled.registry.dialect(compiled.graph.dialect), name)
    if kernels is None:
        raise ShapeInferenceError(f"{name} runs no models of the dialect {compiled.graph.dialect!r}")
    return kernels
