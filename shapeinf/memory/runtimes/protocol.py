"""What makes a runtime: its options, and the memory of a model in it.

A runtime is a module with a function `runtime()` that returns a `MemoryRuntime`. What depends on operators is in the
runtime's package of `opdefs`, see `kernels`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.errors import UnknownNameError

if TYPE_CHECKING:
    from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory

RUNTIMES = {
    "executorch": "shapeinf.memory.runtimes.executorch.runtime",
    "litert": "shapeinf.memory.runtimes.litert.runtime",
    "litert-xnnpack": "shapeinf.memory.runtimes.litert.xnnpack",
    "onnxruntime": "shapeinf.memory.runtimes.onnxruntime.runtime",
    "tflite-micro": "shapeinf.memory.runtimes.tflite_micro.runtime",
}
"""The module of each runtime."""

TEMPORARIES = "temporaries of "
"""The beginning of the name of a buffer with a temporary of a kernel; the name of its node follows."""


class MemoryRuntime(Protocol):
    """A runtime: how it orders nodes, shares and aligns buffers, and takes memory from the system."""

    name: str
    options: type[Any]
    """The class of its options; its default values are those of the runtime."""
    stores_offsets: bool
    """Whether its files may have the offsets of tensors, which `PlannedArena.save_offline` writes."""

    def memory(self, inference: Inference, session: Session | None, options: Any, work: int) -> RuntimeMemory:
        """The memory of a model; `session` inferred it, and infers another graph that the runtime runs in its place.

        Raises ShapeInferenceError for a model of a dialect that the runtime does not run.
        """


def load_runtime(name: str) -> MemoryRuntime:
    """The runtime of a name. Raises UnknownNameError."""
    if name not in RUNTIMES:
        raise UnknownNameError("runtime", name, RUNTIMES)
    runtime: MemoryRuntime = importlib.import_module(RUNTIMES[name]).runtime()
    return runtime
