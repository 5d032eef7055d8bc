"""Normalization: modules, whose attributes state the channels, and functions, whose weights do."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.activation import require_ranks
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.names import function_name
from opdefs.pnnx.promotion import promote, to_float
from opdefs.pnnx.spatial import spatial_rank
from opdefs.rules.numbers import read_dims
from opdefs.rules.operands import part_size, require_vector
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@pnnx("nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d")
def batch_norm_module(
    c: InferenceContext,
    input: Shape,
    running_mean: Shape | None = None,
    running_var: Shape | None = None,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    num_features: int,
) -> Shape:
    """[N, C, *S] -> [N, C, *S]; in one dimension also [N, C]."""
    rank = spatial_rank(c)
    require_ranks(c, input, (2, 3) if rank == 1 else (rank + 2,))
    _constrain_channels(c, num_features, weight, bias, running_mean, running_var)
    if input.dims is not None:
        c.merge(input.dims[1], num_features, "the channels of the input must equal num_features")
    return input


@pnnx("F.batch_norm", "F.instance_norm")
def norm_of_channels(
    c: InferenceContext,
    input: Shape,
    running_mean: Shape | None = None,
    running_var: Shape | None = None,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    use_input_stats: bool = True,
) -> Shape:
    """[N, C, *S], up to four of [C] -> [N, C, *S]; `use_input_stats` is an argument of `F.instance_norm`."""
    _constrain_channels(c, channels_of(c, input), weight, bias, running_mean, running_var)
    if function_name(c.op_def.name) == "instance_norm" and use_input_stats:
        _require_several(c, input.require()[2:])
    return input


@pnnx("nn.GroupNorm")
def group_norm_module(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    num_groups: int,
    num_channels: int | None = None,
) -> Shape:
    """[N, C, *S], [C], [C] -> [N, C, *S]. Without weights PNNX does not write `num_channels`."""
    if num_channels is None:
        return group_norm(c, input, weight, bias, num_groups=num_groups)
    if input.dims is not None:
        c.merge(channels_of(c, input), num_channels, "the channels of the input must equal num_channels")
    _constrain_statistics(c, input, num_channels, num_groups)
    _constrain_channels(c, num_channels, weight, bias)
    return input


@pnnx("F.group_norm")
def group_norm(
    c: InferenceContext, input: Shape, weight: Shape | None = None, bias: Shape | None = None, *, num_groups: int
) -> Shape:
    """[N, C, *S], [C], [C] -> [N, C, *S]."""
    channels = channels_of(c, input)
    _constrain_statistics(c, input, channels, num_groups)
    _constrain_channels(c, channels, weight, bias)
    return input


def _constrain_statistics(c: InferenceContext, input: Shape, channels: DimSize, groups: int) -> None:
    """Require groups of equal size; torch rejects an input with a single element per group."""
    size = part_size(c, channels, groups, "num_groups must divide the channels")
    if input.dims is not None:
        _require_several(c, (input.dims[0], size, *input.dims[2:]))


@pnnx("nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d")
def instance_norm_module(
    c: InferenceContext,
    input: Shape,
    running_mean: Shape | None = None,
    running_var: Shape | None = None,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    num_features: int | None = None,
    affine: bool = False,
    track_running_stats: bool = False,
) -> Shape:
    """[N, C, *S] or [C, *S], up to four of [C] -> the shape of the input.

    Without weights and statistics any number of channels is legal. PNNX does not write `num_features` if the number
    of channels differs between the two traced sizes.
    """
    rank = spatial_rank(c)
    require_ranks(c, input, (rank + 1, rank + 2))
    if num_features is not None:
        _constrain_channels(c, num_features, weight, bias, running_mean, running_var)
    if input.dims is not None:
        if num_features is not None and (affine or track_running_stats):
            c.merge(input.dims[-rank - 1], num_features, "the channels of the input must equal num_features")
        if not track_running_stats:
            _require_several(c, input.dims[-rank:])
    return input


@pnnx("nn.LayerNorm", "nn.RMSNorm", "F.layer_norm", "F.rms_norm")
def layer_norm(
    c: InferenceContext,
    input: Shape,
    weight: Shape | None = None,
    bias: Shape | None = None,
    *,
    normalized_shape: object,
) -> Shape:
    """[*N, *normalized_shape] -> the same; weight and bias are [*normalized_shape]."""
    if normalized_shape is None:  # computed, with unknown contents
        return input
    listed = read_dims(c, normalized_shape, "normalized_shape")
    sizes = Shape(c.fresh(f"normalized.{i}") if size is None else size for i, size in enumerate(listed))
    if not sizes.dims:
        c.fail("normalized_shape must have at least one item", sizes)
    for parameter, name in ((weight, "weight"), (bias, "bias")):
        if parameter is not None:
            c.merge(parameter, sizes, f"the {name} must have the shape normalized_shape")
    if input.dims is None:
        return input
    lead = len(input.dims) - len(sizes)
    if lead < 0:
        c.fail("the input must have at least as many axes as normalized_shape", input, sizes)
    normalized = c.merge(Shape(input.dims[lead:]), sizes, "the last axes of the input must equal normalized_shape")
    return Shape((*input.dims[:lead], *normalized))


@pnnx("F.normalize")
def normalize(c: InferenceContext, input: Shape, *, dim: object = 1) -> Shape:
    """[*S] -> [*S]."""
    axes = [] if dim is None else [size for size in read_dims(c, dim, "dim") if isinstance(size, int)]
    if input.dims is not None:
        c.axes(axes, max(len(input.dims), 1))
    return input


@own_types("F.pairwise_distance")
def pairwise_distance(c: InferenceContext, x1: TensorType, x2: TensorType, *, keepdim: bool = False) -> TensorType:
    """[*A, D], [*B, D] -> [*broadcast(A, B)], with `keepdim` [*broadcast(A, B), 1]; of scalars a scalar."""
    dtype = to_float(promote(x1, x2))
    differences = c.broadcast(x1.shape, x2.shape)
    if differences.dims is None:
        raise c.unknowable("the rank of the operands is not known", dtype)
    return TensorType(dtype, Shape((*differences.dims[:-1], *((1,) if keepdim and differences.dims else ()))))


def channels_of(c: InferenceContext, input: Shape) -> DimSize:
    """The size C of [N, C, *S]."""
    dims = input.require()
    if len(dims) < 2:
        c.fail("the input must be [N, C, spatial...]: rank 2 or more", input)
    return dims[1]


def _constrain_channels(
    c: InferenceContext,
    channels: DimSize,
    weight: Shape | None,
    bias: Shape | None,
    running_mean: Shape | None = None,
    running_var: Shape | None = None,
) -> None:
    """Require vectors with one element for each channel."""
    parameters = (running_mean, "running_mean"), (running_var, "running_var"), (weight, "weight"), (bias, "bias")
    for parameter, name in parameters:
        require_vector(c, parameter, channels, f"{name} must have one element for each channel")


def _require_several(c: InferenceContext, sizes: Sequence[DimSize]) -> None:
    """Require more than one element, of which torch computes statistics."""
    count = c.numel(sizes)
    if count == 0 or c.prove_le(1, count) is not True:  # torch accepts empty inputs
        return
    c.at_least(count, 2, "the input must have more than one element for each channel or group")
