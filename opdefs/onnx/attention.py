"""Attention, rotary embeddings, linear attention, causal convolutions with a state."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.operands import part_size, require_broadcast_to, require_choice, require_multiple, require_vector
from shapeinf.expr import DimSize
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

HEADS = "the heads of Q must be a multiple of the heads of K"


def head_size(c: InferenceContext, hidden: DimSize, heads: int, operand: str, attribute: str) -> DimSize:
    """The size of one head of the packed last axis of an operand; `attribute` states the number of heads."""
    if heads < 1:
        c.fail(f"{operand} of rank 3 requires that the attribute {attribute!r} is at least 1", heads)
    return part_size(c, hidden, heads, f"the last axis of {operand} must be divisible by {attribute}")


def split_heads(c: InferenceContext, x: Shape, heads: int, operand: str, attribute: str) -> Shape:
    """[batch, heads, sequence, size] of an operand in that form or packed as [batch, sequence, heads * size]."""
    dims = x.require()
    if len(dims) == 3:
        return Shape((dims[0], heads, dims[1], head_size(c, dims[2], heads, operand, attribute)))
    return c.require_rank(x, 4, operand)


@onnx("Attention")
def attention(
    c: InferenceContext,
    q: Shape,
    k: Shape,
    v: Shape,
    mask: Shape | None = None,
    past_key: Shape | None = None,
    past_value: Shape | None = None,
    lengths: Shape | None = None,
    *,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, Hq, S, D], [B, Hkv, L, D], [B, Hkv, L, Dv] -> [B, Hq, S, Dv], caches [B, Hkv, P + L, D or Dv], the scores.

    Packed operands are [B, S, Hq*D] and so on; the output of a packed query is packed. Scores are [B, Hq, S, P + L].
    """
    if min(left_window_size, right_window_size) < -1:
        message = "left_window_size and right_window_size must be at least 0, or -1 for no limit"
        c.fail(message, left_window_size, right_window_size)
    if (past_key is None) != (past_value is None):
        c.fail("past_key and past_value must be present together")
    if c.version >= 25:
        _check_variant(c, q, lengths, past_key, q_num_heads, kv_num_heads)
    query = split_heads(c, q, q_num_heads, "Q", "q_num_heads")
    key = split_heads(c, k, kv_num_heads, "K", "kv_num_heads")
    value = split_heads(c, v, kv_num_heads, "V", "kv_num_heads")
    _match_operands(c, query, key, value)
    total, total_value = key[2], value[2]
    if past_key is not None and past_value is not None:
        total = _cache_length(c, past_key, key, "past_key")
        total_value = _cache_length(c, past_value, value, "past_value")
        c.merge(total, total_value, "past_key and past_value must have the same length")
    require_multiple(c, query[1], key[1], HEADS)
    scores = Shape((query[0], query[1], query[2], total))
    _check_mask(c, mask, scores)
    require_vector(c, lengths, query[0], "nonpad_kv_seqlen must have one value per sample")
    output = Shape((query[0], query[1], query[2], value[3]))
    if len(q) == 3:
        output = Shape((query[0], query[2], query[1] * value[3]))
    present_key = Shape((key[0], key[1], total, key[3]))
    present_value = Shape((value[0], value[1], total_value, value[3]))
    return output, present_key, present_value, scores


def _match_operands(c: InferenceContext, query: Shape, key: Shape, value: Shape) -> None:
    """Require Q [B, Hq, S, D], K [B, Hkv, L, D] and V [B, Hkv, L, Dv]."""
    c.merge(query[3], key[3], "Q and K must have the same head size")
    for other in (key, value):
        c.merge(query[0], other[0], "Q, K and V must have the same batch size")
    c.merge(key[1], value[1], "K and V must have the same number of heads")
    c.merge(key[2], value[2], "K and V must have the same length")


def _check_mask(c: InferenceContext, mask: Shape | None, scores: Shape) -> None:
    """Require that the mask broadcasts to the scores [B, Hq, S, T]; since opset 24 it may be shorter than T."""
    if mask is not None and mask.dims and c.version >= 24:
        c.at_most(mask.dims[-1], scores[3], "the last axis of attn_mask must be at most the number of keys")
        mask, scores = Shape(mask.dims[:-1]), Shape(scores[:3])
    require_broadcast_to(c, mask, scores, "attn_mask must broadcast to [batch, query heads, queries, keys]")


