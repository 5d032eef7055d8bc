"""Attention with fewer key and value heads than query heads; over caches, pages and selected entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opdefs.microsoft.attention import HIDDEN_SIZE, constrain_scores_bias
from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.operands import part_size, require_choice, require_count, require_single, require_vector
from opdefs.rules.requested import scalar_size
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value

if TYPE_CHECKING:
    from shapeinf.ops import CostContext


def query_widths(
    c: InferenceContext, query: Shape, key: Shape | None, heads: int, kv_heads: int
) -> tuple[DimSize, DimSize]:
    """The head size D and the width of the output, from [..., N*D], or from [..., (N + 2*K)*D] without a key."""
    if key is not None:
        width = part_size(c, query[-1], heads, HIDDEN_SIZE)
        c.merge(key[-1], width * kv_heads, "the last axis of the key must be kv_num_heads times the head size")
        return width, query[-1]
    width = part_size(c, query[-1], heads + 2 * kv_heads, "a packed query must split evenly into query, key and value")
    return width, width * heads


def _cache_length(c: InferenceContext, past: Shape | None, total: DimSize | None) -> DimSize:
    """The length of a cache after the call: that of all tokens, or of a longer buffer of the past."""
    if past is None:
        return c.fresh("total") if total is None else total
    if total is None:
        return c.fresh("total", c.interval(past[2]).lo)
    return maximum(past[2], total)


def _constrain_keys(
    c: InferenceContext, query: Shape, key: Shape | None, value: Shape | None, past: Shape | None
) -> None:
    """Require that key and value are [B, L, K*D]; without a cache, L is the length of the query."""
    if key is None:
        return
    key = c.require_rank(key, 3, "key")
    c.merge(query[0], key[0], "query and key must have the same batch size")
    if past is None:
        c.merge(query[1], key[1], "without a cache, query and key must have the same length")
    if value is not None:
        c.merge(key, value, "key and value must have the same shape")


@onnx("GroupQueryAttention", domain=MS)
def group_query_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    past_key: Shape | None,
    past_value: Shape | None,
    lengths: Shape,
    total_length: Value,
    cosines: Shape | None = None,
    sines: Shape | None = None,
    positions: Value | None = None,
    scores_bias: Shape | None = None,
    sink: Shape | None = None,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
    sliding_window_cache: int = 0,
    do_rotary: int = 0,
) -> tuple[Shape, Shape | TensorType, Shape | TensorType, Shape]:
    """[B, S, N*D], two of [B, S, K*D] -> [B, S, N*D], caches [B, K, max(P, total), D], scores [B, N, S, total].

    A packed query holds all three: [B, S, (N + 2*K)*D].
    """
    query = c.require_rank(query, 3, "query")
    width, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    batch, tokens, _ = query
    _constrain_keys(c, query, key, value, past_key)
    if past_key is not None and past_value is not None:
        c.merge(past_key[2], past_value[2], "past_key and past_value must have the same length")
    new = tokens if key is None else c.require_rank(key, 3, "key")[1]
    before = 0 if past_key is None else c.require_rank(past_key, 4, "past_key")[2]
    known = _read_total(c, batch, lengths, total_length)
    if sliding_window_cache:
        total = c.fresh("total") if known is None else known
    else:
        total = _constrain_total(c, known, before, new)
    _advise_single_batch(c, batch, tokens, total)
    c.divisible(width, 8, "the head size must be a multiple of 8")
    if do_rotary or cosines is not None or sines is not None:
        rows = _constrain_rotation_caches(c, width, known, cosines, sines)
        if do_rotary and positions is not None:
            constrain_indices(c, positions, rows, from_end=False)
    if positions is not None:
        samples, steps = c.require_rank(positions.shape, 2, "position_ids")
        c.merge(samples, batch, "position_ids must have the batch size of the query")
        c.at_least(steps, tokens, "position_ids must have a position for each token")
    constrain_scores_bias(c, scores_bias, batch, num_heads, tokens, known)
    require_vector(c, sink, num_heads, "head_sink must have one value per head")
    present_key, present_value = (
        _present_cache(c, past, name, (batch, kv_num_heads, width), total, bool(sliding_window_cache))
        for past, name in ((past_key, "past_key"), (past_value, "past_value"))
    )
    return Shape((batch, tokens, hidden)), present_key, present_value, Shape((batch, num_heads, tokens, total))


@onnx.run_values("GroupQueryAttention", domain=MS)
def lengths_of_a_prompt(c: CostContext) -> dict[int, int]:
    """`seqlens_k` is the number of tokens less 1, `total_sequence_length` their number.

    All tokens are new where they fit into the buffer of past ones, else they follow these.
    """
    tokens, buffer = c.input(1 if c.has_input(1) else 0)[1], c.input(3)[2] if c.has_input(3) else 0
    if not isinstance(tokens, int) or not isinstance(buffer, int):
        return {}
    total = tokens if tokens <= buffer else buffer + tokens
    return {5: total - 1, 6: total}


def _read_total(c: InferenceContext, batch: DimSize, lengths: Shape, total: Value) -> DimSize | None:
    """The number of past and new tokens, None if it is unknown; constrains `seqlens_k` and `total_sequence_length`."""
    message = "seqlens_k must have one value per sample"
    if lengths.dims == ():
        c.fail(message, lengths)
    require_count(c, lengths, batch, message)
    require_single(c, total.shape, "total_sequence_length must have exactly one element")
    return scalar_size(c, total)


def _constrain_total(c: InferenceContext, total: DimSize | None, past: DimSize, new: DimSize) -> DimSize:
    """The number of past and new tokens, which is P + L of a growing cache, or at most P of a buffer of length P."""
    grown = past + new
    if past == 0:
        message = "without a cache, total_sequence_length must equal the length of the keys"
        return grown if total is None else c.merge(total, grown, message)
    if total is None:
        return c.fresh_at_most(grown, "total", c.interval(new).lo or 0)
    c.at_least(total, new, "total_sequence_length must be at least the length of the keys")
    if c.prove_eq(total, grown) is not True and c.prove_le(total, past) is not True:
        message = "total_sequence_length must be that of past and new tokens, or at most that of a buffer of the past"
        if c.prove_eq(total, grown) is False:
            c.at_most(total, past, message)
        elif c.prove_le(total, past) is False:
            c.merge(total, grown, message)
        else:
            text = "{0} == {1} or {2} == {3}"
            c.store.add_disjunction(text, c.source(message), total, grown, maximum(total, past), past)
    return total


def _advise_single_batch(c: InferenceContext, batch: DimSize, tokens: DimSize, total: DimSize) -> None:
    """Advise against several tokens of several samples behind past ones: onnxruntime's kernel rejects them."""
    if c.prove_le(1, batch) is True and c.prove_le(1, tokens) is True:
        message = "onnxruntime requires a batch of 1 for several new tokens behind past ones"
        c.advise_at_most(minimum(minimum(batch - 1, tokens - 1), total - tokens), 0, message)


