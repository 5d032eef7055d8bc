"""Temporaries of recurrent layers: the gates of all steps, the state, and reversed copies; all in float32.

Input [T, B, I], hidden size H; a direction computes after the other, and its buffers stay.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

BIAS, LENGTHS = 3, 4


@attrs.frozen
class Layer:
    """The sizes of a recurrent layer: steps, batch, inputs, hidden size, directions, and whether one is reversed."""

    steps: DimSize
    batch: DimSize
    inputs: DimSize
    hidden: int
    directions: int
    is_reversed: bool


def read_layer(c: KernelContext) -> Layer:
    """The sizes of a layer. Raises NotKnown for batch first, and for an absent hidden size."""
    x, hidden, direction = c.input(0), c.integer("hidden_size"), c.text("direction", "forward")
    if c.integer("layout") or not hidden:
        raise NotKnown("the temporaries of a recurrent layer with batch first, or without hidden size, are not known")
    return Layer(x[0], x[1], x[2], hidden, 2 if direction == "bidirectional" else 1, direction != "forward")


@onnxruntime.scratch("LSTM")
def lstm(c: KernelContext) -> Scratch:
    """Gates, states of both kinds, peepholes; buffers for outputs that the node does not have."""
    return Scratch([*_lstm_buffers(c, read_layer(c))])


@onnxruntime.scratch("DynamicQuantizeLSTM", domain=MS)
def quantized_lstm(c: KernelContext) -> Scratch:
    """As of LSTM, and the quantized input and state."""
    layer = read_layer(c)
    quantized = [c.product(layer.steps, layer.batch, layer.inputs), c.product(16, layer.batch, layer.hidden)]
    return Scratch([*_lstm_buffers(c, layer), *quantized * layer.directions])


def _lstm_buffers(c: KernelContext, layer: Layer) -> Iterator[DimSize]:
    hidden, state = 4 * layer.hidden, c.product(4, layer.batch, layer.hidden)
    for _ in range(layer.directions):
        yield from (hidden, hidden, state, state, state)
        yield c.product(16, layer.steps, layer.batch, layer.hidden)
        yield from [hidden] * 4 if c.has_input(BIAS) else ()
        yield from () if c.has_input(LENGTHS) else (c.product(4, layer.batch),)
    for index in (1, 2):
        if not c.has_output(index):
            yield c.product(layer.directions, state)
    yield from _reversed_copies(c, layer)


@onnxruntime.scratch("GRU")
def gru(c: KernelContext) -> Scratch:
    """Gates and states; more of them with a bias, and with `linear_before_reset`."""
    return Scratch([*_gru_buffers(c, read_layer(c))])


def _gru_buffers(c: KernelContext, layer: Layer) -> Iterator[DimSize]:
    state = c.product(4, layer.batch, layer.hidden)
    linear = bool(c.integer("linear_before_reset"))
    states = 2 + linear + ((3 + linear) if c.has_input(BIAS) else 0)
    for _ in range(layer.directions):
        yield from [state] * states
        yield c.product(12, layer.steps, layer.batch, layer.hidden)
        yield from () if c.has_input(LENGTHS) else (c.product(4, layer.batch),)
    if not c.has_output(1):
        yield c.product(layer.directions, state)
    yield from _reversed_copies(c, layer)


def _reversed_copies(c: KernelContext, layer: Layer) -> Iterator[DimSize]:
    """The input and the result of the direction from the last step to the first one."""
    if layer.is_reversed:
        yield c.product(4, layer.steps, layer.batch, layer.inputs)
        yield c.product(4, layer.steps, layer.batch, layer.hidden)


@onnxruntime.scratch("RNN")
def rnn(c: KernelContext) -> Scratch:
    """The gate of all steps, of one direction at a time; the result, if the node has only the last state."""
    layer = read_layer(c)
    gate = c.product(4, layer.steps, layer.batch, layer.hidden)
    return Scratch([gate] if c.has_output(0) else [gate, c.product(layer.directions, gate)])
