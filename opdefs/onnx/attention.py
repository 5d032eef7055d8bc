"""Attention, rotary embeddings, linear attention, causal convolutions with a state."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.operands import require_broadcast_to, require_vector
from shapeinf.expr import Dim
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


def head_size(c: InferenceContext, hidden: Dim, heads: int, name: str) -> Dim:
    """The size of one head of a packed axis."""
    if heads < 1:
        c.fail(f"{name} of rank 3 requires its number of heads", heads)
    c.divisible(hidden, heads, f"the hidden size of {name} must be divisible by its number of heads")
    return hidden // heads


def split_heads(c: InferenceContext, x: Shape, heads: int, name: str) -> Shape:
    """[batch, heads, sequence, size] of an input in that form or packed as [batch, sequence, heads * size]."""
    dims = x.require()
    if len(dims) == 3:
        return Shape((dims[0], heads, dims[1], head_size(c, dims[2], heads, name)))
    return c.require_rank(x, 4, name)


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
    """Output [B, Hq, S, Dv] (packed [B, S, Hq*Dv] for packed queries), keys and values so far, and the scores."""
    if min(left_window_size, right_window_size) < -1:
        c.fail("a window size must be at least 0, or -1 for no limit", left_window_size, right_window_size)
    if (past_key is None) != (past_value is None):
        c.fail("past_key and past_value must be present together")
    if c.version >= 25:
        _check_variant(c, q, lengths, past_key, q_num_heads, kv_num_heads)
    query = split_heads(c, q, q_num_heads, "the query")
    key, value = split_heads(c, k, kv_num_heads, "the key"), split_heads(c, v, kv_num_heads, "the value")
    c.merge(query[3], key[3], "query and key must have the same head size")
    for other in (key, value):
        c.merge(query[0], other[0], "query, key and value must have the same batch size")
    c.merge(key[1], value[1], "key and value must have the same number of heads")
    c.merge(key[2], value[2], "key and value must have the same length")
    total, total_value = key[2], value[2]
    if past_key is not None and past_value is not None:
        total = _cache_length(c, past_key, key, "past_key")
        total_value = _cache_length(c, past_value, value, "past_value")
        c.merge(total, total_value, "past_key and past_value must have the same length")
    if isinstance(key[1], int) and key[1]:
        c.divisible(query[1], key[1], "the query heads must be a multiple of the key heads")
    _check_mask(c, mask, Shape((query[0], query[1], query[2], total)))
    require_vector(c, lengths, query[0], "nonpad_kv_seqlen must have one value per sample")
    output = Shape((query[0], query[1], query[2], value[3]))
    if len(q) == 3:
        output = Shape((query[0], query[2], query[1] * value[3]))
    present_key = Shape((key[0], key[1], total, key[3]))
    present_value = Shape((value[0], value[1], total_value, value[3]))
    return output, present_key, present_value, Shape((query[0], query[1], query[2], total))


def _check_mask(c: InferenceContext, mask: Shape | None, scores: Shape) -> None:
    """The mask broadcasts to the scores [B, Hq, S, T]; since opset 24 it may be shorter than T."""
    message = "the mask must broadcast to [batch, query heads, queries, keys]"
    if mask is not None and mask.dims and c.version >= 24:
        c.at_most(mask.dims[-1], scores[3], "the last axis of the mask must be at most the number of keys")
        mask, scores = Shape(mask.dims[:-1]), Shape(scores[:3])
    require_broadcast_to(c, mask, scores, message)


def _check_variant(
    c: InferenceContext, q: Shape, lengths: Shape | None, past: Shape | None, q_heads: int, kv_heads: int
) -> None:
    """Combinations that opset 25 forbids."""
    wanted = (*c.wanted, False, False)
    if wanted[1] != wanted[2]:
        c.fail("present_key and present_value must be requested together")
    if lengths is not None and (past is not None or any(wanted[1:3])):
        c.fail("nonpad_kv_seqlen cannot be combined with caches")
    if q.rank == 4 and (q_heads or kv_heads):
        c.fail("q_num_heads and kv_num_heads require inputs of rank 3", q)


def _cache_length(c: InferenceContext, past: Shape, new: Shape, name: str) -> Dim:
    """The length of a cache after the new entries."""
    past = c.require_rank(past, 4, name)
    for axis in (0, 1, 3):
        c.merge(past[axis], new[axis], f"axis {axis} of {name} must equal that of the new entries")
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
    c.merge(q[0], k[0], "Q, K and V must have the same batch size")
    c.merge(q[0], v[0], "Q, K and V must have the same batch size")
    c.merge(k[1], v[1], "K and V must have the same number of heads")
    c.merge(k[2], v[2], "K and V must have the same length")
    c.merge(q[3], k[3], "Q and K must have the same head size")
    if isinstance(q[1], int) and isinstance(k[1], int) and k[1] and q[1] % k[1]:
        c.fail("the heads of Q must be a multiple of the heads of K", q[1], k[1])
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
    position_ids: Shape | None = None,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Shape:
    """The shape of the input, [B, S, hidden] or [B, heads, S, size]; caches are [P, rotated/2] or [B, S, rotated/2]."""
    rank = len(x)
    if rank not in (3, 4):
        c.fail("the input must have rank 3 or 4", x)
    if rank == 3 and num_heads < 1:
        c.fail("an input of rank 3 requires the attribute 'num_heads'", num_heads)
    batch, steps = x[0], x[1] if rank == 3 else x[2]
    size = head_size(c, x[2], num_heads, "the input") if rank == 3 else x[3]
    caches = 3 if position_ids is None else 2
    cache = c.merge(
        c.require_rank(cos_cache, caches, "cos_cache"),
        c.require_rank(sin_cache, caches, "sin_cache"),
        "cos_cache and sin_cache must have the same shape",
    )
    if not rotary_embedding_dim:
        c.divisible(size, 2, "the head size must be even")
    c.at_most(rotary_embedding_dim, size, "rotary_embedding_dim must be at most the head size")
    c.merge(
        cache[-1],
        (rotary_embedding_dim or size) // 2,
        "the last axis of cos_cache and sin_cache must be half the rotary dimension",
    )
    if position_ids is None:
        c.merge(
            Shape(cache[:2]),
            Shape((batch, steps)),
            "without position_ids, cos_cache and sin_cache must be [batch, sequence, ...]",
        )
    else:
        c.merge(position_ids, Shape((batch, steps)), "position_ids must be [batch, sequence]")
    return x


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
    size = head_size(c, query[2], q_num_heads, "the query")
    c.merge(size, head_size(c, key[2], kv_num_heads, "the key"), "query and key must have the same head size")
    wide = head_size(c, value[2], kv_num_heads, "the value")
    state = Shape((query[0], kv_num_heads, size, wide))
    if past is not None:
        state = c.merge(state, past, "the past state must be [B, Hkv, Dk, Dv]")
        size, wide = state[2], state[3]
    _check_gate(c, query, decay, (kv_num_heads, kv_num_heads * size), "decay")
    _check_gate(c, query, beta, (1, kv_num_heads), "beta")
    return Shape((query[0], query[1], q_num_heads * wide)), TensorType(c.dtype(3) or c.dtype(0), state)


_GATES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}
"""Whether an update rule takes a decay and a beta."""


def _check_gates(c: InferenceContext, rule: str, decay: Shape | None, beta: Shape | None) -> None:
    if rule not in _GATES:
        c.fail(f"the update rule must be one of {', '.join(_GATES)}", rule)
    for gate, wanted, name in zip((decay, beta), _GATES[rule], ("decay", "beta"), strict=True):
        if (gate is not None) != wanted:
            c.fail(f"the update rule {rule!r} {'requires' if wanted else 'does not accept'} {name}")


def _check_gate(c: InferenceContext, query: Shape, gate: Shape | None, choices: tuple[Dim, Dim], name: str) -> None:
    if gate is None:
        return
    batch, steps, last = c.require_rank(gate, 3, name)
    for size, expected in ((batch, query[0]), (steps, query[1])):
        c.merge(size, expected, f"{name} must have the batch size and the length of the query")
    if all(c.prove_eq(last, choice) is False for choice in choices):
        c.fail(f"the last axis of {name} must be {choices[0]} or {choices[1]}", last)


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
        c.fail("the activation must be none, silu or swish", activation)
    x, weight = c.require_rank(x, 3, "input"), c.require_rank(weight, 3, "weight")
    c.merge(x[1], weight[0], "the weight must have one kernel per channel")
    c.merge(weight[1], 1, "the second axis of the weight must have size 1")
    c.at_least(weight[2], 1, "the kernel must have at least one element")
    if bias is not None:
        c.merge(c.require_rank(bias, 1, "bias")[0], x[1], "the bias must have one value per channel")
    state = Shape((x[0], x[1], weight[2] - 1))
    if past is not None:
        state = c.merge(state, past, "the past state must be [B, C, k - 1]")
    return x, state
