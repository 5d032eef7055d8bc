"""Attention over one tensor or over query, key and value, with caches of past keys and values.

Letters: B batch, S new tokens, L new keys, P past keys, N heads, D width of a head, H = N*D, I input width, T packed
tokens. A `present` cache grows along its sequence axis, or is the buffer that the past came in.
"""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.masks import tell_key_mask, tell_scores_bias
from opdefs.rules.operands import either, one_or, one_value, part, vector
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Ints

FILLED = "the heads must fill the hidden size"


def grown_cache(
    c: InferenceContext, past: Shape | None, dims: tuple[Dim, Dim, Dim], new: Dim, shared: bool = False
) -> Shape:
    """[B, N, P + new, D] from [B, N, P, D] (or from nothing); a shared buffer keeps its size. `dims` is (B, N, D)."""
    batch, heads, width = dims
    if past is None:
        return Shape((batch, heads, new, width))
    past = c.require_rank(past, 4, "a cache")
    for i, size in ((0, batch), (1, heads), (3, width)):
        c.merge(past[i], size, "a cache must be [batch, heads, sequence, width of a head]")
    return Shape((batch, heads, past[2] if shared else past[2] + new, width))


def grown_pair(
    c: InferenceContext, past: Shape | None, dims: tuple[Dim, Dim, Dim], new: Dim, shared: bool = False
) -> Shape:
    """[2, B, N, P + new, D]: keys and values in one tensor."""
    if past is not None:
        past = c.require_rank(past, 5, "past")
        c.merge(past[0], 2, "past must hold keys and values")
        past = Shape(past[1:])
    return Shape((2, *grown_cache(c, past, dims, new, shared)))


@onnx("Attention", domain=MS)
def attention(
    c: InferenceContext,
    x: Shape,
    weights: Shape,
    bias: Shape | None = None,
    mask: Shape | None = None,
    past: Shape | None = None,
    scores_bias: Shape | None = None,
    past_length: Shape | None = None,
    *,
    num_heads: int,
    qkv_hidden_sizes: Ints = (),
    past_present_share_buffer: int = 0,
) -> tuple[Shape, Shape]:
    """[B, S, I], [I, Q + K + V], [2, B, N, P, D] -> [B, S, V], [2, B, N, P + S, D]."""
    x = c.require_rank(x, 3, "input")
    values = _value_width(c, x[2], weights, bias, qkv_hidden_sizes)
    width = part(c, values, num_heads, FILLED)
    present = grown_pair(c, past, (x[0], num_heads, width), x[1], bool(past_present_share_buffer))
    keys = None if past_present_share_buffer else present[3]
    if mask is not None and mask.rank != 1 and mask.dims and mask.dims[-1] != 1:  # a vector has three forms, 1 is none
        tell_key_mask(c, mask, x[0], x[1], keys)
    tell_scores_bias(c, scores_bias, x[0], num_heads, x[1], keys)
    one_value(c, past_length, "past_sequence_length must be one value")
    return Shape((x[0], x[1], values)), present


def _value_width(c: InferenceContext, width: Dim, weights: Shape, bias: Shape | None, sizes: Ints) -> Dim:
    """The hidden size of the values: a third of the columns of the weights, or as the attribute says."""
    weights = c.require_rank(weights, 2, "weights")
    c.merge(width, weights[0], "the last axis of the input must equal the rows of the weights")
    vector(c, bias, weights[1], "the bias must be as long as the weights are wide")
    if not sizes:
        return part(c, weights[1], 3, "the weights must hold query, key and value side by side")
    if len(sizes) != 3:
        c.fail("qkv_hidden_sizes must hold 3 values", sizes)
    c.merge(weights[1], sum(sizes), "the weights must be as wide as query, key and value together")
    return sizes[2]


