"""Temporaries of matrix products: transposed operands, quantized inputs of hybrid kernels, sums of rows."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.litert.kernels import input_as_bytes, is_hybrid, litert, stored_words, words
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, Temporary
from shapeinf.memory.runtimes.litert.planner import Storage

LANES, DEPTH = 4, 32
"""Rows and columns of a block of 4-bit weights (`optimized_4bit::FilterWidth`, `FilterDepth`)."""
PACKED_ROWS = 4
"""The most rows of an input that a kernel of 4-bit weights packs together (`GetMaxSupportedRows`)."""


@litert.temporaries("FULLY_CONNECTED")
def fully_connected(c: LiteRtContext) -> Sequence[Temporary]:
    """The quantized input, scales, products and zero points, and kept sums of rows (`fully_connected.cc`)."""
    if not is_hybrid(c, 1):
        return ()
    units, depth = c.input(1)
    if depth == 0:
        return ()
    if 1 in c.sparse:
        raise NotKnown("the ledger of sparse weights is not known")
    batch = c.product(*c.input(0)) // depth
    if c.dtype(1) == "int4" and 1 in c.constants and isinstance(depth, int) and isinstance(units, int):
        is_packed = depth % 2 == 0 and units >= LANES and depth >= DEPTH and batch != 0
        if is_packed:
            return _four_bits(c, batch, units, depth)
    scales = words(c, batch)
    return [input_as_bytes(c), scales, words(c, units, batch), scales, stored_words(c, units)]


def _four_bits(c: LiteRtContext, batch: DimSize, units: int, depth: int) -> list[Temporary]:
    """Operands in blocks of rows and columns."""
    if not isinstance(batch, int):
        raise NotKnown("the number of rows decides how 4-bit weights are packed")
    packed = next(rows for rows in (PACKED_ROWS, 2, 1) if batch >= rows)
    rows, columns = c.round_up(batch, packed), c.round_up(depth, DEPTH)
    scales = words(c, rows)
    return [Temporary(c.product(rows, columns)), scales, words(c, rows, c.round_up(units, LANES)), scales]


@litert.temporaries("BATCH_MATMUL")
def batch_matmul(c: LiteRtContext) -> Sequence[Temporary]:
    """Both operands transposed, a constant right one kept; a hybrid kernel has five more (`batch_matmul.cc`)."""
    left, right = c.input(0), c.input(1)
    stored: Storage = "persistent" if 1 in c.constants else "arena"
    temporaries = [Temporary(c.input_bytes(0)), Temporary(c.input_bytes(1), stored)]
    if is_hybrid(c, 1, integers=("int8",)):
        rows = left[-1] if c.attribute("adj_x") else left[-2]
        units = right[-2] if c.attribute("adj_y") else right[-1]
        scales = words(c, *left[:-2], rows)
        temporaries += [input_as_bytes(c), scales, words(c, units, rows), scales, stored_words(c, *right[:-2], units)]
    return temporaries
