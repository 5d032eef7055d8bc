"""tract's convolution of quantized tensors."""

from __future__ import annotations

from opdefs.nnef.conv import conv
from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import ints_of
from opdefs.nnef.sliding import Sliding
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_core_qconv")
def quantized_conv(
    c: InferenceContext,
    input: Shape,
    filter: Shape,
    bias: Shape | None = None,
    *parameters: Shape | None,
    sliding: Sliding,
    group: int = 1,
) -> TensorType:
    """[N, C, *S], [K, C/group, *W] -> [N, K, *slid(S)]; its bias is a vector, or has no axes."""
    (groups,) = ints_of(c, group, "group", 0)
    shape = conv(c, input, filter, sliding=sliding, groups=groups)
    if bias is not None and bias.rank == 1 and bias.dims is not None and bias[0] != 1:
        c.merge(bias[0], shape[1], "there must be one bias a channel")
    return TensorType(None, shape)
