"""Matrix products."""

from __future__ import annotations

from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def matmul(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """`numpy.matmul`: [*A, M, K] x [*B, K, N] -> [*broadcast(A, B), M, N]; vectors lose their axis."""
    left, right = a.require(), b.require()
    if not left or not right:
        c.fail("a matrix product needs operands of rank 1 or more", a, b)
    inner_right = right[-2] if len(right) > 1 else right[0]
    c.merge(left[-1], inner_right, "the inner dimensions of a matrix product must be equal")
    lead = c.broadcast(Shape(left[:-2]), Shape(right[:-2]))
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return Shape((*lead, *rows, *columns))
