"""`runtime()`: LiteRT without a delegate as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.memory.runtimes.litert.arena_memory import LiteRtMemory
from shapeinf.memory.runtimes.litert.options import LiteRtOptions


class LiteRt:
    """See `MemoryRuntime`."""

    options = LiteRtOptions
    stores_offsets = False

    def __init__(self, name: str, xnnpack: bool) -> None:
        self.name = name
        self.xnnpack = xnnpack

    def memory(self, inference: Inference, session: Session | None, options: LiteRtOptions, work: int) -> LiteRtMemory:
        """See `MemoryRuntime`; the operators run in the order of the file."""
        return LiteRtMemory(inference, options, xnnpack=self.xnnpack, work=work)


def runtime() -> LiteRt:
    """LiteRT without a delegate."""
    return LiteRt("litert", xnnpack=False)
