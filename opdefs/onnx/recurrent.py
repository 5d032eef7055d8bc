"""Recurrent layers."""

from __future__ import annotations

import attrs

from opdefs.onnx.dialect import onnx
from shapeinf.algebra import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Cells:
    """The attributes of all recurrent layers: sizes of the state, and which ways they run."""

    hidden_size: int = 0
    direction: str = "forward"

    @property
    def directions(self) -> int:
        """How many there are."""
        return 2 if self.direction == "bidirectional" else 1


@onnx("RNN", "GRU", "LSTM")
def recurrent(
    c: InferenceContext, x: Shape, w: Shape, r: Shape, *others: Shape | None, cells: Cells, layout: int = 0
) -> tuple[Shape, Shape, Shape]:
    """[T, B, I] -> [T, D, B, H], [D, B, H] (and the cell's [D, B, H]); with `layout` 1 batches come first.

    H is `hidden_size`, else the last axis of the recurrence weights [D, gates*H, H].
    """
    x = c.require_rank(x, 3, "X")
    w, r = c.require_rank(w, 3, "W"), c.require_rank(r, 3, "R")
    directions = cells.directions
    hidden: Dim = cells.hidden_size or r[2]
    c.expect(w[0], directions, f"W must have {directions} directions")
    c.expect(r[2], hidden, "the last axis of R must equal hidden_size")
    c.expect(x[2], w[2], "the input size X[2] must equal W[2]")
    batch, steps = (x[0], x[1]) if layout else (x[1], x[0])
    for state in others[2:4]:  # after B and sequence_lens: the states to start with
        if state is not None and state.rank == 3:
            c.expect(state[0 if layout else 1], batch, "the state to start with must have the batch size of X")
    if layout:
        last = Shape((batch, directions, hidden))
        return Shape((batch, steps, directions, hidden)), last, last
    last = Shape((directions, batch, hidden))
    return Shape((steps, directions, batch, hidden)), last, last
