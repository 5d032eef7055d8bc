"""Attention: the module with its projections, and the scaled dot product."""

from __future__ import annotations

import attrs

from opdefs.pnnx.dialect import pnnx
from opdefs.rules.operands import part_size, require_broadcast_to, require_multiple
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@attrs.frozen
class Heads:
    """The attributes of the module; `kdim` and `vdim` are `embed_dim` where they are missing."""

    embed_dim: int
    num_heads: int
    kdim: int | None = None
    vdim: int | None = None
    batch_first: bool = False
    add_bias_kv: bool = False
    add_zero_attn: bool = False

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The last axes of query, key and value."""
        keys = self.embed_dim if self.kdim is None else self.kdim
        values = self.embed_dim if self.vdim is None else self.vdim
        return self.embed_dim, keys, values


@attrs.frozen
class Projections:
    """The shapes of the weights of the module; None for missing ones."""

    in_proj_weight: Shape | None
    q_proj_weight: Shape | None
    k_proj_weight: Shape | None
    v_proj_weight: Shape | None
    in_proj_bias: Shape | None
    bias_k: Shape | None
    bias_v: Shape | None
    out_proj_weight: Shape | None
    out_proj_bias: Shape | None


@pnnx("nn.MultiheadAttention")
def multihead_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape | None = None,
    value: Shape | None = None,
    attn_mask: Shape | None = None,
    in_proj_weight: Shape | None = None,
    q_proj_weight: Shape | None = None,
    k_proj_weight: Shape | None = None,
    v_proj_weight: Shape | None = None,
    in_proj_bias: Shape | None = None,
    bias_k: Shape | None = None,
    bias_v: Shape | None = None,
    out_proj_weight: Shape | None = None,
    out_proj_bias: Shape | None = None,
    *,
    heads: Heads,
) -> tuple[Shape, Shape]:
    """[L, N, E], [S, N, K], [S, N, V] -> [L, N, E] and the averaged weights [N, L, S]; N first or missing.

    The key is by default the query, the value is by default the key.
    """
    _constrain_projections(
        c,
        heads,
        Projections(
            in_proj_weight,
            q_proj_weight,
            k_proj_weight,
            v_proj_weight,
            in_proj_bias,
            bias_k,
            bias_v,
            out_proj_weight,
            out_proj_bias,
        ),
    )
    key = query if key is None else key
    value = key if value is None else value
    batch, length, keys = _sequence_axes(c, heads, query, key, value)
    _constrain_mask(c, attn_mask, heads.num_heads, batch, length, keys)
    total = keys + heads.add_bias_kv + heads.add_zero_attn
    return Shape((*query.require()[:-1], heads.embed_dim)), Shape((*batch, length, total))


def _sequence_axes(
    c: InferenceContext, heads: Heads, query: Shape, key: Shape, value: Shape
) -> tuple[tuple[DimSize, ...], DimSize, DimSize]:
    """The batch axis, () if it is missing, and the lengths of query and keys; constrains all three operands."""
    rank = len(query.require())
    if rank not in (2, 3):
        c.fail("query must have rank 2 or 3", query)
    at = 1 if rank == 3 and heads.batch_first else 0
    operands = {"query": query, "key": c.require_rank(key, rank, "key"), "value": c.require_rank(value, rank, "value")}
    attributes = ("embed_dim", "kdim", "vdim")
    for (name, operand), size, attribute in zip(operands.items(), heads.sizes, attributes, strict=True):
        c.merge(operand[-1], size, f"the last axis of {name} must equal {attribute}")
        if rank == 3:
            c.merge(operand[1 - at], query[1 - at], "query, key and value must have the same batch size")
    keys = c.merge(operands["key"][at], operands["value"][at], "key and value must have the same length")
    return (() if rank == 2 else (query[1 - at],)), query[at], keys


def _constrain_mask(
    c: InferenceContext, mask: Shape | None, heads: int, batch: tuple[DimSize, ...], length: DimSize, keys: DimSize
) -> None:
    """Require a mask [L, S] or [N * heads, L, S]."""
    if mask is None or mask.dims is None:
        return
    lead = (heads * batch[0] if batch else heads,) if len(mask.dims) == 3 else ()
    c.merge(mask, Shape((*lead, length, keys)), "attn_mask must be [queries, keys] or [batch * heads, queries, keys]")


def _constrain_projections(c: InferenceContext, heads: Heads, weights: Projections) -> None:
    """Require weights of the shapes that follow from the attributes."""
    embed, keys, values = heads.sizes
    if min(embed, keys, values) < 1:
        c.fail("embed_dim, kdim and vdim must be at least 1", embed, keys, values)
    part_size(c, embed, heads.num_heads, "num_heads must divide embed_dim")
    shapes = Projections(
        in_proj_weight=Shape((3 * embed, embed)),
        q_proj_weight=Shape((embed, embed)),
        k_proj_weight=Shape((embed, keys)),
        v_proj_weight=Shape((embed, values)),
        in_proj_bias=Shape((3 * embed,)),
        bias_k=Shape((1, 1, embed)),
        bias_v=Shape((1, 1, embed)),
        out_proj_weight=Shape((embed, embed)),
        out_proj_bias=Shape((embed,)),
    )
    for field in attrs.fields(Projections):
        weight = getattr(weights, field.name)
        if weight is not None:
            message = f"{field.name} must have the shape that follows from embed_dim, kdim and vdim"
            c.merge(weight, getattr(shapes, field.name), message)


@pnnx("F.scaled_dot_product_attention")
def scaled_dot_product_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape,
    value: Shape,
    attn_mask: Shape | None = None,
    *,
    enable_gqa: bool = False,
) -> Shape:
    """[*B, L, E], [*B, S, E], [*B, S, V] -> [*B, L, V], where leading axes broadcast.

    Without queries or values torch compares no other sizes, and returns zeros with the leading axes of the query.
    """
    q, k, v = query.require(), key.require(), value.require()
    if min(len(q), len(k), len(v)) > 1 and any(c.concrete(size) == 0 for size in (q[-2], *v)):
        return Shape((*q[:-1], v[-1]))
    return attend(c, query, key, value, attn_mask, enable_gqa=enable_gqa)


def attend(
    c: InferenceContext, query: Shape, key: Shape, value: Shape, attn_mask: Shape | None = None, *, enable_gqa: bool
) -> Shape:
    """[*B, L, E], [*B, S, E], [*B, S, V] -> [*B, L, V] by products of matrices, where leading axes broadcast.

    With `enable_gqa` the axis in front of the last two is that of the heads, and several heads of the query share a
    head of the key.
    """
    q, k, v = query.require(), key.require(), value.require()
    least = 3 if enable_gqa else 2
    if min(len(q), len(k), len(v)) < least:
        c.fail(f"query, key and value must have rank {least} or more", query, key, value)
    c.merge(q[-1], k[-1], "query and key must have the same head size")
    c.merge(k[-2], v[-2], "key and value must have the same length")
    leads = [Shape(dims[:-2]) for dims in (q, k, v)]
    if enable_gqa:
        for dims in (k, v):
            c.at_least(dims[-3], 1, "key and value must have heads: torch divides by their number")
            require_multiple(
                c,
                q[-3],
                dims[-3],
                "the number of heads of the query must be a multiple of the number of heads of key and value",
            )
        leads = [Shape((*dims[:-3], q[-3])) for dims in (q, k, v)]
    scores = Shape((*c.broadcast(leads[0], leads[1]), q[-2], k[-2]))
    require_broadcast_to(c, attn_mask, scores, "attn_mask must broadcast to [*batch, queries, keys]")
    return Shape((*c.broadcast(*leads), q[-2], v[-1]))
