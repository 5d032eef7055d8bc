"""Recurrent layers."""

from __future__ import annotations

import attrs

from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import merge_optional, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Cells:
    """The attributes of all recurrent layers: the size of the state and the direction."""

    hidden_size: int = 0
    direction: str = "forward"

    @property
    def directions(self) -> int:
        """The number of directions."""
        return 2 if self.direction == "bidirectional" else 1


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The number of gates of a cell."""


@onnx(*GATES)
def recurrent(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    r: Shape,
    bias: Shape | None = None,
    lengths: Shape | None = None,
    hidden_state: Shape | None = None,
    cell_state: Shape | None = None,
    peepholes: Shape | None = None,
    *,
    cells: Cells,
    layout: int = 0,
) -> tuple[Shape, Shape, Shape]:
    """[T, B, I] -> [T, D, B, H], [D, B, H], and [D, B, H] of LSTM cells; with `layout` 1 the batch axis is the first.

    H is `hidden_size`, else the last axis of the recurrence weights [D, gates*H, H].
    """
    x = c.require_rank(x, 3, "X")
    hidden = _hidden_size(c, cells, x[2], w, r)
    gates = GATES[c.op_def.name]
    return recurrent_states(
        c, x, cells, hidden, gates, bias, lengths, hidden_state, cell_state, peepholes, layout=layout
    )


def recurrent_states(
    c: InferenceContext,
    x: Shape,
    cells: Cells,
    hidden: DimSize,
    gates: int,
    bias: Shape | None,
    lengths: Shape | None,
    hidden_state: Shape | None,
    cell_state: Shape | None,
    peepholes: Shape | None,
    *,
    layout: int = 0,
) -> tuple[Shape, Shape, Shape]:
    """All states, the last state and that of the cells; constrains all operands except the weights."""
    directions = cells.directions
    batch, steps = (x[0], x[1]) if layout else (x[1], x[0])
    last = Shape((batch, directions, hidden) if layout else (directions, batch, hidden))
    require_vector(c, lengths, batch, "sequence_lens must have one length per sample")
    expected_shapes = (
        (bias, Shape((directions, 2 * gates * hidden)), "B must be [directions, 2*gates*hidden_size]"),
        (hidden_state, last, "initial_h must be [directions, batch, hidden_size]"),
        (cell_state, last, "initial_c must be [directions, batch, hidden_size]"),
        (peepholes, Shape((directions, 3 * hidden)), "P must be [directions, 3*hidden_size]"),
    )
    for operand, shape, message in expected_shapes:
        merge_optional(c, shape, operand, message)
    return Shape((batch, steps, directions, hidden) if layout else (steps, directions, batch, hidden)), last, last


def _hidden_size(c: InferenceContext, cells: Cells, inputs: DimSize, w: Shape, r: Shape) -> DimSize:
    """H; constrains the weights W [D, gates*H, I] and R [D, gates*H, H]."""
    w, r = c.require_rank(w, 3, "W"), c.require_rank(r, 3, "R")
    hidden: DimSize = cells.hidden_size or r[2]
    rows = GATES[c.op_def.name] * hidden
    for weights, name in ((w, "W"), (r, "R")):
        c.merge(
            weights[0],
            cells.directions,
            f"axis 0 of {name} must have size {cells.directions}, the number of directions",
        )
        c.merge(weights[1], rows, f"axis 1 of {name} must have size gates*hidden_size")
    c.merge(r[2], hidden, "the last axis of R must equal hidden_size")
    c.merge(inputs, w[2], "the input size X[2] must equal W[2]")
    return hidden
