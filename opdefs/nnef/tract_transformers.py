"""tract's operations for transformers."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, check_choice, read_front_axis
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_parts import replace_axis
from opdefs.nnef.tract_shapes import read_extents
from opdefs.rules.numbers import read_ints
from opdefs.rules.operands import require_broadcast_to, require_multiple
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_transformers_sdpa")
def attention(
    c: InferenceContext, q: Shape, k: Shape, v: Shape, mask: Shape | None = None, *, is_causal: bool = False
) -> TensorType:
    """[B, (Hq,) S, D], [B, (H,) T, D], [B, (H,) T, Dv] -> [B, (Hq,) S, Dv]; groups of query heads share keys."""
    rank = c.same_rank(q, k, v)
    if rank not in (3, 4):
        c.fail("q, k and v must have rank 3 or 4", q)
    if is_causal and mask is not None:
        c.fail("with is_causal, there must be no mask")
    c.merge(q[-1], k[-1], "query and key must have the same head size")
    c.merge(k[-2], v[-2], "key and value must have the same length")
    batch = c.merge(q[0], k[0], "query and key must have the same batch size")
    batch = c.merge(batch, v[0], "query and value must have the same batch size")
    if rank == 4:
        c.merge(k[1], v[1], "key and value must have the same number of heads")
        require_multiple(c, q[1], k[1], HEADS)
    return TensorType(c.dtype(0), Shape((batch, *q[1:-1], v[-1])))


@nnef("tract_transformers_dyn_kv_cache", "tract_transformers_quantized_dyn_kv_cache")
def token_cache(
    c: InferenceContext, input: Shape, *, axis: int, past_sequence_shape: Listed, input_sequence_shape: Listed
) -> TensorType:
    """[*A, S, *B] -> [*A, P + S, *B]: the input behind the past, whose shape is an attribute."""
    past = read_extents(c, past_sequence_shape, "past_sequence_shape")
    new = read_extents(c, input_sequence_shape, "input_sequence_shape")
    input = c.require_rank(input, len(past))
    at = read_front_axis(c, axis, len(past))
    c.expect(input, Shape(new), "the input must have the shape input_sequence_shape")
    c.expect(replace_axis(input, at, past[at]), Shape(past), "past and input must have equal sizes except along axis")
    return TensorType(c.dtype(0), replace_axis(input, at, past[at] + input[at]))


@nnef("tract_transformers_quantized_kv_sdpa", "tract_transformers_window_kv_sdpa")
def cached_attention(c: InferenceContext, q: Shape, k: Shape, v: Shape, *, axis: int) -> TensorType:
    """[B, Hq, S, D], [B, H, T, D] twice -> [B, Hq, S, D]; the cached keys and values are not in the document."""
    q, k, v = (c.require_rank(x, 4, name) for x, name in ((q, "q"), (k, "k"), (v, "v")))
    read_front_axis(c, axis, 4)
    c.merge(k, v, "key and value must have the same shape")
    c.merge(q[0], k[0], "query and key must have the same batch size")
    c.merge(q[-1], k[-1], "query and key must have the same head size")
    require_multiple(c, q[1], k[1], HEADS)
    return TensorType(c.dtype(0), q)


HEADS = "the query heads must be a multiple of the key heads"
LAYOUTS = ("canonical", "linear")
"""Layouts of expert weights: [E, in, out], or [E, out, in] as in torch."""


@nnef("tract_moe_ffn")
def experts(
    c: InferenceContext,
    x: Shape,
    wg: Shape,
    w1: Shape,
    w2: Shape,
    w3: Shape | None = None,
    wg_bias: Shape | None = None,
    w1_bias: Shape | None = None,
    w3_bias: Shape | None = None,
    w2_bias: Shape | None = None,
    *,
    k: int,
    expert_layout: str = "canonical",
) -> TensorType:
    """Tokens [*B, D] through k of E experts of width H: wg [E, D], w1 and w3 [E, D, H], w2 [E, H, D] -> [*B, D]."""
    check_choice(c, expert_layout, LAYOUTS, "expert_layout")
    (chosen,) = read_ints(c, k, "k", 1)
    count, token = c.require_rank(wg, 2, "wg")
    width = c.require_rank(w1, 3, "w1")[2 if expert_layout == "canonical" else 1]
    c.at_most(chosen, count, "k must be at most the number of experts")
    first = (token, width) if expert_layout == "canonical" else (width, token)
    for name, weights, dims in (
        *(("w1", w1, (count, *first)), ("w3", w3, (count, *first)), ("w2", w2, (count, first[1], first[0]))),
        *(("wg_bias", wg_bias, (count,)), ("w1_bias", w1_bias, (count, width))),
        *(("w3_bias", w3_bias, (count, width)), ("w2_bias", w2_bias, (count, token))),
    ):
        if weights is not None:
            c.merge(weights, Shape(dims), f"{name} must have the sizes that follow from wg and w1")
    if x.dims is not None:
        c.merge(x[-1], token, "the last axis of x must equal that of wg")
    return TensorType(c.dtype(0), x)


@nnef("tract_transformers_scaled_masked_softmax")
def masked_softmax(c: InferenceContext, input: Shape, mask: Shape) -> TensorType:
    """[*S], a mask that broadcasts to it, aligned at the last axis -> [*S]."""
    require_broadcast_to(c, mask, input, "mask must broadcast to the shape of the input")
    return TensorType(c.dtype(0), input)


@nnef("tract_transformers_apply_rope")
def rotary_embedding(c: InferenceContext, input: Shape, cos: Shape, sin: Shape) -> TensorType:
    """[*S, 2n] -> [*S, 2n]."""
    if input.dims:
        c.divisible(input[-1], 2, "the last axis of the input must be even")
    return TensorType(c.dtype(0), input)


@nnef("tract_transformers_gdn_recurrent", "tract_qwen35_gdn_recurrent")
def gated_delta(
    c: InferenceContext, query: Shape, key: Shape, value: Shape, log_decay: Shape, beta: Shape, initial_state: Shape
) -> tuple[TensorType, TensorType]:
    """[B, S, Hk, W] twice, values [B, S, H, W], a state [B, H, W, W] -> [B, S, H, W], the state [B, H, W, W]."""
    query = c.merge(query, key, "query and key must have the same shape")
    query, value = c.require_rank(query, 4, "query"), c.require_rank(value, 4, "value")
    for axis in (0, 1, 3):
        c.merge(query[axis], value[axis], f"axis {axis} of query and value must be equal")
    batch, _, heads, width = value
    state = c.merge(
        initial_state,
        Shape((batch, heads, width, width)),
        "initial_state must be [batch, heads, width, width] of the value",
    )
    return TensorType(c.dtype(0), value), TensorType(c.dtype(5), state)


@nnef("tract_transformers_causal_conv1d_update", "tract_qwen35_causal_conv1d_update")
def causal_convolution(
    c: InferenceContext, input: Shape, weight: Shape, initial_state: Shape
) -> tuple[TensorType, TensorType]:
    """[B, C, S], [C, K], [B, C, K] -> [B, C, S] and the state [B, C, K].

    The first version also accepts a single position in any shape. No shape changes.
    """
    if input.rank == initial_state.rank == 3 and input[1] == initial_state[1] and weight.dims:
        c.merge(input[0], initial_state[0], "input and state must have the same batch size")
        c.merge(weight[-1], initial_state[2], "the state must be as long as the kernel")
    return TensorType(c.dtype(0), input), TensorType(c.dtype(2), initial_state)
