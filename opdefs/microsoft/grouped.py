"""Attention whose key and value have fewer heads than the query; over caches, pages and selected entries."""

from __future__ import annotations

from opdefs.microsoft.attention import FILLED
from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.laws import length
from opdefs.microsoft.masks import tell_scores_bias
from opdefs.rules.operands import holds, one_value, part, vector
from shapeinf.expr import Dim, maximum
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def query_widths(c: InferenceContext, query: Shape, key: Shape | None, heads: int, kv_heads: int) -> tuple[Dim, Dim]:
    """The width of a head and of the output, from [.., N*D], or from [.., (N + 2*K)*D] when there is no key."""
    if key is not None:
        width = part(c, query[-1], heads, FILLED)
        c.merge(key[-1], width * kv_heads, "the key must hold kv_num_heads heads of the query's width")
        return width, query[-1]
    width = part(c, query[-1], heads + 2 * kv_heads, "a packed query must hold query, key and value side by side")
    return width, width * heads


def _longest(c: InferenceContext, past: Shape | None, total: Dim | None) -> Dim:
    """How long a cache is after the call: room for all tokens, unless the past came in a longer buffer."""
    if past is None:
        return c.fresh("total") if total is None else total
    if total is None:
        return c.fresh("total", c.interval(past[2]).lo)
    return maximum(past[2], total)


def _tell_keys(c: InferenceContext, query: Shape, key: Shape | None, value: Shape | None, past: Shape | None) -> None:
    """Key and value are [B, L, K*D]; without a cache they are as long as the query."""
    if key is None:
        return
    key = c.require_rank(key, 3, "key")
    c.merge(query[0], key[0], "query and key must be of equal batch")
    if past is None:
        c.merge(query[1], key[1], "without a cache query and key must be of equal length")
    if value is not None:
        c.merge(key, value, "key and value must be of equal shape")


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
    positions: Shape | None = None,
    scores_bias: Shape | None = None,
    sink: Shape | None = None,
    *others: Shape | None,
    num_heads: int,
    kv_num_heads: int,
    sliding_window_cache: int = 0,
) -> tuple[Shape, Shape | TensorType, Shape | TensorType, Shape]:
    """[B, S, N*D], two of [B, S, K*D] -> [B, S, N*D], caches [B, K, max(P, total), D], scores [B, N, S, total].

    The query alone may hold all three: [B, S, (N + 2*K)*D].
    """
    query = c.require_rank(query, 3, "query")
    width, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    batch, tokens, _ = query
    _tell_keys(c, query, key, value, past_key)
    if past_key is not None and past_value is not None:
        c.merge(past_key[2], past_value[2], "both caches must be of equal length")
    if lengths.dims == ():
        c.fail("seqlens_k must hold one value a sample", lengths)
    holds(c, lengths, batch, "seqlens_k must hold one value a sample")
    one_value(c, total_length.shape, "total_sequence_length must be one value")
    known = length(c, total_length)
    if cosines is not None and sines is not None:
        c.merge(c.require_rank(cosines, 2, "cos_cache"), sines, "cos_cache and sin_cache must be of equal shape")
    if positions is not None:
        samples, places = c.require_rank(positions, 2, "position_ids")
        c.merge(samples, batch, "position_ids must hold the positions of each sample")
        c.at_least(places, tokens, "position_ids must hold the positions of all tokens")
    tell_scores_bias(c, scores_bias, batch, num_heads, tokens, known)
    vector(c, sink, num_heads, "head_sink must hold one value a head")
    caches = []
    for past in (past_key, past_value):
        if past is not None:
            past = c.require_rank(past, 4, "a cache")
            c.merge(past[0], batch, "a cache must be of the query's batch")
            c.merge(past[1], kv_num_heads, "a cache must hold kv_num_heads heads")
            if c.dtype(3) is not None and c.dtype(3) == c.dtype(0):
                c.merge(past[3], width, "a cache must be as wide as a head")
        cached = width if past is None else past[3]  # of a quantized cache, the bytes of a head
        size = past[2] if past is not None and sliding_window_cache else _longest(c, past, known)
        caches.append(Shape((batch, kv_num_heads, size, cached)))
    total = c.fresh("scores") if known is None else known
    dtype = c.dtype(3) or c.dtype(0)
    present_key, present_value = (TensorType(dtype, cache) for cache in caches)
    return Shape((batch, tokens, hidden)), present_key, present_value, Shape((batch, num_heads, tokens, total))


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
    """[B, S, N*D] (or packed with key and value), caches [B, K, M, D] -> [B, S, N*D] and the caches."""
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
) -> tuple[Shape, Shape, Shape]:
    """[B, S, N*D] (or packed with key and value) -> [B, S, N*D] and the caches; new ones are [B, K, total, D]."""
    query = c.require_rank(query, 3, "query")
    width, hidden = query_widths(c, query, key, num_heads, kv_num_heads)
    known = length(c, total_length)
    keys, values = (
        Shape((query[0], kv_num_heads, _longest(c, None, known), width)) if past is None else past
        for past in (past_key, past_value)
    )
    return Shape((query[0], query[1], hidden)), keys, values


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
    """[T, N*D] (or packed with key and value) -> [T, N*V] and both caches as they are.

    V is D, unless a latent cache, which keys and values share, has narrower values.
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
    """[T, N*D] (or packed with key and value) -> [T, N*D] and both caches as they are."""
    return paged_attention(c, query, key, value, key_cache, value_cache, num_heads=num_heads, kv_num_heads=kv_num_heads)
