"""What a runtime decides about memory: the order of nodes, shared buffers, alignment, temporaries, and its arena.

A runtime is a module with a function `runtime()` that returns a `MemoryRuntime`. What depends on operators is in the
runtime's package of `opdefs`, see `kernels`.
"""

from __future__ import annotations

import importlib
from typing import Protocol

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.errors import UnknownNameError
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.timeline import Timeline

RUNTIMES = {"onnxruntime": "shapeinf.memory.runtimes.onnxruntime.runtime"}
"""The module of each runtime."""


@attrs.frozen
class RuntimeOptions:
    """The options of a session of a runtime.

    Args:
        threads: the number of threads in one kernel.
        reuse: whether values use the free buffers of others.
        file_order: whether nodes run in the order of the file, as in the session that wrote it.
        prepacking: whether constant weights are packed for kernels when the session is created.
        l2_cache_bytes: the second-level cache of a core, in bytes, which decides the blocks of some kernels.
    """

    threads: int = 1
    reuse: bool = True
    file_order: bool = False
    prepacking: bool = True
    l2_cache_bytes: int = KernelOptions().l2_cache_bytes

    @property
    def kernels(self) -> KernelOptions:
        """The options that kernels read."""
        return KernelOptions(self.threads, self.l2_cache_bytes, self.prepacking)


class MemoryRuntime(Protocol):
    """A runtime: the timeline of the buffers that it allocates in one run."""

    name: str

    def timeline(self, inference: Inference, options: RuntimeOptions) -> Timeline:
        """The nodes in the order in which the runtime runs them, and the buffers, in the order of their allocation."""


def load_runtime(name: str) -> MemoryRuntime:
    """The runtime of a name. Raises UnknownNameError."""
    if name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    runtime: MemoryRuntime = importlib.import_module(RUNTIMES[name]).runtime()
    return runtime
