"""Axes in another order, new axes, grids, windows, joins and splits along fixed axes, differences, transforms."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.complex_numbers import complex_type, real_type
from opdefs.pnnx.concat import cat
from opdefs.pnnx.frames import Frames, stft
from opdefs.pnnx.names import function_name
from opdefs.pnnx.operands import require_kind
from opdefs.pnnx.promotion import promote, to_float
from opdefs.pnnx.spectral import leave_empty_undecided
from opdefs.pnnx.splits import tensor_split
from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.numbers import read_dim, read_int, read_ints
from opdefs.rules.reshaping import transpose
from opdefs.rules.sequences import create_sequence
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.ops import InferenceContext, Operand, Value


def list_outputs(c: InferenceContext, parts: list[TensorType]) -> tuple[Type, ...]:
    """One output for each tensor of a list, or the list."""
    if c.num_outputs not in (1, len(parts)):
        c.fail(f"the node has {c.num_outputs} outputs, so there must be as many tensors", len(parts))
    return tuple(parts) if len(parts) == c.num_outputs else (create_sequence(c, parts),)


# -- axes --------------------------------------------------------------------------------------------------------------


@torch("aten.movedim.int", "aten.movedim.intlist", "aten.moveaxis.int", "aten.moveaxis.intlist")
def move_axes(c: InferenceContext, self: Value, *, source: object, destination: object) -> PartialTensor:
    """The tensor with some axes at other positions; the others keep their order."""
    rank = len(self.shape)
    listed, wanted = read_ints(c, source, "source"), read_ints(c, destination, "destination")
    if len(listed) != len(wanted):
        c.fail("source and destination must have the same number of items", listed, wanted)
    sources, targets = c.axes(listed, max(rank, 1)), c.axes(wanted, max(rank, 1))
    if not rank:
        return self
    placed = dict(zip(targets, sources, strict=True))
    rest = iter([axis for axis in range(rank) if axis not in sources])
    return transpose(self, [placed[at] if at in placed else next(rest) for at in range(rank)])


@torch("aten.mT.default", "aten.mH.default", "aten.adjoint.default", "aten.matrix_H.default", "aten.numpy_T.default")
def transpose_matrices(c: InferenceContext, self: Value) -> PartialTensor:
    """[*B, M, N] -> [*B, N, M]; `numpy_T` reverses all axes, `matrix_H` takes one matrix."""
    rank, name = len(self.shape), function_name(c.op_def.name)
    order = list(range(rank))
    if name == "numpy_T":
        return transpose(self, order[::-1])
    if rank < 2 and not (rank == 0 and name in ("adjoint", "matrix_H")):
        c.fail("the input must have rank 2 or more", self.shape)
    if name == "matrix_H" and rank > 2:
        c.fail("the input must be a matrix", self.shape)
    result = transpose(self, [*order[:-2], *order[:-3:-1]])
    return result if name == "mT" else PartialTensor(result.dtype, result.shape, None)


@torch("aten.ravel.default")
def ravel(c: InferenceContext, self: Value) -> PartialTensor:
    """[*S] -> the vector of all elements."""
    return reshape_elements(self, Shape((c.numel(self.shape.require()),)))


@torch("aten.rot90.default")
def rotate(c: InferenceContext, self: Value, *, k: object = 1, dims: object = (0, 1)) -> TensorType:
    """The tensor with the plane of two axes turned by `k` right angles."""
    axes = c.axes(read_ints(c, dims, "dims"), len(self.shape))
    if len(axes) != 2:
        c.fail("dims must be two axes", axes)
    sizes = list(self.shape)
    if read_int(c, k, "k") % 2:
        first, second = axes
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return TensorType(self.dtype, Shape(sizes))


@torch("aten.atleast_1d.default", "aten.atleast_2d.default", "aten.atleast_3d.default")
def with_rank(c: InferenceContext, self: Value) -> PartialTensor:
    """The tensor with new axes of size 1, up to the rank in the name."""
    return reshape_elements(self, _with_rank(self.shape, int(function_name(c.op_def.name)[-2])))


def _with_rank(x: Shape, rank: int) -> Shape:
    """Torch adds axes in front, and of the three of `atleast_3d` the last one behind."""
    dims = x.require()
    if len(dims) >= rank:
        return x
    behind = 1 if rank == 3 and dims else 0
    return Shape((*(1,) * (rank - behind - len(dims)), *dims, *(1,) * behind))


@torch("aten.atleast_1d.Sequence", "aten.atleast_2d.Sequence", "aten.atleast_3d.Sequence")
def list_with_rank(c: InferenceContext, *tensors: Value) -> tuple[Type, ...]:
    """Each tensor of a list with new axes of size 1, up to the rank in the name."""
    rank = int(function_name(c.op_def.name)[-2])
    return list_outputs(c, [TensorType(x.dtype, _with_rank(x.shape, rank)) for x in tensors])


# -- lists of tensors --------------------------------------------------------------------------------------------------


@torch("aten.broadcast_tensors.default")
def broadcast_tensors(c: InferenceContext, *tensors: Value) -> tuple[Type, ...]:
    """Each tensor broadcast to their common shape."""
    shape = c.broadcast(*(x.shape for x in tensors))
    return list_outputs(c, [TensorType(x.dtype, shape) for x in tensors])


@torch("aten.meshgrid.default", "aten.meshgrid.indexing")
def meshgrid(c: InferenceContext, *tensors: Value, indexing: str = "ij") -> tuple[Type, ...]:
    """[n], [m], ... -> a grid [n, m, ...] for each; with the indexing `xy` the first two axes are exchanged."""
    if indexing not in ("ij", "xy"):
        c.fail("indexing must be ij or xy", indexing)
    sizes: list[DimSize] = []
    for x in tensors:
        if len(x.shape) > 1:
            c.fail("the tensors must be vectors or scalars", x.shape)
        sizes.append(x.shape[0] if x.shape.dims else 1)
    if indexing == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return list_outputs(c, [TensorType(x.dtype, Shape(sizes)) for x in tensors])


@torch("aten.cartesian_prod.default")
def cartesian_product(c: InferenceContext, *tensors: Value) -> TensorType:
    """[n], [m], ... -> [n * m * ..., count]; of one vector the vector itself."""
    sizes = [c.require_rank(x.shape, 1, "a tensor")[0] for x in tensors]
    shape = Shape(sizes) if len(sizes) == 1 else Shape((c.numel(sizes), len(sizes)))
    return TensorType(promote(*tensors, tensors_only=True), shape)


@torch("aten.block_diag.default")
def block_diagonal(c: InferenceContext, *tensors: Value) -> TensorType:
    """Matrices, vectors as rows, and scalars on the diagonal of a matrix."""
    rows: DimSize = 0
    columns: DimSize = 0
    for x in tensors:
        dims = x.shape.require()
        if len(dims) > 2:
            c.fail("the tensors must have rank 2 or less", x.shape)
        rows += dims[0] if len(dims) == 2 else 1
        columns += dims[-1] if dims else 1
    return TensorType(promote(*tensors, tensors_only=True), Shape((rows, columns)))


@torch("aten.hstack.default", "aten.vstack.default", "aten.dstack.default", "aten.column_stack.default")
def stack_along_axis(c: InferenceContext, *tensors: Value) -> TensorType:
    """Tensors, with new axes up to the rank, concatenated: vectors horizontally, rows vertically, layers in depth."""
    name = function_name(c.op_def.name)
    if name == "column_stack":
        columns = [Shape((c.numel(x.shape), 1)) if len(x.shape) < 2 else x.shape for x in tensors]
        return cat(c, *(TensorType(x.dtype, s) for x, s in zip(tensors, columns, strict=True)), dim=1)
    rank = {"hstack": 1, "vstack": 2, "dstack": 3}[name]
    shapes = [_with_rank(x.shape, rank) for x in tensors]
    axis = 0 if name == "hstack" and len(shapes[0]) == 1 else {"hstack": 1, "vstack": 0, "dstack": 2}[name]
    return cat(c, *(TensorType(x.dtype, s) for x, s in zip(tensors, shapes, strict=True)), dim=axis)


@torch(*(f"aten.{name}split.{kind}" for name in "hvd" for kind in ("int", "array")))
def split_along_axis(
    c: InferenceContext, self: Value, *, sections: object = None, indices: object = None
) -> tuple[Type, ...]:
    """As `torch.tensor_split` of the second, first or third axis; equal parts."""
    name, rank = function_name(c.op_def.name)[0], len(self.shape)
    least = {"h": 1, "v": 2, "d": 3}[name]
    if rank < least:
        c.fail(f"the input must have rank {least} or more", self.shape)
    axis = {"h": min(rank - 1, 1), "v": 0, "d": 2}[name]
    if sections is not None:
        count = read_int(c, sections, "sections")
        if count < 1:
            c.fail("sections must be at least 1", count)
        c.divisible(self.shape[axis], count, "the axis must split into equal parts")
    return tensor_split(c, self, sections=sections, indices=indices, dim=axis)


# -- differences and transforms ----------------------------------------------------------------------------------------


@torch("aten.diff.default")
def diff(
    c: InferenceContext,
    self: Value,
    prepend: Value | None = None,
    append: Value | None = None,
    *,
    n: object = 1,
    dim: object = -1,
) -> TensorType:
    """[*A, d, *B] -> [*A, d - n, *B]: differences of neighbours, `n` times; at least 0."""
    parts = [x for x in (prepend, self, append) if x is not None]
    if not self.shape.dims:
        c.fail("the input must have rank 1 or more")
    axis, times = read_axis(c, dim, len(self.shape)), read_int(c, n, "n")
    if times < 0:
        c.fail("n must be at least 0", times)
    dims = list(self.shape) if times == 0 or len(parts) == 1 else list(cat(c, *parts, dim=axis).shape)
    dims[axis] = clamp_at_zero(c, dims[axis] - times)
    return TensorType(self.dtype, Shape(dims))


@torch("aten._fft_c2c.default", "aten._fft_r2c.default", "aten._fft_c2r.default")
def transform(
    c: InferenceContext, self: Shape, *, dim: object, onesided: bool = False, last_dim_size: object = None
) -> TensorType:
    """[*S] -> [*S]; one-sided frequencies along the last axis of `dim`, or `last_dim_size` elements."""
    axes = c.axes(read_ints(c, dim, "dim"), len(self))
    sizes, dtype = list(self), complex_type(c.dtype(0))
    leave_empty_undecided(c, [d for i, d in enumerate(self) if i not in axes])
    for axis in axes:
        c.at_least(sizes[axis], 1, "a transform requires at least one element along each of its axes")
    if function_name(c.op_def.name) == "_fft_c2r":
        length = read_dim(c, last_dim_size, "last_dim_size")
        sizes[axes[-1]] = c.fresh("transform", 1) if length is None else length
        dtype = real_type(dtype)
    elif onesided:
        sizes[axes[-1]] = sizes[axes[-1]] // 2 + 1
    return TensorType(dtype, Shape(sizes))


@torch("aten.stft.default")
def stft_of_frames(
    c: InferenceContext,
    self: Shape,
    window: Shape | None = None,
    *,
    n_fft: object,
    hop_length: object = None,
    win_length: object = None,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> TensorType:
    """As `torch.stft` of a signal that is padded already: frames start at its first sample."""
    frames = Frames(n_fft, hop_length, win_length, False, onesided)
    return stft(c, self, window, frames=frames, return_complex=return_complex)


@torch("aten.fft_fftshift.default", "aten.fft_ifftshift.default")
def shift(c: InferenceContext, self: Value, *, dim: object = None) -> TensorType:
    """[*S] -> [*S] with the elements of axes shifted in a circle by half."""
    if dim is not None and self.shape.dims is not None:
        for axis in read_ints(c, dim, "dim"):
            c.axis(axis, max(len(self.shape), 1))
    return TensorType(self.dtype, self.shape)


@torch("aten.angle.default")
def angle(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]: real numbers."""
    return TensorType(real_type(to_float(c.dtype(0))), self)


@torch(*(f"aten.{name}.default" for name in ("conj", "_conj", "conj_physical", "conj_physical_", "sgn", "_conj_copy")))
def same_type(c: InferenceContext, self: Shape) -> TensorType:
    """[*S] -> [*S]."""
    return TensorType(c.dtype(0), self)


@torch("aten.polar.default")
def polar(c: InferenceContext, abs: Operand, angle: Operand) -> TensorType:
    """Numpy broadcasting: complex numbers of their sizes and angles."""
    require_kind(c, abs.dtype, "the sizes must be floats", "float")
    return TensorType(complex_type(abs.dtype), c.broadcast(abs.shape, angle.shape))