@onnx("QAttention", domain=MS)
def quantized_attention(
    c: InferenceContext,
    x: Shape,
    weights: Shape,
    bias: Shape,
    x_scale: Shape,
    w_scale: Shape,
    mask: Shape | None = None,
    x_zero: Shape | None = None,
    w_zero: Shape | None = None,
    past: Shape | None = None,
    *,
    num_heads: int,
    past_present_share_buffer: int = 0,
) -> tuple[Shape, Shape]:
    """[B, S, I], [I, 3*H], [2, B, N, P, D] -> [B, S, H], [2, B, N, P + S, D]."""
    columns = c.require_rank(weights, 2, "weights")[1]
    for v, name in ((x_scale, "input_scale"), (x_zero, "input_zero_point")):
        one_value(c, v, f"{name} must be one value")
    for v, name in ((w_scale, "weight_scale"), (w_zero, "weight_zero_point")):
        if v is not None and v.dims:
            one_or(c, c.require_rank(v, 1, name)[0], columns, f"{name} must be one value, or one a column")
    shared = past_present_share_buffer
    return attention(c, x, weights, bias, mask, past, num_heads=num_heads, past_present_share_buffer=shared)


@onnx("DecoderMaskedSelfAttention", domain=MS)
def decoder_self_attention(
    c: InferenceContext,
    x: Shape,
    weights: Shape,
    bias: Shape,
    mask: Shape | None,
    past: Shape,
    scores_bias: Shape | None = None,
    past_length: Shape | None = None,
    beams: Shape | None = None,
    cache_indirection: Shape | None = None,
    *,
    num_heads: int,
    past_present_share_buffer: int = 0,
) -> tuple[Shape, Shape]:
    """[B, 1, I], [I, 3*H], [2, B, N, P, D] -> [B, 1, H], [2, B, N, P + 1, D]."""
    shared = past_present_share_buffer
    return attention(c, x, weights, bias, mask, past, num_heads=num_heads, past_present_share_buffer=shared)


@onnx("PackedAttention", domain=MS)
def packed_attention(
    c: InferenceContext,
    x: Shape,
    weights: Shape,
    bias: Shape,
    offsets: Shape,
    lengths: Shape,
    scores_bias: Shape | None = None,
    *,
    qkv_hidden_sizes: Ints = (),
) -> Shape:
    """[T, I], [I, Q + K + V] -> [T, V]."""
    x = c.require_rank(x, 2, "input")
    return Shape((x[0], _value_width(c, x[1], weights, bias, qkv_hidden_sizes)))


@onnx("PackedMultiHeadAttention", domain=MS)
def packed_multi_head_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None,
    value: Shape | None,
    bias: Shape | None,
    offsets: Shape,
    lengths: Shape,
    scores_bias: Shape | None = None,
) -> Shape:
    """[T, H], [T, H], [T, V] -> [T, V]; or packed [T, N, 3, D] -> [T, N*D]."""
    if len(query) == 4:
        return Shape((query[0], query[1] * query[3]))
    query = c.require_rank(query, 2, "query")
    if value is None:
        c.fail("a query without axes of heads needs key and value", query)
    value = c.require_rank(value, 2, "value")
    return Shape((c.merge(query[0], value[0], "query and value must hold the same tokens"), value[1]))


@onnx("LongformerAttention", domain=MS)
def longformer_attention(c: InferenceContext, x: Shape, weight: Shape, *others: Shape | None) -> Shape:
    """[B, S, H], [H, 3*H] -> [B, S, H]."""
    x, weight = c.require_rank(x, 3, "input"), c.require_rank(weight, 2, "weight")
    c.merge(x[2], weight[0], "the last axis of the input must equal the rows of the weight")
    return x


@onnx("QOrderedLongformerAttention", domain=MS)
def ordered_longformer_attention(
    c: InferenceContext, x: Shape, x_scale: Shape, weight: Shape, *others: Shape | None
) -> Shape:
    """[B, S, H], [H, 3*H] -> [B, S, H]."""
    return longformer_attention(c, x, weight)


@onnx("QOrderedAttention", domain=MS)
def ordered_attention(c: InferenceContext, x: Shape, *others: Shape | None, qkv_hidden_sizes: Ints = ()) -> Shape:
    """[B, S, I], three weights [I, H] -> [B, S, H]; H as the bias of the values [H] says."""
    x = c.require_rank(x, 3, "input")
    bias = others[12] if len(others) > 12 else None
    if bias is None:
        c.fail("the bias of the values must be given", len(others) + 1)
    return Shape((x[0], x[1], c.require_rank(bias, 1, "V_bias")[0]))


