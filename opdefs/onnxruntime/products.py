"""Temporaries of matrix products: floats need none; blocks of few bits are decoded, or the operand is quantized."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, ceildiv
from shapeinf.memory.runtimes.kernels import NO_SCRATCH, KernelContext, Scratch

WEIGHT, SCALES = 1, 2
INT8 = 4
"""The accuracy level at which the first operand is quantized to int8."""
BITS = (4, 8)

onnxruntime.none("MatMul", "Gemm")
onnxruntime.none("FusedMatMul", "TransposeMatMul", "FusedGemm", domain=MS)


@onnxruntime.scratch("MatMulNBits", domain=MS)
def matmul_of_blocks(c: KernelContext) -> Scratch:
    """The decoded weight; or, for a constant one, the quantized rows with scale and sum of each block, or nothing."""
    depth, columns, bits = (c.integer(name) for name in ("K", "N", "bits"))
    level = c.integer("accuracy_level")
    if c.dtype(0) != "float32" or bits not in BITS or level not in (0, 1, INT8) or c.has_input(4):
        raise NotKnown("the temporaries of MatMulNBits with these types were not measured")
    if not (c.options.prepacking and {WEIGHT, SCALES} <= c.constants) or (bits != 4 and level != INT8):
        return Scratch([4 * columns * depth])
    return Scratch([quantized_rows(c, depth)]) if level == INT8 else NO_SCRATCH


def quantized_rows(c: KernelContext, depth: int) -> DimSize:
    """The bytes of the quantized rows of the first operand [..., K]."""
    block = c.integer("block_size")
    return c.sum(c.product(*c.input(0)[:-1], ceildiv(depth, block) * (block + 8)), 64)
