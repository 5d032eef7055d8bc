"""Matrix products, and lookups whose results have copied shapes."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import WORD, dims_bytes, elements, is_quantized, number, tflite_micro
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds

FULLY_CONNECTED, BATCH_MATMUL, QUANTIZATION, TENSOR = 72, 32, 28, 24


@tflite_micro.needs("FULLY_CONNECTED")
def fully_connected(c: LiteRtContext) -> MicroNeeds:
    """Weights with a scale for each unit have a multiplier and a shift for each; those of 4 bits are unpacked."""
    stored = [FULLY_CONNECTED]
    if is_quantized(c) and len(c.scales.get(1, ())) > 1:
        stored += [WORD * number(c.input(1)[0])] * 2
    return MicroNeeds(32, stored, [elements(c.input(1))] if c.dtype(1) == "int4" else [])


@tflite_micro.needs("BATCH_MATMUL")
def batch_matmul(c: LiteRtContext) -> MicroNeeds:
    """Transposed operands are stored: the left one if it is adjoint, the right one if it is not."""
    stored = [BATCH_MATMUL]
    if is_quantized(c):
        stored.append(QUANTIZATION)
    transposed = ((0, bool(c.attribute("adj_x"))), (1, not c.attribute("adj_y")))
    for position in [position for position, is_transposed in transposed if is_transposed]:
        shape = c.input(position)
        stored += [TENSOR, dims_bytes(len(shape)), c.width(position) * elements(shape)]
    return MicroNeeds(3, [*stored, dims_bytes(len(c.output()))])


@tflite_micro.needs("GATHER")
def gather(c: LiteRtContext) -> MicroNeeds:
    """The shape of the result."""
    return MicroNeeds(8, [dims_bytes(len(c.output()))])


@tflite_micro.needs("GATHER_ND")
def gather_nd(c: LiteRtContext) -> MicroNeeds:
    """The shape of the result."""
    return MicroNeeds(0, [dims_bytes(len(c.output()))])
