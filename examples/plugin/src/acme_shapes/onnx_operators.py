"""Operators of the domain `com.acme` in ONNX models."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

__all__ = ["onnx"]  # the object of the entry point `onnx.acme`


@onnx("PatchMerge", since=1, domain="com.acme")
def patch_merge(c: InferenceContext, x: Shape, w: Shape, b: Shape | None = None, *, block: int) -> TensorType:
    """[N, H, W, C], [block*block*C, D], [D] -> [N, H/block, W/block, D]."""
    n, height, width, channels = c.require_rank(x, 4, "x")
    rows, depth = c.require_rank(w, 2, "w")
    for size in (height, width):
        c.divisible(size, block, "height and width must be multiples of `block`")
    c.merge(rows, channels * block * block, "w must have one row per value of a patch")
    if b is not None:
        depth = c.merge(b[0], depth, "the bias must have one value per column of w")
    return TensorType(c.dtype(0), Shape((n, height // block, width // block, depth)))
