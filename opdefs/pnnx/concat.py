"""Concatenation and stacks."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.promotion import promote
from opdefs.rules.repetition import concat
from opdefs.rules.reshaping import insert_axes
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, SequenceType, Shape, TensorType, to_partial
from shapeinf.ops import InferenceContext


@own_types("torch.cat")
def cat(c: InferenceContext, *tensors: TensorType | SequenceType, dim: object = 0) -> TensorType:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B], of the promoted element type.

    torch skips empty vectors even if the other tensors have another rank.
    """
    listed = list_tensors(c, tensors)
    dtype = promote(*listed)
    parts = _parts_with_axes(c, listed)
    if any(part.shape.dims is None for part in parts):
        return TensorType(dtype, _shape_with_unknown_ranks(c, parts, dim))
    joined = concat(c, parts, read_axis(c, dim, len(parts[0].shape)))
    return joined.with_type(dtype, joined.shape)


def list_tensors(c: InferenceContext, tensors: Sequence[TensorType | SequenceType]) -> list[PartialTensor]:
    """The tensors of an operator that takes a list: several inputs, or one input that is a list."""
    if len(tensors) == 1 and isinstance(tensors[0], SequenceType):
        if tensors[0].items is None:
            raise c.unknowable("the items of the list are not known")
        tensors = tensors[0].items
    if not tensors:
        c.fail("at least one tensor is required")
    return [
        to_partial(t) if isinstance(t, TensorType) else c.fail("the items of the list must be tensors", t)
        for t in tensors
    ]


def _parts_with_axes(c: InferenceContext, tensors: Sequence[PartialTensor]) -> list[PartialTensor]:
    """The tensors without the vectors that are skipped, since they must be empty: the others have another rank."""
    if any(t.shape.dims == () for t in tensors):
        c.fail("the tensors must have rank 1 or more")
    ranks = {len(t.shape.dims) for t in tensors if t.shape.dims is not None}
    if 1 in ranks and len(ranks) > 1:
        for t in tensors:
            if t.shape.rank == 1:
                c.same_count(t.shape[0], 0, "a vector among tensors of another rank must be empty")
        return [t for t in tensors if t.shape.rank != 1]
    return list(tensors)


def _shape_with_unknown_ranks(c: InferenceContext, parts: Sequence[PartialTensor], dim: object) -> Shape:
    """The shape if some tensors are of unknown rank: these have the rank of the others, or are empty vectors."""
    ranked = [part.shape.dims for part in parts if part.shape.dims is not None]
    if not ranked or len({len(dims) for dims in ranked}) > 1:
        raise c.unknowable("the ranks of the tensors are not known")
    rank = len(ranked[0])
    if rank == 1 and c.prove_le(1, sum(dims[0] for dims in ranked)) is not True:
        raise c.unknowable("the vectors may be empty, and the ranks of the other tensors are not known")
    at = read_axis(c, dim, rank)
    least: DimSize = sum(dims[at] for dims in ranked)
    dims = list(ranked[0])
    for i, sizes in enumerate(zip(*ranked, strict=True)):
        for d in sizes[1:] if i != at else ():
            dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all inputs of a concatenation")
    dims[at] = c.fresh("cat", c.interval(least).lo or 0)
    return Shape(dims)


@own_types("torch.stack")
def stack(c: InferenceContext, *tensors: TensorType | SequenceType, dim: object = 0) -> TensorType:
    """[*A, *B], n of them -> [*A, n, *B], of the promoted element type."""
    listed = list_tensors(c, tensors)
    shape = listed[0].shape
    for t in listed[1:]:
        shape = c.merge(shape, t.shape, "the tensors of a stack must have equal shapes")
    axis = read_axis(c, dim, len(shape) + 1)
    stacked = concat(c, [insert_axes(c, PartialTensor(t.dtype, shape, t.elements), [axis]) for t in listed], axis)
    return stacked.with_type(promote(*listed), stacked.shape)
