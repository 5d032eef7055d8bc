"""Outputs whose size depends on data: exact where the data are known, else unknowns with sound bounds."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.distinct import distinct_slices
from opdefs.rules.contents.elements import to_dim
from opdefs.rules.contents.ordering import top_elements
from opdefs.rules.contents.progressions import progression
from opdefs.rules.contents.rearrangement import choose_slices
from opdefs.rules.contents.truth import nonzero_flags, nonzero_positions
from opdefs.rules.operands import require_single, require_vector
from opdefs.rules.reshaping import transpose
from opdefs.rules.unknowns import box_count, fresh_count, nonzero_count, top_k_shape
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("NonZero")
def non_zero(c: InferenceContext, x: Value) -> TensorType:
    """[*S] -> [rank, count] with at most all elements; for contents that are all equal, all or none."""
    if x.shape.dims is None:
        return TensorType("int64", Shape((c.fresh("rank"), c.fresh("count"))))
    positions = nonzero_positions(x, nonzero_flags(c, x)) if x.shape.dims else None
    if positions is not None:
        return transpose(positions, (1, 0))
    count = nonzero_count(c, x)
    if len(x.shape) == 1 and count == x.shape[0]:
        return progression("int64", Shape((1, count)), 0, (0, 1))
    return TensorType("int64", Shape((len(x.shape), count)))


@onnx("TopK", since=10)
def top_k(
    c: InferenceContext, x: Value, k: Value, *, axis: int = -1, largest: int = 1, sorted_: int = 1
) -> tuple[PartialTensor, PartialTensor]:
    """[*A, d, *B] -> values and indices [*A, k, *B]."""
    at = c.axis(axis, len(x.shape))
    require_vector(c, k.shape, 1, "K must be a vector with one element")
    size = None if not k.elements else to_dim(k.elements[0])
    if size is None or c.prove_le(0, size) is None:
        size = c.fresh("k", 0, c.interval(x.shape[at]).hi)
    return _top_k(c, x if sorted_ else PartialTensor(x.dtype, x.shape, None), at, size, bool(largest))


@onnx("TopK")
def top_k_by_attribute(c: InferenceContext, x: Value, *, k: int, axis: int = -1) -> tuple[PartialTensor, PartialTensor]:
    """Before opset 10, k is an attribute."""
    return _top_k(c, x, c.axis(axis, len(x.shape)), k, True)


def _top_k(
    c: InferenceContext, x: PartialTensor, axis: int, k: DimSize, largest: bool
) -> tuple[PartialTensor, PartialTensor]:
    shape = top_k_shape(c, x.shape, axis, k)
    values, positions = top_elements(c, x, axis, shape, largest=largest)
    return PartialTensor(x.dtype, shape, values), PartialTensor("int64", shape, positions)


@onnx("Compress")
def compress(c: InferenceContext, x: Value, condition: Value, *, axis: int | None = None) -> PartialTensor:
    """[*A, d, *B] -> [*A, count, *B] with at most d slices; without `axis`, of the flattened input."""
    if axis is None:
        total: DimSize | None = None if x.shape.dims is None else c.numel(x.shape)
        shape = Shape((_count_selected(c, condition, total),))
    else:
        axis = c.axis(axis, len(x.shape))
        shape = Shape((*x.shape[:axis], _count_selected(c, condition, x.shape[axis]), *x.shape[axis + 1 :]))
    decided = condition.array()
    if x.elements is None or decided is None or decided.dtype.kind != "b":
        return PartialTensor(x.dtype, shape, None)
    return choose_slices(x, [i for i, chosen in enumerate(decided.tolist()) if chosen], axis, shape)


def _count_selected(c: InferenceContext, condition: Value, size: DimSize | None) -> DimSize:
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
def unique(c: InferenceContext, x: Value, *, axis: int | None = None, sorted_: int = 1) -> tuple[PartialTensor, ...]:
    """[*A, d, *B] -> [*A, count, *B] distinct slices; [count] first indices, [d] inverse indices, [count] counts.

    Without `axis`, distinct elements of the flattened input.
    """
    at = None if axis is None else c.axis(axis, len(x.shape))
    known = distinct_slices(c, x, at, ordered=bool(sorted_))
    flat: DimSize | None = None if x.shape.dims is None else c.numel(x.shape)
    total = x.shape[at] if at is not None else c.fresh("size") if flat is None else flat
    count = _unique_count(c, total) if known is None else len(known.first)
    shape = Shape((count,)) if at is None else Shape((*x.shape[:at], count, *x.shape[at + 1 :]))
    values = PartialTensor(x.dtype, shape, None) if known is None else choose_slices(x, known.first, at, shape)
    each, every = Shape((count,)), Shape((total,))
    first, inverse, counts = (None, None, None) if known is None else known
    return (
        values,
        PartialTensor("int64", each, first),
        PartialTensor("int64", every, inverse),
        PartialTensor("int64", each, counts),
    )


def _unique_count(c: InferenceContext, total: DimSize) -> DimSize:
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
