"""Attention over one tensor or over query, key and value, with caches of past keys and values.

Letters: B batch, S new tokens, L new keys, P past keys, N heads, D head size, H = N*D, I input width, Q, K and V
hidden sizes of query, key and value, T packed tokens. A cache grows along its sequence axis, or is a buffer that
the call shares with its past and that keeps its size.
"""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.contents.progressions import extremes
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.operands import (
    merge_optional,
    part_size,
    prove_unit,
    require_broadcast_size,
    require_choice,
    require_single,
    require_vector,
)
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Ints, Value

KEY_MASK = "the mask must be [batch, keys], [batch, queries, keys] or sequence lengths"
SCORES_BIAS = "attention_bias must be [batch or 1, heads or 1, queries, keys]"


def constrain_scores_bias(
    c: InferenceContext, bias: Shape | None, batch: DimSize, heads: int, queries: DimSize, keys: DimSize | None
) -> None:
    """Require [B or 1, N or 1, S, keys]; `keys` is None if it is unknown."""
    if bias is not None:
        bias = c.require_rank(bias, 4, "attention_bias")
        require_broadcast_size(c, bias[0], batch, SCORES_BIAS)
        require_broadcast_size(c, bias[1], heads, SCORES_BIAS)
        c.merge(bias[2], queries, SCORES_BIAS)
        if keys is not None:
            c.merge(bias[3], keys, SCORES_BIAS)


def constrain_key_mask(
    c: InferenceContext, mask: Shape | None, batch: DimSize, queries: DimSize, keys: DimSize | None
) -> None:
    """Require [B, keys], [B, S, keys], or lengths [B] or [3*B + 2]."""
    if mask is None or mask.dims is None:
        return
    if len(mask.dims) == 1:
        require_choice(c, mask.dims[0], (batch, 3 * batch + 2), KEY_MASK)
    elif len(mask.dims) in (2, 3):
        keys = mask.dims[-1] if keys is None else keys
        merge_optional(c, Shape((batch, keys) if len(mask.dims) == 2 else (batch, queries, keys)), mask, KEY_MASK)
    else:
        c.fail(KEY_MASK, mask)


HIDDEN_SIZE = "the hidden size must be divisible by num_heads"


def append_to_cache(
    c: InferenceContext,
    past: Shape | None,
    name: str,
    dims: tuple[DimSize, DimSize, DimSize],
    new: DimSize,
    shared: bool = False,
) -> Shape:
    """[B, N, P + new, D] from the input `name` [B, N, P, D] (or no past); a shared buffer keeps P.

    `dims` is (B, N, D).
    """
    batch, heads, width = dims
    if past is None:
        return Shape((batch, heads, new, width))
    past = c.require_rank(past, 4, name)
    for i, size in ((0, batch), (1, heads), (3, width)):
        c.merge(past[i], size, f"{name} must be [batch, heads, sequence, head_size]")
    return Shape((batch, heads, past[2] if shared else past[2] + new, width))


def append_to_pair(
    c: InferenceContext, past: Shape | None, dims: tuple[DimSize, DimSize, DimSize], new: DimSize, shared: bool = False
) -> Shape:
    """[2, B, N, P + new, D]: keys and values in one tensor, from `past` [2, B, N, P, D] (or no past)."""
    if past is not None:
        past = c.require_rank(past, 5, "past")
        c.merge(past[0], 2, "past[0] must be 2 (keys and values)")
        past = Shape(past[1:])
    return Shape((2, *append_to_cache(c, past, "past[1:]", dims, new, shared)))


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
    """[B, S, I], [I, Q + K + V], a cache [2, B, N, P, D] -> [B, S, V], the cache [2, B, N, P + S, D]."""
    x = c.require_rank(x, 3, "input")
    values = _value_width(c, x[2], weights, bias, qkv_hidden_sizes)
    width = part_size(c, values, num_heads, HIDDEN_SIZE)
    present = append_to_pair(c, past, (x[0], num_heads, width), x[1], bool(past_present_share_buffer))
    keys = None if past_present_share_buffer else present[3]
    _constrain_index(c, mask, x[0], x[1], keys)
    constrain_scores_bias(c, scores_bias, x[0], num_heads, x[1], keys)
    require_single(c, past_length, "past_sequence_length must have exactly one element")
    return Shape((x[0], x[1], values)), present


