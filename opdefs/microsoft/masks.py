"""What is beside query, key and value of an attention: masks, a bias of the scores, biases of the projections."""

from __future__ import annotations

from opdefs.rules.operands import either, equal, one_or
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

SCORES = "attention_bias must be [batch or 1, heads or 1, queries, keys]"


def tell_scores_bias(
    c: InferenceContext, bias: Shape | None, batch: Dim, heads: int, queries: Dim, keys: Dim | None
) -> None:
    """[B or 1, N or 1, S, T]; how many keys there are may not be known."""
    if bias is not None:
        bias = c.require_rank(bias, 4, "attention_bias")
        one_or(c, bias[0], batch, SCORES)
        one_or(c, bias[1], heads, SCORES)
        c.merge(bias[2], queries, SCORES)
        if keys is not None:
            c.merge(bias[3], keys, SCORES)


def tell_key_mask(c: InferenceContext, mask: Shape | None, batch: Dim, queries: Dim, keys: Dim | None) -> None:
    """[B, T] or [B, S, T]; or lengths [B] or [3*B + 2]; other forms are left alone."""
    message = "the mask must be [batch, keys] or [batch, queries, keys], or hold lengths of all samples"
    if mask is None or mask.dims is None:
        return
    if len(mask.dims) == 1:
        either(c, mask.dims[0], (batch, 3 * batch + 2), message)
    elif len(mask.dims) in (2, 3):
        keys = mask.dims[-1] if keys is None else keys
        equal(c, Shape((batch, keys) if len(mask.dims) == 2 else (batch, queries, keys)), mask, message)
    elif len(mask.dims) > 4:
        c.fail(message, mask)
