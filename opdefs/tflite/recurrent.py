"""Recurrent layers. Inputs are [batch, time, features], or [time, batch, features] with `time_major`."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.operands import require_count
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape

FEATURES = "the input must have the features of the weights"
STATE = "the state must have one row for each item of the batch"
CELLS = "the state must have the size of a cell"


@tflite("SVDF")
def svdf(
    c: TensorFlowContext,
    x: Shape,
    weights_feature: Shape,
    weights_time: Shape,
    bias: Shape | None,
    state: Shape,
    *,
    rank: int = 0,
) -> Shape:
    """[B, K], [filters, K], [filters, memory], [units], state [B, memory * filters] -> [B, filters / rank]."""
    batch, features = c.require_rank(x, 2)
    filters, depth = c.require_rank(weights_feature, 2, "weights_feature")
    rows, memory = c.require_rank(weights_time, 2, "weights_time")
    if rank < 1:
        c.fail("rank must be at least 1", rank)
    c.divisible(filters, rank, "the filters must be a multiple of rank")
    c.merge(features, depth, FEATURES)
    c.merge(rows, filters, "both weights must have the same number of filters")
    require_count(c, bias, filters // rank, "the bias must have one value for each unit")
    items, length = c.require_rank(state, 2, "the state")
    c.merge(items, batch, STATE)
    c.merge(length, memory * filters, "the state must have the memory of each filter")
    return Shape((batch, filters // rank))


@tflite("RNN")
def rnn(c: TensorFlowContext, x: Shape, weights: Shape, recurrent: Shape, bias: Shape, state: Shape) -> Shape:
    """[B, K], [units, K], [units, units], [units], state [B, units] -> [B, units]."""
    batch, features = c.require_rank(x, 2)
    return Shape((batch, _rnn_units(c, features, batch, (weights, recurrent, bias, state))))


def _rnn_units(c: TensorFlowContext, features: DimSize, batch: DimSize, operands: Sequence[Shape]) -> DimSize:
    """The number of units of weights [units, K], [units, units], a bias [units] and a state [B, units]."""
    weights, recurrent, bias, state = operands
    units, depth = c.require_rank(weights, 2, "the weights")
    c.merge(features, depth, FEATURES)
    rows, columns = c.require_rank(recurrent, 2, "the recurrent weights")
    c.merge(rows, columns, "the recurrent weights must be square")
    c.merge(c.require_rank(bias, 1, "the bias")[0], units, "the bias must have one value for each unit")
    c.merge(rows, units, "the recurrent weights must have one row for each unit")
    items, size = c.require_rank(state, 2, "the state")
    c.merge(items, batch, STATE)
    c.merge(size, units, CELLS)
    return units


@tflite("UNIDIRECTIONAL_SEQUENCE_RNN")
def unidirectional_sequence_rnn(
    c: TensorFlowContext,
    x: Shape,
    weights: Shape,
    recurrent: Shape,
    bias: Shape,
    state: Shape,
    *,
    time_major: bool = False,
) -> Shape:
    """[B, T, K] and the operands of RNN -> [B, T, units]."""
    first, second, features = c.require_rank(x, 3)
    batch = second if time_major else first
    return Shape((first, second, _rnn_units(c, features, batch, (weights, recurrent, bias, state))))


@tflite("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_sequence_rnn(
    c: TensorFlowContext, x: Shape, *operands: Shape | None, time_major: bool = False, merge_outputs: bool = False
) -> tuple[Shape, ...]:
    """[B, T, K], the operands of two RNN, an auxiliary input with weights -> [B, T, fw], [B, T, bw] or both joined."""
    first, second, features = c.require_rank(x, 3)
    batch = second if time_major else first
    directions = [operands[0:4], operands[4:8]]
    units = []
    for direction in directions:
        present = [operand for operand in direction if operand is not None]
        if len(present) < 4:
            c.fail("each direction must have weights, recurrent weights, a bias and a state")
        auxiliary = operands[8] if len(operands) > 8 else None
        joined = auxiliary is not None and (len(operands) < 10 or operands[9] is None)
        own = auxiliary[-1] if joined and auxiliary is not None and direction is directions[1] else features
        units.append(_rnn_units(c, own, batch, present))
    if merge_outputs:
        return (Shape((first, second, units[0] + units[1])),)
    return Shape((first, second, units[0])), Shape((first, second, units[1]))


# -- LSTM --------------------------------------------------------------------------------------------------------------


@tflite("LSTM")
def lstm(c: TensorFlowContext, *operands: Shape | None, kernel_type: str = "FULL") -> tuple[PartialTensor, ...]:
    """[B, K], weights, states -> [B, units]; the basic kernel also returns the cells and two workspaces."""
    if kernel_type == "BASIC":
        return _basic_lstm(c, operands)
    batch, features = c.require_rank(_present(c, operands, 0), 2)
    units, _ = _lstm_sizes(c, operands, batch, features)
    return (PartialTensor(None, Shape((batch, units)), None),)


def _present(c: TensorFlowContext, operands: Sequence[Shape | None], index: int) -> Shape:
    operand = operands[index] if index < len(operands) else None
    if operand is None:
        c.fail(f"input {index} must be present")
    return operand


def _basic_lstm(c: TensorFlowContext, operands: Sequence[Shape | None]) -> tuple[PartialTensor, ...]:
    """[B, K], activations [B, D], [4*D, K+D], bias [4*D], cells [B, D] -> [B, D], [B, D], [B, K+D], [B, 4*D]."""
    x, activation, weights, bias, cells = (_present(c, operands, index) for index in range(5))
    batch, features = c.require_rank(x, 2)
    rows, depth = c.require_rank(activation, 2, "the previous activations")
    c.merge(rows, batch, STATE)
    gates, columns = c.require_rank(weights, 2, "the weights")
    c.merge(gates, depth * 4, "the weights must have four rows for each unit")
    c.merge(columns, features + depth, "the weights must have one column for each feature and each unit")
    c.merge(c.require_rank(bias, 1, "the bias")[0], depth * 4, "the bias must have four values for each unit")
    items, size = c.require_rank(cells, 2, "the cells")
    c.merge(items, batch, STATE)
    c.merge(size, depth, CELLS)
    shapes = (batch, depth), (batch, depth), (batch, features + depth), (batch, depth * 4)
    return tuple(PartialTensor(None, Shape(dims), None) for dims in shapes)


INPUT_TO_OUTPUT, RECURRENT_TO_OUTPUT, PROJECTION = 4, 8, 16


def _lstm_sizes(
    c: TensorFlowContext, operands: Sequence[Shape | None], batch: DimSize, features: DimSize
) -> tuple[DimSize, DimSize]:
    """The outputs and the cells of a fused LSTM; operands 1..4 and 5..8 are weights of gates, 18 and 19 the states."""
    cells, depth = c.require_rank(_present(c, operands, INPUT_TO_OUTPUT), 2, "the input weights")
    c.merge(depth, features, FEATURES)
    rows, outputs = c.require_rank(_present(c, operands, RECURRENT_TO_OUTPUT), 2, "the recurrent weights")
    c.merge(rows, cells, "the recurrent weights must have one row for each cell")
    for first, columns in ((1, features), (5, outputs)):
        for index in range(first, first + 4):
            weights = operands[index] if index < len(operands) else None
            if weights is not None:
                c.merge(weights, Shape((cells, columns)), "the weights of all gates must have the same shape")
    for index in range(9, 16):
        vector = operands[index] if index < len(operands) else None
        if vector is not None:
            c.merge(c.require_rank(vector, 1, f"input {index}")[0], cells, f"input {index} must have one value a cell")
    projection = operands[PROJECTION] if len(operands) > PROJECTION else None
    if projection is not None:
        c.merge(projection, Shape((outputs, cells)), "the projection must lead from the cells to the outputs")
    for index, size in ((18, outputs), (19, cells)):
        state = operands[index] if index < len(operands) else None
        if state is not None and state.dims is not None:
            c.merge(c.numel(state), batch * size, f"the state in input {index} must have one row an item")
    return outputs, cells


@tflite("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(c: TensorFlowContext, *operands: Shape | None, time_major: bool = False) -> Shape:
    """[B, T, K], weights of gates, biases, states -> [B, T, outputs]."""
    first, second, features = c.require_rank(_present(c, operands, 0), 3)
    units, _ = _lstm_sizes(c, operands, second if time_major else first, features)
    return Shape((first, second, units))


@tflite("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_sequence_lstm(
    c: TensorFlowContext, *operands: Shape | None, time_major: bool = True, merge_outputs: bool = False
) -> tuple[Shape, ...]:
    """[T, B, K], the weights of both directions, states -> [T, B, fw], [T, B, bw], or both joined."""
    first, second, features = c.require_rank(_present(c, operands, 0), 3)
    batch = second if time_major else first
    forward = [operands[0], *operands[1:18], *operands[35:37]]
    backward = [operands[0], *operands[18:35], *operands[37:39]]
    auxiliary = operands[39] if len(operands) > 39 else None
    has_weights = any(weights is not None for weights in operands[40:48])
    own = auxiliary[-1] if auxiliary is not None and not has_weights else features
    forward_units, cells = _lstm_sizes(c, forward, batch, features)
    backward_units, others = _lstm_sizes(c, backward, batch, own)
    c.merge(others, cells, "both directions must have the same number of cells")
    if merge_outputs:
        return (Shape((first, second, forward_units + backward_units)),)
    return Shape((first, second, forward_units)), Shape((first, second, backward_units))
