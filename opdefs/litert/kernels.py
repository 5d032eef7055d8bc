"""The object that the modules of this package register their rules with."""

from __future__ import annotations

from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, LiteRtKernels, Temporary

ALIGNMENT = 64
"""The multiple that offsets in the arena have (`kDefaultTensorAlignment`)."""

MODULES = (
    *("control_flow", "convolution", "outputs", "products", "recurrent", "reductions", "sharing", "simple"),
    *("transforms", "xnnpack"),
)
litert = LiteRtKernels("litert", ALIGNMENT, [f"opdefs.litert.{name}" for name in MODULES])

WORD = 4
"""The bytes of a float32 or an int32."""
FLOAT_BY_INTEGER = ("uint8", "int8", "int4", "int2")
"""The weights with which a kernel of float inputs is a hybrid one: it quantizes the inputs in each run."""


def words(c: LiteRtContext, *dims: DimSize) -> Temporary:
    """A temporary of float32 or int32."""
    return Temporary(c.product(WORD, *dims))


def stored_words(c: LiteRtContext, *dims: DimSize) -> Temporary:
    """A tensor of float32 or int32 that the kernel keeps from run to run."""
    return Temporary(c.product(WORD, *dims), "persistent")


def input_as_bytes(c: LiteRtContext, position: int = 0) -> Temporary:
    """An input, quantized to int8."""
    return Temporary(c.product(*c.input(position)))


def is_hybrid(c: LiteRtContext, weights: int, source: int = 0, integers: tuple[str, ...] = FLOAT_BY_INTEGER) -> bool:
    """Whether a kernel multiplies float inputs by integer weights."""
    return c.dtype(source) == "float32" and c.dtype(weights) in integers
