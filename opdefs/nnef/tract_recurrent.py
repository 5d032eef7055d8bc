"""tract's recurrences: the parts of a scan, fused cells, and fused layers.

A scan calls a fragment once for each chunk of an axis. States keep their shape, so all calls have the same shapes: the
reader writes the body once, between the operations `tract_scan_*`, which do not occur in documents.
"""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_front_axis
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_parts import replace_axis
from opdefs.rules.numbers import read_ints
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_scan_chunk")
def scan_chunk(c: InferenceContext, input: Shape, *, axis: int, chunk: int) -> TensorType:
    """[*A, d, *B] -> [*A, chunk, *B], the part of one call; with a negative chunk the scan starts at the end."""
    if chunk == 0:
        c.fail("chunk must not be 0", chunk)
    return TensorType(c.dtype(0), replace_axis(input, read_front_axis(c, axis, len(input)), abs(chunk)))


@nnef("tract_scan_state")
def scan_state(c: InferenceContext, initial: Shape) -> TensorType:
    """[*S] -> [*S]: a state in any call, whose contents are unknown."""
    return TensorType(c.dtype(0), initial)


@nnef("tract_scan_next")
def scan_next(c: InferenceContext, result: Shape, initial: Shape) -> TensorType:
    """[*S], the initial state [*S] -> [*S]: the state after a call."""
    return TensorType(c.dtype(0), c.merge(result, initial, "the fragment must return a state in its initial shape"))


@nnef("tract_scan_last")
def scan_last(c: InferenceContext, result: Shape) -> TensorType:
    """[*S] -> [*S]: a result of the last call."""
    return TensorType(c.dtype(0), result)


@nnef("tract_scan_full")
def scan_full(
    c: InferenceContext, result: Shape, *scanned: Shape, axis: int, axes: Listed, chunks: Listed
) -> TensorType:
    """[*A, d, *B] -> [*A, d*calls, *B]: the results of all calls; `axes` and `chunks` describe the scanned tensors."""
    if not scanned:
        c.fail("a scan requires at least one scanned tensor")
    known = read_ints(c, axes, "axes"), read_ints(c, chunks, "chunks")
    calls = [_call_count(c, x, *ways) for x, *ways in zip(scanned, *known, strict=True)]
    for other in calls[1:]:
        c.merge(calls[0], other, "scanned tensors must have the same number of chunks")
    at = read_front_axis(c, axis, len(result))
    return TensorType(c.dtype(0), replace_axis(result, at, result[at] * calls[0]))


def _call_count(c: InferenceContext, scanned: Shape, axis: int, chunk: int) -> DimSize:
    """The number of chunks of a scanned tensor."""
    size = scanned[read_front_axis(c, axis, len(scanned))]
    return size if abs(chunk) == 1 else ceildiv(size, abs(chunk))


@nnef("tract_core_gru_epilogue")
def gru_epilogue(c: InferenceContext, xh: Shape, rh: Shape, h_prev: Shape, *, hidden: int) -> TensorType:
    """[*B, 3h], [*B, 3h], [*B, h] -> [*B, h]."""
    gates = c.merge(xh, rh, "xh and rh must have the same shape")
    return TensorType(c.dtype(2), _cell(c, gates, h_prev, 3, *read_ints(c, hidden, "hidden", 1)))


@nnef("tract_core_lstm_epilogue")
def lstm_epilogue(c: InferenceContext, preact: Shape, c_prev: Shape, *, hidden: int) -> tuple[TensorType, TensorType]:
    """[*B, 4h], [*B, h] -> [*B, h] twice."""
    state = TensorType(c.dtype(1), _cell(c, preact, c_prev, 4, *read_ints(c, hidden, "hidden", 1)))
    return state, state


def _cell(c: InferenceContext, gates: Shape, state: Shape, count: int, hidden: int) -> Shape:
    """The state; the last axis of the gates is `count` times its last axis."""
    if state.dims is None or gates.dims is None:
        return state
    if not len(state) or len(state) != len(gates):
        c.fail("gates and state must be of equal rank, 1 or more", gates, state)
    c.merge(gates[-1], count * hidden, f"the last axis of the gates must be {count} times the hidden size")
    return c.merge(
        state, Shape((*gates[:-1], hidden)), "the state must have the hidden size and the batch size of the gates"
    )


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
    """[B, T, in] -> all states [B, T, h] (empty without `emit_y`) and the last one [B, 1, h]."""
    (hidden,) = read_ints(c, hidden, "hidden", 1)
    batch, time, size = c.require_rank(x, 3, "x")
    c.merge(w, Shape((3 * hidden, size)), "w must be [3 * hidden, input]")
    c.merge(r, Shape((3 * hidden, hidden)), "r must be [3 * hidden, hidden]")
    states = Shape((batch, time if emit_y else 0, hidden))
    return TensorType("float32", states), TensorType("float32", Shape((batch, 1, hidden)))
