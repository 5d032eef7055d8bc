"""Bounding boxes: suppression, proposals, drawing."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.operands import require_broadcast_size, require_choice
from opdefs.rules.requested import scalar_size
from opdefs.rules.unknowns import fresh_count
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import Value


def _candidates(c: TensorFlowContext, boxes: Shape, scores: Shape, *scalars: Shape) -> DimSize:
    """The number N of boxes [N, 4] with scores [N]; the other operands are scalars."""
    boxes, scores = c.with_rank(boxes, 2), c.with_rank(scores, 1)
    require_scalars(c, *scalars)
    count = c.merge(boxes[0], scores[0])
    c.with_value(boxes[1], 4)
    return count


def _selected_count(c: TensorFlowContext, count: DimSize, limit: Value) -> DimSize:
    """An unknown count: at most all boxes, and at most the limit."""
    most = scalar_size(c, limit)
    if limit.elements and isinstance(limit.elements[0], int) and limit.elements[0] < 0:
        raise ShapeError(f"max_output_size must be non-negative, got {limit.elements[0]}")
    return fresh_count(c, count if most is None else minimum(count, most))


@tf("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(
    c: TensorFlowContext, boxes: Shape, scores: Shape, max_output_size: Value, *thresholds: Shape
) -> Shape:
    """[N, 4], [N], scalars -> the indices [S] of selected boxes."""
    count = _candidates(c, boxes, scores, max_output_size.shape, *thresholds)
    return c.vector(_selected_count(c, count, max_output_size))


@tf("NonMaxSuppressionV4")
def non_max_suppression_with_count(
    c: TensorFlowContext,
    boxes: Shape,
    scores: Shape,
    max_output_size: Value,
    *thresholds: Shape,
    pad_to_max_output_size: bool = False,
) -> tuple[Shape, Shape]:
    """[N, 4], [N], scalars -> the indices [S] of selected boxes, and their number []."""
    count = _candidates(c, boxes, scores, max_output_size.shape, *thresholds)
    size = c.make_dim_for_scalar_input(2) if pad_to_max_output_size else _selected_count(c, count, max_output_size)
    return c.vector(size), c.scalar()


@tf("NonMaxSuppressionV5")
def soft_non_max_suppression(
    c: TensorFlowContext,
    boxes: Shape,
    scores: Shape,
    max_output_size: Value,
    *thresholds: Shape,
    pad_to_max_output_size: bool = False,
) -> tuple[Shape, Shape, Shape]:
    """[N, 4], [N], scalars -> the indices [S] and scores [S] of selected boxes, and their number []."""
    selected, valid = non_max_suppression_with_count(
        c, boxes, scores, max_output_size, *thresholds, pad_to_max_output_size=pad_to_max_output_size
    )
    return selected, selected, valid


@tf("NonMaxSuppressionWithOverlaps")
def non_max_suppression_with_overlaps(
    c: TensorFlowContext, overlaps: Shape, scores: Shape, max_output_size: Value, *thresholds: Shape
) -> Shape:
    """Overlaps [N, N], [N], scalars -> the indices [S] of selected boxes."""
    overlaps, scores = c.with_rank(overlaps, 2), c.with_rank(scores, 1)
    require_scalars(c, max_output_size.shape, *thresholds)
    count = c.merge(c.merge(overlaps[0], scores[0]), overlaps[1])
    return c.vector(_selected_count(c, count, max_output_size))


@tf("CombinedNonMaxSuppression")
def combined_non_max_suppression(
    c: TensorFlowContext,
    boxes: Shape,
    scores: Shape,
    max_output_size_per_class: Value,
    max_total_size: Value,
    *thresholds: Shape,
    pad_per_class: bool = False,
) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, N, C or 1, 4] boxes and [B, N, C] scores -> boxes [B, S, 4], scores, classes [B, S] and counts [B].

    S is `max_total_size`, with `pad_per_class` at most C times the size per class.
    """
    boxes, scores = c.with_rank(boxes, 4), c.with_rank(scores, 3)
    require_scalars(c, max_output_size_per_class.shape, max_total_size.shape, *thresholds)
    batch = c.merge(boxes[0], scores[0])
    c.merge(boxes[1], scores[1])
    c.with_value(boxes[3], 4)
    classes = scores[2]
    message = "third dimension of boxes must be either 1 or equal to the third dimension of scores"
    require_broadcast_size(c, boxes[2], classes, message)
    size = c.make_dim_for_scalar_input(3)
    if pad_per_class:
        size = minimum(size, c.multiply(c.make_dim_for_scalar_input(2), classes))
    rows = Shape((batch, size))
    return Shape((batch, size, 4)), rows, rows, c.vector(batch)


