"""Multi-head attention over query, key and value, separate or packed (letters as in `attention`)."""

from __future__ import annotations

import attrs

from opdefs.microsoft.attention import HIDDEN_SIZE, append_to_cache, constrain_key_mask, constrain_scores_bias
from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.operands import part_size, require_single_inputs, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

BATCH = "query, key and value must have the same batch size"


@attrs.frozen
class AttentionSizes:
    """The sizes common to all forms of query, key and value; widths are head sizes, `hidden` is that of the output."""

    batch: DimSize
    queries: DimSize
    keys: DimSize
    key_width: DimSize
    value_width: DimSize
    hidden: DimSize


def attention_sizes(
    c: InferenceContext, query: Shape, key: Shape | None, value: Shape | None, heads: int
) -> AttentionSizes:
    """The sizes of a query [B, S, H] or [B, S, N, 3, D] (packed), a key [B, L, H], [B, L, N, 2, D] or [B, N, L, D]."""
    if len(query) == 5:
        return _packed_sizes(c, query, heads)
    batch, queries, hidden = c.require_rank(query, 3, "query")
    width = part_size(c, hidden, heads, HIDDEN_SIZE)
    if key is None:
        c.fail("key is required unless the query is packed", query)
    batch = c.merge(batch, key[0], BATCH)
    if len(key) == 5:
        message = "packed keys and values must be [batch, sequence, num_heads, 2, head_size]"
        c.merge(Shape(key[2:]), Shape((heads, 2, width)), message)
        return AttentionSizes(batch, queries, key[1], width, width, hidden)
    if value is None:
        c.fail("value is required unless the key is packed", key)
    batch = c.merge(batch, value[0], BATCH)
    if len(key) == 4:
        return _cached_sizes(c, AttentionSizes(batch, queries, key[2], width, width, hidden), key, value, heads)
    key, value = c.require_rank(key, 3, "key"), c.require_rank(value, 3, "value")
    c.merge(key[2], hidden, "query and key must have the same hidden size")
    length = c.merge(key[1], value[1], "key and value must have the same length")
    return AttentionSizes(batch, queries, length, width, part_size(c, value[2], heads, HIDDEN_SIZE), value[2])


def _packed_sizes(c: InferenceContext, query: Shape, heads: int) -> AttentionSizes:
    """The sizes of a packed query [B, S, N, 3, D]."""
    batch, length, count, three, width = query
    c.merge(count, heads, "axis 2 of a packed query must equal num_heads")
    c.merge(three, 3, "axis 3 of a packed query must be 3: query, key and value")
    return AttentionSizes(batch, length, length, width, width, width * heads)


def _cached_sizes(c: InferenceContext, common: AttentionSizes, key: Shape, value: Shape, heads: int) -> AttentionSizes:
    """The sizes of a query with cached key and value [B, N, L, D]."""
    value = c.require_rank(value, 4, "value")
    for cache, name in ((key, "key"), (value, "value")):
        c.merge(cache[1], heads, f"axis 1 of a cached {name} must equal num_heads")
    c.merge(key[3], common.key_width, "query and key must have the same head size")
    c.merge(key[3], value[3], "key and value must have the same head size")
    c.merge(key[2], value[2], "key and value must have the same length")
    return attrs.evolve(common, value_width=value[3], hidden=value[3] * heads)


