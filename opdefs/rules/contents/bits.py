"""Operations on the bits of integers, also of sizes: by a constant they are sums of quotients and remainders.

Two's complement makes these formulas right for negative numbers too: `~m` is `-m - 1`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from opdefs.rules.contents.elements import Operation, integer_operation
from shapeinf.expr import DimSize
from shapeinf.lattice import element_bits
from shapeinf.lattice.dtypes import INTEGER_RANGES
from shapeinf.ops import InferenceContext

MAX_RUNS = 4
"""The most groups of adjacent bits of a constant with which a symbolic integer is combined."""

_CONCRETE: dict[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}

BITWISE = tuple(_CONCRETE)


def bitwise_operation(c: InferenceContext, dtype: str | None, name: str) -> Operation:
    """`and`, `or` or `xor` of the bits of two integers, of which one may be symbolic."""

    def operation(a: DimSize, b: DimSize) -> DimSize | None:
        if isinstance(a, int) and isinstance(b, int):
            return _CONCRETE[name](a, b)
        value, mask = (a, b) if isinstance(b, int) else (b, a)
        common = _common_bits(value, mask) if isinstance(mask, int) else None
        if common is None or not isinstance(mask, int):
            return None
        return common if name == "and" else value + mask - (common if name == "or" else 2 * common)

    return integer_operation(c, dtype, operation)


def _common_bits(x: DimSize, mask: int) -> DimSize | None:
    """`x & mask`; None for a mask of many separate bits."""
    if mask < 0:
        others = _common_bits(x, ~mask)
        return None if others is None else x - others
    result: DimSize = 0
    for low, width in _runs(mask):
        result = result + (x // 2**low) % 2**width * 2**low
    return result if len(_runs(mask)) <= MAX_RUNS else None


def _runs(mask: int) -> list[tuple[int, int]]:
    """The lowest bit and the width of each group of adjacent bits that are set."""
    runs: list[tuple[int, int]] = []
    for bit in range(mask.bit_length()):
        if mask >> bit & 1:
            extends = bool(runs) and sum(runs[-1]) == bit
            runs = [*runs[:-1], (runs[-1][0], runs[-1][1] + 1)] if extends else [*runs, (bit, 1)]
    return runs


def inversion(c: InferenceContext, dtype: str | None) -> Operation:
    """All bits of an integer inverted: `-x - 1`, for an unsigned type the largest number minus x."""
    limits = INTEGER_RANGES.get(dtype or "")
    return integer_operation(c, dtype, lambda x: None if limits is None else limits[0] + limits[1] - x)


def shift_operation(c: InferenceContext, dtype: str | None, *, left: bool, limited: bool = False) -> Operation:
    """A shift by a known number of bits: a product with a power of two, or a quotient rounded down.

    Shifts by a negative number of bits, or by as many as the type has, differ between runtimes: they are unknown, or
    `limited` to 0 and to one bit less than the type has.
    """
    most = (element_bits(dtype or "") or 1) - 1

    def operation(x: DimSize, bits: DimSize) -> DimSize | None:
        if not isinstance(bits, int):
            return None
        if limited:
            bits = max(0, min(bits, most))
        if not 0 <= bits <= most:
            return None
        factor: int = 1 << bits
        return x * factor if left else x // factor

    return integer_operation(c, dtype, operation)
