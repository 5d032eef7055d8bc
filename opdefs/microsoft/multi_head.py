"""Multi-head attention over query, key and value, whole or packed into one tensor (letters as in `attention`)."""

from __future__ import annotations

import attrs

from opdefs.microsoft.attention import FILLED, grown_cache
from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.masks import tell_key_mask, tell_scores_bias
from opdefs.rules.operands import one_value, part, vector
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

LENGTH = "past_sequence_length and beam_width must be one value each"
BATCH = "query, key and value must be of equal batch"


@attrs.frozen
class Operands:
    """What the forms of query, key and value have in common: B, S, L, the widths of a head, the output's width."""

    batch: Dim
    queries: Dim
    keys: Dim
    key_width: Dim
    value_width: Dim
    hidden: Dim


def operands(c: InferenceContext, query: Shape, key: Shape | None, value: Shape | None, heads: int) -> Operands:
    """Query [B, S, H] or packed [B, S, N, 3, D]; key [B, L, H], packed [B, L, N, 2, D] or cached [B, N, L, D]."""
    if len(query) == 5:
        return _packed(c, query, heads)
    batch, queries, hidden = c.require_rank(query, 3, "query")
    width = part(c, hidden, heads, FILLED)
    if key is None:
        c.fail("a query without packed key and value needs a key", query)
    batch = c.merge(batch, key[0], BATCH)
    if len(key) == 5:
        c.merge(Shape(key[2:]), Shape((heads, 2, width)), "packed keys and values must be [.., heads, 2, width]")
        return Operands(batch, queries, key[1], width, width, hidden)
    if value is None:
        c.fail("a key that holds no values needs a value", key)
    batch = c.merge(batch, value[0], BATCH)
    if len(key) == 4:
        return _cached(c, Operands(batch, queries, key[2], width, width, hidden), key, value, heads)
    key, value = c.require_rank(key, 3, "key"), c.require_rank(value, 3, "value")
    c.merge(key[2], hidden, "query and key must be of equal hidden size")
    length = c.merge(key[1], value[1], "key and value must be of equal length")
    return Operands(batch, queries, length, width, part(c, value[2], heads, FILLED), value[2])


def _packed(c: InferenceContext, query: Shape, heads: int) -> Operands:
    batch, length, count, three, width = query
    c.merge(count, heads, "the third axis of a packed query must be the heads")
    c.merge(three, 3, "a packed query must hold query, key and value")
    return Operands(batch, length, length, width, width, width * heads)


def _cached(c: InferenceContext, common: Operands, key: Shape, value: Shape, heads: int) -> Operands:
    value = c.require_rank(value, 4, "value")
    for cache in (key, value):
        c.merge(cache[1], heads, "the second axis of a cache must be the heads")
    c.merge(key[3], common.key_width, "query and key must be of equal width")
    c.merge(key[3], value[3], "key and value must be of equal width")
    c.merge(key[2], value[2], "key and value must be of equal length")
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
    o = operands(c, query, key, value, num_heads)
    one_value(c, past_length, LENGTH)
    outputs = _outputs(c, o, past_key, past_value, num_heads, past_length is not None)
    keys = None if past_length is not None else outputs[1][2]
    _tell_beside(c, o, bias, mask, scores_bias, num_heads, keys)
    return outputs


def _tell_beside(
    c: InferenceContext,
    o: Operands,
    bias: Shape | None,
    mask: Shape | None,
    scores_bias: Shape | None,
    heads: int,
    keys: Dim | None,
) -> None:
    """The biases of the projections of query, key and value, a mask of keys and a bias of the scores."""
    width = o.key_width * heads
    vector(c, bias, 2 * width + o.hidden, "the bias must be as long as query, key and value are wide together")
    tell_key_mask(c, mask, o.batch, o.queries, keys)
    tell_scores_bias(c, scores_bias, o.batch, heads, o.queries, keys)


def _outputs(
    c: InferenceContext, o: Operands, past_key: Shape | None, past_value: Shape | None, heads: int, shared: bool
) -> tuple[Shape, Shape, Shape, Shape]:
    if past_key is not None and past_value is not None:
        c.merge(past_key[2], past_value[2], "past_key and past_value must be of equal length")
    keys = grown_cache(c, past_key, (o.batch, heads, o.key_width), o.keys, shared)
    values = grown_cache(c, past_value, (o.batch, heads, o.value_width), o.keys, shared)
    total = c.fresh("total", 0, c.interval(keys[2]).hi) if shared else keys[2]
    return Shape((o.batch, o.queries, o.hidden)), keys, values, Shape((o.batch, heads, o.queries, total))


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

    The query alone may hold all three side by side; key and value may be caches of a cross attention.
    """
    query = c.require_rank(query, 3, "query")
    c.merge(query[1], 1, "the query must hold one token")
    if key is None:
        hidden = part(c, query[2], 3, "a packed query must hold query, key and value side by side")
        width = part(c, hidden, num_heads, FILLED)
        o = Operands(query[0], query[1], query[1], width, width, hidden)
    else:
        o = operands(c, query, key, value, num_heads)
    for v in (past_length, beams):
        one_value(c, v, LENGTH)
    outputs = _outputs(c, o, past_key, past_value, num_heads, bool(past_present_share_buffer))
    keys = None if past_present_share_buffer else outputs[1][2]
    if mask is not None:
        mask = c.require_rank(mask, 2, "mask_index")
    _tell_beside(c, o, bias, mask, scores_bias, num_heads, keys)
    return outputs


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
    """[B, S, H] (or [T, H] with offsets [B, S]), [1, N, S, S] -> [B, N, S, S]."""
    if offsets is not None:
        batch, length = c.require_rank(offsets, 2, "token_offset")
    else:
        batch, length, _ = c.require_rank(query, 3, "query_layer")
    positions = c.require_rank(positions, 4, "rel_pos")
    c.merge(positions[1], num_heads, "the second axis of rel_pos must be the heads")
    for i in (2, 3):
        length = c.merge(length, positions[i], "rel_pos must be as long as the sequence")
    vector(c, query_bias, query[-1], "the bias must be as long as the query is wide")
    return Shape((batch, num_heads, length, length))