@tf("GenerateBoundingBoxProposals")
def generate_bounding_box_proposals(
    c: TensorFlowContext,
    scores: Shape,
    bbox_deltas: Shape,
    image_info: Shape,
    anchors: Shape,
    *scalars: Shape,
    post_nms_topn: int = 300,
) -> tuple[Shape, Shape]:
    """Scores [B, H, W, A], deltas, image sizes, anchors -> [B, post_nms_topn, 4], [B, post_nms_topn]."""
    scores, deltas = c.with_rank(scores, 4), c.with_rank(bbox_deltas, 4)
    batch = c.merge(c.merge(scores[0], deltas[0]), c.with_rank(image_info, 2)[0])
    c.with_rank(anchors, 3)
    require_scalars(c, *scalars)
    if post_nms_topn < 0:
        c.fail("post_nms_topn must not be negative", post_nms_topn)
    return Shape((batch, post_nms_topn, 4)), Shape((batch, post_nms_topn))


@tf("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox")
def sample_distorted_bounding_box(
    c: TensorFlowContext, image_size: Value, bounding_boxes: Shape, *rest: Shape
) -> tuple[PartialTensor, PartialTensor, TensorType]:
    """[3], [*, *, 4] -> begin `[y, x, 0]` and size `[height, width, -1]` of a slice, and a box [1, 1, 4]."""
    c.with_value(c.with_rank(image_size.shape, 1)[0], 3)
    c.with_value(c.with_rank(bounding_boxes, 3)[2], 4)
    image = known_dims(image_size) or (None, None)
    dtype, vector = image_size.dtype, Shape((3,))
    parts = [
        tuple(_fresh_below(c, size, name) for size, name in zip(image[:2], names, strict=True))
        for names in (("y", "x"), ("height", "width"))
    ]
    begin, size = (PartialTensor(dtype, vector, (*part, last)) for part, last in zip(parts, (0, -1), strict=True))
    return begin, size, TensorType("float32", Shape((1, 1, 4)))


def _fresh_below(c: TensorFlowContext, most: DimSize | None, name: str) -> DimSize:
    """An unknown size, of at most `most` if that is known."""
    return c.fresh(name) if most is None else c.fresh_at_most(most, name)


CHANNELS = (1, 3, 4)
"""The numbers of channels of images in gray, RGB and RGBA."""


@tf("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def draw_bounding_boxes(c: TensorFlowContext, images: Shape, boxes: Shape, colors: Shape | None = None) -> Shape:
    """[B, H, W, C], boxes [B, N, 4], colors [M, C] -> [B, H, W, C]."""
    images = c.with_rank(images, 4)
    message = "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
    if isinstance(images[3], int) and images[3] not in CHANNELS:
        raise ShapeError(f"{message}, but is {images[3]}")
    require_choice(c, images[3], CHANNELS, message)
    boxes = c.with_rank(boxes, 3)
    c.with_value(boxes[2], 4)
    if colors is not None:
        c.with_rank(colors, 2)
    return c.replace_dim(images, 0, c.merge(images[0], boxes[0]))
