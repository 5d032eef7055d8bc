"""Normalizations that also return their statistics, and dropouts that return their mask."""

from __future__ import annotations

from opdefs.pnnx.normalization import channels_of, layer_norm, norm_of_channels
from opdefs.rules.numbers import read_dim
from opdefs.rules.operands import part_size, require_broadcast_to, require_vector
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType
from shapeinf.lattice.dtypes import element_bits
from shapeinf.ops import InferenceContext

_EMPTY = Shape((0,))


@torch("aten.native_layer_norm.default")
def native_layer_norm(
    c: InferenceContext,
    input: TensorType,
    weight: TensorType | None = None,
    bias: TensorType | None = None,
    *,
    normalized_shape: object,
) -> tuple[TensorType, TensorType, TensorType]:
    """[*N, *normalized_shape] -> the same, and two statistics [*N, 1, ...]."""
    shapes = [None if parameter is None else parameter.shape for parameter in (weight, bias)]
    shape = layer_norm(c, input.shape, *shapes, normalized_shape=normalized_shape)
    statistics = TensorType(_type_of_statistics(input, weight, bias), _with_units(shape, normalized_shape))
    return TensorType(input.dtype, shape), statistics, statistics


@torch("aten._fused_rms_norm.default")
def fused_rms_norm(
    c: InferenceContext, input: TensorType, weight: TensorType | None = None, *, normalized_shape: object
) -> tuple[TensorType, TensorType]:
    """[*N, *normalized_shape] -> the same, and a statistic [*N, 1, ...] of at least 32 bits."""
    shape = layer_norm(c, input.shape, None if weight is None else weight.shape, normalized_shape=normalized_shape)
    return TensorType(input.dtype, shape), TensorType(_widened(input.dtype), _with_units(shape, normalized_shape))


def _with_units(shape: Shape, normalized_shape: object) -> Shape:
    """The shape with 1 in place of the last sizes, as many as `normalized_shape` has."""
    count = len(normalized_shape) if isinstance(normalized_shape, tuple) else None
    if shape.dims is None or count is None:
        return Shape.unknown()
    return Shape((*shape.dims[: len(shape.dims) - count], *(1,) * count))


def _type_of_statistics(input: TensorType, *parameters: TensorType | None) -> str | None:
    """The type of the parameters where it is wider than that of the input, else that of the input."""
    types = {parameter.dtype for parameter in parameters if parameter is not None}
    return input.dtype if types <= {input.dtype} else _widened(input.dtype)


def _widened(dtype: str | None) -> str | None:
    """The element type of sums: floats of 16 bits are summed in float32."""
    return "float32" if dtype is not None and element_bits(dtype) == 16 else dtype


@torch("aten.native_group_norm.default")
def native_group_norm(
    c: InferenceContext,
    input: TensorType,
    weight: TensorType | None = None,
    bias: TensorType | None = None,
    *,
    batch: object,
    channels: object,
    area: object,
    group: int,
) -> tuple[TensorType, TensorType, TensorType]:
    """[N, C, *S] -> the same, and two statistics [N, group]; N, C and the product of S are arguments too."""
    count = channels_of(c, input.shape)
    dims = input.shape.require()
    stated = ((batch, dims[0], "N"), (channels, count, "C"), (area, c.numel(dims[2:]), "HxW"))
    for value, size, name in stated:
        number = read_dim(c, value, name)
        if number is not None:
            c.merge(size, number, f"{name} must be that of the input")
    part_size(c, count, group, "group must divide the channels")
    for parameter, name in ((weight, "weight"), (bias, "bias")):
        if parameter is not None:
            require_vector(c, parameter.shape, count, f"{name} must have one element for each channel")
    statistics = TensorType(_type_of_statistics(input, weight, bias), Shape((dims[0], group)))
    return TensorType(input.dtype, input.shape), statistics, statistics


@torch(
    "aten._native_batch_norm_legit_no_training.default",
    "aten._native_batch_norm_legit.default",
    "aten._native_batch_norm_legit.no_stats",
    "aten._native_batch_norm_legit_functional.default",
    "aten.native_batch_norm.default",
    "aten._batch_norm_with_update.default",
    "aten._batch_norm_with_update_functional.default",
    "aten._batch_norm_no_update.default",
)
def native_batch_norm(
    c: InferenceContext,
    input: TensorType,
    weight: TensorType | None = None,
    bias: TensorType | None = None,
    running_mean: TensorType | None = None,
    running_var: TensorType | None = None,
    *,
    training: bool | None = None,
) -> tuple[TensorType, ...]:
    """[N, C, *S], up to four of [C] -> [N, C, *S], two statistics, bytes of other devices, new running statistics.

    The statistics are [C] in training and [0] in inference.
    """
    parameters = (running_mean, running_var, weight, bias)
    shape = norm_of_channels(c, input.shape, *(None if p is None else p.shape for p in parameters))
    updates = "with_update" in c.op_def.name if training is None else training
    if updates:
        c.at_least(c.numel((*shape[:1], *shape[2:])), 1, "in training each channel must have at least one element")
    statistics = TensorType(_widened(input.dtype), Shape((channels_of(c, shape),)) if updates else _EMPTY)
    results = [TensorType(input.dtype, shape), statistics, statistics]
    if "_batch_norm_" in c.op_def.name and "legit" not in c.op_def.name:
        results.append(TensorType("uint8", _EMPTY))
    if "functional" in c.op_def.name:
        results += [p for p in (running_mean, running_var) if p is not None]
    return tuple(TensorType(result.dtype, result.shape) for result in results)


@torch("aten.instance_norm.default")
def instance_norm(
    c: InferenceContext,
    input: TensorType,
    weight: Shape | None = None,
    bias: Shape | None = None,
    running_mean: Shape | None = None,
    running_var: Shape | None = None,
    *,
    use_input_stats: bool,
) -> TensorType:
    """[N, C, *S], up to four of [C] -> [N, C, *S]."""
    shape = norm_of_channels(c, input.shape, running_mean, running_var, weight, bias, use_input_stats=use_input_stats)
    if use_input_stats:
        c.at_least(shape[0], 1, "the batch must not be empty")
    return TensorType(input.dtype, shape)


@torch("aten._weight_norm.default", "aten._weight_norm_interface.default")
def weight_norm(
    c: InferenceContext, v: TensorType, g: TensorType, *, dim: int = 0
) -> TensorType | tuple[TensorType, TensorType]:
    """[*S], lengths [1, d, 1] -> [*S], directions times their lengths; and, with the interface, the norms [1, d, 1]."""
    if dim != -1:
        c.axis(dim, len(v.shape))
    require_broadcast_to(c, g.shape, v.shape, "the lengths must broadcast to the shape of the directions")
    result = TensorType(v.dtype, v.shape)
    return (result, TensorType(_widened(v.dtype), g.shape)) if "interface" in c.op_def.name else result


@torch("aten.native_dropout.default")
def native_dropout(c: InferenceContext, input: TensorType) -> tuple[TensorType, TensorType]:
    """[*S] -> [*S] and the mask of what is kept."""
    return TensorType(input.dtype, input.shape), TensorType("bool", input.shape)
