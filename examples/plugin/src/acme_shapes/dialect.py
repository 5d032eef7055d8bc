"""A dialect: the operators of graphs that Acme's own compiler builds."""

from __future__ import annotations

from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import Dialect, InferenceContext

acme = Dialect("acme")


@acme("Gate")
def gate(c: InferenceContext, x: Shape, control: Shape) -> TensorType:
    """[..., C], [C] -> [..., C]."""
    (channels,) = c.require_rank(control, 1, "control")
    *others, last = x.require()
    gated = c.merge(last, channels, "control must have one value per channel")
    return TensorType(c.dtype(0), Shape((*others, gated)))


@acme("Frames")
def frames(c: InferenceContext, x: Shape, *, size: int, step: int) -> TensorType:
    """[N, T] -> [N, (T - size)//step + 1, size]."""
    n, length = c.require_rank(x, 2, "x")
    c.at_least(length, size, "a frame must fit into the signal")
    return TensorType(c.dtype(0), Shape((n, (length - size) // step + 1, size)))
