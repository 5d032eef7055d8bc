"""Recurrent layers: the fused cells of LSTM and GRU."""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("LSTMBlockCell")
def lstm_block_cell(c: InferenceContext, x: Shape, cs_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """One step, [B, I] and the state [B, H] -> seven tensors [B, H]: gates, cell and hidden state."""
    state = _state_shape(c, x, cs_prev)
    return (state,) * 7


def _state_shape(c: InferenceContext, x: Shape, state: Shape) -> Shape:
    """[B, H] of an input [B, I] and a state [B, H]."""
    return Shape((c.with_rank(x, 2)[0], c.with_rank(state, 2)[1]))


@tf("LSTMBlockCellGrad")
def lstm_block_cell_grad(c: InferenceContext, x: Shape, cs_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """The gradient of the cell [B, H], of all gates [B, 4*H], and of the three peepholes [H]."""
    state = _state_shape(c, x, cs_prev)
    peephole = c.vector(state[1])
    return (state, Shape((state[0], c.multiply(state[1], 4))), peephole, peephole, peephole)


@tf("BlockLSTM", "BlockLSTMV2")
def block_lstm(
    c: InferenceContext,
    seq_len_max: Shape,
    x: Shape,
    cs_prev: Shape,
    h_prev: Shape,
    w: Shape,
    wci: Shape,
    wcf: Shape,
    wco: Shape,
    b: Shape,
) -> tuple[Shape, ...]:
    """All steps, [T, B, I] and biases [4*H] -> seven tensors [T, B, H]."""
    steps, batch, _ = c.with_rank(x, 3)
    biases = c.with_rank(b, 1)[0]
    hidden = c.divide(biases, 4, evenly_divisible=True)
    if not isinstance(hidden, int):
        hidden = c.merge(c.with_rank(cs_prev, 2)[1], hidden)
    return (Shape((steps, batch, hidden)),) * 7


@tf("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad(
    c: InferenceContext,
    seq_len_max: Shape,
    x: Shape,
    cs_prev: Shape,
    h_prev: Shape,
    w: Shape,
    wci: Shape,
    wcf: Shape,
    wco: Shape,
    b: Shape,
    *rest: Shape,
) -> tuple[Shape, ...]:
    """The shapes of the inputs, states, weights and biases."""
    operands = ((x, 3), (cs_prev, 2), (h_prev, 2), (w, 2), (wci, 1), (wcf, 1), (wco, 1), (b, 1))
    return tuple(c.with_rank(shape, rank) for shape, rank in operands)


@tf("GRUBlockCell")
def gru_block_cell(c: InferenceContext, x: Shape, h_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """One step, [B, I] and the state [B, H] -> reset and update gates, candidate and state, [B, H] each."""
    state = _state_shape(c, x, h_prev)
    return (state,) * 4


@tf("GRUBlockCellGrad")
def gru_block_cell_grad(c: InferenceContext, x: Shape, h_prev: Shape, w_ru: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """The gradients of the input, of the state, of the candidate, and of both gates [B, 2*H]."""
    state, gates = _state_shape(c, x, h_prev), c.with_rank(w_ru, 2)[1]
    return (c.with_rank(x, 2), state, state, Shape((state[0], gates)))


# -- cuDNN -------------------------------------------------------------------------------------------------------------


def _cudnn_outputs(
    c: InferenceContext, input_: Shape, input_h: Shape, params: Shape, cell: Shape, direction: str
) -> tuple[Shape, ...]:
    """[T, B, I] and [L*D, B, H] -> [T, B, H*D], the states, and a reserve whose size the library chooses."""
    first, second, _ = c.with_rank(input_, 3)
    state = c.with_rank(input_h, 3)
    c.with_rank(params, 1)
    hidden: Dim = c.multiply(state[2], 2 if direction == "bidirectional" else 1)
    return (Shape((first, second, hidden)), state, cell, c.unknown_shape())


@tf("CudnnRNN")
def cudnn_rnn(
    c: InferenceContext,
    input_: Shape,
    input_h: Shape,
    input_c: Shape,
    params: Shape,
    *,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
) -> tuple[Shape, ...]:
    """A recurrent network; the cell state is a scalar where the network has none."""
    cell = c.with_rank(input_h, 3) if rnn_mode == "lstm" else c.scalar()
    return _cudnn_outputs(c, input_, input_h, params, cell, direction)


@tf("CudnnRNNV2")
def cudnn_rnn_with_host_reserve(
    c: InferenceContext,
    input_: Shape,
    input_h: Shape,
    input_c: Shape,
    params: Shape,
    *,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
) -> tuple[Shape, ...]:
    """As CudnnRNN, with a second reserve."""
    outputs = cudnn_rnn(c, input_, input_h, input_c, params, rnn_mode=rnn_mode, direction=direction)
    return (*outputs, c.unknown_shape())


@tf("CudnnRNNV3")
def cudnn_rnn_of_lengths(
    c: InferenceContext,
    input_: Shape,
    input_h: Shape,
    input_c: Shape,
    params: Shape,
    sequence_lengths: Shape,
    *,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
) -> tuple[Shape, ...]:
    """As CudnnRNNV2, with lengths; [B, T, I] where `time_major` is false, and projections have a state of their own."""
    cell = c.with_rank(input_c, 3) if rnn_mode == "lstm" else c.scalar()
    outputs = _cudnn_outputs(c, input_, input_h, params, cell, direction)
    c.with_rank(sequence_lengths, 1)
    return (*outputs, c.unknown_shape())


@tf("CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3")
def cudnn_rnn_backprop(
    c: InferenceContext, input_: Shape, input_h: Shape, input_c: Shape, params: Shape, *rest: Shape
) -> tuple[Shape, ...]:
    """The shapes of the input, the states and the parameters."""
    return (input_, input_h, input_c, params)


@tf("CudnnRNNParamsSize")
def cudnn_rnn_params_size(c: InferenceContext, num_layers: Shape, num_units: Shape, input_size: Shape) -> Shape:
    """A vector of one number."""
    require_scalars(c, num_layers, num_units, input_size)
    return c.vector(1)


@tf("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def cudnn_rnn_params_to_canonical(
    c: InferenceContext, num_layers: Shape, num_units: Shape, input_size: Shape, params: Shape
) -> tuple[Shape, ...]:
    """Matrices of weights and vectors of biases."""
    cudnn_rnn_params_size(c, num_layers, num_units, input_size)
    c.with_rank(params, 1)
    both = c.attributes.get("num_params")
    weights = c.attr("num_params_weights") if both is None else both
    if not isinstance(weights, int) or not 0 <= weights <= c.num_outputs:
        raise ShapeError(f"the number of weights must be in 0..{c.num_outputs}, but is {weights}")
    matrices = tuple(c.matrix(None, None) for _ in range(weights))
    return (*matrices, *(c.vector(None) for _ in range(c.num_outputs - weights)))


@tf("CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2")
def cudnn_rnn_canonical_to_params(
    c: InferenceContext, num_layers: Shape, num_units: Shape, input_size: Shape, *params: Shape
) -> Shape:
    """A vector of all parameters."""
    cudnn_rnn_params_size(c, num_layers, num_units, input_size)
    return c.vector(None)
