"""Sampling of images at the points of a grid."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.requested import size_or_fresh
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value


def grid_sample(c: InferenceContext, x: Shape, grid: Shape) -> Shape:
    """[N, C, *S] sampled at [N, *T, len(S)] positions -> [N, C, *T]."""
    rank = c.same_rank(x, grid)
    if rank < 3:
        c.fail("the input must be [N, C, spatial...]", x)
    n = c.merge(x[0], grid[0], "input and grid must have the same batch size")
    c.merge(grid[rank - 1], rank - 2, "the last axis of the grid must have one coordinate per spatial axis")
    return Shape((n, x[1], *grid[1 : rank - 1]))


COLUMNS = "theta must have one column more than rows"
SIZE = "the size must be [N, C, spatial...]"


def affine_grid(c: InferenceContext, theta: Shape, size: Value) -> Shape:
    """[N, 2, 3], the size `[N, C, H, W]` -> [N, H, W, 2]; [N, 3, 4], the size `[N, C, D, H, W]` -> [N, D, H, W, 3]."""
    theta = c.require_rank(theta, 3, "theta")
    axes = c.concrete(theta[1])
    length = c.concrete(c.require_rank(size.shape, 1, "size")[0])
    if axes is None:
        axes = None if length is None else length - 2
    if axes is None:
        c.merge(theta[2], theta[1] + 1, COLUMNS)
        c.merge(size.shape[0], theta[1] + 2, SIZE)
        raise c.unknowable("neither the length of `size` nor the rows of `theta` are known")
    c.merge(theta[1], axes, "theta must have one row for each spatial axis")
    c.merge(theta[2], axes + 1, COLUMNS)
    c.merge(size.shape[0], axes + 2, SIZE)
    requested = known_dims(size) or (None,) * (axes + 2)
    if any(isinstance(d, int) and d < 0 for d in requested):
        c.fail("the items of size must not be negative", list(requested))
    dims = [size_or_fresh(c, d, f"size.{i}") for i, d in enumerate(requested)]
    return Shape((c.merge(theta[0], dims[0], "theta and size must have the same batch size"), *dims[2:], axes))
