"""tract's operations for transformers."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_transformers_sdpa")
def attention(
    c: InferenceContext, q: Shape, k: Shape, v: Shape, mask: Shape | None = None, *, is_causal: bool = False
) -> TensorType:
    """[B, (Hq,) S, D], [B, (H,) T, D], [B, (H,) T, Dv] -> [B, (Hq,) S, Dv]; groups of query heads share keys."""
    rank = c.same_rank(q, k, v)
    if rank not in (3, 4):
        c.fail("attention needs tensors of rank 3 or 4", q)
    if is_causal and mask is not None:
        c.fail("causal attention takes no other mask")
    c.merge(q[-1], k[-1], "heads of query and key must be of equal size")
    c.merge(k[-2], v[-2], "key and value must be of equal length")
    batch = c.merge(c.merge(q[0], k[0], "query and key must be of one batch size"), v[0], "so must the value")
    if rank == 4:
        c.merge(k[1], v[1], "key and value must have as many heads")
        if isinstance(q[1], int) and isinstance(k[1], int) and (k[1] == 0 or q[1] % k[1]):
            c.fail("the heads of the query must be a multiple of those of the key", q[1], k[1])
    return TensorType(c.dtype(0), Shape((batch, *q[1:-1], v[-1])))


@nnef("tract_transformers_scaled_masked_softmax")
def masked_softmax(c: InferenceContext, input: Shape, mask: Shape) -> TensorType:
    """The shape of the input; the mask aligns at the last axes and does not make it larger."""
    if input.dims is not None and mask.dims is not None:
        if len(mask) > len(input):
            c.fail("a mask must not have more axes than the input", input, mask)
        for own, other in zip(reversed(input.dims), reversed(mask.dims), strict=False):
            if c.prove_le(2, other) is True:  # a named extent may also be 1
                c.merge(own, other, "a mask must broadcast to the input")
    return TensorType(c.dtype(0), input)


@nnef("tract_transformers_apply_rope")
def rotary_embedding(c: InferenceContext, input: Shape, cos: Shape, sin: Shape) -> TensorType:
    """The shape of the input, whose last axis has two halves."""
    if input.dims:
        c.divisible(input[-1], 2, "the last axis of a rotary embedding must be even")
    return TensorType(c.dtype(0), input)


@nnef("tract_transformers_gdn_recurrent", "tract_qwen35_gdn_recurrent")
def gated_delta(
    c: InferenceContext,
    query: Shape,
    key: Shape,
    value: Shape,
    log_decay: Shape,
    beta: Shape,
    initial_state: Shape,
) -> tuple[TensorType, TensorType]:
    """Queries and keys [B, S, Hk, W], values [B, S, H, W], state [B, H, W, W] -> the values' shape, and the state's."""
    query = c.merge(query, key, "query and key must be of equal shape")
    query, value = c.require_rank(query, 4, "query"), c.require_rank(value, 4, "value")
    for axis in (0, 1, 3):
        c.merge(query[axis], value[axis], f"axis {axis} of query and value must be equal")
    batch, _, heads, width = value
    state = c.merge(initial_state, Shape((batch, heads, width, width)), "the state must be of shape [B, H, W, W]")
    return TensorType(c.dtype(0), value), TensorType(c.dtype(5), state)


@nnef("tract_transformers_causal_conv1d_update", "tract_qwen35_causal_conv1d_update")
def causal_convolution(
    c: InferenceContext, input: Shape, weight: Shape, initial_state: Shape
) -> tuple[TensorType, TensorType]:
    """[B, C, S], [C, K], [B, C, K] -> [B, C, S] and the state [B, C, K].

    The first version takes one position in any shape, so that nothing but this is sure: no shape changes.
    """
    if input.rank == initial_state.rank == 3 and input[1] == initial_state[1] and weight.dims:
        c.merge(input[0], initial_state[0], "input and state must be of one batch size")
        c.merge(weight[-1], initial_state[2], "the state must be as long as the kernel")
    return TensorType(c.dtype(0), input), TensorType(c.dtype(2), initial_state)