def _check_variant(
    c: InferenceContext, q: Shape, lengths: Shape | None, past: Shape | None, q_heads: int, kv_heads: int
) -> None:
    """Reject the combinations of inputs, outputs and attributes that opset 25 forbids."""
    wanted = (*c.wanted, False, False)
    if wanted[1] != wanted[2]:
        c.fail("present_key and present_value must be requested together")
    if lengths is not None and (past is not None or any(wanted[1:3])):
        c.fail("nonpad_kv_seqlen cannot be combined with past_key, past_value, present_key and present_value")
    if q.rank == 4 and (q_heads or kv_heads):
        c.fail("the attributes q_num_heads and kv_num_heads require that Q, K and V are of rank 3", q)


def _cache_length(c: InferenceContext, past: Shape, new: Shape, name: str) -> DimSize:
    """The length of a cache with the new entries; all other axes are equal."""
    past = c.require_rank(past, 4, name)
    for axis in (0, 1, 3):
        c.merge(past[axis], new[axis], f"axis {axis} of {name} must equal that of the new keys and values")
    return past[2] + new[2]


@onnx("FlexAttention", domain="ai.onnx.preview")
def flex_attention(
    c: InferenceContext,
    q: Shape,
    k: Shape,
    v: Shape,
    *,
    score_mod: Graph | None = None,
    prob_mod: Graph | None = None,
    softmax_precision: int = 0,
) -> Shape:
    """[B, Hq, S, D], [B, Hkv, T, D], [B, Hkv, T, Dv] -> [B, Hq, S, Dv]; the bodies see the scores [B, Hq, S, T]."""
    types = {c.dtype(i) for i in range(3)} - {None}
    if len(types) > 1:
        c.fail("Q, K and V must have the same element type", *sorted(t for t in types if t))
    q, k, v = c.require_rank(q, 4, "Q"), c.require_rank(k, 4, "K"), c.require_rank(v, 4, "V")
    _match_operands(c, q, k, v)
    require_multiple(c, q[1], k[1], HEADS)
    precision = dtype_name(softmax_precision) or ("float64" if c.dtype(0) == "float64" else "float32")
    scores = PartialTensor(precision, Shape((q[0], q[1], q[2], k[2])), None)
    for name in ("score_mod", "prob_mod"):
        body = c.bodies.get(name)
        if body is not None:
            (changed,) = body.run((scores,), certain=True)
            if isinstance(changed, TensorType):
                c.merge(changed.shape, scores.shape, f"{name} must keep the shape of its input")
    return Shape((q[0], q[1], q[2], v[3]))


