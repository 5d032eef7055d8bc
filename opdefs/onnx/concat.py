"""Concatenation and repetition."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_dims, known_ints, requested_dims
from opdefs.rules.operands import is_unit, prove_unit, require_vector
from opdefs.rules.repetition import broadcast_elements, repeat_size
from opdefs.rules.repetition import concat as concat_tensors
from opdefs.rules.repetition import tile as tile_axes
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@onnx("Concat", since=4)
def concat(c: InferenceContext, *xs: Value, axis: int) -> PartialTensor:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B]."""
    return concat_tensors(c, xs, axis)


@onnx("Concat")
def concat_with_default(c: InferenceContext, *xs: Value, axis: int = 1) -> PartialTensor:
    """Before opset 4 the axis is 1 by default."""
    return concat_tensors(c, xs, axis)


@onnx("Expand")
def expand(c: InferenceContext, x: Value, shape: Value) -> PartialTensor:
    """The broadcast of the input's shape and the contents of `shape`."""
    requested = requested_dims(c, shape)
    return broadcast_elements(x, _expand_shape(c, x.shape, requested))


def _expand_shape(c: InferenceContext, x: Shape, requested: tuple[DimSize | None, ...]) -> Shape:
    """The broadcast, axis by axis; an unknown size leaves an axis of at least 2 as it is. No size may be negative."""
    dims = x.require()
    rank = max(len(dims), len(requested))
    left: tuple[DimSize, ...] = (1,) * (rank - len(dims)) + dims
    right: tuple[DimSize | None, ...] = (1,) * (rank - len(requested)) + requested
    result: list[DimSize] = []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if isinstance(b, int) and b < 0:
            c.fail("the sizes in shape must be at least 0", b)
        is_size = isinstance(b, int) or (b is not None and c.store.bounds(b)[0] >= 0)
        if is_size and b is not None and (a == b or is_unit(a) or is_unit(b)):
            result.append(b if is_unit(a) else a)
        elif b is not None and c.prove_le(0, b) is True:
            result.append(c.broadcast_dim(a, b))
        else:
            result.append(a if prove_unit(c, a) is False else c.fresh(f"expand.{i}"))
    return Shape(result)


@onnx("Tile", since=6)
def tile(c: InferenceContext, x: Value, repeats: Value) -> PartialTensor:
    """[d, ...], repeats [r, ...] -> [d*r, ...]."""
    if x.shape.dims is None:
        return PartialTensor(x.dtype, Shape(c.fresh(f"tile.{i}") for i in range(len(requested_dims(c, repeats)))), None)
    require_vector(c, repeats.shape, len(x.shape), "repeats must have one value per axis of the input")
    counts = known_dims(repeats) or (None,) * len(x.shape)
    return tile_axes(c, x, counts)


@onnx("Tile")
def tile_along_axis(c: InferenceContext, x: Shape, tiles: Value, axis: Value) -> Shape:
    """Opset 1: [*A, d, *B] -> [*A, d*tiles, *B]."""
    axes, counts = known_ints(axis), known_dims(tiles)
    if not axes:
        return Shape(c.fresh(f"tile.{i}") for i in range(len(x)))
    at = c.axis(axes[0], len(x))
    return Shape((*x[:at], repeat_size(c, x[at], counts[0] if counts else None, at), *x[at + 1 :]))
