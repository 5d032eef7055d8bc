"""Losses, gradients and optimizers."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_ints
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, Shape, TensorType
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
    """[N, C, *D] scores, [N, *D] targets, [C] weights -> [N, *D], or a scalar unless `reduction` is none."""
    if scores.dims is not None:
        classes = _class_count(c, scores, target.shape)
        _require_classes(c, target, classes, ignore_index)
        if weight is not None:
            (length,) = c.require_rank(weight, 1, "weight")
            c.merge(length, classes, "weight must have one value per class")
    if reduction not in ("none", "mean", "sum"):
        c.fail("reduction must be none, mean or sum", reduction)
    return target.shape if reduction == "none" else SCALAR


def _class_count(c: InferenceContext, scores: Shape, target: Shape) -> DimSize:
    """The number of classes; requires that the targets have the shape of the scores without the axis of classes."""
    dims = scores.require()
    if len(dims) < 2:
        c.fail("scores must be [N, C, ...]", scores)
    c.expect(
        Shape((dims[0], *dims[2:])), target, "the targets must have the shape of the scores without the axis of classes"
    )
    return dims[1]


def _require_classes(c: InferenceContext, target: Value, classes: DimSize, ignored: int | None) -> None:
    """Require that known targets are classes or `ignored`."""
    known = [label for label in known_ints(target) or () if label != ignored]
    if known and min(known) < 0:
        c.fail("a target must be at least 0, or ignore_index", min(known))
    if known:
        c.at_most(max(known), classes - 1, "a target must be less than the number of classes")


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
    """[N, C, *D], [N, *D], [C] -> the loss as NegativeLogLikelihoodLoss, and logarithms of probabilities [N, C, *D]."""
    loss = negative_log_likelihood(c, scores, labels, weights, reduction=reduction, ignore_index=ignore_index)
    return loss, scores


DOMAIN = "ai.onnx.preview.training"


@onnx("Gradient", domain=DOMAIN)
def gradient(
    c: InferenceContext, *inputs: Shape, xs: tuple[str, ...], zs: tuple[str, ...] = ()
) -> tuple[TensorType, ...]:
    """The types of the tensors `xs`, whose values are the first inputs."""
    if len(inputs) != len(xs) + len(zs):
        c.fail("there must be one input per name in xs and zs", len(inputs), len(xs) + len(zs))
    return tuple(TensorType(c.dtype(i), x) for i, x in enumerate(inputs[: len(xs)]))


_GROUPS = {"Adagrad": 3, "Momentum": 3, "Adam": 4}
"""How many groups of tensors an optimizer takes: the tensors, their gradients, and one or two of statistics."""


@onnx(*_GROUPS, domain=DOMAIN)
def optimizer(c: InferenceContext, rate: Shape, count: Shape, *tensors: Shape) -> tuple[TensorType, ...]:
    """N tensors, N gradients, one or two groups of N statistics -> N new tensors, the new statistics."""
    groups = _GROUPS[c.op_def.name]
    number, rest = divmod(len(tensors), groups)
    if rest:
        c.fail(f"the inputs after R and T must be {groups} groups of equal length", len(tensors))
    for i in range(number, len(tensors)):
        c.merge(tensors[i % number], tensors[i], "a gradient or statistic must have the shape of its tensor")
    updated = [*range(number), *range(2 * number, len(tensors))]
    return tuple(TensorType(c.dtype(2 + i), tensors[i]) for i in updated)
