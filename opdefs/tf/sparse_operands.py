"""Sparse tensors as operands: [nnz, rank] indices, [nnz] values and the [rank] shape of the dense form."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape

SparseShapes = tuple[Shape, Shape, PartialTensor]
"""Indices, values and dense shape of a sparse output."""


def sparse_sizes(c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Shape) -> tuple[DimSize, DimSize]:
    """The number of values and the rank of the dense form. Requires that the three parts agree."""
    rows = c.with_rank(indices, 2)
    count = c.merge(rows[0], c.with_rank(values, 1)[0])
    return count, c.merge(rows[1], c.with_rank(dense_shape, 1)[0])


def require_sparse_ranks(c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Shape) -> None:
    """Require a matrix of indices, a vector of values and a vector of dense sizes."""
    c.with_rank(indices, 2)
    c.with_rank(values, 1)
    c.with_rank(dense_shape, 1)


def sparse_output(
    c: TensorFlowContext, count: DimSize, rank: DimSize, sizes: Sequence[DimSize | None] | None = None
) -> SparseShapes:
    """A sparse tensor of `count` values; `sizes` are the elements of its dense shape, None for unknown ones."""
    length = rank if sizes is None else len(sizes)
    return c.matrix(count, length), c.vector(count), PartialTensor("int64", c.vector(length), sizes)


def known_sizes(c: TensorFlowContext, dense_shape: PartialTensor) -> list[DimSize | None] | None:
    """The elements of a dense shape, None for those unknown or possibly negative; None if their number is unknown."""
    elements = known_dims(dense_shape)
    if elements is None:
        shape = c.store.canon_shape(dense_shape.shape)
        length = c.concrete(shape[0]) if shape.rank == 1 else None
        return None if length is None or length > MAX_SPARSE_RANK else [None] * length
    return [d if d is not None and c.prove_le(0, d) is True else None for d in elements]


MAX_SPARSE_RANK = 254
"""The largest rank of a tensor in TensorFlow."""


def size_or_fresh(c: TensorFlowContext, sizes: Sequence[DimSize | None] | None, axis: int, hint: str) -> DimSize:
    """The size of an axis of a dense shape, or an unknown."""
    size = sizes[axis] if sizes is not None and -len(sizes) <= axis < len(sizes) else None
    return c.fresh(hint) if size is None else size
