"""Sizes that depend on data: positions, distinct elements, differences and partitions. Known contents decide them."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.distinct import Distinct, difference, distinct_slices
from opdefs.rules.contents.elements import Elements, element_array, is_listable, known_ints
from opdefs.rules.contents.progressions import extremes, progression
from opdefs.rules.contents.rearrangement import choose_slices
from opdefs.rules.contents.truth import nonzero_flags, nonzero_positions
from opdefs.rules.unknowns import fresh_count, nonzero_count
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.context.contents import MAX_DIMENSIONS
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import known_sizes
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import PartialTensor, Progression, Shape
from shapeinf.ops import Value


@tf("Where")
def where(c: TensorFlowContext, condition: Value) -> PartialTensor:
    """[*S] -> [count, rank]: the positions of the elements that are not zero."""
    if condition.shape.dims is None:
        return PartialTensor(None, Shape((c.fresh("count"), c.fresh("rank"))), None)
    rank = len(condition.shape.dims)
    decided = nonzero_flags(c, condition)
    positions = nonzero_positions(condition, decided)
    if positions is not None:
        return positions
    count = nonzero_count(c, condition) if decided is None else _true_count(c, decided)
    if rank == 1 and count == condition.shape.dims[0]:
        return progression("int64", Shape((count, 1)), 0, (1, 0))
    return PartialTensor(None, Shape((count, rank)), None)


def _true_count(c: TensorFlowContext, decided: Sequence[bool | None]) -> DimSize:
    """The number of true elements, where None is undecided."""
    least, most = decided.count(True), len(decided) - decided.count(False)
    return least if least == most else fresh_count(c, most, least)


@tf("Unique")
def unique(c: TensorFlowContext, x: Value) -> tuple[PartialTensor | Shape, ...]:
    """[n] -> the m distinct elements [m], in the order of their first occurrence, and an index [n] for each element."""
    shape = c.with_rank(x.shape, 1)
    distinct = distinct_slices(c, x, None, ordered=False)
    if distinct is None:
        count = _distinct_count(c, x, shape[0])
        return PartialTensor(x.dtype, Shape((count,)), None), shape
    return _distinct_parts(x, distinct, None)[:2]


@tf("UniqueWithCounts")
def unique_with_counts(c: TensorFlowContext, x: Value) -> tuple[PartialTensor | Shape, ...]:
    """As Unique, with the number of occurrences [m] of each distinct element."""
    distinct = distinct_slices(c, x, None, ordered=False) if x.shape.rank == 1 else None
    if distinct is None:
        size = c.num_elements(x.shape) if x.shape.dims is not None else c.fresh("size")
        count = Shape((_distinct_count(c, x, size),))
        return PartialTensor(x.dtype, count, None), x.shape, count
    return _distinct_parts(x, distinct, None)


def _distinct_parts(x: PartialTensor, distinct: Distinct, axis: int | None) -> tuple[PartialTensor, ...]:
    """The distinct slices along an axis, or elements of a vector, an index for each of all, and the counts."""
    dims = x.shape.require()
    at = axis or 0
    count = len(distinct.first)
    values = choose_slices(x, distinct.first, axis, Shape((*dims[:at], count, *dims[at + 1 :])))
    index = PartialTensor(None, Shape((dims[at],)), distinct.inverse)
    return values, index, PartialTensor(None, Shape((count,)), distinct.counts)


def _distinct_count(c: TensorFlowContext, x: PartialTensor, size: DimSize) -> DimSize:
    """The number of distinct elements of a tensor of `size` elements: at least 1, or 0 for a size of 0."""
    if isinstance(size, int) and size <= 1:
        return size
    if isinstance(x, Progression) and len(x.steps) == 1:
        return size if x.steps[0] else _count_of_equal(c, size)
    return fresh_count(c, size, 1 if c.prove_le(1, size) is True else 0)


def _count_of_equal(c: TensorFlowContext, size: DimSize) -> DimSize:
    """The number of distinct elements among `size` equal ones: 1, or 0 for a size of 0."""
    return 1 if c.prove_le(1, size) is True else c.fresh("count", 0, 1)


@tf("UniqueV2")
def unique_along_axis(c: TensorFlowContext, x: Value, axis: Value) -> tuple[PartialTensor | Shape, ...]:
    """[*P, n, *Q], axis [1] or [0] -> the distinct slices [*P, m, *Q], and an index [n] for each slice."""
    return _unique_slices(c, x, axis)[:2]


@tf("UniqueWithCountsV2")
def unique_along_axis_with_counts(c: TensorFlowContext, x: Value, axis: Value) -> tuple[PartialTensor | Shape, ...]:
    """As UniqueV2, with the number of occurrences [m] of each distinct slice."""
    return _unique_slices(c, x, axis)


def _unique_slices(c: TensorFlowContext, x: PartialTensor, axis: PartialTensor) -> tuple[PartialTensor | Shape, ...]:
    """The distinct slices, an index for each slice, and the counts."""
    named = known_ints(axis)
    if x.shape.rank == 1 and (named is None or named in ((), (0,), (-1,))):
        return unique_with_counts(c, x)
    if x.shape.dims is None or named is None:
        dims = None if x.shape.dims is None else [c.fresh_at_most(d, f"unique.{i}") for i, d in enumerate(x.shape.dims)]
        return Shape(dims), c.vector(c.fresh("index")), c.vector(c.fresh("count"))
    if len(named) > 1:
        c.fail("axis must have at most one element", named)
    if not named:
        c.fail("without an axis, the input must be a vector", x.shape)
    at = c.axis(named[0], len(x.shape))
    distinct = distinct_slices(c, x, at, ordered=False)
    if distinct is not None:
        return _distinct_parts(x, distinct, at)
    size = x.shape[at]
    count = _distinct_count(c, PartialTensor(x.dtype, x.shape, None), size)
    return c.replace_dim(x.shape, at, count), c.vector(size), c.vector(count)


@tf("ListDiff")
def list_difference(c: TensorFlowContext, x: Value, y: Value) -> tuple[PartialTensor, ...]:
    """[n], [m] -> the k elements [k] of the first vector that are not in the second one, and their indices [k]."""
    size = c.with_rank(x.shape, 1)[0]
    c.with_rank(y.shape, 1)
    remaining = difference(c, x, y)
    if remaining is None:
        rest = Shape((_difference_count(c, x, y, size),))
        return PartialTensor(x.dtype, rest, None), PartialTensor(None, rest, None)
    vector = Shape((len(remaining),))
    return choose_slices(x, remaining, 0, vector), PartialTensor(None, vector, remaining)


def _difference_count(c: TensorFlowContext, x: PartialTensor, y: PartialTensor, size: DimSize) -> DimSize:
    """The number of remaining elements: all of them if none is removed."""
    if y.shape.dims == (0,):
        return size
    return 0 if size == 0 else fresh_count(c, size)


# -- partitions --------------------------------------------------------------------------------------------------------


@tf("DynamicPartition")
def dynamic_partition(
    c: TensorFlowContext, data: Value, partitions: Value, *, num_partitions: int
) -> tuple[PartialTensor, ...]:
    """[*I, *D], numbers of partitions [*I] -> [n, *D]... for each partition."""
    c.merge_prefix(data.shape, partitions.shape)
    if data.shape.dims is None or partitions.shape.dims is None:
        return (PartialTensor(data.dtype, Shape.unknown(), None),) * c.num_outputs
    data_shape, lead = data.shape, len(partitions.shape.dims)
    rest = data_shape[lead:]
    numbers = known_ints(partitions)
    if numbers is not None:
        if any(not 0 <= n < num_partitions for n in numbers):
            c.fail(f"partitions must lie in [0, {num_partitions})", list(numbers))
        return tuple(_partition(data, rest, numbers, i) for i in range(c.num_outputs))
    most = c.numel(partitions.shape)
    if num_partitions == 1:
        return (PartialTensor(data.dtype, Shape((most, *rest)), None),)
    counts = (c.fresh_at_most(most, f"partition.{i}") for i in range(c.num_outputs))
    return tuple(PartialTensor(data.dtype, Shape((count, *rest)), None) for count in counts)


def _partition(data: PartialTensor, rest: Sequence[DimSize], numbers: Sequence[int], number: int) -> PartialTensor:
    """The slices of the data in partition `number`."""
    chosen = [i for i, n in enumerate(numbers) if n == number]
    shape = Shape((len(chosen), *rest))
    array = element_array(data)
    if array is None or not is_listable(shape):
        return PartialTensor(data.dtype, shape, None)
    sizes = [d for d in rest if isinstance(d, int)]
    rows = array.reshape([len(numbers), *sizes])[chosen]
    return PartialTensor(data.dtype, shape, rows.reshape(-1).tolist())


@tf("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(c: TensorFlowContext, *inputs: Value) -> PartialTensor:
    """[*I]..., [*I, *D]... -> [n, *D], where n - 1 is the largest index."""
    count = len(inputs) // 2
    indices, data = inputs[:count], inputs[count:]
    if not count or len(data) != count:
        c.fail("requires the same number of index tensors and data tensors")
    rest = c.unknown_shape()
    for index, values in zip(indices, data, strict=True):
        if index.shape.dims is None:
            continue
        c.merge_prefix(values.shape, index.shape)
        if values.shape.dims is not None:
            rest = c.merge(rest, Shape(values.shape[len(index.shape.dims) :]))
    numbers = [known_ints(index) for index in indices]
    if any(n < 0 for known in numbers for n in known or ()):
        c.fail("indices must be at least 0")
    size = _stitched_size(c, indices, numbers)
    if rest.dims is None:
        raise c.unknowable("the rank of the data is unknown")
    shape = Shape((size, *rest.dims))
    if any(n is None for n in numbers) or not is_listable(shape):
        return PartialTensor(data[0].dtype, shape, None)
    return _stitch(shape, [n for n in numbers if n is not None], data)


def _stitched_size(c: TensorFlowContext, indices: Sequence[PartialTensor], numbers: Sequence[object]) -> DimSize:
    """One more than the largest index; 0 if there are no indices."""
    highs: list[DimSize] = []
    for index, known in zip(indices, numbers, strict=True):
        if known == ():
            continue
        largest = extremes(c, index)[1] if index.contents is not None else []
        if not largest or (index.elements is not None and any(e is None for e in index.elements)):
            return c.fresh("stitched")
        highs += largest
    return c.store.canon(maximum(*highs) + 1) if highs else 0


def _stitch(shape: Shape, numbers: Sequence[Sequence[int]], data: Sequence[PartialTensor]) -> PartialTensor:
    """The rows of the data at their indices; the last of several wins, and rows without an index are unknown."""
    import numpy as np

    sizes = [d for d in shape if isinstance(d, int)]
    result = np.full(sizes, None, dtype=object)
    for index, values in zip(numbers, data, strict=True):
        array = element_array(values)
        rows: Elements | list[None] = [None] * len(index) if array is None else array.reshape([len(index), *sizes[1:]])
        for at, row in zip(index, rows, strict=True):
            result[at] = row
    if all(element is None for element in result.reshape(-1)):
        return PartialTensor(data[0].dtype, shape, None)
    return PartialTensor(data[0].dtype, shape, result.reshape(-1).tolist())


@tf("EditDistance")
def edit_distance(
    c: TensorFlowContext,
    hypothesis_indices: Shape,
    hypothesis_values: Shape,
    hypothesis_shape: Value,
    truth_indices: Shape,
    truth_values: Shape,
    truth_shape: Value,
) -> Shape:
    """Two sparse tensors of sequences -> the larger of both dense shapes, without the last axis."""
    ours, theirs = (known_sizes(c, shape) for shape in (hypothesis_shape, truth_shape))
    lengths = [c.concrete(c.with_rank(shape.shape, 1)[0]) for shape in (hypothesis_shape, truth_shape)]
    if None not in lengths and lengths[0] != lengths[1]:
        c.fail("Num elements of hypothesis_shape does not match truth_shape", *lengths)
    length = next((n for n in lengths if n is not None), None)
    if not length or length > MAX_DIMENSIONS:
        return c.unknown_shape()
    pairs = zip(*((sizes or [None] * length)[:-1] for sizes in (ours, theirs)), strict=True)
    return Shape(c.unknown_dim() if a is None or b is None else maximum(a, b) for a, b in pairs)
