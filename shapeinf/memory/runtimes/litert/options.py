"""The options of an interpreter of LiteRT."""

from __future__ import annotations

import attrs


@attrs.frozen
class LiteRtOptions:
    """What decides the arenas of an interpreter.

    Args:
        threads: the threads in a kernel (`num_threads`). More than one has float convolutions keep reordered weights.
        sharing: whether tensors share memory and reuse that of others; without, all are preserved
            (`experimental_preserve_all_tensors`).
    """

    threads: int = 1
    sharing: bool = True
