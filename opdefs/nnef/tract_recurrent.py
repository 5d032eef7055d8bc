"""tract's recurrences: what a scan is made of, and the cells and sequences that it writes as one operation.

A scan calls a fragment once for each chunk of an axis. Since states keep their shape, the shapes of one call are those
of all: readers write the body once, between the operations `tract_scan_chunk`, `tract_scan_state` and
`tract_scan_full`, which documents do not have.
"""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, axis_of, ints_of
from opdefs.nnef.tract_parts import with_axis
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_scan_chunk")
def chunk_of(c: InferenceContext, input: Shape, *, axis: int, chunk: int) -> TensorType:
    """What one call sees of a scanned tensor; a negative chunk counts from the end."""
    if chunk == 0:
        c.fail("a chunk must not be empty", chunk)
    return TensorType(c.dtype(0), with_axis(input, axis_of(c, axis, len(input)), abs(chunk)))


@nnef("tract_scan_state")
def state_of(c: InferenceContext, initial: Shape) -> TensorType:
    """What a call sees of a state: its shape, not the contents that it has at first."""
    return TensorType(c.dtype(0), initial)


@nnef("tract_scan_next")
def next_state(c: InferenceContext, result: Shape, initial: Shape) -> TensorType:
    """The state after a call."""
    return TensorType(c.dtype(0), c.merge(result, initial, "a state must keep its shape"))


@nnef("tract_scan_last")
def last_of(c: InferenceContext, result: Shape) -> TensorType:
    """A result of the last call."""
    return TensorType(c.dtype(0), result)


@nnef("tract_scan_full")
def full_of(c: InferenceContext, result: Shape, *scanned: Shape, axis: int, axes: Listed, chunks: Listed) -> TensorType:
    """The results of all calls along an axis; `axes` and `chunks` are those of the scanned tensors."""
    if not scanned:
        c.fail("a scan needs a tensor that is scanned")
    known = ints_of(c, axes, "axes"), ints_of(c, chunks, "chunks")
    calls = [_calls(c, x, *ways) for x, *ways in zip(scanned, *known, strict=True)]
    for other in calls[1:]:
        c.merge(calls[0], other, "scanned tensors must have as many chunks")
    at = axis_of(c, axis, len(result))
    return TensorType(c.dtype(0), with_axis(result, at, result[at] * calls[0]))


def _calls(c: InferenceContext, scanned: Shape, axis: int, chunk: int) -> Dim:
    size = scanned[axis_of(c, axis, len(scanned))]
    return size if abs(chunk) == 1 else ceildiv(size, abs(chunk))


@nnef("tract_core_gru_epilogue")
def gru_epilogue(c: InferenceContext, xh: Shape, rh: Shape, h_prev: Shape, *, hidden: int) -> TensorType:
    """[*B, 3h], [*B, 3h], [*B, h] -> [*B, h]."""
    gates = c.merge(xh, rh, "both products of a GRU must be of equal shape")
    return TensorType(c.dtype(2), _cell(c, gates, h_prev, 3, *ints_of(c, hidden, "hidden", 1)))


@nnef("tract_core_lstm_epilogue")
def lstm_epilogue(c: InferenceContext, preact: Shape, c_prev: Shape, *, hidden: int) -> tuple[TensorType, TensorType]:
    """[*B, 4h], [*B, h] -> twice [*B, h]."""
    state = TensorType(c.dtype(1), _cell(c, preact, c_prev, 4, *ints_of(c, hidden, "hidden", 1)))
    return state, state


def _cell(c: InferenceContext, gates: Shape, state: Shape, count: int, hidden: int) -> Shape:
    """The state, whose last axis the gates have `count` times."""
    if state.dims is None or gates.dims is None:
        return state
    if not len(state) or len(state) != len(gates):
        c.fail("gates and state must be of equal rank, 1 or more", gates, state)
    c.merge(gates[-1], count * hidden, f"the last axis of the gates must be {count} times the hidden size")
    return c.merge(state, Shape((*gates[:-1], hidden)), "a state must have the hidden size, and the batch of the gates")


@nnef("tract_core_gru_seq")
def gru_sequence(
    c: InferenceContext,
    x: Shape,
    w: Shape,
    r: Shape,
    b: Shape | None,
    initial_h: Shape,
    *,
    hidden: int,
    emit_y: int = 1,
) -> tuple[TensorType, TensorType]:
    """[B, T, in] -> all states [B, T, h] (none of them without `emit_y`) and the last one [B, 1, h]."""
    (hidden,) = ints_of(c, hidden, "hidden", 1)
    batch, time, size = c.require_rank(x, 3, "x")
    c.merge(w, Shape((3 * hidden, size)), "w must be of shape [3 * hidden, input]")
    c.merge(r, Shape((3 * hidden, hidden)), "r must be of shape [3 * hidden, hidden]")
    all_of_them = Shape((batch, time if emit_y else 0, hidden))
    return TensorType("float32", all_of_them), TensorType("float32", Shape((batch, 1, hidden)))
