"""Recurrent kernels."""

from __future__ import annotations

from opdefs.tflite_micro.kernels import WORD, number, tflite_micro
from shapeinf.lattice import element_bits
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext
from shapeinf.memory.runtimes.tflite_micro.kernels import MicroNeeds

LSTM, SVDF = 688, 36
GATES = 4
RECURRENT_OUTPUT, CELL_STATE = 8, 19


@tflite_micro.needs("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(c: LiteRtContext) -> MicroNeeds:
    """A scratch buffer for each gate, of the element type of the cell state."""
    source = c.input(0)
    batch = source[1] if c.attribute("time_major") else source[0]
    bits = element_bits(c.dtype(CELL_STATE)) or 0
    gate = bits // 8 * number(batch, c.input(RECURRENT_OUTPUT)[1])
    return MicroNeeds(16, [LSTM], [gate] * GATES)


@tflite_micro.needs("SVDF")
def svdf(c: LiteRtContext) -> MicroNeeds:
    """Products by filter; an integer kernel has the result too."""
    batch = number(c.input(0)[0])
    scratch = [WORD * batch * number(c.input(1)[0])]
    if c.dtype(0) == "int8":
        scratch.append(WORD * number(*c.output()))
    return MicroNeeds(12, [SVDF], scratch)
