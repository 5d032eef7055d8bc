"""Outputs whose size depends on data: exact where the data are known, else unknowns with sound bounds."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import tensor_from_array, to_dim
from opdefs.rules.contents.progressions import progression
from opdefs.rules.operands import require_single, require_vector
from opdefs.rules.unknowns import box_count, fresh_count, nonzero_count, top_k_shape
from shapeinf.expr import Dim
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("NonZero")
def non_zero(c: InferenceContext, x: Value) -> TensorType:
    """[*S] -> [rank, count] with at most all elements; for contents that are all equal, all or none."""
    if x.shape.dims is None:
        return TensorType("int64", Shape((c.fresh("rank"), c.fresh("count"))))
    array = x.array()
    if array is not None and array.ndim:
        import numpy as np

        return tensor_from_array(np.array(np.nonzero(array), dtype=np.int64), "int64")
    count = nonzero_count(c, x)
    if len(x.shape) == 1 and count == x.shape[0]:
        return progression("int64", Shape((1, count)), 0, (0, 1))
    return TensorType("int64", Shape((len(x.shape), count)))


@onnx("TopK", since=10)
def top_k(c: InferenceContext, x: Shape, k: Value, *, axis: int = -1) -> tuple[Shape, TensorType]:
    """[*A, d, *B] -> values and indices [*A, k, *B]."""
    at = c.axis(axis, len(x))
    require_vector(c, k.shape, 1, "K must be a vector with one element")
    size = None if not k.elements else to_dim(k.elements[0])
    if size is None or c.prove_le(0, size) is None:
        size = c.fresh("k", 0, c.interval(x[at]).hi)
    return _top_k(c, x, at, size)


@onnx("TopK")
def top_k_by_attribute(c: InferenceContext, x: Shape, *, k: int, axis: int = -1) -> tuple[Shape, TensorType]:
    """Before opset 10, k is an attribute."""
    return _top_k(c, x, c.axis(axis, len(x)), k)


def _top_k(c: InferenceContext, x: Shape, axis: int, k: Dim) -> tuple[Shape, TensorType]:
    shape = top_k_shape(c, x, axis, k)
    return shape, TensorType("int64", shape)


@onnx("Compress")
def compress(c: InferenceContext, x: Shape, condition: Value, *, axis: int | None = None) -> Shape:
    """[*A, d, *B] -> [*A, count, *B] with at most d slices; without `axis`, of the flattened input."""
    if axis is None:
        total: Dim | None = None if x.dims is None else c.numel(x)
        return Shape((_count_selected(c, condition, total),))
    at = c.axis(axis, len(x))
    return Shape((*x[:at], _count_selected(c, condition, x[at]), *x[at + 1 :]))


def _count_selected(c: InferenceContext, condition: Value, size: Dim | None) -> Dim:
    """The number of selected slices; a condition shorter than the axis selects none beyond its end."""
    choices = c.require_rank(condition.shape, 1, "condition")[0]
    if size is not None:
        c.at_most(choices, size, "condition must be at most as long as the axis, or the flattened input")
    decided = condition.array()
    if decided is not None and decided.dtype.kind == "b":
        return int(decided.sum())
    highs = [c.interval(d).hi for d in (size, choices) if d is not None]
    return c.fresh("count", 0, min((h for h in highs if h is not None), default=None))


@onnx("Unique")
def unique(c: InferenceContext, x: Shape, *, axis: int | None = None) -> tuple[Shape | TensorType, ...]:
    """[*A, d, *B] -> [*A, count, *B] distinct slices; [count] first indices, [d] inverse indices, [count] counts.

    Without `axis`, distinct elements of the flattened input.
    """
    if axis is None:
        total = c.fresh("size") if x.dims is None else c.numel(x)
        count = _unique_count(c, total)
        values = Shape((count,))
    else:
        at = c.axis(axis, len(x))
        total = x[at]
        count = _unique_count(c, total)
        values = Shape((*x[:at], count, *x[at + 1 :]))
    each = TensorType("int64", Shape((count,)))
    return values, each, TensorType("int64", Shape((total,))), each


def _unique_count(c: InferenceContext, total: Dim) -> Dim:
    if isinstance(total, int) and total <= 1:
        return total
    return fresh_count(c, total, 1 if c.prove_le(1, total) is True else 0)


@onnx("NonMaxSuppression")
def non_max_suppression(
    c: InferenceContext,
    boxes: Shape,
    scores: Shape,
    limit: Value | None = None,
    iou_threshold: Shape | None = None,
    score_threshold: Shape | None = None,
) -> TensorType:
    """[count, 3] positions (batch, class, box): for each batch and class at most all boxes and at most the limit."""
    c.merge(c.require_rank(boxes, 3, "boxes")[2], 4, "a box must have 4 coordinates")
    limits = (None if limit is None else limit.shape, iou_threshold, score_threshold)
    for v, name in zip(limits, ("max_output_boxes_per_class", "iou_threshold", "score_threshold"), strict=True):
        require_single(c, v, f"{name} must have exactly one element")
    return TensorType("int64", Shape((box_count(c, boxes, scores, 0 if limit is None else limit), 3)))
