"""The operators that run in torch: those that PNNX writes, each a class, function or method of torch.

A file cannot reach anything else of torch. The names are those of the passes of PNNX 20261020.
"""

from __future__ import annotations

import re
from typing import Any

_MODULES = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
AlphaDropout AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d BatchNorm3d CELU ChannelShuffle
ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
Dropout Dropout2d Dropout3d ELU Embedding Fold GELU GLU GRU GroupNorm Hardshrink Hardsigmoid Hardswish
Hardtanh InstanceNorm1d InstanceNorm2d InstanceNorm3d LPPool1d LPPool2d LSTM LayerNorm LeakyReLU Linear
LocalResponseNorm LogSigmoid LogSoftmax MaxPool1d MaxPool2d MaxPool3d MaxUnpool2d Mish MultiheadAttention
PReLU PixelShuffle PixelUnshuffle RMSNorm RNN RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d
ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus
Softshrink Softsign Tanh Tanhshrink Threshold Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d
ZeroPad2d
"""

_FUNCTIONAL = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm celu conv1d conv2d
conv3d conv_transpose1d conv_transpose2d conv_transpose3d dropout dropout2d dropout3d elu embedding
feature_alpha_dropout fold gelu glu grid_sample group_norm hardshrink hardsigmoid hardswish hardtanh
instance_norm interpolate layer_norm leaky_relu linear local_response_norm log_softmax logsigmoid lp_pool1d
lp_pool2d max_pool1d max_pool2d max_pool3d mish normalize pad pairwise_distance pixel_shuffle pixel_unshuffle
prelu relu relu6 rms_norm rrelu scaled_dot_product_attention selu sigmoid silu softmax softmin softplus
softshrink softsign tanh tanhshrink threshold unfold upsample upsample_bilinear upsample_nearest
"""

_FUNCTIONS = """
addmm amax amin arange argmax argmin as_strided baddbmm bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor bmm cat chunk clamp clone complex cross cumprod cumsum dequantize diag einsum
empty empty_like eq flatten flip full full_like gather ge gt imag index_select istft le lgamma logical_and
logical_not logical_or logical_xor logsumexp lt masked_select matmul max mean min mm mv narrow ne norm normal
ones ones_like positive prod quantize_per_tensor randn randn_like real repeat_interleave roll scatter_add
slice_scatter split squeeze stack std stft sum t tensor_split tile topk transpose unbind unsqueeze var
view_as_complex view_as_real where zeros zeros_like
"""

_METHODS = """
clone expand expand_as masked_fill new_empty new_ones new_zeros permute repeat reshape reshape_as select size to
type_as unflatten view
"""

_FOURIER = """
fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn
"""

NAMES = frozenset(
    f"{prefix}{name}"
    for prefix, names in (
        ("nn.", _MODULES),
        ("F.", _FUNCTIONAL),
        ("torch.", _FUNCTIONS),
        ("Tensor.", _METHODS),
        ("torch.fft.", _FOURIER),
    )
    for name in names.split()
)
"""All names, as files have them."""

_CONSTANT = re.compile(r"torch\.(\w+)")


def find_function(torch: Any, name: str) -> Any | None:
    """The class, function or method of torch with a name of `NAMES`; None for any other name."""
    if name not in NAMES:
        return None
    prefix, _, last = name.rpartition(".")
    owners = {
        "nn": torch.nn,
        "F": torch.nn.functional,
        "torch": torch,
        "torch.fft": torch.fft,
        "Tensor": torch.Tensor,
    }
    return getattr(owners[prefix], last, None)


def find_constant(torch: Any, text: str) -> Any | None:
    """The element type, memory format or storage layout of a text such as `torch.float`; None for any other text."""
    match = _CONSTANT.fullmatch(text)
    value = None if match is None else getattr(torch, match[1], None)
    return value if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)) else None
