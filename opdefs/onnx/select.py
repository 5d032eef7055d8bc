"""Outputs whose size depends on data: unknowns with sound bounds."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import as_dim
from shapeinf.algebra import Dim
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("NonZero")
def non_zero(c: InferenceContext, x: Shape) -> TensorType:
    """[rank, count] with a count of at most all elements."""
    if x.dims is None:
        return TensorType("int64", Shape((c.fresh("rank"), c.fresh("count"))))
    count = c.fresh("count", 0, c.interval(c.numel(x)).hi)
    return TensorType("int64", Shape((len(x), count)))


@onnx("TopK", since=10)
def top_k(c: InferenceContext, x: Shape, k: Value, *, axis: int = -1) -> tuple[Shape, TensorType]:
    """The axis becomes k; values and positions."""
    at = c.axis(axis, len(x))
    size = None if k.elements is None else as_dim(k.elements[0])
    return _top(c, x, at, c.fresh("k", 0, c.interval(x[at]).hi) if size is None else size)


@onnx("TopK")
def top_k_by_attribute(c: InferenceContext, x: Shape, *, k: int, axis: int = -1) -> tuple[Shape, TensorType]:
    """Before opset 10, k is an attribute."""
    return _top(c, x, c.axis(axis, len(x)), k)


def _top(c: InferenceContext, x: Shape, axis: int, k: Dim) -> tuple[Shape, TensorType]:
    if c.prove_le(k, x[axis]) is False:
        c.fail(f"k must be at most the size of axis {axis}", k, x)
    shape = Shape((*x[:axis], k, *x[axis + 1 :]))
    return shape, TensorType("int64", shape)


@onnx("Compress")
def compress(c: InferenceContext, x: Shape, condition: Shape, *, axis: int | None = None) -> Shape:
    """Chosen slices of an axis (of the flat input without one): at most all of them."""
    if axis is None:
        return Shape((c.fresh("count", 0, c.interval(c.numel(x)).hi),))
    at = c.axis(axis, len(x))
    return Shape((*x[:at], c.fresh("count", 0, c.interval(x[at]).hi), *x[at + 1 :]))


@onnx("NonMaxSuppression")
def non_max_suppression(c: InferenceContext, boxes: Shape, scores: Shape, *others: Shape) -> TensorType:
    """[count, 3] positions (batch, class, box)."""
    return TensorType("int64", Shape((c.fresh("count"), 3)))
