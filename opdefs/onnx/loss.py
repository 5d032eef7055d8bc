"""Losses."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.algebra import Dim
from shapeinf.lattice import SCALAR, Shape
from shapeinf.ops import InferenceContext


@onnx("NegativeLogLikelihoodLoss")
def negative_log_likelihood(
    c: InferenceContext, scores: Shape, target: Shape, weight: Shape | None = None, *, reduction: str = "mean"
) -> Shape:
    """[N, C, *D] scores and [N, *D] targets -> [N, *D], or a scalar when reduced."""
    if scores.dims is not None:
        classes = _per_class(c, scores, target)
        if weight is not None:
            (length,) = c.require_rank(weight, 1, "weight")
            c.merge(length, classes, "there must be one weight a class")
    if reduction not in ("none", "mean", "sum"):
        c.fail("the reduction must be none, mean or sum", reduction)
    return target if reduction == "none" else SCALAR


def _per_class(c: InferenceContext, scores: Shape, target: Shape) -> Dim:
    """The number of classes; targets have the shape of the scores without that axis."""
    dims = scores.require()
    if len(dims) < 2:
        c.fail("scores must be of shape [N, C, ...]", scores)
    c.expect(Shape((dims[0], *dims[2:])), target, "targets must have the shape of the scores without the class axis")
    return dims[1]


@onnx("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    c: InferenceContext, scores: Shape, labels: Shape, weights: Shape | None = None, *, reduction: str = "mean"
) -> tuple[Shape, Shape]:
    """The loss as above, and the log of the softmax, which has the shape of the scores."""
    return negative_log_likelihood(c, scores, labels, weights, reduction=reduction), scores
