"""Losses."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_ints
from shapeinf.expr import Dim
from shapeinf.lattice import SCALAR, Shape
from shapeinf.ops import InferenceContext, Value


@onnx("NegativeLogLikelihoodLoss")
def negative_log_likelihood(
    c: InferenceContext,
    scores: Shape,
    target: Value,
    weight: Shape | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int | None = None,
) -> Shape:
    """[N, C, *D] scores and [N, *D] targets -> [N, *D], or a scalar when reduced."""
    if scores.dims is not None:
        classes = _per_class(c, scores, target.shape)
        _tell_classes(c, target, classes, ignore_index)
        if weight is not None:
            (length,) = c.require_rank(weight, 1, "weight")
            c.merge(length, classes, "there must be one weight a class")
    if reduction not in ("none", "mean", "sum"):
        c.fail("the reduction must be none, mean or sum", reduction)
    return target.shape if reduction == "none" else SCALAR


def _per_class(c: InferenceContext, scores: Shape, target: Shape) -> Dim:
    """The number of classes; targets have the shape of the scores without that axis."""
    dims = scores.require()
    if len(dims) < 2:
        c.fail("scores must be of shape [N, C, ...]", scores)
    c.expect(Shape((dims[0], *dims[2:])), target, "targets must have the shape of the scores without the class axis")
    return dims[1]


def _tell_classes(c: InferenceContext, target: Value, classes: Dim, ignored: int | None) -> None:
    """Tell that targets that are known are classes, but for those that are ignored."""
    known = [label for label in known_ints(target) or () if label != ignored]
    if known and min(known) < 0:
        c.fail("a target must not be negative", min(known))
    if known:
        c.at_most(max(known), classes - 1, "a target must be one of the classes")


@onnx("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    c: InferenceContext,
    scores: Shape,
    labels: Value,
    weights: Shape | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int | None = None,
) -> tuple[Shape, Shape]:
    """The loss as above, and the log of the softmax, which has the shape of the scores."""
    loss = negative_log_likelihood(c, scores, labels, weights, reduction=reduction, ignore_index=ignore_index)
    return loss, scores
