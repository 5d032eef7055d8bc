"""Losses, gradients and optimizers."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_ints
from shapeinf.expr import Dim
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
    """[N, C, *D] scores and [N, *D] targets -> [N, *D], or a scalar when reduced."""
    if scores.dims is not None:
        classes = _class_count(c, scores, target.shape)
        _require_classes(c, target, classes, ignore_index)
        if weight is not None:
            (length,) = c.require_rank(weight, 1, "weight")
            c.merge(length, classes, "the weight must have one value per class")
    if reduction not in ("none", "mean", "sum"):
        c.fail("the reduction must be none, mean or sum", reduction)
    return target.shape if reduction == "none" else SCALAR


def _class_count(c: InferenceContext, scores: Shape, target: Shape) -> Dim:
    """The number of classes; targets have the shape of the scores without that axis."""
    dims = scores.require()
    if len(dims) < 2:
        c.fail("scores must be [N, C, ...]", scores)
    c.expect(Shape((dims[0], *dims[2:])), target, "targets must have the shape of the scores without the class axis")
    return dims[1]


def _require_classes(c: InferenceContext, target: Value, classes: Dim, ignored: int | None) -> None:
    """Require that known targets are classes, except ignored ones."""
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


DOMAIN = "ai.onnx.preview.training"


@onnx("Gradient", domain=DOMAIN)
def gradient(
    c: InferenceContext, *inputs: Shape, xs: tuple[str, ...], zs: tuple[str, ...] = ()
) -> tuple[TensorType, ...]:
    """The shape and type of each tensor of `xs`, whose values are the first inputs."""
    if len(inputs) != len(xs) + len(zs):
        c.fail("the inputs must match the tensors of xs and zs", len(inputs), len(xs) + len(zs))
    return tuple(TensorType(c.dtype(i), x) for i, x in enumerate(inputs[: len(xs)]))


_GROUPS = {"Adagrad": 3, "Momentum": 3, "Adam": 4}


@onnx(*_GROUPS, domain=DOMAIN)
def optimizer(c: InferenceContext, rate: Shape, count: Shape, *tensors: Shape) -> tuple[TensorType, ...]:
    """Inputs are tensors, their gradients, then one or two groups of statistics; outputs new tensors and statistics."""
    groups = _GROUPS[c.op_def.name]
    number, rest = divmod(len(tensors), groups)
    if rest:
        c.fail(f"the inputs must be {groups} groups of equal length", len(tensors))
    for i in range(number, len(tensors)):
        c.merge(tensors[i % number], tensors[i], "gradients and statistics must have the shape of their tensor")
    updated = [*range(number), *range(2 * number, len(tensors))]
    return tuple(TensorType(c.dtype(2 + i), tensors[i]) for i in updated)
