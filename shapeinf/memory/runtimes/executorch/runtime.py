"""`runtime()`: ExecuTorch as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session
from shapeinf.memory.runtimes.executorch.arena_memory import ArenaMemory
from shapeinf.memory.runtimes.executorch.options import ExecuTorchOptions


class ExecuTorch:
    """See `MemoryRuntime`."""

    name = "executorch"
    options = ExecuTorchOptions
    stores_offsets = False

    def memory(
        self, inference: Inference, session: Session | None, options: ExecuTorchOptions, work: int
    ) -> ArenaMemory:
        """See `MemoryRuntime`; the graph is planned as it is."""
        return ArenaMemory(inference, options, work=work)


def runtime() -> ExecuTorch:
    """The runtime."""
    return ExecuTorch()
