"""Histograms, counts of values, and sequences of points."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.constants import number_of
from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.contents.products import sum_elements
from opdefs.rules.contents.segments import reduce_rows
from opdefs.tf.common import require_scalars, size_from_scalar
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.expr import DimSize, minimum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import Value


@tf("Bincount")
def bincount(c: TensorFlowContext, arr: Value, size: Value, weights: Value) -> PartialTensor:
    """[*S], size [], weights [*S] or [0] -> [size]: the number of each value, or the sum of its weights."""
    c.with_rank(size.shape, 0)
    return _count_values(c, arr, c.vector(size_from_scalar(c, size, 1)), weights)


def _count_values(
    c: TensorFlowContext, x: PartialTensor, shape: Shape, weights: PartialTensor, *, binary: bool = False
) -> PartialTensor:
    """The number of each value of all elements, or the sum of its weights; with `binary`, whether it occurs."""
    numbers = known_ints(x)
    weighed = 0 not in (weights.shape.dims or ())
    zero, unit = number_of(weights.dtype, 0), number_of(weights.dtype, 1)
    if numbers is None or any(n < 0 for n in numbers) or (weighed and (binary or weights.elements is None)):
        return PartialTensor(weights.dtype, shape, None)
    flat = Shape((len(numbers),))
    rows = PartialTensor(weights.dtype, flat, weights.elements if weighed else [unit] * len(numbers))

    def total(column: Sequence[Element]) -> Element:
        return unit if binary else sum_elements(c, weights.dtype, column)

    return reduce_rows(rows, numbers, shape, total, zero)


@tf("DenseBincount")
def dense_bincount(
    c: TensorFlowContext, input: Value, size: Value, weights: Value, *, binary_output: bool = False
) -> PartialTensor:
    """[N] or [B, N], size [], weights -> [size] or [B, size]; contents of vectors, as of Bincount."""
    x = c.with_rank_at_most(input.shape, 2)
    c.with_rank(size.shape, 0)
    count = size_from_scalar(c, size, 1)
    if x.dims is None:
        return PartialTensor(weights.dtype, c.unknown_shape(), None)
    shape = Shape((*x.dims[:-1], count))
    if len(x.dims) != 1:
        return PartialTensor(weights.dtype, shape, None)
    return _count_values(c, input, shape, weights, binary=binary_output)


@tf("SparseBincount")
def sparse_bincount(
    c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Value, size: Value, weights: Shape
) -> Shape:
    """A sparse [N] or [B, N], size [], weights -> [size] or [B, size]."""
    c.with_rank(size.shape, 0)
    rank = c.concrete(c.with_rank(dense_shape.shape, 1)[0])
    count = size_from_scalar(c, size, 3)
    if rank is None:
        return c.unknown_shape()
    if not 1 <= rank <= 2:
        c.fail("the counted tensor must be of rank 1 or 2", rank)
    if rank == 1:
        return c.vector(count)
    rows = known_dims(dense_shape)
    known = None if rows is None or rows[0] is None or c.prove_le(0, rows[0]) is not True else rows[0]
    return c.matrix(known, count)


@tf("RaggedBincount")
def ragged_bincount(c: TensorFlowContext, splits: Shape, values: Shape, size: Value, weights: Shape) -> Shape:
    """Row splits [B + 1], values, size [], weights -> [B, size]."""
    c.with_rank(size.shape, 0)
    rows = c.subtract(c.with_rank(splits, 1)[0], 1)
    return c.matrix(rows, size_from_scalar(c, size, 2))


@tf("HistogramFixedWidth")
def histogram(c: TensorFlowContext, values: Shape, value_range: Shape, nbins: Value) -> Shape:
    """[*S], range [2], nbins [] -> [nbins]."""
    c.with_value(c.with_rank(value_range, 1)[0], 2)
    c.with_rank(nbins.shape, 0)
    return c.vector(size_from_scalar(c, nbins, 2))


@tf("SobolSample")
def sobol_sample(c: TensorFlowContext, dim: Value, num_results: Value, skip: Shape) -> Shape:
    """Scalars `dim`, `num_results` and `skip` -> [num_results, dim]."""
    require_scalars(c, dim.shape, num_results.shape, skip)
    return c.matrix(size_from_scalar(c, num_results, 1), size_from_scalar(c, dim, 0))


# -- clusters ----------------------------------------------------------------------------------------------------------


@tf("KMC2ChainInitialization")
def chain_initialization(c: TensorFlowContext, distances: Shape, seed: Shape) -> Shape:
    """[N], [] -> []: an index."""
    c.with_rank(distances, 1)
    return c.scalar()


@tf("KmeansPlusPlusInitialization")
def initial_centers(
    c: TensorFlowContext, points: Shape, num_to_sample: Value, seed: Shape, num_retries_per_sample: Shape
) -> Shape:
    """[N, D], num_to_sample [], [], [] -> [num_to_sample, D]."""
    return c.matrix(size_from_scalar(c, num_to_sample, 1), c.with_rank(points, 2)[1])


@tf("NearestNeighbors")
def nearest_neighbors(c: TensorFlowContext, points: Shape, centers: Shape, k: Value) -> tuple[Shape, Shape]:
    """[N, D], [M, D], k [] -> the indices and the distances [N, min(k, M)] of the nearest centers."""
    points, centers = c.with_rank(points, 2), c.with_rank(centers, 2)
    c.merge(points[1], centers[1])
    known = known_dims(k)
    count: DimSize
    if known and known[0] is not None and c.prove_le(0, known[0]) is True:
        count = minimum(known[0], centers[0])
    else:
        count = c.fresh_at_most(centers[0], "nearest")
    shape = c.matrix(points[0], count)
    return shape, shape
