"""`runtime()`: TensorFlow Lite Micro as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.memory.runtimes.tflite_micro.arena_memory import TfliteMicroMemory
from shapeinf.memory.runtimes.tflite_micro.options import TfliteMicroOptions


class TfliteMicro:
    """See `MemoryRuntime`."""

    name = "tflite-micro"
    options = TfliteMicroOptions
    stores_offsets = True

    def memory(
        self, inference: Inference, session: Session | None, options: TfliteMicroOptions, work: int
    ) -> TfliteMicroMemory:
        """See `MemoryRuntime`; the operators run in the order of the file."""
        return TfliteMicroMemory(inference, options, work=work)


def runtime() -> TfliteMicro:
    """The runtime."""
    return TfliteMicro()