@onnx("RotaryEmbedding")
def rotary_embedding(
    c: InferenceContext,
    x: Shape,
    cos_cache: Shape,
    sin_cache: Shape,
    position_ids: Value | None = None,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Shape:
    """[B, S, hidden] or [B, heads, S, size] -> the same; caches are [P, rotated/2] or [B, S, rotated/2]."""
    rank = len(x)
    if rank not in (3, 4):
        c.fail("the input must be [batch, sequence, hidden] or [batch, heads, sequence, head_size]", x)
    batch, steps = x[0], x[1] if rank == 3 else x[2]
    size = head_size(c, x[2], num_heads, "the input", "num_heads") if rank == 3 else x[3]
    cache = _rotary_cache(c, cos_cache, sin_cache, 3 if position_ids is None else 2)
    if not rotary_embedding_dim:
        c.divisible(size, 2, "the head size must be even")
    c.at_most(rotary_embedding_dim, size, "rotary_embedding_dim must be at most the head size")
    half = (rotary_embedding_dim or size) // 2
    c.merge(cache[-1], half, "the last axis of cos_cache and sin_cache must be half the rotary dimension")
    positions = Shape((batch, steps))
    if position_ids is None:
        message = "without position_ids, cos_cache and sin_cache must be [batch, sequence, ...]"
        c.merge(Shape(cache[:2]), positions, message)
    else:
        c.merge(position_ids.shape, positions, "position_ids must be [batch, sequence]")
        constrain_indices(c, position_ids, cache[0], from_end=False)
        c.advise_at_most(steps, cache[0], "onnxruntime requires caches as long as the sequence")
    return x


def _rotary_cache(c: InferenceContext, cosines: Shape, sines: Shape, rank: int) -> Shape:
    """The common shape of both caches, of this rank."""
    cosines, sines = c.require_rank(cosines, rank, "cos_cache"), c.require_rank(sines, rank, "sin_cache")
    return c.merge(cosines, sines, "cos_cache and sin_cache must have the same shape")


@onnx("LinearAttention", since=27)
def linear_attention(
    c: InferenceContext,
    query: Shape,
    key: Shape,
    value: Shape,
    past: Shape | None = None,
    decay: Shape | None = None,
    beta: Shape | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str = "gated_delta",
) -> tuple[Shape, TensorType]:
    """[B, T, Hq*Dk], [B, T, Hkv*Dk], [B, T, Hkv*Dv] -> [B, T, Hq*Dv] and the state [B, Hkv, Dk, Dv]."""
    _check_gates(c, update_rule, decay, beta)
    query, key, value = (c.require_rank(x, 3, n) for x, n in ((query, "query"), (key, "key"), (value, "value")))
    if kv_num_heads < 1 or q_num_heads < 1 or q_num_heads % kv_num_heads:
        c.fail("the query heads must be a multiple of the key heads", q_num_heads, kv_num_heads)
    for other in (key, value):
        c.merge(query[0], other[0], "query, key and value must have the same batch size")
        c.merge(query[1], other[1], "query, key and value must have the same length")
    size = head_size(c, query[2], q_num_heads, "the query", "q_num_heads")
    c.merge(
        size,
        head_size(c, key[2], kv_num_heads, "the key", "kv_num_heads"),
        "query and key must have the same head size",
    )
    wide = head_size(c, value[2], kv_num_heads, "the value", "kv_num_heads")
    state = Shape((query[0], kv_num_heads, size, wide))
    if past is not None:
        state = c.merge(state, past, "past_state must be [batch, kv_num_heads, key head size, value head size]")
        size, wide = state[2], state[3]
    require_gate(c, query, decay, (kv_num_heads, kv_num_heads * size), "decay")
    require_gate(c, query, beta, (1, kv_num_heads), "beta")
    return Shape((query[0], query[1], q_num_heads * wide)), TensorType(c.dtype(3) or c.dtype(0), state)


_GATES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}
"""For each update rule, whether it takes a decay, and whether it takes a beta."""


def _check_gates(c: InferenceContext, rule: str, decay: Shape | None, beta: Shape | None) -> None:
    """Require the gates that an update rule takes, and no other."""
    if rule not in _GATES:
        c.fail(f"update_rule must be one of {', '.join(_GATES)}", rule)
    for gate, is_required, name in zip((decay, beta), _GATES[rule], ("decay", "beta"), strict=True):
        if (gate is not None) != is_required:
            c.fail(f"update_rule={rule} {'requires' if is_required else 'does not accept'} {name}")


def require_gate(
    c: InferenceContext, query: Shape, gate: Shape | None, choices: tuple[DimSize, DimSize], name: str
) -> None:
    """Require [B, T, one of the choices]."""
    if gate is None:
        return
    batch, steps, last = c.require_rank(gate, 3, name)
    for size, expected in ((batch, query[0]), (steps, query[1])):
        c.merge(size, expected, f"{name} must have the batch size and the length of the query")
    require_choice(c, last, choices, f"the last axis of {name} must be {choices[0]} or {choices[1]}")


@onnx("CausalConvWithState", since=27)
def causal_conv_with_state(
    c: InferenceContext,
    x: Shape,
    weight: Shape,
    bias: Shape | None = None,
    past: Shape | None = None,
    *,
    activation: str = "none",
) -> tuple[Shape, Shape]:
    """[B, C, L] and a kernel [C, 1, k] -> [B, C, L] and the last k - 1 entries, [B, C, k - 1]."""
    if activation not in ("none", "silu", "swish"):
        c.fail("activation must be none, silu or swish", activation)
    x, weight = c.require_rank(x, 3, "input"), c.require_rank(weight, 3, "weight")
    c.merge(x[1], weight[0], "the weight must have one kernel per channel")
    c.merge(weight[1], 1, "the second axis of the weight must have size 1")
    c.at_least(weight[2], 1, "the kernel must have at least one element")
    if bias is not None:
        c.merge(c.require_rank(bias, 1, "bias")[0], x[1], "the bias must have one value per channel")
    state = Shape((x[0], x[1], weight[2] - 1))
    if past is not None:
        state = c.merge(state, past, "past_state must be [batch, channels, kernel size - 1]")
    return x, state
