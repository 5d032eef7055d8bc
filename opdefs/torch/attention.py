"""Scaled dot products that also return statistics, and attention with its projections."""

from __future__ import annotations

from opdefs.pnnx.attention import attend
from opdefs.rules.operands import part_size, require_broadcast_to, require_multiple
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, Shape, TensorType
from shapeinf.ops import InferenceContext

_NUMBER = TensorType("int64", SCALAR)


def _attend(
    c: InferenceContext,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    mask: Shape | None = None,
    enable_gqa: bool = False,
) -> TensorType:
    """The attended values."""
    return TensorType(query.dtype, attend(c, query.shape, key.shape, value.shape, mask, enable_gqa=enable_gqa))


def _normalizers(c: InferenceContext, query: TensorType, *sizes: DimSize) -> TensorType:
    """The logarithms of the sums, which are computed in float32: [N, heads, L], and further axes."""
    dtype = "float64" if query.dtype == "float64" else None if query.dtype is None else "float32"
    return TensorType(dtype, Shape((*c.require_rank(query.shape, 4, "query").require()[:3], *sizes)))


@torch("aten._scaled_dot_product_flash_attention_for_cpu.default")
def attention_of_processor(
    c: InferenceContext, query: TensorType, key: TensorType, value: TensorType, attn_mask: Shape | None = None
) -> tuple[TensorType, TensorType]:
    """[N, H, L, E], [N, G, S, E], [N, G, S, E] -> [N, H, L, E] and [N, H, L], where G divides H.

    The kernel compares the head sizes only: elsewhere it reads past the ends of tensors, or divides by zero, which ends
    the process. The function that calls it compares the others.
    """
    q, k, v = (c.require_rank(x.shape, 4, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    k = c.merge(k, v, "key and value must have the same shape")
    c.merge(q[0], k[0], "query and key must have the same batch")
    c.merge(q[3], k[3], "query and key must have the same head size")
    if c.prove_eq(q[0], 0) is not True:
        for size, name in ((k[1], "heads"), (q[2], "queries"), (k[2], "keys")):
            c.at_least(size, 1, f"there must be {name}: the kernel divides by their number")
    require_multiple(
        c, q[1], k[1], "the number of heads of the query must be a multiple of the number of heads of key and value"
    )
    scores = Shape((*q[:3], k[2]))
    require_broadcast_to(c, attn_mask, scores, "attn_mask must broadcast to [batch, heads, queries, keys]")
    return TensorType(query.dtype, q), _normalizers(c, query)


@torch("aten._scaled_dot_product_attention_math.default")
def attention_with_scores(
    c: InferenceContext,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    attn_mask: Shape | None = None,
    dropout_mask: Shape | None = None,
    *,
    enable_gqa: bool = False,
) -> tuple[TensorType, TensorType]:
    """[*B, L, E], [*B, S, E], [*B, S, V] -> [*B, L, V] and the scores [*B, L, S]."""
    result = _attend(c, query, key, value, attn_mask, enable_gqa)
    return result, TensorType(query.dtype, Shape((*result.shape.require()[:-1], key.shape.require()[-2])))


@torch("aten._scaled_dot_product_efficient_attention.default")
def efficient_attention(
    c: InferenceContext,
    query: TensorType,
    key: TensorType,
    value: TensorType,
    attn_bias: Shape | None = None,
    *,
    compute_log_sumexp: bool,
) -> tuple[TensorType, ...]:
    """[N, H, L, E] and so on -> [N, H, L, V], [N, H, L rounded up to 32] or [N, H, 0], and two random states."""
    result = _attend(c, query, key, value, attn_bias)
    batch, heads, length, _ = c.require_rank(query.shape, 4, "query").require()
    rounded = 32 * ((length + 31) // 32) if compute_log_sumexp else 0
    return result, TensorType("float32", Shape((batch, heads, rounded))), _NUMBER, _NUMBER


@torch("aten._scaled_dot_product_flash_attention.default")
def flash_attention(
    c: InferenceContext, query: TensorType, key: TensorType, value: TensorType
) -> tuple[TensorType | None, ...]:
    """[N, H, L, E] and so on -> [N, H, L, E], [N, H, L]; two absent values, two lengths and three for debugging."""
    unknown = TensorType(None, Shape.unknown())
    rest = (TensorType("uint64", Shape((2,))), TensorType("uint64", SCALAR), unknown)
    return (_attend(c, query, key, value), _normalizers(c, query), unknown, unknown, _NUMBER, _NUMBER, *rest)


@torch("aten._native_multi_head_attention.default")
def native_multi_head_attention(
    c: InferenceContext,
    query: TensorType,
    key: Shape,
    value: Shape,
    qkv_weight: Shape,
    qkv_bias: Shape,
    proj_weight: Shape,
    proj_bias: Shape,
    mask: Shape | None = None,
    *,
    embed_dim: int,
    num_head: int,
    need_weights: bool = True,
    average_attn_weights: bool = True,
) -> tuple[TensorType, TensorType]:
    """[N, L, E], [N, S, E], [N, S, E] -> [N, L, E] and weights [N, L, S], for each head without the average."""
    q, k = c.require_rank(query.shape, 3, "query"), c.require_rank(key, 3, "key")
    k = c.merge(k, value, "key and value must have the same shape")
    q = c.merge(q, k, "query and key must have the same shape")
    part_size(c, embed_dim, num_head, "num_head must divide embed_dim")
    for weight, rows in ((qkv_weight, 3 * embed_dim), (proj_weight, embed_dim)):
        c.merge(
            weight,
            Shape((rows, embed_dim)),
            "a weight must be [embed_dim, embed_dim], three of them for queries, keys, values",
        )
    for bias, rows in ((qkv_bias, 3 * embed_dim), (proj_bias, embed_dim)):
        c.merge(bias, Shape((rows,)), "a bias must have one element for each row of its weight")
    c.merge(q[2], embed_dim, "the last axis of query must equal embed_dim")
    weights = Shape((q[0], *(() if average_attn_weights else (num_head,)), q[1], k[1]))
    return (
        TensorType(query.dtype, q),
        TensorType(query.dtype, weights if need_weights else Shape.unknown()),
    )
