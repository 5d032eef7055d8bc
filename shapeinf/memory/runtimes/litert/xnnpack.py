"""`runtime()`: LiteRT with XNNPACK, the default delegate of its interpreter in Python, as a `MemoryRuntime`."""

from __future__ import annotations

from shapeinf.memory.runtimes.litert.runtime import LiteRt


def runtime() -> LiteRt:
    """The runtime."""
    return LiteRt("litert-xnnpack", xnnpack=True)