def _constrain_rotation_caches(
    c: InferenceContext, width: DimSize, total: DimSize | None, cosines: Shape | None, sines: Shape | None
) -> DimSize:
    """P of two caches [P, rotated/2] of one shape, with a row for each token: past and new ones, `total` if known."""
    if cosines is None or sines is None:
        c.fail("do_rotary requires cos_cache and sin_cache, and each of these the other")
    cosines = c.merge(
        c.require_rank(cosines, 2, "cos_cache"), sines, "cos_cache and sin_cache must have the same shape"
    )
    c.divisible(width, 16, "with cos_cache and sin_cache, the head size must be a multiple of 16")
    rows, half = cosines
    c.divisible(half, 8, "the last axis of cos_cache and sin_cache must be a multiple of 8")
    c.at_most(2 * half, width, "the last axis of cos_cache and sin_cache must be at most half the head size")
    if total is not None:
        c.at_most(total, rows, "cos_cache and sin_cache must have a row for each past and new token")
    return rows


def _present_cache(
    c: InferenceContext,
    past: Shape | None,
    name: str,
    dims: tuple[DimSize, int, DimSize],
    total: DimSize,
    sliding: bool,
) -> TensorType:
    """[B, K, max(P, total), D] from the input `name` [B, K, P, D] (or no past); a sliding window keeps P.

    `dims` is (B, K, D).
    """
    batch, heads, width = dims
    if past is not None:
        past = c.require_rank(past, 4, name)
        c.merge(past[0], batch, f"{name} must have the batch size of the query")
        c.merge(past[1], heads, f"{name} must have kv_num_heads heads")
        if c.dtype(3) is not None and c.dtype(3) == c.dtype(0):
            c.merge(past[3], width, f"the last axis of {name} must be the head size")
    cached = width if past is None else past[3]  # of a quantized cache, the bytes of a head
    size = past[2] if past is not None and sliding else _cache_length(c, past, total)
    return TensorType(c.dtype(3) or c.dtype(0), Shape((batch, heads, size, cached)))


