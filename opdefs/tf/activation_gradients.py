"""Gradients of activations."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf(
    "ReluGrad",
    "Relu6Grad",
    "LeakyReluGrad",
    "EluGrad",
    "SeluGrad",
    "SoftplusGrad",
    "SoftsignGrad",
    in_place=(0,),
)
def activation_grad(c: InferenceContext, gradients: Shape, features: Shape) -> Shape:
    """The common shape of the gradients and the features."""
    return c.merge(gradients, features)
