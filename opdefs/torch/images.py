"""Images and padding whose arguments differ from those of PNNX's functions."""

from __future__ import annotations

from collections.abc import Iterator

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.images import sample_at_grid
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.pnnx.pad import pad as pad_axes
from opdefs.pnnx.resize import interpolate
from opdefs.pnnx.spatial import spatial_rank, split_axes
from opdefs.rules.numbers import check_count, read_dim, read_dims, read_ints
from opdefs.rules.operands import require_elements
from opdefs.rules.reshaping import flip as flip_axes
from opdefs.rules.reshaping import shape_of_sizes
from opdefs.torch.dialect import torch
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

RESIZED = {
    **{
        f"{prefix}nearest{exact}{rank}d": "nearest"
        for prefix, exact in (("", ""), ("_", "_exact"))
        for rank in (1, 2, 3)
    },
    **{"linear1d": "linear", "bilinear2d": "bilinear", "bicubic2d": "bicubic", "trilinear3d": "trilinear"},
    **{f"_{mode}2d_aa": mode for mode in ("bilinear", "bicubic", "lanczos")},
}
"""The modes of `F.interpolate` by the overloads of `aten.upsample_...`; those with `_` in front have it there too."""


def upsampling() -> Iterator[tuple[str, str]]:
    """The overloads of `aten.upsample_...` with their modes."""
    for name, mode in RESIZED.items():
        operator = f"aten._upsample{name}" if name[0] == "_" else f"aten.upsample_{name}"
        yield from ((f"{operator}.{overload}", mode) for overload in ("default", "vec"))


@torch(*(name for name, _ in upsampling()))
def upsample(
    c: InferenceContext, input: TensorType, *, output_size: object = (), scale_factors: object = ()
) -> TensorType:
    """[N, C, *S] -> [N, C, *T], where T is `output_size`, or the floor of S times `scale_factors`."""
    rank = int(next(letter for letter in function_name(c.op_def.name) if letter.isdigit()))
    mode = dict(upsampling())[c.op_def.name]
    shape = c.require_rank(input.shape, rank + 2, "the input")
    return TensorType(input.dtype, interpolate(c, shape, size=output_size, scale_factor=scale_factors, mode=mode))


@torch("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def grid_sampler(c: InferenceContext, input: TensorType, grid: Shape, *, interpolation_mode: int) -> TensorType:
    """[N, C, H, W] and [N, *T, 2] -> [N, C, *T]; [N, C, D, H, W] and [N, *T, 3] -> [N, C, *T]."""
    shape = input.shape
    if c.op_def.name.endswith("d.default"):
        shape = c.require_rank(shape, 4 if "2d" in c.op_def.name else 5, "the input")
    mode = "bicubic" if interpolation_mode == 2 else "bilinear"
    return TensorType(input.dtype, sample_at_grid(c, shape, grid, mode=mode))


@torch("aten.max_unpool2d.default", "aten.max_unpool3d.default")
def max_unpool(
    c: InferenceContext,
    self: TensorType,
    indices: TensorType,
    *,
    output_size: object,
    stride: object = (),
    padding: object = (),
) -> TensorType:
    """[N, C, *S], indices [N, C, *S] -> [N, C, *T], where T is `output_size`; N is optional."""
    rank = spatial_rank(c)
    require_kind(c, self.dtype, "the input must have floats", "float")
    require_kind(c, indices.dtype, "the indices must be integers", "integer")
    lead, channels, sizes = split_axes(
        c, c.merge(self.shape, indices.shape, "indices must have the shape of the input"), rank
    )
    require_elements(c, (channels, *sizes))
    wanted = read_dims(c, output_size, "output_size")
    check_count(c, wanted, "output_size", rank, "spatial axis")
    if rank == 3:
        strides = read_ints(c, stride, "stride")
        check_count(c, strides, "stride", rank, "spatial axis")
        check_count(c, read_ints(c, padding, "padding"), "padding", rank, "spatial axis")
        if min(strides) < 1:
            c.fail("stride must be at least 1", strides)
    return TensorType(self.dtype, Shape((*lead, channels, *shape_of_sizes(c, wanted, "output_size"))))


@torch("aten._pad_circular.default")
def pad_circular(c: InferenceContext, self: TensorType, *, pad: object) -> TensorType:
    """[N, C, *S] -> [N, C, *T] or [C, *S] -> [C, *T]."""
    return TensorType(self.dtype, pad_axes(c, self.shape, pad=pad, mode="circular"))


@torch("aten._pad_enum.default")
def pad_by_number(c: InferenceContext, self: TensorType, *, pad: object, mode: int) -> TensorType:
    """As `aten.pad.default`, with the number of the mode."""
    modes = ("reflect", "replicate", "circular", "constant")
    if not 0 <= mode < len(modes):
        c.fail("mode must be the number of a mode", mode)
    return TensorType(self.dtype, pad_axes(c, self.shape, pad=pad, mode=modes[mode]))


@torch("aten.fliplr.default", "aten.flipud.default")
def flip_fixed_axis(c: InferenceContext, self: Value) -> PartialTensor:
    """[*S] -> [*S] with axis 1 (`fliplr`) or 0 (`flipud`) reversed."""
    axis = 1 if "fliplr" in c.op_def.name else 0
    if len(self.shape) <= axis:
        c.fail(f"the input must have rank {axis + 1} or more", self.shape)
    return flip_axes(self, [axis])


@torch("aten.unfold.default", "aten.unfold_copy.default")
def windows_of_axis(
    c: InferenceContext, self: TensorType, *, dimension: object, size: object, step: object
) -> TensorType:
    """[*A, n, *B] -> [*A, windows, *B, size]: windows of an axis, `step` apart."""
    dims = list(self.shape.require()) or [1]
    axis = read_axis(c, dimension, len(dims), "dimension")
    length, read = read_dim(c, size, "size"), read_dim(c, step, "step")
    distance = None if read is None else c.concrete(read)
    if length is None or distance is None:
        raise c.unknowable("the windows are not known", self.dtype)
    if distance < 1:
        c.fail("step must be at least 1", distance)
    c.at_least(length, 0, "size must be at least 0")
    c.at_most(length, dims[axis], "size must be at most the size of the axis")
    dims[axis] = (dims[axis] - length) // distance + 1
    if not self.shape.dims:
        return TensorType(self.dtype, Shape((length,)))
    return TensorType(self.dtype, Shape((*dims, length)))