def _constrain_index(
    c: InferenceContext, mask: Shape | None, batch: DimSize, queries: DimSize, keys: DimSize | None
) -> None:
    """Require [B, keys], [B, S, keys], [B, 1, M, M], or lengths [B], [2*B] or [3*B + 2].

    [B, 1] and [1, 1] stand for no mask.
    """
    if mask is None or mask.dims is None:
        return
    if len(mask.dims) == 4:
        c.merge(mask, Shape((batch, 1, mask.dims[2], mask.dims[2])), KEY_MASK)
    elif len(mask.dims) == 1:
        require_choice(c, mask.dims[0], (batch, 2 * batch, 3 * batch + 2), KEY_MASK)
    elif len(mask.dims) == 2 and prove_unit(c, mask.dims[1]) is not False:
        require_broadcast_size(c, mask.dims[0], batch, KEY_MASK)
        if keys is not None:
            require_broadcast_size(c, mask.dims[1], keys, KEY_MASK)
    else:
        constrain_key_mask(c, mask, batch, queries, keys)


def _value_width(c: InferenceContext, width: DimSize, weights: Shape, bias: Shape | None, sizes: Ints) -> DimSize:
    """V, the hidden size of the values: a third of the columns of the weights, or the last of `qkv_hidden_sizes`."""
    weights = c.require_rank(weights, 2, "weights")
    c.merge(width, weights[0], "the last axis of the input must equal weights[0]")
    require_vector(c, bias, weights[1], "the bias must have one value per column of the weights")
    if not sizes:
        return part_size(c, weights[1], 3, "weights[1] must be divisible by 3 (query, key and value)")
    if len(sizes) != 3:
        c.fail("qkv_hidden_sizes must have 3 items", sizes)
    c.merge(weights[1], sum(sizes), "weights[1] must equal the sum of qkv_hidden_sizes")
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
    """[B, S, I], [I, 3*H], a cache [2, B, N, P, D] -> [B, S, H], the cache [2, B, N, P + S, D]."""
    columns = c.require_rank(weights, 2, "weights")[1]
    for v, name in ((x_scale, "input_scale"), (x_zero, "input_zero_point")):
        require_single(c, v, f"{name} must have exactly one element")
    for v, name in ((w_scale, "weight_scale"), (w_zero, "weight_zero_point")):
        if v is not None and v.dims:
            (size,) = c.require_rank(v, 1, name)
            require_broadcast_size(c, size, columns, f"{name} must have exactly one element, or one per column")
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
    """[B, 1, I], [I, 3*H], a cache [2, B, N, P, D] -> [B, 1, H], the cache [2, B, N, P + 1, D]."""
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
        c.fail("a query of rank 2 requires key and value", query)
    value = c.require_rank(value, 2, "value")
    return Shape((c.merge(query[0], value[0], "query and value must have the same number of tokens"), value[1]))


@onnx("LongformerAttention", domain=MS)
def longformer_attention(c: InferenceContext, x: Shape, weight: Shape, *others: Shape | None) -> Shape:
    """[B, S, H], [H, 3*H] -> [B, S, H]."""
    x, weight = c.require_rank(x, 3, "input"), c.require_rank(weight, 2, "weight")
    c.merge(x[2], weight[0], "the last axis of the input must equal weight[0]")
    return x


@onnx("QOrderedLongformerAttention", domain=MS)
def ordered_longformer_attention(
    c: InferenceContext, x: Shape, x_scale: Shape, weight: Shape, *others: Shape | None
) -> Shape:
    """[B, S, H], [H, 3*H] -> [B, S, H]."""
    return longformer_attention(c, x, weight)


