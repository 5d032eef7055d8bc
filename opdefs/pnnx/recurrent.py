"""Recurrent layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from opdefs.pnnx.dialect import pnnx
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

GATES = {"nn.RNN": 1, "nn.GRU": 3, "nn.LSTM": 4}
"""The number of gates of a cell."""

_WEIGHT = re.compile(r"(weight|bias)_(ih|hh|hr)_l(\d{1,9})(_reverse)?")


@attrs.frozen
class Cells:
    """The attributes of recurrent layers; `proj_size` is the size of projected states, 0 without projection."""

    input_size: int
    hidden_size: int
    num_layers: int = 1
    bidirectional: bool = False
    batch_first: bool = False
    proj_size: int = 0

    @property
    def directions(self) -> int:
        """The number of directions."""
        return 2 if self.bidirectional else 1

    @property
    def output_size(self) -> int:
        """The size of the states of one direction that are the input of the next layer."""
        return self.proj_size or self.hidden_size


@pnnx(*GATES)
def recurrent(
    c: InferenceContext,
    input: Shape,
    hx: Shape | None = None,
    cx: Shape | None = None,
    *weights: Shape,
    cells: Cells,
    weight_names: tuple[str, ...] = (),
) -> tuple[Shape, ...]:
    """[T, N, I] -> [T, N, D*H], and the last states [L*D, N, H] of each layer and direction; N first or missing.

    H is `proj_size`, if that is not 0, except for the states of the cells, whose size is always `hidden_size`.
    """
    _check_sizes(c, cells)
    if len(weights) > len(weight_names):
        c.fail("the inputs must be a sequence and its initial states")
    constrain_weights(c, cells, GATES[c.op_def.name], dict(zip(weight_names, weights, strict=False)))
    dims = input.require()
    if len(dims) not in (2, 3):
        c.fail("the input must have rank 2 or 3", input)
    c.merge(dims[-1], cells.input_size, "the last axis of the input must have input_size elements")
    c.at_least(dims[1 if cells.batch_first and len(dims) == 3 else 0], 1, "the sequence must have at least one step")
    batch: tuple[DimSize, ...] = () if len(dims) == 2 else (dims[0],) if cells.batch_first else (dims[1],)
    states = [Shape((cells.num_layers * cells.directions, *batch, cells.output_size))]
    if c.op_def.name == "nn.LSTM":
        states.append(Shape((cells.num_layers * cells.directions, *batch, cells.hidden_size)))
    _constrain_states(c, states, [state for state in (hx, cx) if state is not None])
    return Shape((*dims[:-1], cells.directions * cells.output_size)), *states


def _check_sizes(c: InferenceContext, cells: Cells) -> None:
    if min(cells.input_size, cells.hidden_size, cells.num_layers) < 1:
        c.fail("input_size, hidden_size and num_layers must be at least 1", cells)
    if not 0 <= cells.proj_size < cells.hidden_size:
        c.fail("proj_size must be at least 0 and less than hidden_size", cells.proj_size, cells.hidden_size)


def _constrain_states(c: InferenceContext, states: Sequence[Shape], initial: Sequence[Shape]) -> None:
    """Require that the initial states, if there are any, have the shapes of the last states."""
    if initial and len(initial) != len(states):
        c.fail(f"there must be {len(states)} initial states, or none", *initial)
    for state, shape in zip(initial, states, strict=False):
        c.merge(state, shape, "an initial state must be [num_layers * directions, batch, size]")


def constrain_weights(c: InferenceContext, cells: Cells, gates: int, weights: dict[str, Shape]) -> None:
    """Constrain the weights of all layers and directions, which have torch's names such as `weight_ih_l0_reverse`."""
    for name, weight in weights.items():
        match = _WEIGHT.fullmatch(name)
        if match is None or int(match[3]) >= cells.num_layers or (match[4] and not cells.bidirectional):
            c.fail("a weight must have the name of one of the layers and directions", name)
        rows = gates * cells.hidden_size
        inputs = cells.input_size if int(match[3]) == 0 else cells.directions * cells.output_size
        shape = {
            "ih": Shape((rows, inputs)),
            "hh": Shape((rows, cells.output_size)),
            "hr": Shape((cells.proj_size, cells.hidden_size)),
        }[match[2]]
        expected = shape if match[1] == "weight" else Shape((rows,))
        c.merge(weight, expected, f"{name} must have the shape that follows from input_size, hidden_size and proj_size")
