"""`runtime()`: LiteRT without a delegate as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.memory.runtimes.litert.arena_memory import LiteRtMemory
from shapeinf.memory.runtimes.litert.options import LiteRtOptions


class LiteRt:
    """See `MemoryRuntime`."""

    name = "litert"
    options = LiteRtOptions

    def memory(self, inference: Inference, session: Session | None, options: LiteRtOptions, work: int) -> LiteRtMemory:
        """See `MemoryRuntime`; the operators run in the order of the file."""
        return LiteRtMemory(inference, options, work=work)


def runtime() -> LiteRt:
    """The runtime."""
    return LiteRt()
