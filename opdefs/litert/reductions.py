"""Temporaries of reductions (`reduce.cc`): an index, the axes, the accumulator, and sizes."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.litert.kernels import litert, words
from opdefs.litert.outputs import is_folded
from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, Temporary
from shapeinf.memory.runtimes.litert.planner import Storage

ACCUMULATOR = {"int32": 8, "int64": 8, "bool": 1}
"""The bytes of an element of the accumulator; 4 for all other element types."""


@litert.temporaries("REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL")
def comparison(c: LiteRtContext) -> Sequence[Temporary]:
    """No accumulator."""
    return _temporaries(c)


@litert.temporaries("SUM", "MEAN")
def sum_or_mean(c: LiteRtContext) -> Sequence[Temporary]:
    """An accumulator of the size of the output."""
    return _temporaries(c, _accumulator(c, "arena" if 1 in c.known else "heap"))


@litert.temporaries("REDUCE_PROD")
def product(c: LiteRtContext) -> Sequence[Temporary]:
    """A product that is computed when it is prepared has its temporaries on the heap."""
    if is_folded(c):
        return [words(c, len(c.input(0))), *[_heap(c, size) for size in (c.elements(c.input(1)), len(c.input(0)))]]
    return _temporaries(c, _accumulator(c, "arena" if 1 in c.known else "heap"))


def _temporaries(c: LiteRtContext, *accumulator: Temporary) -> list[Temporary]:
    rank = len(c.input(0))
    axes = words(c, c.elements(c.input(1))) if 1 in c.known else _heap(c, c.elements(c.input(1)))
    sizes = words(c, rank) if 0 in c.known else _heap(c, rank)
    return [words(c, rank), axes, *accumulator, sizes]


def _heap(c: LiteRtContext, elements: DimSize) -> Temporary:
    return Temporary(c.product(4, elements), "heap")


def _accumulator(c: LiteRtContext, storage: Storage) -> Temporary:
    return Temporary(c.product(ACCUMULATOR.get(c.dtype(0), 4), *c.output()), storage)