@onnx("SparseAttention", domain=MS)
def sparse_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    past_key: Shape,
    past_value: Shape,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
) -> tuple[Shape, Shape, Shape]:
    """[B, S, N*D] (or packed with key and value), caches [B, K, M, D] -> [B, S, N*D], the caches."""
    query = c.require_rank(query, 3, "query")
    _, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    return Shape((query[0], query[1], hidden)), past_key, past_value


@onnx("DynamicSparseAttention", domain=MS)
def dynamic_sparse_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    past_key: Shape | None,
    past_value: Shape | None,
    auxiliary_key: Shape | None,
    auxiliary_value: Shape | None,
    selected: Shape,
    counts: Shape,
    lengths: Shape,
    total_length: Value,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
    output_bf16: int = 0,
) -> tuple[TensorType, TensorType, TensorType, Shape]:
    """[B, S, N*D] (or packed with key and value), caches -> [B, S, N*D], the caches; new ones are [B, K, total, D].

    The validation status has one element.
    """
    query = c.require_rank(query, 3, "query")
    width, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    known, dtype = scalar_size(c, total_length), c.dtype(0)
    keys, values = (
        TensorType(dtype, Shape((query[0], kv_num_heads, _cache_length(c, None, known), width)))
        if past is None
        else TensorType(c.dtype(index), past)
        for index, past in ((3, past_key), (4, past_value))
    )
    result = TensorType("bfloat16" if output_bf16 else dtype, Shape((query[0], query[1], hidden)))
    return result, keys, values, Shape((1,))


@onnx("PagedAttention", domain=MS)
def paged_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    key_cache: Shape,
    value_cache: Shape | None,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
    kv_cache_layout: str = "SEPARATE",
    v_head_size: int = 0,
) -> tuple[Shape, Shape, Shape]:
    """[T, N*D] (or packed with key and value), two caches -> [T, N*V], both caches unchanged.

    V is D, unless keys and values share a latent cache whose values are narrower (`v_head_size`).
    """
    query = c.require_rank(query, 2, "query")
    _, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    if kv_cache_layout == "LATENT" and v_head_size:
        hidden = v_head_size * num_heads
    return Shape((query[0], hidden)), key_cache, key_cache if value_cache is None else value_cache


@onnx("SparsePagedAttention", domain=MS)
def sparse_paged_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    key_cache: Shape,
    value_cache: Shape,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
) -> tuple[Shape, Shape, Shape]:
    """[T, N*D] (or packed with key and value), two caches -> [T, N*D], both caches unchanged."""
    return paged_attention(c, query, key, value, key_cache, value_cache, num_heads=num_heads, kv_num_heads=kv_num_heads)


def _capacity(c: InferenceContext, mode: str, ratio: int, budget: int | None, top: int | None) -> int:
    """The number of entries selected per token."""
    if ratio < 1:
        c.fail("compress_ratio must be at least 1", ratio)
    if mode == "qsa" and budget is not None:
        return budget + ratio - 1
    if mode == "csa" and top is not None:
        return top
    c.fail("policy_mode must be qsa with a token_budget, or csa with an index_topk", mode)


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
    """[B, S, N*D], a cache [B, P, D] -> [B, S, capacity], the cache with the new entries, a buffer [2, B, R, 2*D].

    The cache keeps its size if its length is an input. In mode csa, `compress_ratio` tokens form one entry; the buffer
    keeps the tokens of an incomplete entry, and the window before them.
    """
    query, past = c.require_rank(query, 3, "query"), c.require_rank(past, 3, "past_key")
    selected = Shape((query[0], query[1], _capacity(c, policy_mode, compress_ratio, token_budget, index_topk)))
    if policy_mode == "qsa":
        grown = past if past_length is not None else Shape((past[0], past[1] + query[1], past[2]))
        return selected, grown, c.unknown_shape()
    if buffer is None:
        c.fail("policy_mode=csa requires the input past_proj_buffer")
    two, batch, length, width = c.require_rank(buffer, 4, "past_proj_buffer")
    c.merge(two, 2, "past_proj_buffer[0] must be 2 (keys and gates)")
    total = length % compress_ratio + query[1]
    entries = past[1] if past_length is not None else past[1] + total // compress_ratio
    remaining = _remaining_tokens(c, length, total, compress_ratio)
    return selected, Shape((past[0], entries, past[2])), Shape((2, batch, remaining, width))


