"""Which entries a sparse attention may read: at most a fixed number a token, and the state that finds them."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _capacity(c: InferenceContext, mode: str, ratio: int, budget: int | None, top: int | None) -> int:
    """How many entries are selected for a token."""
    if ratio < 1:
        c.fail("compress_ratio must be at least 1", ratio)
    if mode == "qsa" and budget is not None:
        return budget + ratio - 1
    if mode == "csa" and top is not None:
        return top
    c.fail("policy_mode must be 'qsa' with a token_budget or 'csa' with an index_topk", mode)


@onnx("SparseAttentionIndexer", domain=MS)
def sparse_attention_indexer(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    query_weight: Shape,
    key_weight: Shape,
    cosines: Shape,
    sines: Shape,
    mask: Shape | None,
    past: Shape,
    gate: Shape | None = None,
    position_bias: Shape | None = None,
    head_weights: Shape | None = None,
    positions: Shape | None = None,
    past_length: Shape | None = None,
    buffer: Shape | None = None,
    *,
    policy_mode: str,
    compress_ratio: int,
    token_budget: int | None = None,
    index_topk: int | None = None,
) -> tuple[Shape, Shape, Shape]:
    """[B, S, N*D], a cache [B, P, D] -> [B, S, capacity], the cache with the new entries, a buffer [2, B, left, 2*D].

    The cache stays as it is when its fill is an input. In mode csa each `compress_ratio` tokens make one entry; tokens
    that do not fill one yet, and the window before them, stay in the buffer.
    """
    query, past = c.require_rank(query, 3, "query"), c.require_rank(past, 3, "past_key")
    selected = Shape((query[0], query[1], _capacity(c, policy_mode, compress_ratio, token_budget, index_topk)))
    if policy_mode == "qsa":
        grown = past if past_length is not None else Shape((past[0], past[1] + query[1], past[2]))
        return selected, grown, c.unknown_shape()
    if buffer is None:
        c.fail("policy_mode 'csa' needs past_proj_buffer")
    two, batch, length, width = c.require_rank(buffer, 4, "past_proj_buffer")
    c.merge(two, 2, "past_proj_buffer must hold keys and gates")
    total = length % compress_ratio + query[1]
    entries = past[1] if past_length is not None else past[1] + total // compress_ratio
    left = _left_over(c, length, total, compress_ratio)
    return selected, Shape((past[0], entries, past[2])), Shape((2, batch, left, width))


def _left_over(c: InferenceContext, length: Dim, total: Dim, ratio: int) -> Dim:
    """What stays in the buffer: the tokens of the open window, and the window before if there is one."""
    if c.prove_le(ratio, length) is True or c.prove_le(ratio, total) is True:
        return total % ratio + ratio
    if c.prove_le(length, ratio - 1) is True and c.prove_le(total, ratio - 1) is True:
        return total
    return c.fresh("left", 0, 2 * ratio - 1)


@onnx("PackedSparseAttentionIndexer", domain=MS)
def packed_sparse_attention_indexer(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    query_weight: Shape,
    key_weight: Shape,
    cosines: Shape,
    sines: Shape,
    ends: Shape,
    past_lengths: Shape,
    gate: Shape | None,
    position_bias: Shape | None,
    head_weights: Shape | None,
    positions: Shape | None,
    key_state: Shape,
    buffer: Shape,
    gate_buffer: Shape | None,
    state_lengths: Shape,
    capture_count: Shape | None = None,
    active: Shape | None = None,
    *,
    policy_mode: str,
    compress_ratio: int,
    state_capacity: int,
    token_budget: int | None = None,
    index_topk: int | None = None,
    state_update_capacity: int = 0,
) -> tuple[Shape, ...]:
    """[T, N*D] -> [T, capacity], [T] counts, the state and its lengths as they are, [B, update capacity, D]."""
    query = c.require_rank(query, 2, "query")
    capacity = _capacity(c, policy_mode, compress_ratio, token_budget, index_topk)
    key_state = c.require_rank(key_state, 3, "past_key_state")
    c.merge(key_state[1], state_capacity, "past_key_state must have room for state_capacity entries")
    batch, width = key_state[0], key_state[2]
    update = Shape((batch, state_update_capacity, width))
    gates = buffer if gate_buffer is None else gate_buffer
    return Shape((query[0], capacity)), Shape((query[0],)), key_state, buffer, gates, state_lengths, update
