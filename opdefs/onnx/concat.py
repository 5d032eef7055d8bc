"""Concatenation and repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import (
    Elements,
    concatenated,
    elements_of,
    fits,
    known_dims,
    known_ints,
    moved,
    wanted_dims,
)
from shapeinf.algebra import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@onnx("Concat")
def concat(c: InferenceContext, *xs: Value, axis: int = 1) -> PartialTensor:
    """The sizes along `axis` add up; all other axes are equal."""
    rank = c.same_rank(*(x.shape for x in xs))
    at = c.axis(axis, rank)
    dims = list(xs[0].shape.require())
    for x in xs[1:]:
        for i, d in enumerate(x.shape.dims or ()):
            if i == at:
                dims[i] = dims[i] + d
            elif d is not dims[i]:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    shape = Shape(dims)
    known = fits(shape) and all(isinstance(x.shape[at], int) for x in xs)
    if not known or all(x.elements is None for x in xs):
        return PartialTensor(xs[0].dtype, shape, None)
    if rank == 1:
        rows = (x.elements or (None,) * int(x.shape[0]) for x in xs)  # type: ignore[arg-type]
        return PartialTensor(xs[0].dtype, shape, [e for row in rows for e in row])
    parts = [_elements_or_unknown(x, [*dims[:at], x.shape[at], *dims[at + 1 :]]) for x in xs]
    return PartialTensor(xs[0].dtype, shape, concatenated(parts, at).reshape(-1).tolist())


def _elements_or_unknown(x: PartialTensor, sizes: Sequence[Dim]) -> Elements:
    """The elements; `sizes` are what the shape has become, since the other inputs may have told some of it."""
    found = elements_of(x)
    return found if found is not None else np.full([d for d in sizes if isinstance(d, int)], None, dtype=object)


@onnx("Expand")
def expand(c: InferenceContext, x: Value, shape: Value) -> PartialTensor:
    """The broadcast of the input's shape and the contents of `shape`."""
    wanted = wanted_dims(c, shape)
    result = _expanded(c, x.shape, wanted)
    return moved(x, result, lambda array: np.broadcast_to(array, [d for d in result if isinstance(d, int)]))


def _expanded(c: InferenceContext, x: Shape, wanted: tuple[Dim | None, ...]) -> Shape:
    """Broadcast axis by axis; an unknown size leaves an axis of 2 or more as it is."""
    dims = x.require()
    rank = max(len(dims), len(wanted))
    left: list[Dim] = [*(1 for _ in range(rank - len(dims))), *dims]
    right: list[Dim | None] = [*(1 for _ in range(rank - len(wanted))), *wanted]
    result: list[Dim] = []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if b is not None and c.prove_le(0, b) is True:
            result.append(c.broadcast_dim(a, b))
        else:
            result.append(a if c.prove_le(2, a) is True else c.fresh(f"expand.{i}"))
    return Shape(result)


@onnx("Tile", since=6)
def tile(c: InferenceContext, x: Value, repeats: Value) -> PartialTensor:
    """Every axis repeated."""
    if x.shape.dims is None:
        return PartialTensor(x.dtype, Shape(c.fresh(f"tile.{i}") for i in range(len(wanted_dims(c, repeats)))), None)
    counts = known_dims(repeats) or (None,) * len(x.shape)
    if len(counts) != len(x.shape):
        c.fail("repeats must have one value an axis", x.shape, counts)
    dims = [_repeated(c, d, n, i) for i, (d, n) in enumerate(zip(x.shape, counts, strict=True))]
    known = known_ints(repeats)
    if known is None:
        return PartialTensor(x.dtype, Shape(dims), None)
    return moved(x, Shape(dims), lambda array: np.tile(array, known))


@onnx("Tile")
def tile_one_axis(c: InferenceContext, x: Shape, tiles: Value, axis: Value) -> Shape:
    """Opset 1: one axis repeated."""
    places, counts = known_ints(axis), known_dims(tiles)
    if not places:
        return Shape(c.fresh(f"tile.{i}") for i in range(len(x)))
    at = c.axis(places[0], len(x))
    return Shape((*x[:at], _repeated(c, x[at], counts[0] if counts else None, at), *x[at + 1 :]))


def _repeated(c: InferenceContext, size: Dim, count: Dim | None, axis: int) -> Dim:
    if isinstance(count, int) and count < 0:
        c.fail("an axis cannot be repeated a negative number of times", count)
    return c.fresh(f"tile.{axis}") if count is None or c.prove_le(0, count) is not True else size * count
