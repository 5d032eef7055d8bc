"""What a runtime decides about memory: the order of nodes, shared buffers, alignment, temporaries, and its arena.

A runtime is a module with a function `runtime()` that returns a `MemoryRuntime`. What depends on operators is in the
runtime's package of `opdefs`, see `kernels`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import UnknownNameError
from shapeinf.graph import Graph
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.runtimes.trace import Event
from shapeinf.memory.timeline import Timeline

RUNTIMES = {"onnxruntime": "shapeinf.memory.runtimes.onnxruntime.runtime"}
"""The module of each runtime."""


TEMPORARIES = "temporaries of "
"""The beginning of the name of a buffer with a temporary of a kernel; the name of its node follows."""

Level = Literal["off", "basic", "extended", "all"]
"""How far a session optimizes a graph."""


@attrs.frozen
class RuntimeOptions:
    """The options of a session of a runtime.

    Args:
        threads: the number of threads in one kernel.
        reuse: whether values use the free buffers of others.
        file_order: whether nodes run in the order of the file, as in the session that wrote it.
        prepacking: whether constant weights are packed for kernels when the session is created.
        l2_cache_bytes: the second-level cache of a core, in bytes, which decides the blocks of some kernels.
        pattern: whether later runs with the shapes of an earlier one place their buffers in one block.
        arena: whether an arena takes regions of memory from the system.
        optimized: the path of the file that a session wrote of the model after its optimizations, which it runs.
        optimize: the level at which to write this file here, which needs the runtime; None to run the model as it is.
    """

    threads: int = 1
    reuse: bool = True
    file_order: bool = False
    prepacking: bool = True
    l2_cache_bytes: int = KernelOptions().l2_cache_bytes
    pattern: bool = True
    arena: bool = True
    optimized: str | None = None
    optimize: Level | None = None

    @property
    def kernels(self) -> KernelOptions:
        """The options that kernels read."""
        return KernelOptions(self.threads, self.l2_cache_bytes, self.prepacking)


@attrs.frozen
class Run:
    """One run of a model in a runtime.

    Args:
        timeline: the nodes in the order in which they run, and the buffers in the order of their allocation: with the
            roles "weight" and "scratch", those that a session holds and the temporaries of kernels.
        idle: by name of a buffer, the ranges of program points in which no value of it is needed, though it is kept for
            a value that is computed later.
        notes: why a session may differ from this prediction.
        is_bound: a session may need less: temporaries are upper bounds, or data choose a branch.
    """

    timeline: Timeline
    idle: Mapping[str, tuple[tuple[int, int], ...]]
    notes: tuple[str, ...] = ()
    is_bound: bool = False


class MemoryRuntime(Protocol):
    """A runtime: the buffers of one run, and how it takes memory from the system."""

    name: str

    def optimized(self, inference: Inference, options: RuntimeOptions) -> tuple[Graph, RuntimeOptions]:
        """The graph that a session runs of a model, and the options with its order.

        Raises ModelError for a model that it does not load, MissingPackageError where it is needed and not installed.
        """

    def run(self, inference: Inference, options: RuntimeOptions) -> Run:
        """The run of a model, for all sizes."""

    def block(self, events: Sequence[Event]) -> int:
        """The bytes of the block in which later runs of the same shapes place buffers with these events."""

    def regions(self, runs: Sequence[Sequence[Event]]) -> list[tuple[int, ...]]:
        """The regions that the arena takes from the system in each of these runs, one after the other."""


def load_runtime(name: str) -> MemoryRuntime:
    """The runtime of a name. Raises UnknownNameError."""
    if name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    runtime: MemoryRuntime = importlib.import_module(RUNTIMES[name]).runtime()
    return runtime
