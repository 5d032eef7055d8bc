"""The options of a session of onnxruntime that decide its memory."""

from __future__ import annotations

from typing import Literal

import attrs

from shapeinf.memory.runtimes.kernels import KernelOptions

Level = Literal["off", "basic", "extended", "all"]
"""How far a session optimizes a graph."""

Outline = tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]
"""The domain, operator, inputs and outputs of each node of a graph, in the order of the file."""


@attrs.frozen
class OnnxRuntimeOptions:
    """The options of a session of onnxruntime.

    Args:
        threads: the number of threads in one kernel.
        reuse: whether values use the free buffers of others.
        file_order: whether nodes run in the order of the file, as in the session that wrote it.
        unchanged: the graphs and bodies whose nodes run in the order of `execution_order` all the same, as the session
            wrote them as they were.
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
    unchanged: frozenset[Outline] = frozenset()
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