def _remaining_tokens(c: InferenceContext, length: DimSize, total: DimSize, ratio: int) -> DimSize:
    """The tokens that remain in the buffer: those of the open window, and of the window before it if there is one."""
    if c.prove_le(ratio, length) is True or c.prove_le(ratio, total) is True:
        return total % ratio + ratio
    if c.prove_le(length, ratio - 1) is True and c.prove_le(total, ratio - 1) is True:
        return total
    return c.fresh("remaining", 0, 2 * ratio - 1)


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
    mode: Shape | None = None,
    merged: Shape | None = None,
    merged_counts: Shape | None = None,
    merged_status: Shape | None = None,
    *,
    policy_mode: str,
    compress_ratio: int,
    state_capacity: int,
    token_budget: int | None = None,
    index_topk: int | None = None,
    state_update_capacity: int = 0,
    max_output_entries: int = 0,
) -> tuple[Shape, ...]:
    """[T, N*D], a state [B, C, D] -> [T, capacity], [T] counts, the state, its buffers and lengths, [B, U, D].

    U is `state_update_capacity`. With a merged selection, the capacity is `max_output_entries`. Two outputs of statuses
    follow: one of unspecified length, and [B].
    """
    query = c.require_rank(query, 2, "query")
    capacity = _capacity(c, policy_mode, compress_ratio, token_budget, index_topk)
    if mode is not None:
        capacity = max_output_entries
        if capacity < 1:
            c.fail("a merged selection requires a positive max_output_entries", capacity)
    key_state = c.require_rank(key_state, 3, "past_key_state")
    c.merge(key_state[1], state_capacity, "past_key_state[1] must equal state_capacity")
    batch, width = key_state[0], key_state[2]
    update = Shape((batch, state_update_capacity, width))
    gates = buffer if gate_buffer is None else gate_buffer
    _constrain_merged(c, merged, batch, capacity, (merged_counts, merged_status))
    states = key_state, buffer, gates, state_lengths, update
    statuses = Shape((c.fresh("status"),)), Shape((batch,))
    return Shape((query[0], capacity)), Shape((query[0],)), *states, *statuses


def _constrain_merged(
    c: InferenceContext, merged: Shape | None, batch: DimSize, capacity: int, vectors: tuple[Shape | None, ...]
) -> None:
    """Require a selection [B, capacity] or [0, capacity], and vectors with one value per row of it."""
    if merged is not None:
        rows, width = c.require_rank(merged, 2, "merged_indices")
        c.merge(width, capacity, "merged_indices must have max_output_entries columns")
        require_choice(c, rows, (batch, 0), "merged_indices must have one row per request, or none")
        for v in vectors:
            require_vector(c, v, rows, "merged_counts and merged_status must have one value per row of merged_indices")


@onnx("PackedSparseAttentionIndexerMerge", domain=MS)
def merge_selections(
    c: InferenceContext,
    base: Shape,
    base_counts: Shape,
    rows: Shape,
    starts: Shape | None = None,
    ends: Shape | None = None,
    added: Shape | None = None,
    added_counts: Shape | None = None,
    *,
    max_output_entries: int,
) -> tuple[Shape, Shape, Shape]:
    """Cached selections [R, C], rows [N], ranges [N] or selections [N, A] -> [N, max_output_entries], [N], [N]."""
    if max_output_entries < 1:
        c.fail("max_output_entries must be at least 1", max_output_entries)
    require_vector(c, base_counts, c.require_rank(base, 2, "base_indices")[0], "base_counts must have one value a row")
    queries = c.require_rank(rows, 1, "base_row_indices")[0]
    for v, name in ((starts, "range_starts"), (ends, "range_ends"), (added_counts, "additional_counts")):
        require_vector(c, v, queries, f"{name} must have one value per query")
    if added is not None:
        message = "additional_indices must have one row per query"
        c.merge(c.require_rank(added, 2, "additional_indices")[0], queries, message)
    return Shape((queries, max_output_entries)), Shape((queries,)), Shape((queries,))
