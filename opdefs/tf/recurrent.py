"""Recurrent layers: fused cells and layers of LSTM and GRU, and those of cuDNN."""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape


@tf("LSTMBlockCell")
def lstm_block_cell(c: TensorFlowContext, x: Shape, cs_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """[B, I], state [B, H] -> seven tensors [B, H]: gates, cell and hidden state of one step."""
    state = _state_shape(c, x, cs_prev)
    return (state,) * 7


def _state_shape(c: TensorFlowContext, x: Shape, state: Shape) -> Shape:
    """[B, I], [*, H] -> [B, H]."""
    return Shape((c.with_rank(x, 2)[0], c.with_rank(state, 2)[1]))


@tf("LSTMBlockCellGrad")
def lstm_block_cell_grad(c: TensorFlowContext, x: Shape, cs_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """[B, I], state [B, H] -> gradients of the cell [B, H], all gates [B, 4*H], three peepholes [H]."""
    state = _state_shape(c, x, cs_prev)
    peephole = c.vector(state[1])
    return (state, Shape((state[0], c.multiply(state[1], 4))), peephole, peephole, peephole)


@tf("BlockLSTM", "BlockLSTMV2")
def block_lstm(
    c: TensorFlowContext,
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
    """[], [T, B, I], states, weights, biases [4*H] -> seven tensors [T, B, H]."""
    steps, batch, _ = c.with_rank(x, 3)
    biases = c.with_rank(b, 1)[0]
    hidden = c.divide(biases, 4, evenly_divisible=True)
    if not isinstance(hidden, int):
        hidden = c.merge(c.with_rank(cs_prev, 2)[1], hidden)
    elif cs_prev.rank == 2:
        c.expect(
            cs_prev[1], hidden, "the biases must have a value for each unit of four gates of the size of the state"
        )
    return (Shape((steps, batch, hidden)),) * 7


@tf("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_grad(
    c: TensorFlowContext,
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
    """The gradients of [T, B, I], both states [B, H], weights, three peepholes and biases, in their shapes."""
    operands = ((x, 3), (cs_prev, 2), (h_prev, 2), (w, 2), (wci, 1), (wcf, 1), (wco, 1), (b, 1))
    return tuple(c.with_rank(shape, rank) for shape, rank in operands)


@tf("GRUBlockCell")
def gru_block_cell(c: TensorFlowContext, x: Shape, h_prev: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """[B, I], state [B, H] -> reset and update gates, candidate and state: four tensors [B, H] of one step."""
    state = _state_shape(c, x, h_prev)
    return (state,) * 4


@tf("GRUBlockCellGrad")
def gru_block_cell_grad(c: TensorFlowContext, x: Shape, h_prev: Shape, w_ru: Shape, *rest: Shape) -> tuple[Shape, ...]:
    """[B, I], state [B, H], [I + H, 2*H] -> [B, I], [B, H], candidate [B, H], both gates [B, 2*H]."""
    state, gates = _state_shape(c, x, h_prev), c.with_rank(w_ru, 2)[1]
    return (c.with_rank(x, 2), state, state, Shape((state[0], gates)))


# -- cuDNN -------------------------------------------------------------------------------------------------------------


def _cudnn_outputs(
    c: TensorFlowContext, input_: Shape, input_h: Shape, params: Shape, cell: Shape, direction: str
) -> tuple[Shape, ...]:
    """[T, B, I], [L*D, B, H] -> [T, B, H*D], both states, and a reserve whose size the library chooses."""
    first, second, _ = c.with_rank(input_, 3)
    state = c.with_rank(input_h, 3)
    c.with_rank(params, 1)
    hidden: DimSize = c.multiply(state[2], 2 if direction == "bidirectional" else 1)
    return (Shape((first, second, hidden)), state, cell, c.unknown_shape())


@tf("CudnnRNN")
def cudnn_rnn(
    c: TensorFlowContext,
    input_: Shape,
    input_h: Shape,
    input_c: Shape,
    params: Shape,
    *,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
) -> tuple[Shape, ...]:
    """[T, B, I], states [L*D, B, H] -> [T, B, H*D], both states, and a reserve; without a cell, its state is []."""
    cell = c.with_rank(input_h, 3) if rnn_mode == "lstm" else c.scalar()
    return _cudnn_outputs(c, input_, input_h, params, cell, direction)


@tf("CudnnRNNV2")
def cudnn_rnn_with_host_reserve(
    c: TensorFlowContext,
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
    c: TensorFlowContext,
    input_: Shape,
    input_h: Shape,
    input_c: Shape,
    params: Shape,
    sequence_lengths: Shape,
    *,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
) -> tuple[Shape, ...]:
    """As CudnnRNNV2, with lengths [B]; [B, T, I] if not `time_major`. Cell states may have a size of their own."""
    cell = c.with_rank(input_c, 3) if rnn_mode == "lstm" else c.scalar()
    outputs = _cudnn_outputs(c, input_, input_h, params, cell, direction)
    c.with_rank(sequence_lengths, 1)
    return (*outputs, c.unknown_shape())


@tf("CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3")
def cudnn_rnn_backprop(
    c: TensorFlowContext, input_: Shape, input_h: Shape, input_c: Shape, params: Shape, *rest: Shape
) -> tuple[Shape, ...]:
    """The gradients of the input, both states and the parameters, in their shapes."""
    return (input_, input_h, input_c, params)


@tf("CudnnRNNParamsSize")
def cudnn_rnn_params_size(c: TensorFlowContext, num_layers: Shape, num_units: Shape, input_size: Shape) -> Shape:
    """[], [], [] -> [1]."""
    require_scalars(c, num_layers, num_units, input_size)
    return c.vector(1)


@tf("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def cudnn_rnn_params_to_canonical(
    c: TensorFlowContext, num_layers: Shape, num_units: Shape, input_size: Shape, params: Shape
) -> tuple[Shape, ...]:
    """[], [], [], [n] -> matrices of weights and vectors of biases, of unknown sizes."""
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
    c: TensorFlowContext, num_layers: Shape, num_units: Shape, input_size: Shape, *params: Shape
) -> Shape:
    """[], [], [], weights and biases -> [n]."""
    cudnn_rnn_params_size(c, num_layers, num_units, input_size)
    return c.vector(None)
