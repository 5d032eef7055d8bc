"""Training (`ai.onnx.preview.training`): gradients and optimizers."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

DOMAIN = "ai.onnx.preview.training"


@onnx("Gradient", domain=DOMAIN)
def gradient(
    c: InferenceContext, *inputs: Shape, xs: tuple[str, ...], zs: tuple[str, ...] = ()
) -> tuple[TensorType, ...]:
    """The shape and type of each tensor of `xs`, whose values are the first inputs."""
    if len(inputs) != len(xs) + len(zs):
        c.fail("there must be an input for each tensor of xs and zs", len(inputs), len(xs) + len(zs))
    return tuple(TensorType(c.dtype(i), x) for i, x in enumerate(inputs[: len(xs)]))


_GROUPS = {"Adagrad": 3, "Momentum": 3, "Adam": 4}


@onnx(*_GROUPS, domain=DOMAIN)
def optimizer(c: InferenceContext, rate: Shape, count: Shape, *tensors: Shape) -> tuple[TensorType, ...]:
    """Tensors, their gradients and then their statistics, one group or two; new tensors and new statistics."""
    groups = _GROUPS[c.op_def.name]
    number, rest = divmod(len(tensors), groups)
    if rest:
        c.fail(f"the inputs must be {groups} groups of equal length", len(tensors))
    for i in range(number, len(tensors)):
        c.merge(tensors[i % number], tensors[i], "gradients and statistics must have the shape of their tensor")
    kept = [*range(number), *range(2 * number, len(tensors))]
    return tuple(TensorType(c.dtype(2 + i), tensors[i]) for i in kept)
