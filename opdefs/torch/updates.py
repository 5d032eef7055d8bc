"""Tensors with elements replaced: at indices, along axes, where a mask is true, in parts."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.indexing import constrain_positions, constrain_source, put_by
from opdefs.rules.gathering import constrain_indices
from opdefs.rules.numbers import read_dim, read_int
from opdefs.rules.operands import require_broadcast_to
from opdefs.rules.parts import select_index
from opdefs.rules.unknowns import nonzero_count
from opdefs.torch.dialect import torch
from opdefs.torch.matrices import diagonal_shape
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Operand, Value


def _without_contents(x: PartialTensor) -> TensorType:
    return TensorType(x.dtype, x.shape)


@torch("aten.index_put.default", "aten.index_put_.default", "aten._unsafe_index_put.default", in_place=(0,))
def index_put(
    c: InferenceContext, self: Value, values: Value, *indices: Value | None, accumulate: bool = False
) -> PartialTensor:
    """[*S] -> [*S] with values at the indices of the leading axes; they broadcast to the indexed elements."""
    return put_by(c, self, indices, values, accumulate=accumulate)


@torch(
    *(f"aten.scatter{suffix}.{kind}" for suffix in ("", "_") for kind in ("src", "value", "reduce", "value_reduce")),
    *("aten.scatter_reduce.two", "aten.scatter_reduce_.two"),
    in_place=(0,),
)
def scatter(c: InferenceContext, self: Value, index: Value, src: Value | None = None, *, dim: object) -> TensorType:
    """[*S], indices [*I], a source at least as large as the indices, or a number -> [*S]."""
    constrain_positions(c, self.shape, index, dim)
    if src is not None:
        constrain_source(c, index.shape, src.shape)
    return _without_contents(self)


_SLICES = tuple(f"aten.index_{name}{suffix}.default" for name in ("add", "copy", "reduce") for suffix in ("", "_"))


@torch(*_SLICES, in_place=(0,))
def replace_slices(c: InferenceContext, self: Value, index: Value, source: Shape, *, dim: object) -> TensorType:
    """[*A, d, *B], indices [n], a source [*A, n, *B] -> [*A, d, *B]."""
    _constrain_slices(c, self.shape, index, dim)
    if self.shape.dims is None or source.dims is None or index.shape.dims is None:
        return _without_contents(self)
    count: DimSize = index.shape[0] if index.shape.dims else 1
    if "add" in c.op_def.name and bool(self.shape.dims) != bool(source.dims):
        c.fail("self and source must have the same rank", self.shape, source)
    if not source.dims:
        c.merge(count, 1, "index must have one element for a source of rank 0")
        return _without_contents(self)
    axis = read_axis(c, dim, max(len(self.shape), len(source)))
    if max(len(self.shape), 1) != len(source):
        c.fail("self and source must have the same rank", self.shape, source)
    for at, size in enumerate(source):
        if at == axis:
            c.merge(size, count, "source must have a slice for each index")
        else:
            c.merge(size, self.shape[at], f"axis {at} of source must have the size of self")
    return _without_contents(self)


def _constrain_slices(c: InferenceContext, x: Shape, index: PartialTensor, dim: object) -> None:
    """Require a vector of indices, or a single one, inside an axis."""
    if index.shape.dims is not None and len(index.shape.dims) > 1:
        c.fail("index must be a vector or a scalar", index.shape)
    if x.dims is None:
        return
    axis = read_axis(c, dim, len(x.dims))
    if index.shape.dims is not None:
        constrain_indices(c, index, x.dims[axis] if x.dims else 1, from_end="fill" in c.op_def.name)


@torch(
    *(f"aten.index_fill{suffix}.{kind}" for suffix in ("", "_") for kind in ("int_Scalar", "int_Tensor")), in_place=(0,)
)
def fill_slices(
    c: InferenceContext, self: Value, index: Value, value: Shape | None = None, *, dim: object, value_: object = None
) -> TensorType:
    """[*A, d, *B], indices [n] -> [*A, d, *B] with one value in these slices."""
    _constrain_slices(c, self.shape, index, dim)
    if value is not None:
        c.require_rank(value, 0, "value")
    return _without_contents(self)


@torch("aten.masked_fill_.Scalar", "aten.masked_fill_.Tensor", in_place=(0,))
def fill_masked(
    c: InferenceContext, self: Value, mask: Shape, value: Shape | None = None, *, value_: object = None
) -> TensorType:
    """[*S], a mask that broadcasts to it -> [*S]."""
    if value is not None:
        c.require_rank(value, 0, "value")
    require_broadcast_to(c, mask, self.shape, "mask must broadcast to the shape of self")
    return _without_contents(self)


@torch("aten.masked_scatter.default", "aten.masked_scatter_.default", in_place=(0,))
def scatter_masked(c: InferenceContext, self: Value, mask: Value, source: Shape) -> TensorType:
    """The tensor with elements of a source where the mask is true; the source has at least as many."""
    if c.op_def.name.startswith("aten.masked_scatter_."):
        require_broadcast_to(c, mask.shape, self.shape, "mask must broadcast to the shape of self")
        shape = self.shape
    else:
        shape = c.broadcast(self.shape, mask.shape)
    if source.dims is not None and mask.shape.dims is not None and mask.shape == shape:
        message = "source must have an element for each true element of mask"
        c.at_most(nonzero_count(c, mask), c.numel(source), message)
    return TensorType(self.dtype, shape)


@torch("aten.put.default", "aten.put_.default", in_place=(0,))
def put(c: InferenceContext, self: Value, index: Value, source: Shape) -> TensorType:
    """[*S] -> [*S] with the elements of a source at indices into the flattened tensor."""
    if index.shape.dims is not None and source.dims is not None:
        c.same_count(c.numel(index.shape), c.numel(source), "index and source must have the same number of elements")
    if self.shape.dims is not None and index.shape.dims is not None:
        constrain_indices(c, index, c.numel(self.shape))
    return _without_contents(self)


@torch("aten.select_scatter.default", in_place=(0,))
def replace_slice(c: InferenceContext, self: Value, src: Shape, *, dim: object, index: object) -> TensorType:
    """[*A, d, *B], a source [*A, *B] -> [*A, d, *B] with one slice replaced."""
    if self.shape.dims is None:
        return _without_contents(self)
    if not self.shape.dims:
        c.fail("self must have rank 1 or more")
    axis, at = read_axis(c, dim, len(self.shape)), read_dim(c, index, "index")
    constrain_indices(c, PartialTensor("int64", Shape(()), (at,)), self.shape[axis])
    c.merge(src, select_index(c, self, axis, at).shape, "src must have the shape of the slice")
    return _without_contents(self)


@torch("aten.diagonal_scatter.default", in_place=(0,))
def replace_diagonal(
    c: InferenceContext, self: Value, src: Shape, *, offset: object = 0, dim1: object = 0, dim2: object = 1
) -> TensorType:
    """[*S], a source of the shape of a diagonal -> [*S]."""
    if self.shape.dims is not None:
        diagonal = diagonal_shape(c, self.shape, read_int(c, offset, "offset"), dim1, dim2)
        c.merge(src, diagonal, "src must have the shape of the diagonal")
    return _without_contents(self)


@torch("aten.take.default")
def take(c: InferenceContext, self: Value, index: Value) -> TensorType:
    """[*S], indices [*I] into the flattened tensor -> [*I]."""
    if self.shape.dims is not None and index.shape.dims is not None:
        constrain_indices(c, index, c.numel(self.shape))
    return TensorType(self.dtype, index.shape)


@torch("aten.take_along_dim.default")
def take_along_axis(c: InferenceContext, self: Value, indices: Value, *, dim: object = None) -> TensorType:
    """[*A, d, *B], indices [*A, n, *B] -> [*A, n, *B], where A and B broadcast; without `dim`, of flattened tensors."""
    if dim is None:
        if indices.shape.dims is None:
            return TensorType(self.dtype, Shape((c.fresh("count"),)))
        if self.shape.dims is not None:
            constrain_indices(c, indices, c.numel(self.shape))
        return TensorType(self.dtype, Shape((c.numel(indices.shape),)))
    rank = c.same_rank(self.shape, indices.shape)
    axis = read_axis(c, dim, rank)
    if not rank:
        return TensorType(self.dtype, indices.shape)
    constrain_indices(c, indices, self.shape[axis])
    common = c.broadcast(*(Shape((*x[:axis], 1, *x[axis + 1 :])) for x in (self.shape, indices.shape)))
    return TensorType(self.dtype, Shape((*common[:axis], indices.shape[axis], *common[axis + 1 :])))


@torch("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor")
def contains(c: InferenceContext, elements: Shape | None = None, test_elements: Operand | None = None) -> TensorType:
    """[*S] -> [*S]: whether each element is among the test elements."""
    return TensorType("bool", Shape(()) if elements is None else elements)
