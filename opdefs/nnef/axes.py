"""Axis rules of NNEF's operations, and of tract's: see `shapeinf.ops.axes`.

An operation without a rule is not known to keep items separate: scans, caches, searches.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.nnef.dialect import nnef
from opdefs.rules.axis_uses import (
    all_but,
    attribute_axes,
    attribute_axis,
    items_at,
    leading,
    mixed,
    pads,
    scattered,
    separate,
    trailing,
    windows,
)
from shapeinf.ops import CostContext
from shapeinf.ops.axes import AxisContext, AxisUse

nnef.axes(
    *("abs", "acos", "acosh", "add", "add_n", "and", "asin", "asinh", "atan", "atanh", "cast", "ceil", "clamp", "copy"),
    *(
        "copy_n",
        "cos",
        "cosh",
        "div",
        "elu",
        "eq",
        "exp",
        "floor",
        "ge",
        "gelu",
        "gt",
        "idn",
        "le",
        "leaky_relu",
        "log",
    ),
    *("log2", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "pow", "prelu", "rcp", "recip", "relu", "round"),
    *(
        "rsqr",
        "rsqrt",
        "select",
        "selu",
        "sigmoid",
        "sign",
        "silu",
        "sin",
        "sinh",
        "softabs",
        "softplus",
        "sqr",
        "sqrt",
    ),
    *("square", "sub", "tan", "tanh", "batch_normalization", "quantized_by", "linear_quantize", "logarithmic_quantize"),
    *("min_max_linear_quantize", "zero_point_linear_quantize", "binary_quantize", "ternary_quantize"),
    *("matmul", "linear", "gather", "reshape", "transpose", "squeeze", "unsqueeze", "tile", "stack", "unstack"),
    *("all_reduce", "any_reduce", "max_reduce", "mean_reduce", "min_reduce", "sum_reduce", "moments"),
    *("argmax_reduce", "argmin_reduce", "shape_of_axis", "constant"),
)(separate)
nnef.axes(
    *(
        f"tract_core_{name}"
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "bitand", "bitnot", "bitor")
    ),
    *(f"tract_core_{name}" for name in ("bitxor", "broadcast", "cast", "clamped_swiglu", "cosh", "einsum", "erf")),
    *(f"tract_core_{name}" for name in ("force_eval", "gather", "gather_nd", "gelu_approx", "gelu_approximate")),
    *(f"tract_core_{name}" for name in ("hard_swish", "is_inf", "is_nan", "matmul", "pow_const", "product_reduce")),
    *(f"tract_core_{name}" for name in ("argmax_reduce_last", "argmin_reduce_last", "round_even", "shape_of", "silu")),
    *(f"tract_core_{name}" for name in ("sinh", "tan", "xor")),
    *("tract_onnx_isinf", "tract_onnx_is_nan", "tract_shl", "tract_shr", "tract_transformers_gelu_approx"),
    *("tract_transformers_gelu_approximate", "tract_transformers_silu"),
)(separate)
nnef.axes("tract_core_range", "tract_onnx_non_zero", "tract_onnx_non_max_suppression")(mixed)

along_axis, along_axes = all_but(attribute_axis()), all_but(attribute_axes())
nnef.axes("concat", "split", "tract_core_topk", "tract_core_rms_norm", "tract_transformers_rms_norm")(along_axis)
nnef.axes("tract_core_cumsum", "tract_pulse_cumsum")(along_axis)
along_positions = all_but(attribute_axis(), AxisUse.ALIGNED)
nnef.axes("tract_core_gather_elements")(along_positions)
nnef.axes("tract_core_scatter_elements")(scattered(along_positions))
nnef.axes("l1_normalization", "l2_normalization", "layer_normalization")(along_axes)
nnef.axes("tract_core_softmax", "tract_core_log_softmax")(along_axes)
nnef.axes("softmax")(all_but(lambda c: attribute_axes()(c) if "axes" in c.attributes else (1,)))
nnef.axes("tract_core_trilu")(trailing(2))


def _item(values: object, axis: int, otherwise: int) -> object:
    """An item of a list by axis; `otherwise` behind its end."""
    listed: Sequence[object] = values if isinstance(values, tuple) else ()
    return listed[axis] if axis < len(listed) else otherwise


def pool(c: AxisContext, position: int, axis: int) -> AxisUse:
    """The window has a size for each axis: with 1, a stride of 1 and no dilation, the items stay."""
    moves = any(_item(c.attribute(name), axis, 1) != 1 for name in ("size", "stride"))
    padding = _item(c.attribute("padding"), axis, 0)
    padded = padding not in (0, (0, 0))
    return AxisUse.SPATIAL if moves or padded else AxisUse.SEPARATE


nnef.axes(
    *("argmax_pool", "avg_pool", "box", "debox", "max_pool", "rms_pool", "local_response_normalization"),
    *("local_mean_normalization", "local_variance_normalization", "local_contrast_normalization"),
)(pool)
nnef.axes("divisive_normalization")(windows(channels=AxisUse.SEPARATE))
nnef.axes("conv", "deconv", "planewise_conv", "planewise_deconv", "separable_conv", "separable_deconv")(
    windows(channels=AxisUse.MIXED)
)
nnef.axes("tract_core_qconv")(windows(channels=AxisUse.MIXED))
nnef.axes("area_downsample", "nearest_downsample", "nearest_upsample", "multilinear_upsample")(
    windows(channels=AxisUse.SEPARATE)
)
nnef.axes("avg_roi_align", "max_roi_align", "avg_roi_pool", "max_roi_pool", "roi_resample")(
    items_at((1, 0, None), (2, 0, None))
)
nnef.axes("tract_core_grid_sample", "tract_onnx_grid_sample")(leading(2, 1))


@nnef.axes("pad")
@pads
def pad_amounts(c: CostContext, axis: int) -> Sequence[object]:
    """A pair for each axis."""
    pair = _item(c.attribute("padding"), axis, 1)
    return pair if isinstance(pair, tuple) else (None,)


@nnef.axes("slice")
def slice_axes(c: AxisContext, position: int, axis: int) -> AxisUse:
    """With a positive step, an axis that keeps its size keeps its items."""
    axes, strides = c.integers("axes"), c.integers("stride")
    if axis not in axes:
        return AxisUse.SEPARATE
    step = _item(strides, axes.index(axis), 1)
    return AxisUse.SEPARATE if isinstance(step, int) and step > 0 else AxisUse.MIXED
