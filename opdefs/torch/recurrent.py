"""Recurrent layers and cells, whose sizes are those of their weights."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.names import function_name
from opdefs.rules.operands import require_vector
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
"""The number of gates of a cell."""

STATE = "an initial state must be [num_layers * directions, batch, size]"


@torch(*(f"aten.{name}.input" for name in GATES))
def recurrent(
    c: InferenceContext,
    input: TensorType,
    hx: Shape | None = None,
    *tensors: Shape,
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    lengths: Ints,
) -> tuple[TensorType, ...]:
    """[T, N, I] -> [T, N, D*H], and the last states [L*D, N, H]; N first or missing.

    `tensors` are the initial states, if they are a list, and for each layer and direction the weights [G*H, I],
    [G*H, H], two biases [G*H], and for projected states a weight [P, H].
    """
    states, params = _split_tensors(c, hx, tensors, lengths)
    x = c.require_rank(input.shape, 3, "the input")
    time, batch = (x[1], x[0]) if batch_first else (x[0], x[1])
    c.at_least(time, 1, "the sequence must have at least one step")
    directions = 2 if bidirectional else 1
    shapes = _last_states(c, states, params, (x[2], batch), num_layers * directions, directions, has_biases)
    sizes = (x[0], x[1], shapes[0][2] * directions)
    return tuple(TensorType(input.dtype, shape) for shape in (Shape(sizes), *shapes))


@torch(*(f"aten.{name}.data" for name in GATES))
def recurrent_of_packed(
    c: InferenceContext,
    data: TensorType,
    batch_sizes: Shape,
    hx: Shape | None = None,
    *tensors: Shape,
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    lengths: Ints,
) -> tuple[TensorType, ...]:
    """As `recurrent` for packed sequences: data [all steps, I] -> [all steps, D*H], and the last states."""
    states, params = _split_tensors(c, hx, tensors, lengths)
    x = c.require_rank(data.shape, 2, "data")
    c.require_rank(batch_sizes, 1, "batch_sizes")
    batch = c.require_rank(states[0], 3, "the initial state")[1]
    directions = 2 if bidirectional else 1
    shapes = _last_states(c, states, params, (x[1], batch), num_layers * directions, directions, has_biases)
    output = Shape((x[0], shapes[0][2] * directions))
    return tuple(TensorType(data.dtype, shape) for shape in (output, *shapes))


def _split_tensors(
    c: InferenceContext, hx: Shape | None, tensors: Sequence[Shape], lengths: Ints
) -> tuple[Sequence[Shape], Sequence[Shape]]:
    """The initial states and the weights; a layer of LSTM has states of the outputs and states of the cells."""
    states, params = ((hx,), tensors) if hx is not None else (tensors[: lengths[0]], tensors[lengths[0] :])
    if len(states) != (2 if function_name(c.op_def.name) == "lstm" else 1):
        c.fail("there must be one initial state, for LSTM two", lengths)
    return states, params


def _last_states(
    c: InferenceContext,
    states: Sequence[Shape],
    params: Sequence[Shape],
    sizes: tuple[DimSize, DimSize],
    runs: int,
    directions: int,
    has_biases: bool,
) -> list[Shape]:
    """The shapes of the last states for input and batch of these sizes, after constraining weights and first states.

    `runs` is the number of layers times that of directions.
    """
    if runs < 1 or len(params) % runs:
        c.fail("there must be the same weights for each layer and direction", len(params), runs)
    each = len(params) // runs
    projected = bool(each % 2)
    if each != (4 if has_biases else 2) + projected or (projected and len(states) < 2):
        c.fail("a layer must have two weights, two biases if has_biases, and a projection if states are projected")
    features, batch = sizes
    hidden = c.require_rank(states[-1], 3, "the initial state")[2]
    output = c.require_rank(states[0], 3, "the initial state")[2] if projected else hidden
    rows = GATES[function_name(c.op_def.name)] * hidden
    for run in range(runs):
        inputs = features if run < directions else directions * output
        expected = [Shape((rows, inputs)), Shape((rows, output)), *[Shape((rows,))] * (2 if has_biases else 0)]
        expected += [Shape((output, hidden))] if projected else []
        for weight, shape in zip(params[run * each : (run + 1) * each], expected, strict=True):
            c.merge(weight, shape, "a weight must have the shape that follows from the sizes of input and states")
    last = [Shape((runs, batch, size)) for size in ((output, hidden) if len(states) > 1 else (hidden,))]
    return [c.merge(state, shape, STATE) for state, shape in zip(states, last, strict=True)]


@torch("aten.gru_cell.default", "aten.rnn_tanh_cell.default", "aten.rnn_relu_cell.default")
def cell(
    c: InferenceContext,
    input: TensorType,
    hx: Shape,
    w_ih: Shape,
    w_hh: Shape,
    b_ih: Shape | None = None,
    b_hh: Shape | None = None,
) -> TensorType:
    """[N, I], [N, H], [G*H, I], [G*H, H], two of [G*H] -> [N, H]; N may be missing."""
    return TensorType(input.dtype, _step(c, input.shape, hx, (w_ih, w_hh), (b_ih, b_hh)))


@torch("aten.lstm_cell.default")
def lstm_cell(
    c: InferenceContext,
    input: TensorType,
    w_ih: Shape,
    w_hh: Shape,
    b_ih: Shape | None = None,
    b_hh: Shape | None = None,
    *hx: Shape,
) -> tuple[TensorType, TensorType]:
    """[N, I], two of [N, H], [4*H, I], [4*H, H], two of [4*H] -> two of [N, H]."""
    if len(hx) != 2:
        c.fail("there must be two initial states", len(hx))
    state = c.merge(hx[0], hx[1], "both initial states must have the same shape")
    result = TensorType(input.dtype, _step(c, input.shape, state, (w_ih, w_hh), (b_ih, b_hh)))
    return result, result


def _step(
    c: InferenceContext, input: Shape, state: Shape, weights: tuple[Shape, Shape], biases: Sequence[Shape | None]
) -> Shape:
    """The shape of the next state."""
    dims, previous = input.require(), state.require()
    if len(dims) not in (1, 2) or len(previous) != len(dims):
        c.fail("the input and the state must both have rank 1, or rank 2", input, state)
    c.merge(Shape(dims[:-1]), Shape(previous[:-1]), "the input and the state must have the same batch size")
    rows = GATES[function_name(c.op_def.name).removesuffix("_cell")] * previous[-1]
    for weight, size, name in ((weights[0], dims[-1], "w_ih"), (weights[1], previous[-1], "w_hh")):
        c.merge(weight, Shape((rows, size)), f"{name} must have one row for each gate and unit")
    for bias in biases:
        require_vector(c, bias, rows, "a bias must have one element for each gate and unit")
    return Shape(previous)
