"""Operations on sets, which are rows of dense tensors or of sparse ones (indices, values and dense shape)."""

from __future__ import annotations

from typing import NamedTuple

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


class Sets(NamedTuple):
    """The rank of a tensor of sets, the sizes of all axes but the last, and its number of elements; None if unknown."""

    rank: DimSize | None
    lead: tuple[DimSize | None, ...] | None
    size: DimSize | None


def _dense(c: TensorFlowContext, shape: Shape) -> Sets:
    """The sets of a dense tensor [*B, M]."""
    shape = c.with_rank_at_least(shape, 2)
    if shape.dims is None:
        return Sets(None, None, None)
    return Sets(len(shape), shape.dims[:-1], c.numel(shape.dims))


def _sparse(c: TensorFlowContext, indices: Shape, values: Shape, shape: PartialTensor) -> Sets:
    """The sets of a sparse tensor: indices [N, R], values [N], dense shape [R]."""
    pairs, vector, sizes = c.with_rank(indices, 2), c.with_rank(values, 1), c.with_rank(shape.shape, 1)
    count = c.merge(
        pairs[0], vector[0], f"Number of elements in index ({pairs[0]}) and values ({vector[0]}) do not match."
    )
    rank = c.merge(pairs[1], sizes[0], f"Index rank ({pairs[1]}) and shape rank ({sizes[0]}) do not match.")
    known = known_dims(shape)
    return Sets(rank, None if known is None else known[:-1], count)


def _result(c: TensorFlowContext, set_operation: str, first: Sets, second: Sets) -> tuple[Shape, Shape, PartialTensor]:
    """The sparse tensor of the resulting sets: indices [N, R], values [N], dense shape [R]."""
    rank = first.rank if first.rank is not None else second.rank
    if rank is None:
        rank = c.fresh("rank")
    total = _most(set_operation, first.size, second.size)
    count = c.fresh("count") if total is None else c.fresh_at_most(total, "count")
    return c.matrix(count, rank), c.vector(count), _result_shape(c, rank, first.lead or second.lead)


def _result_shape(c: TensorFlowContext, rank: DimSize, lead: tuple[DimSize | None, ...] | None) -> PartialTensor:
    """The dense shape of the result: its last axis is as long as its largest set."""
    size = c.concrete(rank)
    known = lead is not None and size is not None and len(lead) == size - 1
    return PartialTensor("int64", c.vector(rank), (*lead, None) if known and lead is not None else None)


def _most(set_operation: str, first: DimSize | None, second: DimSize | None) -> DimSize | None:
    """The largest possible number of elements of the result, None if unknown."""
    if set_operation in ("a-b", "intersection"):
        return first
    if set_operation == "b-a":
        return second
    return None if first is None or second is None else first + second


@tf("DenseToDenseSetOperation")
def dense_and_dense(
    c: TensorFlowContext, set1: Shape, set2: Shape, *, set_operation: str
) -> tuple[Shape, Shape, PartialTensor]:
    """[*B, M], [*B, N] -> the resulting sets: indices [n, R], values [n], dense shape [R]."""
    first, second = c.with_rank_at_least(set1, 2), c.with_rank_at_least(set2, 2)
    if first.dims is not None and second.dims is not None:
        second = c.with_rank(second, len(first))
        c.merge(c.subshape(first, 0, -1), c.subshape(second, 0, -1))
    return _result(c, set_operation, _dense(c, first), _dense(c, second))


@tf("DenseToSparseSetOperation")
def dense_and_sparse(
    c: TensorFlowContext,
    set1: Shape,
    set2_indices: Shape,
    set2_values: Shape,
    set2_shape: Value,
    *,
    set_operation: str,
) -> tuple[Shape, Shape, PartialTensor]:
    """[*B, M], a sparse tensor of the same rank -> the resulting sets: [n, R], [n], [R]."""
    dense, sparse = _dense(c, set1), _sparse(c, set2_indices, set2_values, set2_shape)
    if dense.rank is not None and sparse.rank is not None:
        c.merge(dense.rank, sparse.rank)
    return _result(c, set_operation, dense, sparse)


@tf("SparseToSparseSetOperation")
def sparse_and_sparse(
    c: TensorFlowContext,
    set1_indices: Shape,
    set1_values: Shape,
    set1_shape: Value,
    set2_indices: Shape,
    set2_values: Shape,
    set2_shape: Value,
    *,
    set_operation: str,
) -> tuple[Shape, Shape, PartialTensor]:
    """Two sparse tensors of the same rank -> the resulting sets: [n, R], [n], [R]."""
    first = _sparse(c, set1_indices, set1_values, set1_shape)
    second = _sparse(c, set2_indices, set2_values, set2_shape)
    if first.rank is not None and second.rank is not None:
        c.merge(first.rank, second.rank)
    return _result(c, set_operation, first, second)


@tf("SetSize")
def set_size(c: TensorFlowContext, set_indices: Shape, set_values: Shape, set_shape: Value) -> Shape:
    """A sparse [*B, M] -> [*B]: the size of each set."""
    sets = _sparse(c, set_indices, set_values, set_shape)
    rank = None if sets.rank is None else c.concrete(sets.rank)
    if rank is None:
        return c.unknown_shape()
    if rank < 1:
        raise ShapeError("the sets must have rank 1 or more")
    lead = sets.lead or (None,) * (rank - 1)
    return Shape(d if d is not None and c.prove_le(0, d) is True else c.fresh("size") for d in lead)
