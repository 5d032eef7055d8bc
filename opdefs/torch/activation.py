"""Activations and products that PNNX has no function for."""

from __future__ import annotations

from opdefs.rules.operands import require_vector
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@torch("aten.log_sigmoid_forward.default")
def log_sigmoid_with_buffer(c: InferenceContext, self: TensorType) -> tuple[TensorType, TensorType]:
    """[*S] -> [*S] and a buffer, which is empty on some devices."""
    return TensorType(self.dtype, self.shape), TensorType(self.dtype, Shape.unknown())


@torch("aten._prelu_kernel.default")
def prelu_of_broadcast_weight(c: InferenceContext, self: TensorType, weight: Shape) -> TensorType:
    """Broadcasting."""
    return TensorType(self.dtype, c.broadcast(self.shape, weight))


@torch(
    "aten.rrelu_with_noise.default",
    "aten.rrelu_with_noise_.default",
    "aten.rrelu_with_noise_functional.default",
    in_place=(0,),
)
def rrelu_with_noise(
    c: InferenceContext, self: TensorType, noise: TensorType
) -> TensorType | tuple[TensorType, TensorType]:
    """[*S], the slopes [*S] -> [*S], as a function also the new slopes."""
    result = TensorType(self.dtype, c.merge(self.shape, noise.shape, "noise must have the shape of the input"))
    return (result, TensorType(noise.dtype, noise.shape)) if "functional" in c.op_def.name else result


@torch("aten.bilinear.default")
def bilinear(
    c: InferenceContext, input1: TensorType, input2: Shape, weight: Shape, bias: Shape | None = None
) -> TensorType:
    """[*N, I], [*N, J], [O, I, J], [O] -> [*N, O]."""
    x, y, w = input1.shape.require(), input2.require(), c.require_rank(weight, 3, "weight").require()
    if not x:
        c.fail("the inputs must have rank 1 or more", input1.shape)
    c.merge(Shape(x[:-1]), Shape(y[:-1]), "the inputs must have the same leading axes")
    c.merge(x[-1], w[1], "the last axis of input1 must equal weight.shape[1]")
    c.merge(y[-1], w[2], "the last axis of input2 must equal weight.shape[2]")
    require_vector(c, bias, w[0], "the bias must have one element for each output")
    return TensorType(input1.dtype, Shape((*x[:-1], w[0])))
