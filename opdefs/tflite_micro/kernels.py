"""The object that the modules of this package register their rules with."""

from __future__ import annotations

from collections.abc import Iterable

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroKernels

ALIGNMENT = 16
MODULES = ("convolution", "products", "reductions", "recurrent", "simple", "variables")
tflite_micro = MicroKernels("tflite-micro", ALIGNMENT, [f"opdefs.tflite_micro.{name}" for name in MODULES])

WORD = 4
"""The bytes of a float32 or an int32."""


def number(*factors: DimSize) -> int:
    """The product of sizes, which are numbers: the interpreter takes them from the file."""
    total = 1
    for factor in factors:
        if not isinstance(factor, int):
            raise NotKnown("a size is not a number")
        total *= factor
    return total


def elements(dims: Iterable[DimSize]) -> int:
    """The number of elements of a shape."""
    return number(*dims)


def dims_bytes(rank: int) -> int:
    """The bytes of a shape that the interpreter copies."""
    return WORD + WORD * rank


def is_quantized(c: LiteRtContext, position: int = 0) -> bool:
    """Whether an input has integers that stand for other numbers."""
    return c.dtype(position) in ("int8", "int16", "uint8")
