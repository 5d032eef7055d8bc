"""The largest elements, distinct elements, positions, and boxes that do not overlap."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.contents.ordering import top_elements
from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.data_dependent import unique as distinct_elements
from opdefs.tf.data_dependent import where as true_positions
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import drop_quantized, require_rank_between, scalar_value
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("TOPK_V2")
def topk_v2(c: TensorFlowContext, x: Value, k: Value) -> tuple[PartialTensor, PartialTensor]:
    """[*S, n], k [] -> [*S, k], [*S, k]: the k largest elements of the last axis, and their indices."""
    require_rank_between(c, x.shape, 1)
    scalar_value(c, k, "k")
    known = known_dims(k)
    size: DimSize
    if known is None or known[0] is None:
        size = c.fresh_at_most(x.shape[-1], "k")
    else:
        size = known[0] if c.prove_le(0, known[0]) is True else maximum(known[0], 0)
        c.at_most(size, x.shape[-1], "the last axis must have k elements or more")
    shape = Shape((*x.shape[:-1], size))
    values, positions = (
        (None, None) if drop_quantized(x).elements is None else top_elements(c, x, len(x.shape) - 1, shape)
    )
    return PartialTensor(x.dtype, shape, values), PartialTensor(None, shape, positions)


tflite("UNIQUE")(distinct_elements)


@tflite("WHERE")
def where(c: TensorFlowContext, condition: Value) -> PartialTensor:
    """[*S] -> [count, rank]: the positions of the elements that are not zero."""
    require_rank_between(c, condition.shape, 1)
    return true_positions(c, condition)


@tflite("NON_MAX_SUPPRESSION_V4")
def non_max_suppression_v4(
    c: TensorFlowContext, boxes: Shape, scores: Shape, limit: Value, iou: Shape, threshold: Shape
) -> tuple[Shape, Shape]:
    """Boxes [n, 4], scores [n], limit [], two thresholds [] -> indices [limit], padded, and their number []."""
    return Shape((_selected(c, boxes, scores, limit),)), Shape(())


@tflite("NON_MAX_SUPPRESSION_V5")
def non_max_suppression_v5(
    c: TensorFlowContext, boxes: Shape, scores: Shape, limit: Value, iou: Shape, threshold: Shape, sigma: Shape
) -> tuple[Shape, Shape, Shape]:
    """As version 4, with a parameter more; also the scores [limit] of the selected boxes."""
    count = _selected(c, boxes, scores, limit)
    return Shape((count,)), Shape((count,)), Shape(())


def _selected(c: TensorFlowContext, boxes: Shape, scores: Shape, limit: PartialTensor) -> DimSize:
    """The number of selected boxes: the limit."""
    count, sides = c.require_rank(boxes, 2, "the boxes")
    c.merge(sides, 4, "a box must have four sides")
    c.merge(c.require_rank(scores, 1, "the scores")[0], count, "each box must have a score")
    c.require_rank(limit.shape, 0, "the limit")
    known = known_dims(limit)
    if known and isinstance(known[0], int) and known[0] < 0:
        c.fail("the limit must be at least 0", known[0])
    return scalar_size_or_fresh(c, limit, "limit")
