"""tract's convolution of quantized tensors."""

from __future__ import annotations

from opdefs.nnef.conv import conv
from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import ints_of
from opdefs.nnef.sliding import Sliding
from opdefs.nnef.tract_elementwise import named_dtype
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
    groups: int = 1,
    output_dt: str = "",
) -> TensorType:
    """[N, C, *S], [K, C/groups, *W] -> [N, K, *slid(S)] in `output_dt`; its bias is a vector, or has no axes.

    What tract calls `groups` was `group` before.
    """
    (count,) = ints_of(c, group if groups == 1 else groups, "groups", 0)
    shape = conv(c, input, filter, sliding=sliding, groups=count)
    if bias is not None and bias.rank == 1 and bias.dims is not None and bias[0] != 1:
        c.merge(bias[0], shape[1], "there must be one bias a channel")
    return TensorType(named_dtype(c, output_dt) if output_dt else None, shape)
