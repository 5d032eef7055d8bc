"""Counts of the values in each row, as sparse tensors."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import SparseShapes, known_sizes, size_or_fresh, sparse_output, sparse_sizes
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.ops import Value


def _sparse_counts(
    c: TensorFlowContext, values: DimSize, rows: tuple[DimSize, ...], minlength: int, maxlength: int
) -> SparseShapes:
    """At most one count for each value, in `maxlength` columns or else as many as the largest value requires."""
    columns: DimSize = maxlength if maxlength > 0 else c.fresh("columns", max(minlength, 0))
    return sparse_output(c, c.fresh_at_most(values, "nnz"), len(rows) + 1, [*rows, columns])


@tf("DenseCountSparseOutput")
def dense_count(
    c: TensorFlowContext,
    values: Shape,
    weights: Shape,
    *,
    minlength: int = -1,
    maxlength: int = -1,
) -> SparseShapes:
    """[N] or [B, N], weights -> a sparse [*] or [B, *]."""
    shape = c.with_rank_at_most(c.with_rank_at_least(values, 1), 2)
    if shape.dims is None:
        return sparse_output(c, c.fresh("nnz"), c.fresh("rank", 1, 2))
    return _sparse_counts(c, c.num_elements(shape), shape.dims[:-1], minlength, maxlength)


@tf("SparseCountSparseOutput")
def sparse_count(
    c: TensorFlowContext,
    indices: Shape,
    values: Shape,
    dense_shape: Value,
    weights: Shape,
    *,
    minlength: int = -1,
    maxlength: int = -1,
) -> SparseShapes:
    """A sparse [N] or [B, N], weights -> a sparse [*] or [B, *]."""
    count, rank = sparse_sizes(c, indices, values, dense_shape.shape)
    length = c.concrete(rank)
    if length not in (1, 2):
        return sparse_output(c, c.fresh_at_most(count, "nnz"), rank)
    rows = (size_or_fresh(c, known_sizes(c, dense_shape), 0, "rows"),) if length == 2 else ()
    return _sparse_counts(c, count, rows, minlength, maxlength)


@tf("RaggedCountSparseOutput")
def ragged_count(
    c: TensorFlowContext,
    splits: Shape,
    values: Shape,
    weights: Shape,
    *,
    minlength: int = -1,
    maxlength: int = -1,
) -> SparseShapes:
    """Row splits [B + 1], [N], weights -> a sparse [B, *]."""
    rows = c.subtract(c.with_rank(splits, 1)[0], 1)
    return _sparse_counts(c, c.with_rank(values, 1)[0], (rows,), minlength, maxlength)
