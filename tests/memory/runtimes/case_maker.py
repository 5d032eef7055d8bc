"""Inputs of cases, with random sizes and contents."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.memory.runtimes.kernel_models import Input, numbers

ALL = ("y0", "y1", "y2")
SCALE, ZERO_U8, ZERO_I8 = np.array(0.02, np.float32), np.array(3, np.uint8), np.array(0, np.int8)


class Maker:
    """Inputs with random sizes and contents."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def size(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def sizes(self, *highs: int) -> tuple[int, ...]:
        """For each, a size of at least a third of it, and of at least 2."""
        return tuple(self.size(max(2, high // 3), high) for high in highs)

    def x(self, *dims: int, dtype: str = "float32") -> Input:
        return Input(numbers(self.rng, *dims, dtype=dtype))

    def w(self, *dims: int, dtype: str = "float32") -> Input:
        return Input(numbers(self.rng, *dims, dtype=dtype), constant=True)

    def k(self, value: Any) -> Input:
        return Input(np.asarray(value), constant=True)