@onnx("QOrderedAttention", domain=MS)
def ordered_attention(c: InferenceContext, x: Shape, *others: Shape | None, qkv_hidden_sizes: Ints = ()) -> Shape:
    """[B, S, I], three weights [I, H], biases [H] -> [B, S, H]; H is the length of V_bias."""
    x = c.require_rank(x, 3, "input")
    bias = others[12] if len(others) > 12 else None
    if bias is None:
        c.fail("the input V_bias is required", len(others) + 1)
    return Shape((x[0], x[1], c.require_rank(bias, 1, "V_bias")[0]))


@onnx("DecoderAttention", domain=MS)
def decoder_attention(
    c: InferenceContext, query: Shape, key: Shape, *others: Shape | None, num_heads: int
) -> tuple[Shape, Shape, Shape]:
    """[S, B, H], [L, B, H] -> [S, B, H], two caches [B, N, cached, D] of unknown length, which depends on the flags."""
    query = c.require_rank(query, 3, "query")
    width = part_size(c, query[2], num_heads, HIDDEN_SIZE)
    keys, values = (Shape((query[1], num_heads, c.fresh(f"cached.{i}"), width)) for i in range(2))
    return query, keys, values


POSITIONS = "position_ids must be an offset with one element, or [batch, sequence]"
CACHE_WIDTH = "the last axis of cos_cache and sin_cache must be half the rotary dimension"


