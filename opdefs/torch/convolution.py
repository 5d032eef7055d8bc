"""Convolutions of any rank, which decomposed programs have."""

from __future__ import annotations

from opdefs.pnnx.conv import Transposed, convolve, convolve_transposed
from opdefs.rules.operands import require_vector
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@torch("aten.convolution.default", "aten._convolution.default", "aten._convolution.deprecated")
def convolution(
    c: InferenceContext,
    input: TensorType,
    weight: Shape,
    bias: Shape | None = None,
    *,
    convolution: Transposed,
    transposed: bool,
) -> TensorType:
    """[N, C, *S], [K, C/groups, *W] -> [N, K, *T]; `transposed`: [N, C, *S], [C, K/groups, *W] -> [N, K, *T]."""
    rank = len(weight.require()) - 2
    if rank not in (1, 2, 3):
        c.fail("the weight must have rank 3, 4 or 5", weight)
    shape = c.require_rank(input.shape, rank + 2, "the input")
    function = convolve_transposed if transposed else convolve
    return TensorType(input.dtype, function(c, rank, shape, weight, bias, convolution))


@torch("aten.conv_tbc.default")
def convolution_of_sequences(
    c: InferenceContext, self: TensorType, weight: Shape, bias: Shape, *, pad: int = 0
) -> TensorType:
    """[T, N, C], [K, C, O], [O] -> [T + 2*pad - K + 1, N, O]."""
    x, w = c.require_rank(self.shape, 3, "self"), c.require_rank(weight, 3, "weight")
    c.merge(x[2], w[1], "the last axis of the input must equal weight.shape[1]")
    require_vector(c, bias, w[2], "the bias must have one element for each output channel")
    steps = x[0] + 2 * pad - w[0] + 1
    c.at_least(steps, 0, "the kernel must be at most as long as the padded sequence")
    return TensorType(self.dtype, Shape((steps, x[1], w[2])))
