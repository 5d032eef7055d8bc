"""`runtime()`: onnxruntime as a `MemoryRuntime`."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats import load
from shapeinf.graph import Graph
from shapeinf.memory.runtimes.kernels import RuntimeKernels, find_kernels
from shapeinf.memory.runtimes.onnxruntime.arena import Arena
from shapeinf.memory.runtimes.onnxruntime.bodies import run_bodies
from shapeinf.memory.runtimes.onnxruntime.optimizing import is_unchanged, optimize
from shapeinf.memory.runtimes.onnxruntime.pattern import block_size
from shapeinf.memory.runtimes.onnxruntime.walk import Walk
from shapeinf.memory.runtimes.protocol import Run, RuntimeOptions
from shapeinf.memory.runtimes.trace import Event


class OnnxRuntime:
    """See `MemoryRuntime`."""

    name = "onnxruntime"

    def optimized(self, inference: Inference, options: RuntimeOptions) -> tuple[Graph, RuntimeOptions]:
        """See `MemoryRuntime`; a session runs the nodes of its file in their order, unless it changed nothing."""
        self.kernels(inference)  # raises for a model of another dialect, which no session would load
        graph = inference.compiled.graph
        written = optimize(graph, options.optimize or "all") if options.optimized is None else load(options.optimized)
        operations = inference.compiled.operations.values()
        constants = {(o.kind.domain, o.kind.op) for o in operations if o.op_def is not None and o.op_def.stored}
        return written, attrs.evolve(options, file_order=not is_unchanged(graph, written, constants))

    def run(self, inference: Inference, options: RuntimeOptions) -> Run:
        """See `MemoryRuntime`."""
        return Walk(inference, self.kernels(inference), options, run_bodies).run()

    def block(self, events: Sequence[Event]) -> int:
        """See `MemoryRuntime`."""
        return block_size(events)

    def regions(self, runs: Sequence[Sequence[Event]]) -> list[tuple[int, ...]]:
        """See `MemoryRuntime`."""
        arena, taken = Arena(), []
        for events in runs:
            before = len(arena.regions)
            arena.run(events)
            taken.append(tuple(arena.regions[before:]))
        return taken

    def kernels(self, inference: Inference) -> RuntimeKernels:
        """The kernels for the operators of a model. Raises ShapeInferenceError for a dialect that it does not run."""
        compiled = inference.compiled
        kernels = find_kernels(compiled.registry.dialect(compiled.graph.dialect), self.name)
        if kernels is None:
            raise ShapeInferenceError(f"{self.name} runs no models of the dialect {compiled.graph.dialect!r}")
        return kernels


def runtime() -> OnnxRuntime:
    """The runtime."""
    return OnnxRuntime()
