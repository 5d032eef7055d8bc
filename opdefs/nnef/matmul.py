"""Products of matrices (chapters 4.7 and 4.9)."""

from __future__ import annotations

from opdefs.nnef.broadcasting import broadcast, fit_rank
from opdefs.nnef.dialect import nnef
from opdefs.rules.contraction import matmul as product
from shapeinf.formats.nnef.versions import PROVISIONAL, TRACT
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@nnef("matmul")
def matmul(
    c: InferenceContext,
    A: Shape,  # noqa: N803
    B: Shape,  # noqa: N803
    *,
    transposeA: bool = False,  # noqa: N803
    transposeB: bool = False,  # noqa: N803
    trA: bool = False,  # noqa: N803
    trB: bool = False,  # noqa: N803
) -> Shape:
    """[*L, M, K] x [*L, K, N] -> [*L, M, N], either operand transposed (as `trA`, `trB` in the provisional dialect)."""
    a, b = A, B
    if c.version == PROVISIONAL:  # which has products of matrices only
        a, b = (c.require_rank(fit_rank(c, s, 2), 2, name) for s, name in ((A, "A"), (B, "B")))
    if len(a) != len(b) and c.version != TRACT:  # tract prepends axes of extent 1 to the shorter operand
        c.fail("A and B must have the same rank", a, b)
    if min(len(a), len(b)) < 2:
        c.fail("A and B must have rank 2 or more", a, b)
    return product(c, _swap_axes(a) if transposeA or trA else a, _swap_axes(b) if transposeB or trB else b)


def _swap_axes(x: Shape) -> Shape:
    return Shape((*x[:-2], x[-1], x[-2]))


@nnef("linear")
def linear(c: InferenceContext, input: Shape, filter: Shape, bias: Shape | None = None) -> Shape:
    """[*L, M, K], a filter [*L, N, K] -> [*L, M, N], plus a bias that broadcasts."""
    shape = matmul(c, input, filter, transposeB=True)
    return shape if bias is None else broadcast(c, shape, bias)
