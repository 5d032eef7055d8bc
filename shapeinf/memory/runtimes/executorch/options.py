"""The options of the pass of ExecuTorch that plans memory."""

from __future__ import annotations

from typing import Literal

import attrs

Algorithm = Literal["greedy", "naive"]
"""`greedy` is the default of ExecuTorch; `naive` never uses memory twice."""


@attrs.frozen
class ExecuTorchOptions:
    """What decides the arena of a program: arguments of `MemoryPlanningPass`.

    Args:
        algorithm: how offsets are chosen.
        inputs: whether the inputs of the program are in the arena (`alloc_graph_input`), or in buffers of the caller.
        outputs: the same for its outputs (`alloc_graph_output`).
    """

    algorithm: Algorithm = "greedy"
    inputs: bool = True
    outputs: bool = True