@onnx("RotaryEmbedding", domain=MS)
def rotary_embedding(
    c: InferenceContext,
    x: Shape,
    positions: Value,
    cosines: Shape,
    sines: Shape,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Shape:
    """[B, S, H] or [B, N, S, D], positions [1] or [B, S], caches [P, rotated/2] -> the shape of the input.

    With `rotary_embedding_dim`, the kernel also accepts caches of half a head. It does not rotate the last element of
    a head of odd size.
    """
    batch, steps, width = _head_dims(c, x, num_heads, rotary_embedding_dim)
    half = _cache_width(c, cosines, sines)
    if width is None:
        if isinstance(half, int) and half:
            c.divisible(x[2], 2 * half, "the hidden size must be divisible by twice the last axis of cos_cache")
    elif rotary_embedding_dim:
        require_choice(c, half, (width // 2, rotary_embedding_dim // 2), CACHE_WIDTH)
    else:
        c.merge(half, width // 2, CACHE_WIDTH)
    if positions.shape.dims is not None and len(positions.shape.dims) == 2:
        c.merge(positions.shape, Shape((batch, steps)), POSITIONS)
        _constrain_rotated_positions(c, positions, steps, cosines)
    else:
        require_single(c, positions.shape, POSITIONS)
        offsets, _ = extremes(c, positions)
        ends = [position for offset in offsets for position in (offset, offset + steps - 1)]
        _constrain_rotated_positions(c, PartialTensor(positions.dtype, Shape((len(ends),)), ends), steps, cosines)
    return x


@onnx("MRotaryEmbedding", domain=MS)
def multimodal_rotary_embedding(
    c: InferenceContext,
    x: Shape,
    positions: Value,
    cosines: Shape,
    sines: Shape,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    mrope_section: Ints,
) -> Shape:
    """[B, S, H] or [B, N, S, D], positions [3, B, S], caches [P, rotated/2] -> the shape of the input."""
    batch, steps, width = _head_dims(c, x, num_heads, rotary_embedding_dim)
    if width is None:
        c.fail("an input of rank 3 requires the attribute num_heads", x)
    rotated = rotary_embedding_dim or width
    c.divisible(rotated, 2, "the rotary dimension must be even")
    c.merge(_cache_width(c, cosines, sines), rotated // 2, CACHE_WIDTH)
    if len(mrope_section) != 3:
        c.fail("mrope_section must have 3 items", mrope_section)
    c.merge(rotated // 2, sum(mrope_section), "the sum of mrope_section must be half the rotary dimension")
    c.merge(positions.shape, Shape((3, batch, steps)), "position_ids must be [3, batch, sequence]")
    _constrain_rotated_positions(c, positions, steps, cosines)
    return x


def _constrain_rotated_positions(c: InferenceContext, positions: PartialTensor, steps: DimSize, cache: Shape) -> None:
    """Require a row of a cache [P, rotated/2] for each position, and for as many as the sequence has."""
    rows = c.require_rank(cache, 2, "cos_cache")[0]
    c.at_most(steps, rows, "cos_cache and sin_cache must have a row for each position of the sequence")
    constrain_indices(c, positions, rows, from_end=False)


def _head_dims(c: InferenceContext, x: Shape, heads: int, rotated: int) -> tuple[DimSize, DimSize, DimSize | None]:
    """Batch, length and head size of an input; the head size is None if no attribute determines it."""
    if len(x) not in (3, 4):
        c.fail("the input must be [batch, sequence, hidden] or [batch, heads, sequence, head_size]", x)
    if rotated and heads < 1:
        c.fail("the attribute rotary_embedding_dim requires num_heads", rotated)
    if len(x) == 3 and not heads:
        return x[0], x[1], None
    width = x[3] if len(x) == 4 else part_size(c, x[2], heads, HIDDEN_SIZE)
    c.at_most(rotated, width, "rotary_embedding_dim must be at most the head size")
    return x[0], x[1] if len(x) == 3 else x[2], width


def _cache_width(c: InferenceContext, cosines: Shape, sines: Shape) -> DimSize:
    """The size of the last axis of both caches."""
    cache = c.merge(cosines, sines, "cos_cache and sin_cache must have the same shape")
    return c.require_rank(cache, 2, "cos_cache")[1]


@onnx("RMSNormRotary", domain=MS)
def normalize_and_rotate(
    c: InferenceContext,
    x: Shape,
    scale: Shape,
    positions: Shape,
    cosines: Shape,
    sines: Shape,
    numerics: Shape | None = None,
    *,
    rotary_embedding_dim: int,
    input_start: int = 0,
    input_width: int = 0,
    flatten_batch: int = 0,
    output_fp16: int = 0,
) -> tuple[TensorType, TensorType]:
    """[B, S, N, stride], a scale [D], positions [1] or [B, S] -> [B, S, N*D], [B, S, N, D].

    D is `input_width`, of the slice that starts at `input_start`, by default the stride; `flatten_batch` makes the
    first output [1, B*S, N*D].
    """
    batch, steps, heads, stride = c.require_rank(x, 4, "X")
    width = input_width or stride
    c.at_most(input_start + width, stride, "the normalized slice must be inside of the last axis of X")
    c.at_most(rotary_embedding_dim, width, "rotary_embedding_dim must be at most the normalized width")
    require_vector(c, scale, width, "scale must have one value per normalized feature")
    c.divisible(rotary_embedding_dim, 2, "the rotary dimension must be even")
    c.merge(_cache_width(c, cosines, sines), rotary_embedding_dim // 2, CACHE_WIDTH)
    if positions.dims is not None:
        message = "position_ids must have one element, or one per token"
        require_choice(c, c.numel(positions), (1, c.numel((batch, steps))), message)
    lead = (1, batch * steps) if flatten_batch else (batch, steps)
    result = TensorType("float16" if output_fp16 else "bfloat16", Shape((*lead, heads * width)))
    return result, TensorType("float32", Shape((batch, steps, heads, width)))


@onnx("GemmaRotaryEmbedding", domain=MS)
def gemma_rotary_embedding(
    c: InferenceContext, embedding: Shape, query: Shape, query_rotated: Shape, key: Shape, key_rotated: Shape
) -> tuple[Shape, Shape]:
    """[B, S, D], four of [B, N, S, D] -> [B, N, S, D] twice."""
    query = c.merge(query, query_rotated, "q and q_rot must have the same shape")
    return query, c.merge(key, key_rotated, "k and k_rot must have the same shape")
