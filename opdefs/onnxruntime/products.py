"""Temporaries of matrix products: floats need none; blocks of few bits are decoded, or the operand is quantized."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.expr import ceildiv
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

WEIGHT, SCALES, ZERO_POINTS, GROUPS, BIAS = range(1, 6)
INT8 = 4
"""The accuracy level at which the first operand is quantized to int8."""

onnxruntime.none("MatMul", "Gemm")
onnxruntime.none("FusedMatMul", "TransposeMatMul", "FusedGemm", domain=MS)


@onnxruntime.scratch("MatMulNBits", domain=MS)
def matmul_of_blocks(c: KernelContext) -> Scratch:
    """Quantized rows at the level of int8; nothing for 4 bits; else the decoded weight. float16 is converted."""
    depth, columns = c.integer("K"), c.integer("N")
    require_measured_blocks(c)
    rows, decoded, block = c.product(*c.input(0)[:-1]), 4 * columns * depth, c.integer("block_size")
    operand, result = c.product(4, rows, depth), c.product(4, rows, columns)
    is_half = c.dtype(0) == "float16"
    if not (c.options.prepacking and has_packed_blocks(c)):
        scales = 4 * columns * ceildiv(depth, block)
        return Scratch([decoded, operand, result, scales] if is_half else [decoded])
    if c.integer("accuracy_level") == INT8:
        return Scratch([c.sum(c.product(rows, ceildiv(depth, block) * (block + 8)), 64)])
    if c.integer("bits") == 4:
        return Scratch([operand] if is_half else [])
    return Scratch([decoded, operand, result] if is_half else [decoded])


def require_measured_blocks(c: KernelContext) -> None:
    """Raise NotKnown for operands that were not measured."""
    is_half = c.dtype(0) == "float16"
    has_float_zeros = c.has_input(ZERO_POINTS) and c.dtype(ZERO_POINTS) != "uint8"
    if c.has_input(GROUPS) or (is_half and (has_float_zeros or c.has_input(BIAS))):
        raise NotKnown("the temporaries of MatMulNBits with these operands were not measured")


def has_packed_blocks(c: KernelContext) -> bool:
    """Whether weight, scales and zero points are constants of the types that have products of their own."""
    zeros = {ZERO_POINTS} if c.has_input(ZERO_POINTS) else set()
    return {WEIGHT, SCALES, *zeros} <= c.constants and not any(c.dtype(index) != "uint8" for index in zeros)
