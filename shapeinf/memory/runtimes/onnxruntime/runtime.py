"""`runtime()`: onnxruntime as a `MemoryRuntime`."""

from __future__ import annotations

import attrs

from shapeinf.engine.compiled import compile_graph
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.formats import load
from shapeinf.graph import Graph
from shapeinf.memory.runtimes.onnxruntime.optimizing import optimize
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.order import outlines
from shapeinf.memory.runtimes.onnxruntime.session_memory import SessionMemory
from shapeinf.memory.runtimes.runtime_memory import kernels_of


class OnnxRuntime:
    """See `MemoryRuntime`."""

    name = "onnxruntime"
    options = OnnxRuntimeOptions
    stores_offsets = False

    def memory(
        self, inference: Inference, session: Session | None, options: OnnxRuntimeOptions, work: int
    ) -> SessionMemory:
        """See `MemoryRuntime`; by the inference of another file where the options name that of a session.

        Raises as loading this file; MissingPackageError where onnxruntime is to write it and is not installed.
        """
        if session is None or not (options.optimized or options.optimize):
            return SessionMemory(inference, options, work=work)
        graph, options = optimized(inference, options)
        compiled = compile_graph(graph, inference.compiled.registry)
        return SessionMemory(attrs.evolve(session, compiled=compiled).run().inference, options, work=work)


def optimized(inference: Inference, options: OnnxRuntimeOptions) -> tuple[Graph, OnnxRuntimeOptions]:
    """The graph that a session runs of a model, and the options with its order.

    A session runs the nodes of the file that it writes in their order, but those of a graph, or body, that it did not
    change. Raises ModelError for a model that it does not load.
    """
    kernels_of(inference, OnnxRuntime.name)  # raises for a model of another dialect, which no session would load
    graph = inference.compiled.graph
    written = optimize(graph, options.optimize or "all") if options.optimized is None else load(options.optimized)
    unchanged = frozenset(outlines(inference.compiled))
    return written, attrs.evolve(options, file_order=True, unchanged=unchanged)


def runtime() -> OnnxRuntime:
    """The runtime."""
    return OnnxRuntime()