@onnx("DecoderAttention", domain=MS)
def decoder_attention(
    c: InferenceContext, query: Shape, key: Shape, *others: Shape | None, num_heads: int
) -> tuple[Shape, Shape, Shape]:
    """[S, B, H], [L, B, H] -> [S, B, H], and two caches [B, N, cached, D] whose length the flags decide."""
    query = c.require_rank(query, 3, "query")
    width = part(c, query[2], num_heads, FILLED)
    keys, values = (Shape((query[1], num_heads, c.fresh(f"cached.{i}"), width)) for i in range(2))
    return query, keys, values


PAIRED = "a cache must hold one value for two that are rotated"


@onnx("RotaryEmbedding", domain=MS)
def rotary_embedding(
    c: InferenceContext,
    x: Shape,
    positions: Shape,
    cosines: Shape,
    sines: Shape,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Shape:
    """[B, S, H] or [B, N, S, D], positions [1] or [B, S] -> the shape of the first; caches are [P, rotated/2].

    The kernel takes caches of half a head for those of half of what is rotated, too, and the last of an odd number of
    elements stays as it is.
    """
    batch, steps, width = _heads(c, x, num_heads, rotary_embedding_dim)
    half = _width_of_caches(c, cosines, sines)
    if width is None:
        if isinstance(half, int) and half:
            c.divisible(x[2], 2 * half, "the hidden size must hold heads that are twice as wide as a cache")
    elif rotary_embedding_dim:
        either(c, half, (width // 2, rotary_embedding_dim // 2), PAIRED)
    else:
        c.merge(half, width // 2, PAIRED)
    if positions.dims is not None and len(positions.dims) == 2:
        c.merge(positions, Shape((batch, steps)), "position_ids must be one offset, or [batch, sequence]")
    else:
        one_value(c, positions, "position_ids must be one offset, or [batch, sequence]")
    return x


@onnx("MRotaryEmbedding", domain=MS)
def multimodal_rotary_embedding(
    c: InferenceContext,
    x: Shape,
    positions: Shape,
    cosines: Shape,
    sines: Shape,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    mrope_section: Ints,
) -> Shape:
    """[B, S, H] or [B, N, S, D], positions [3, B, S] -> the shape of the first; caches are [P, rotated/2]."""
    batch, steps, width = _heads(c, x, num_heads, rotary_embedding_dim)
    if width is None:
        c.fail("an input of rank 3 needs the attribute 'num_heads'", x)
    rotated = rotary_embedding_dim or width
    c.divisible(rotated, 2, "the number of elements that are rotated must be even")
    c.merge(_width_of_caches(c, cosines, sines), rotated // 2, PAIRED)
    if len(mrope_section) != 3:
        c.fail("mrope_section must have three values", mrope_section)
    c.merge(rotated // 2, sum(mrope_section), "mrope_section must be as wide as a cache")
    c.merge(positions, Shape((3, batch, steps)), "position_ids must be [3, batch, sequence]")
    return x


def _heads(c: InferenceContext, x: Shape, heads: int, rotated: int) -> tuple[Dim, Dim, Dim | None]:
    """Batch, length, and the width of a head; None for a width that no attribute tells."""
    if len(x) not in (3, 4):
        c.fail("the input must be [batch, sequence, hidden] or [batch, heads, sequence, width]", x)
    if rotated and heads < 1:
        c.fail("the attribute 'rotary_embedding_dim' needs 'num_heads'", rotated)
    if len(x) == 3 and not heads:
        return x[0], x[1], None
    width = x[3] if len(x) == 4 else part(c, x[2], heads, FILLED)
    c.at_most(rotated, width, "no more can be rotated than a head has")
    return x[0], x[1] if len(x) == 3 else x[2], width


def _width_of_caches(c: InferenceContext, cosines: Shape, sines: Shape) -> Dim:
    cache = c.merge(cosines, sines, "cos_cache and sin_cache must be of equal shape")
    return c.require_rank(cache, 2, "cos_cache")[1]


@onnx("GemmaRotaryEmbedding", domain=MS)
def gemma_rotary_embedding(
    c: InferenceContext, embedding: Shape, query: Shape, query_rotated: Shape, key: Shape, key_rotated: Shape
) -> tuple[Shape, Shape]:
    """[B, S, D], four of [B, N, S, D] -> two of [B, N, S, D]."""
    query = c.merge(query, query_rotated, "q and q_rot must be of equal shape")
    return query, c.merge(key, key_rotated, "k and k_rot must be of equal shape")
