"""Normalization, also fused with sums and embeddings before it."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.operands import (
    merge_optional,
    part_size,
    require_broadcast_size,
    require_broadcast_to,
    require_multiple,
    require_single_inputs,
    require_vector,
)
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value

Normalized = tuple[Shape, TensorType, TensorType, Shape]


@onnx("SimplifiedLayerNormalization")
def simplified_layer_normalization(
    c: InferenceContext, x: Shape, scale: Shape, *, axis: int = -1
) -> tuple[TensorType, TensorType]:
    """[*A, *B] -> [*A, *B], inverse deviations [*A, 1...]; B begins at `axis`. ONNX Runtime's, in ONNX's domain."""
    first = c.axis(axis, len(x))
    require_broadcast_to(c, scale, x, "the scale must broadcast to the shape of the input")
    statistics = Shape((*x[:first], *(1 for _ in x[first:])))
    return TensorType(c.dtype(1), x), TensorType("float32", statistics)


@onnx("SkipLayerNormalization", domain=MS)
def skip_layer_normalization(
    c: InferenceContext, x: Shape, skip: Shape, gamma: Shape, beta: Shape | None = None, bias: Shape | None = None
) -> Normalized:
    """[B, S, H] or [T, H] -> the same, mean and inverse deviation [..., 1], the sum of input, skip and bias.

    `skip` may lack the batch axis, or have a batch size of 1.
    """
    if len(x) not in (2, 3):
        c.fail("the input must be [batch, sequence, hidden] or [tokens, hidden]", x)
    for v, name in ((gamma, "gamma"), (beta, "beta"), (bias, "bias")):
        require_vector(c, v, x[-1], f"{name} must be as long as the last axis of the input")
    _constrain_skip(c, x, skip)
    statistics = TensorType("float32", Shape((*x[:-1], 1)))
    return x, statistics, statistics, x


def _constrain_skip(c: InferenceContext, x: Shape, skip: Shape) -> None:
    """Require that the skip has the shape of the input, but for its batch axis."""
    if skip.dims is None:
        return
    if not max(2, len(x) - 1) <= len(skip) <= len(x):
        c.fail("skip must have the rank of the input, or lack its batch axis", x, skip)
    for i in range(1, min(len(skip), 2) + 1):
        c.merge(x[-i], skip[-i], "the last two axes of skip must equal the last two axes of the input")


@onnx("SkipSimplifiedLayerNormalization", domain=MS)
def skip_simplified_layer_normalization(
    c: InferenceContext, x: Shape, skip: Shape, gamma: Shape, bias: Shape | None = None
) -> Normalized:
    """[B, S, H] or [T, H] -> the same, mean and inverse deviation [..., 1], the sum of input, skip and bias."""
    return skip_layer_normalization(c, x, skip, gamma, None, bias)


@onnx("EmbedLayerNormalization", domain=MS)
def embed_layer_normalization(
    c: InferenceContext,
    ids: Value,
    segment_ids: Value | None,
    words: Shape,
    positions: Shape,
    segments: Shape | None,
    gamma: Shape,
    beta: Shape,
    mask: Shape | None = None,
    position_ids: Value | None = None,
) -> tuple[Shape, Shape, Shape]:
    """[B, S] ids, [*, H] tables -> [B, S, H], [B] first masked positions, [B, S, H] sums before the normalization."""
    samples = c.require_rank(ids.shape, 2, "input_ids")
    if segment_ids is not None:
        samples = c.merge(samples, segment_ids.shape, "input_ids and segment_ids must have the same shape")
    samples = merge_optional(c, samples, mask, "input_ids and mask must have the same shape")
    hidden = c.require_rank(words, 2, "word_embedding")[1]
    rows = c.require_rank(positions, 2, "position_embedding")[0]
    if position_ids is None:
        c.at_most(samples[1], rows, "position_embedding must have a row for each position")
    else:
        batch, steps = c.require_rank(position_ids.shape, 2, "position_ids")
        require_broadcast_size(c, batch, samples[0], "position_ids must have a batch size of 1 or that of input_ids")
        c.merge(steps, samples[1], "position_ids must have the sequence length of input_ids")
    for table, name in ((positions, "position_embedding"), (segments, "segment_embedding")):
        if table is not None:
            width = c.require_rank(table, 2, name)[1]
            hidden = c.merge(hidden, width, f"{name} must have the hidden size of word_embedding")
    for v, name in ((gamma, "gamma"), (beta, "beta")):
        require_vector(c, v, hidden, f"{name} must be as long as the hidden size of the embeddings")
    for index, table in ((ids, words), (segment_ids, segments), (position_ids, positions)):
        if index is not None and table is not None:
            constrain_indices(c, index, c.require_rank(table, 2)[0], from_end=False)
    result = Shape((*samples, hidden))
    return result, Shape((samples[0],)), result


@onnx("QEmbedLayerNormalization", domain=MS)
def quantized_embed_layer_normalization(
    c: InferenceContext,
    ids: Value,
    segment_ids: Value | None,
    words: Shape,
    positions: Shape,
    segments: Shape | None,
    gamma: Shape,
    beta: Shape,
    mask: Shape | None = None,
    *scales: Shape | None,
) -> tuple[Shape, Shape, Shape]:
    """[B, S] ids, [*, H] quantized tables -> [B, S, H], [B] first masked positions."""
    require_single_inputs(c, scales, 8)
    return embed_layer_normalization(c, ids, segment_ids, words, positions, segments, gamma, beta, mask)


@onnx("GroupNorm", domain=MS)
def group_norm(
    c: InferenceContext, x: Shape, gamma: Shape, beta: Shape, *, groups: int, channels_last: int = 1
) -> Shape:
    """[N, *S, C] (or [N, C, *S] without `channels_last`), [C], [C] -> the shape of the input."""
    channels = x[-1] if channels_last else x[1]
    part_size(c, channels, groups, "the channels must be divisible by groups")
    for v, name in ((gamma, "gamma"), (beta, "beta")):
        require_vector(c, v, channels, f"{name} must have one value per channel")
    return x


@onnx("SkipGroupNorm", domain=MS)
def skip_group_norm(
    c: InferenceContext,
    x: Shape,
    gamma: Shape,
    beta: Shape,
    skip: Shape,
    bias: Shape | None = None,
    *,
    groups: int,
    channels_last: int = 1,
) -> tuple[Shape, Shape]:
    """[N, *S, C] (or [N, C, *S] without `channels_last`), [C], [C] -> the shape of the input, twice: result and sum."""
    x = group_norm(c, x, gamma, beta, groups=groups, channels_last=channels_last)
    require_vector(c, bias, x[-1] if channels_last else x[1], "the bias must have one value per channel")
    return x, x


@onnx("QOrderedLayerNormalization", domain=MS)
def ordered_layer_normalization(
    c: InferenceContext, x: Shape, scale_x: Shape, scale: Shape, bias: Shape | None, scale_y: Shape, *, axis: int = -1
) -> Shape:
    """[*S] -> [*S]."""
    if x.dims is not None:
        c.axis(axis, len(x))
    return x


@onnx("GatedRMSNorm", domain=MS)
def gated_rms_norm(c: InferenceContext, x: Shape, scale: Shape, gate: Shape) -> Shape:
    """[*S, H*C], [C], [*S, H*C] -> [*S, H*C]."""
    x = c.merge(x, gate, "X and gate must have the same shape")
    if scale.dims is not None and x.dims:
        require_multiple(c, x[-1], c.numel(scale), "the last axis must be divisible by the length of scale")
    return x
