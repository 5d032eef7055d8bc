"""The same elements with other axes, or with the axes in another order."""

from __future__ import annotations

from opdefs.pnnx.arguments import require_known
from opdefs.pnnx.axes import read_axes, read_axis
from opdefs.pnnx.dialect import pnnx
from opdefs.rules.contents.elements import MAX_RANK
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.numbers import read_dims, read_ints
from opdefs.rules.reshaping import insert_axes, reshape_dims, squeeze_units
from opdefs.rules.reshaping import transpose as transpose_axes
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@pnnx("Tensor.reshape", views={0: 0})
def reshape(c: InferenceContext, input: Value, *, shape: object) -> PartialTensor:
    """The sizes in `shape`; -1 is inferred."""
    requested = read_dims(c, shape, "shape")
    if len(requested) > MAX_RANK:
        c.fail(f"shape must have at most {MAX_RANK} items", len(requested))
    return reshape_elements(input, reshape_dims(c, input.shape, requested, False))


@pnnx("Tensor.reshape_as", views={0: 0})
def reshape_as(c: InferenceContext, input: Value, other: Shape) -> PartialTensor:
    """The shape of `other`."""
    if other.dims is None:
        raise c.unknowable("the rank of the other tensor is not known")
    return reshape_elements(input, reshape_dims(c, input.shape, other.dims, False))


@pnnx("torch.flatten", views={0: 0})
def flatten(c: InferenceContext, input: Value, *, start_dim: object = 0, end_dim: object = -1) -> PartialTensor:
    """[*A, *M, *B] -> [*A, prod(M), *B] for the axes M from `start_dim` to `end_dim`."""
    dims = input.shape.require()
    first, last = (read_axis(c, d, len(dims), n) for d, n in ((start_dim, "start_dim"), (end_dim, "end_dim")))
    if first > last:
        c.fail("start_dim must be at most end_dim", first, last)
    merged = c.numel(dims[first : last + 1])
    return reshape_elements(input, Shape((*dims[:first], merged, *dims[last + 1 :])))


@pnnx("Tensor.unflatten", views={0: 0})
def unflatten(c: InferenceContext, input: Value, *, dim: object, sizes: object) -> PartialTensor:
    """[*A, d, *B] -> [*A, *sizes, *B]; one item of `sizes` may be -1, which is inferred."""
    dims = input.shape.require()
    axis = read_axis(c, dim, len(dims))
    if not dims:
        c.fail("the input must have rank 1 or more")
    requested = read_dims(c, sizes, "sizes")
    if not requested:
        c.fail("sizes must not be empty")
    parts = reshape_dims(c, Shape((dims[axis],)), requested, False)
    return reshape_elements(input, Shape((*dims[:axis], *parts, *dims[axis + 1 :])))


@pnnx("torch.squeeze", views={0: 0})
def squeeze(c: InferenceContext, input: Value, *, dim: object = None) -> PartialTensor:
    """The axes of size 1 removed, or those of size 1 among `dim`."""
    require_known(c, "dim", dim)
    axes = None if dim is None else read_axes(c, dim, len(input.shape))
    return squeeze_units(c, input, axes)


@pnnx("torch.unsqueeze", views={0: 0})
def unsqueeze(c: InferenceContext, input: Value, *, dim: object) -> PartialTensor:
    """[*A, *B] -> [*A, 1, *B] with the new axis at `dim`."""
    return insert_axes(c, input, [read_axis(c, dim, len(input.shape) + 1)])


@pnnx("torch.transpose")
def transpose(c: InferenceContext, input: Value, *, dim0: object, dim1: object) -> PartialTensor:
    """The axes `dim0` and `dim1` exchanged."""
    rank = len(input.shape)
    first, second = read_axis(c, dim0, rank, "dim0"), read_axis(c, dim1, rank, "dim1")
    order = list(range(rank))
    if order:
        order[first], order[second] = second, first
    return transpose_axes(input, order)


@pnnx("Tensor.permute")
def permute(c: InferenceContext, input: Value, *, dims: object) -> PartialTensor:
    """The axes in the order of `dims`."""
    order = read_ints(c, dims, "dims")
    shape = input.shape if input.shape.dims is not None else c.require_rank(input.shape, len(order))
    if len(order) != len(shape):
        c.fail("dims must contain each axis of the input once", order, shape)
    axes = c.axes(order, len(order))
    return transpose_axes(input if input.shape.dims is not None else PartialTensor(input.dtype, shape, None), axes)
