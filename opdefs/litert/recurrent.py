"""Temporaries of recurrent kernels: gates, quantized inputs and states of hybrid kernels, sums of rows."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.litert.kernels import input_as_bytes, is_hybrid, litert, stored_words, words
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, ceildiv, maximum
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, Temporary

INPUT_GATE, OUTPUT_GATE, RECURRENT_OUTPUT, PROJECTION = 1, 4, 8, 16
"""Weights of an LSTM, by position; the first is absent where the input gate is coupled to the forget gate (CIFG)."""
OUTPUT_STATE, CELL_STATE = 18, 19
BACKWARD = 17
"""The distance of the weights of the backward cell of a bidirectional LSTM from those of the forward one."""
STATES, AUXILIARY, AUXILIARY_WEIGHTS = 35, 39, 40
SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"
MARGIN = 16
"""Elements after the gates of a sequence, which spare the product a copy."""
INTEGER_INTERMEDIATES = 5
"""The tensors for quantization that an LSTM of 8-bit weights and 16-bit cell states has."""


@litert.temporaries("LSTM", SEQUENCE)
def lstm(c: LiteRtContext) -> Sequence[Temporary]:
    """The gates; a hybrid kernel has eleven more (`lstm.cc`, `unidirectional_sequence_lstm.cc`)."""
    if c.text("kernel_type") == "BASIC":
        return ()
    source = c.input(0)
    batch = source[1] if len(source) == 3 and c.attribute("time_major") else source[0]
    cells = c.input(OUTPUT_GATE)[0]
    if c.dtype(0) == "int8":
        return _integer_lstm(c, batch, cells)
    gates = _gates(c, batch, cells, 0, MARGIN if c.op_def.name == SEQUENCE else 0)
    if not is_hybrid(c, OUTPUT_GATE):
        return [gates]
    if c.sparse:
        raise NotKnown("the ledgers of sparse weights are not known")
    scales = words(c, batch)
    return [
        *(gates, input_as_bytes(c), input_as_bytes(c, OUTPUT_STATE), input_as_bytes(c, CELL_STATE)),
        *(scales, scales, scales, words(c, cells), words(c, cells, batch), scales, scales),
        _row_sums(c, cells, 0, has_auxiliary=False),
    ]


def _integer_lstm(c: LiteRtContext, batch: DimSize, cells: DimSize) -> list[Temporary]:
    """Four gates of int16, one result of int8, and one accumulator of int32."""
    if c.intermediates != INTEGER_INTERMEDIATES:
        raise NotKnown("an LSTM of 8-bit weights and 8-bit cell states was not measured")
    return [Temporary(c.product(width, batch, cells)) for width in (2, 2, 2, 2, 1, 4)]


@litert.temporaries("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(c: LiteRtContext) -> Sequence[Temporary]:
    """As for one direction, twice (`bidirectional_sequence_lstm.cc`)."""
    source = c.input(0)
    batch = source[1] if c.attribute("time_major") else source[0]
    forward, backward = c.input(OUTPUT_GATE)[0], c.input(BACKWARD + OUTPUT_GATE)[0]
    gates = [_gates(c, batch, forward, 0, MARGIN), _gates(c, batch, backward, BACKWARD, 0)]
    if not is_hybrid(c, OUTPUT_GATE):
        return gates
    has_auxiliary = c.has_input(AUXILIARY_WEIGHTS + 1)
    widest = [forward, backward]
    if has_auxiliary:
        widest += [c.input(AUXILIARY_WEIGHTS + 3)[0], c.input(AUXILIARY_WEIGHTS + 7)[0]]
    scales = [words(c, batch)] * 7
    return [
        *(*gates, input_as_bytes(c), *[input_as_bytes(c, STATES + i) for i in range(4)], *scales),
        *(words(c, forward), words(c, maximum(*widest), batch)),
        *(_row_sums(c, forward, 0, has_auxiliary), _row_sums(c, backward, BACKWARD, has_auxiliary)),
        *([input_as_bytes(c, AUXILIARY)] if has_auxiliary else ()),
    ]


def _gates(c: LiteRtContext, batch: DimSize, cells: DimSize, start: int, margin: int) -> Temporary:
    """The gates and an accumulator; no input gate where it is coupled to the forget gate."""
    gates = 5 if c.has_input(start + INPUT_GATE) else 4
    return words(c, batch, c.sum(c.product(gates, cells), margin))


def _row_sums(c: LiteRtContext, cells: DimSize, start: int, has_auxiliary: bool) -> Temporary:
    """Sums of the rows of all weights."""
    has_input_gate = c.has_input(start + INPUT_GATE)
    rows: DimSize = 8 if has_input_gate else 6
    if has_auxiliary:
        rows += 4 if has_input_gate else 3
    if c.has_input(start + PROJECTION):
        rows += ceildiv(c.input(start + RECURRENT_OUTPUT)[-1], cells)
    return stored_words(c, rows, cells)


@litert.temporaries("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(c: LiteRtContext) -> Sequence[Temporary]:
    """Those of a hybrid kernel (`basic_rnn.cc`, `unidirectional_sequence_rnn.cc`)."""
    if not is_hybrid(c, 1):
        return ()
    source, units = c.input(0), c.input(1)[0]
    batch = source[1] if len(source) == 3 and c.attribute("time_major") else source[0]
    scales = words(c, batch)
    return [
        *(input_as_bytes(c), input_as_bytes(c, 4), scales, words(c, units, batch), scales),
        stored_words(c, 2, units),
    ]


@litert.temporaries("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(c: LiteRtContext) -> Sequence[Temporary]:
    """Those of a hybrid kernel (`bidirectional_sequence_rnn.cc`)."""
    if not is_hybrid(c, 1):
        return ()
    source, forward, backward = c.input(0), c.input(1)[0], c.input(5)[0]
    batch = source[1] if c.attribute("time_major") else source[0]
    has_auxiliary = c.has_input(10)
    scales, sums = words(c, batch), 3 if has_auxiliary else 2
    return [
        *(input_as_bytes(c), input_as_bytes(c, 4), input_as_bytes(c, 8), scales),
        *(words(c, maximum(forward, backward), batch), scales),
        *(stored_words(c, sums, forward), stored_words(c, sums, backward)),
        *([input_as_bytes(c, 9)] if has_auxiliary else ()),
    ]


@litert.temporaries("SVDF")
def svdf(c: LiteRtContext) -> Sequence[Temporary]:
    """Products by filter, and those of a hybrid kernel, or the result of an integer one (`svdf.cc`)."""
    batch, filters = c.input(0)[0], c.input(1)[0]
    products = words(c, batch, filters)
    if is_hybrid(c, 1):
        scales = words(c, batch)
        return [
            *(products, input_as_bytes(c), scales, stored_words(c, *c.input(2)), scales),
            stored_words(c, filters),
        ]
    return [products, words(c, *c.output())] if c.dtype(0) == "int8" else [products]