@onnx("MultiHeadAttention", domain=MS)
def multi_head_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None = None,
    value: Shape | None = None,
    bias: Shape | None = None,
    mask: Shape | None = None,
    scores_bias: Shape | None = None,
    past_key: Shape | None = None,
    past_value: Shape | None = None,
    past_length: Shape | None = None,
    cache_indirection: Shape | None = None,
    *,
    num_heads: int,
) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, S, H], [B, L, H], [B, L, V] -> [B, S, V], caches [B, N, P + L, D], scores [B, N, S, P + L]."""
    sizes = attention_sizes(c, query, key, value, num_heads)
    require_single_inputs(c, (past_length,), 8)
    outputs = _outputs(c, sizes, past_key, past_value, num_heads, past_length is not None)
    keys = None if past_length is not None else outputs[1][2]
    _constrain_masks(c, sizes, bias, mask, scores_bias, num_heads, keys)
    return outputs


def _constrain_masks(
    c: InferenceContext,
    sizes: AttentionSizes,
    bias: Shape | None,
    mask: Shape | None,
    scores_bias: Shape | None,
    heads: int,
    keys: DimSize | None,
) -> None:
    """Constrain the biases of the projections of query, key and value, the mask of keys and the bias of the scores."""
    width = sizes.key_width * heads
    message = "the bias must be as long as the hidden sizes of query, key and value together"
    require_vector(c, bias, 2 * width + sizes.hidden, message)
    constrain_key_mask(c, mask, sizes.batch, sizes.queries, keys)
    constrain_scores_bias(c, scores_bias, sizes.batch, heads, sizes.queries, keys)


def _outputs(
    c: InferenceContext,
    sizes: AttentionSizes,
    past_key: Shape | None,
    past_value: Shape | None,
    heads: int,
    shared: bool,
) -> tuple[Shape, Shape, Shape, Shape]:
    """The output, both caches with the new keys and values, and the scores."""
    if past_key is not None and past_value is not None:
        c.merge(past_key[2], past_value[2], "past_key and past_value must have the same length")
    keys = append_to_cache(c, past_key, "past_key", (sizes.batch, heads, sizes.key_width), sizes.keys, shared)
    values = append_to_cache(c, past_value, "past_value", (sizes.batch, heads, sizes.value_width), sizes.keys, shared)
    total = c.fresh("total", 0, c.interval(keys[2]).hi) if shared else keys[2]
    return (
        Shape((sizes.batch, sizes.queries, sizes.hidden)),
        keys,
        values,
        Shape((sizes.batch, heads, sizes.queries, total)),
    )


@onnx("DecoderMaskedMultiHeadAttention", domain=MS)
def decoder_multi_head_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None = None,
    value: Shape | None = None,
    mask: Shape | None = None,
    scores_bias: Shape | None = None,
    past_key: Shape | None = None,
    past_value: Shape | None = None,
    past_length: Shape | None = None,
    beams: Shape | None = None,
    cache_indirection: Shape | None = None,
    bias: Shape | None = None,
    *,
    num_heads: int,
    past_present_share_buffer: int = 0,
) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, 1, H], [B, 1, H], [B, 1, V] -> [B, 1, V], caches [B, N, P + 1, D], scores [B, N, 1, P + 1].

    A packed query holds all three; key and value may be caches of a cross attention.
    """
    query = c.require_rank(query, 3, "query")
    c.merge(query[1], 1, "the query must be [batch, 1, hidden]")
    if key is None:
        hidden = part_size(c, query[2], 3, "a packed query must split evenly into query, key and value")
        width = part_size(c, hidden, num_heads, HIDDEN_SIZE)
        sizes = AttentionSizes(query[0], query[1], query[1], width, width, hidden)
    else:
        sizes = attention_sizes(c, query, key, value, num_heads)
    require_single_inputs(c, (past_length, beams), 7)
    outputs = _outputs(c, sizes, past_key, past_value, num_heads, bool(past_present_share_buffer))
    keys = None if past_present_share_buffer else outputs[1][2]
    if mask is not None:
        mask = c.require_rank(mask, 2, "mask_index")
    if cache_indirection is not None:
        _constrain_beams(c, cache_indirection, query[0], past_key if past_present_share_buffer else None)
    _constrain_masks(c, sizes, bias, mask, scores_bias, num_heads, keys)
    return outputs


def _constrain_beams(c: InferenceContext, indirection: Shape, rows: DimSize, buffer: Shape | None) -> None:
    """Require [samples, beams, M] for `rows` rows, the beams of all samples, and a buffer [*, *, M, *]."""
    samples, beams, length = c.require_rank(indirection, 3, "cache_indirection")
    c.merge(samples * beams, rows, "cache_indirection must have a row for each beam of each sample")
    if buffer is not None:
        c.merge(length, c.require_rank(buffer, 4, "past_key")[2], "cache_indirection must be as long as the cache")


@onnx("GatedRelativePositionBias", domain=MS)
def gated_relative_position_bias(
    c: InferenceContext,
    query: Shape,
    query_bias: Shape,
    positions: Shape,
    weight: Shape,
    bias: Shape,
    eco: Shape,
    offsets: Shape | None = None,
    *,
    num_heads: int,
) -> Shape:
    """[B, S, H] (or [T, H] with offsets [B, S]), positions [1, N, S, S] -> [B, N, S, S]."""
    if offsets is not None:
        batch, length = c.require_rank(offsets, 2, "token_offset")
    else:
        batch, length, _ = c.require_rank(query, 3, "query_layer")
    positions = c.require_rank(positions, 4, "rel_pos")
    c.merge(positions[1], num_heads, "rel_pos[1] must equal num_heads")
    for i in (2, 3):
        length = c.merge(length, positions[i], "rel_pos[2] and rel_pos[3] must equal the sequence length")
    require_vector(c, query_bias, query[-1], "query_bias must be as long as the last axis of the query")
    return Shape((batch, num_heads, length, length))
