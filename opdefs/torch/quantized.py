"""Quantization in decomposed programs: plain tensors of integers, with scales and zero points as arguments."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.operands import read_type
from opdefs.rules.operands import require_single
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

PREFIX = "quantized_decomposed"


def _require_parameters(c: InferenceContext, *values: Shape | None) -> None:
    """Require that parameters of a whole tensor have one element."""
    for value in values:
        require_single(c, value, "a parameter of all elements must have one element")


@torch(
    *(f"{PREFIX}.quantize_per_tensor.{kind}" for kind in ("default", "tensor", "tensor2")),
    f"{PREFIX}.convert_element_type.no_fuse",
)
def quantize(
    c: InferenceContext,
    input: TensorType,
    scale: Shape | None = None,
    zero_point: Shape | None = None,
    quant_min: Shape | None = None,
    quant_max: Shape | None = None,
    *,
    dtype: str,
) -> TensorType:
    """[*S] -> [*S] in the type `dtype`; tensors of parameters have one element."""
    _require_parameters(c, scale, zero_point, quant_min, quant_max)
    return TensorType(read_type(c, dtype), input.shape)


@torch(*(f"{PREFIX}.dequantize_per_tensor.{kind}" for kind in ("default", "tensor", "tensor2")))
def dequantize(
    c: InferenceContext,
    input: TensorType,
    scale: Shape | None = None,
    zero_point: Shape | None = None,
    quant_min: Shape | None = None,
    quant_max: Shape | None = None,
    *,
    out_dtype: str | None = None,
) -> TensorType:
    """[*S] -> [*S] in the type `out_dtype`, by default float32."""
    _require_parameters(c, scale, zero_point, quant_min, quant_max)
    return TensorType(read_type(c, out_dtype) or "float32", input.shape)


@torch(
    f"{PREFIX}.quantize_per_channel.default",
    f"{PREFIX}.dequantize_per_channel.default",
    f"{PREFIX}.fake_quant_per_channel.default",
)
def quantize_channels(
    c: InferenceContext,
    input: TensorType,
    scales: Shape,
    zero_points: Shape | None = None,
    *,
    axis: object,
    dtype: str | None = None,
    out_dtype: str | None = None,
) -> TensorType:
    """[*S] -> [*S], with one scale and zero point for each slice along `axis`, which broadcast."""
    dims = list(input.shape.require())
    if not dims:
        c.fail("the input must have rank 1 or more", input.shape)
    at = read_axis(c, axis, len(dims), "axis")
    counts = c.require_rank(scales, 1, "scales")
    if zero_points is not None and "fake" not in c.op_def.name:
        c.merge(counts, zero_points, "scales and zero_points must have the same number of elements")
    elif zero_points is not None:
        counts = c.broadcast(counts, zero_points)
    dims[at] = c.broadcast(Shape((dims[at],)), counts)[0]
    if "dequantize" in c.op_def.name:
        return TensorType(read_type(c, out_dtype) or "float32", Shape(dims))
    return TensorType(read_type(c, dtype) or input.dtype, Shape(dims))


@torch(f"{PREFIX}.quantize_per_token.default", f"{PREFIX}.dequantize_per_token.default")
def quantize_rows(
    c: InferenceContext,
    input: TensorType,
    scales: Shape,
    zero_points: Shape,
    *,
    dtype: str,
    output_dtype: str | None = None,
) -> TensorType:
    """[*S, D] -> [*S, D], with one scale and zero point for each row: [*S, 1]."""
    if "dequantize" not in c.op_def.name:
        rows = c.numel(input.shape.require()[:-1])
        for values, name in ((scales, "scales"), (zero_points, "zero_points")):
            c.same_count(c.numel(values), rows, f"{name} must have one element for each row")
    shape = c.broadcast(input.shape, scales, zero_points)
    return TensorType(read_type(c, output_dtype or dtype), shape)


@torch(f"{PREFIX}.quantize_per_channel_group.default", f"{PREFIX}.dequantize_per_channel_group.default")
def quantize_groups(
    c: InferenceContext,
    input: TensorType,
    scales: Shape,
    zero_points: Shape | None = None,
    *,
    group_size: int,
    dtype: str,
    output_dtype: str | None = None,
) -> TensorType:
    """[*S, D] -> [*S, D], with one scale and zero point for each group of `group_size` elements of a row."""
    dims = c.require_rank(input.shape, 2, "the input").require()
    if group_size < 1:
        c.fail("group_size must be at least 1", group_size)
    c.divisible(dims[-1], group_size, "group_size must divide the last axis of the input")
    for size in dims:
        c.at_least(size, 1, "the input must not be empty")
    groups = Shape((dims[0], dims[-1] // group_size))
    for values, name in ((scales, "scales"), (zero_points, "zero_points")):
        if values is not None:
            c.merge(values, groups, f"{name} must have one element for each group of a row")
    return TensorType(read_type(c, output_dtype or dtype), input.shape)


@torch(f"{PREFIX}.choose_qparams.tensor", f"{PREFIX}.choose_qparams_symmetric.tensor")
def choose_parameters(c: InferenceContext, input: TensorType) -> tuple[TensorType, TensorType]:
    """[*S] -> a scale and a zero point, vectors of one element."""
    c.at_least(c.numel(input.shape), 1, "the input must not be empty")
    return TensorType("float64", Shape((1,))), TensorType("int64", Shape((1,)))


@torch(
    f"{PREFIX}.choose_qparams_per_token.default",
    f"{PREFIX}.choose_qparams_per_token_asymmetric.default",
    f"{PREFIX}._choose_qparams_per_token_asymmetric_impl.default",
)
def choose_parameters_of_rows(c: InferenceContext, input: TensorType) -> tuple[TensorType, TensorType]:
    """[*S, D] -> a scale and a zero point for each row: [*S, 1]."""
    dims = input.shape.require()
    if not dims:
        c.fail("the input must have rank 1 or more", input.shape)
    c.at_least(dims[-1], 1, "a row must not be empty")
    shape = Shape((*dims[:-1], 1))
    types = ("float64", "int64") if "asymmetric" in c.op_def.name else ("float32", "float32")
    return TensorType(types[0], shape), TensorType(types[1], shape)


@torch("aten.fake_quantize_per_tensor_affine.default", "aten.fake_quantize_per_tensor_affine.tensor_qparams")
def fake_quantize(
    c: InferenceContext, self: TensorType, scale: Shape | None = None, zero_point: Shape | None = None
) -> TensorType:
    """[*S] -> [*S]."""
    _require_parameters(c, scale, zero_point)
    return TensorType(self.dtype, self.shape)


@torch("aten.fake_quantize_per_tensor_affine_cachemask.default")
def fake_quantize_with_mask(c: InferenceContext, self: TensorType) -> tuple[TensorType, TensorType]:
    """[*S] -> [*S] and whether the elements are within bounds."""
    return TensorType(self.dtype, self.shape), TensorType("bool", self.shape)


@torch(
    "aten.fake_quantize_per_channel_affine.default",
    "aten.fake_quantize_per_channel_affine_cachemask.default",
)
def fake_quantize_channels(
    c: InferenceContext, self: TensorType, scale: Shape, zero_point: Shape, *, axis: int
) -> TensorType | tuple[TensorType, TensorType]:
    """[*S], one scale and zero point for each slice along `axis` -> [*S]; with a mask [*S]."""
    dims = self.shape.require()
    size = dims[c.axis(axis, len(dims))]
    for values, name in ((scale, "scale"), (zero_point, "zero_point")):
        c.merge(values, Shape((size,)), f"{name} must have one element for each slice")
    result = TensorType(self.dtype, self.shape)
    return (result, TensorType("bool", self.shape)) if "cachemask" in c.op_def.name else result
