"""Lookups, scattering, and tensors that are built from indices."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor, zero_of
from opdefs.rules.contents.elements import is_listable, known_dims, known_ints
from opdefs.rules.contents.rearrangement import index_array, take_batches
from opdefs.rules.contents.updates import update_rule
from opdefs.rules.gathering import (
    constrain_index_tuples,
    constrain_indices,
    one_hot_tensor,
    pick_tuples,
    scatter_tuples,
    take_axis,
)
from opdefs.rules.operands import require_elements, require_single, require_vector
from opdefs.rules.requested import scalar_size_or_fresh
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import axis_of, require_rank_between, scalar_value
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


@tflite("GATHER")
def gather(c: TensorFlowContext, x: Value, indices: Value, *, axis: int = 0, batch_dims: int = 0) -> PartialTensor:
    """[*B, *P, n, *Q], [*B, *I] -> [*B, *P, *I, *Q], for `batch_dims` axes B and the axis of n."""
    at, count = axis_of(c, axis, len(x.shape)), len(indices.shape)
    batch = batch_dims + count if batch_dims < 0 else batch_dims
    if not 0 <= batch <= min(at, count):
        c.fail("batch_dims must be at most the axis and the rank of the indices", batch_dims, axis)
    constrain_indices(c, indices, x.shape[at], from_end=False)
    if not batch:
        return take_axis(x, indices, at)
    pairs = zip(x.shape[:batch], indices.shape[:batch], strict=True)
    merged = [c.merge(a, b, "the batch axes must be equal") for a, b in pairs]
    shape = Shape((*merged, *x.shape[batch:at], *indices.shape[batch:], *x.shape[at + 1 :]))
    known = None if x.elements is None else known_ints(indices)
    if known is None:
        return PartialTensor(x.dtype, shape, None)
    return take_batches(x, index_array(indices, known), at, batch, shape)


@tflite("GATHER_ND")
def gather_nd(c: TensorFlowContext, x: Value, indices: Value) -> PartialTensor:
    """[*D], [*I, k] -> [*I, *D[k:]]."""
    for operand, name in ((x, "params"), (indices, "indices")):
        require_rank_between(c, operand.shape, 1, name=name)
    depth = c.concrete(indices.shape[-1])
    if depth is None:
        raise c.unknowable("the length of an index (the last axis of `indices`) is unknown")
    if depth > len(x.shape):
        c.fail("an index must be at most as long as the rank of params", indices.shape, x.shape)
    constrain_index_tuples(c, indices, x.shape[:depth], from_end=False)
    return pick_tuples(x, indices, depth)


@tflite("SCATTER_ND")
def scatter_nd(c: TensorFlowContext, indices: Value, updates: Value, shape: Value) -> PartialTensor:
    """[*I, k], [*I, *D[k:]], shape [R] -> [*D], the requested shape: updates added to zeros."""
    for operand, name in ((indices, "indices"), (updates, "updates")):
        require_rank_between(c, operand.shape, 1, name=name)
    result = shape_from_sizes(c, shape, "shape")
    outer, depth = len(indices.shape) - 1, c.concrete(indices.shape[-1])
    if depth is None or result.dims is None:
        return PartialTensor(updates.dtype, result, None)
    if depth > len(result) or len(updates.shape) != outer + len(result) - depth:
        c.fail("updates must have the rank of the indexed slices", updates.shape, indices.shape, result)
    wanted = Shape((*indices.shape[:-1], *result[depth:]))
    c.merge(updates.shape, wanted, "updates must have the shape of the indexed slices")
    constrain_index_tuples(c, indices, result[:depth], from_end=False)
    if not depth:
        return PartialTensor(updates.dtype, result, None)
    zeros = constant_tensor(updates.dtype, result, zero_of(updates.dtype))
    if zeros.elements is None:
        return PartialTensor(updates.dtype, result, None)
    return scatter_tuples(zeros, indices, updates, update_rule(c, updates.dtype, "add"))


@tflite("ONE_HOT")
def one_hot(
    c: TensorFlowContext, indices: Value, depth: Value, on_value: Value, off_value: Value, *, axis: int = 0
) -> PartialTensor:
    """[*P, *Q], depth [], [], [] -> [*P, depth, *Q]: on at each index, off elsewhere; axis -1 is the last one."""
    rank = len(indices.shape)
    at = rank if axis == -1 else axis
    if not 0 <= at <= rank:
        c.fail("axis must be -1, or an axis of the output", axis)
    for value, name in ((depth, "depth"), (on_value, "on_value"), (off_value, "off_value")):
        scalar_value(c, value, name)
    known = known_dims(depth)
    if known and isinstance(known[0], int) and known[0] < 0:
        c.fail("depth must be at least 0", known[0])
    size = scalar_size_or_fresh(c, depth, "depth")
    shape = Shape((*indices.shape[:at], size, *indices.shape[at:]))
    hot = known_ints(indices)
    if hot is None or not is_listable(shape) or on_value.elements is None or off_value.elements is None:
        return PartialTensor(on_value.dtype, shape, None)
    return one_hot_tensor(on_value.dtype, shape, at, hot, on_value.elements[0], off_value.elements[0])


@tflite("SPARSE_TO_DENSE")
def sparse_to_dense(c: TensorFlowContext, indices: Shape, shape: Value, values: Shape, default: Shape) -> Shape:
    """[N, R] or [N] or [], sizes [R], [N] or [], [] -> [*sizes]."""
    require_rank_between(c, indices, 0, 2, "indices")
    require_rank_between(c, values, 0, 1, "values")
    require_single(c, default, "the default must have exactly one element")
    count: DimSize = indices[0] if len(indices) else 1
    axes = c.require_rank(shape.shape, 1, "the output shape")[0]
    if len(indices) == 2:
        c.merge(indices[1], axes, "an index must have one value for each axis of the output")
    else:
        c.merge(axes, 1, "the output must be a vector")
    if len(values):
        c.merge(values[0], count, "values must be as many as indices")
    return shape_from_sizes(c, shape, "shape")


@tflite("EMBEDDING_LOOKUP")
def embedding_lookup(c: TensorFlowContext, ids: Value, table: Value) -> PartialTensor:
    """[N], [V, *S] -> [N, *S], for a table of rank 2 or more."""
    c.require_rank(ids.shape, 1, "the ids")
    require_rank_between(c, table.shape, 2, name="the table")
    constrain_indices(c, ids, table.shape[0], from_end=False)
    return PartialTensor(None, take_axis(PartialTensor(table.dtype, table.shape, None), ids, 0).shape, None)


@tflite("HASHTABLE_LOOKUP")
def hashtable_lookup(c: TensorFlowContext, ids: Shape, keys: Shape, values: Shape) -> tuple[Shape, Shape]:
    """[N], keys [K], values [K, *S] -> [N, *S], and whether each is found [N]."""
    count = c.require_rank(ids, 1, "the ids")
    require_rank_between(c, values, 1, name="the values")
    c.merge(c.require_rank(keys, 1, "the keys")[0], values[0], "keys and values must be as many")
    return Shape((*count, *values[1:])), count


@tflite("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(
    c: TensorFlowContext, ids: Shape, indices: Shape, sizes: Value, weights: Shape, table: Shape
) -> Shape:
    """Ids [N], indices [N, R], sizes [R], weights [N], a table [V, *S] -> [*sizes without the last one, *S]."""
    count = c.require_rank(ids, 1, "the ids")[0]
    rows, depth = c.require_rank(indices, 2, "the indices")
    c.merge(rows, count, "each id must have an index")
    c.merge(c.require_rank(weights, 1, "the weights")[0], count, "each id must have a weight")
    require_rank_between(c, table, 2, name="the table")
    c.merge(c.require_rank(sizes.shape, 1, "the sizes")[0], depth, "an index must have one value for each axis")
    lead = shape_from_sizes(c, sizes, "sizes")
    return Shape((*lead[:-1], *table[1:]))


MAX_BITS = 32


@tflite("LSH_PROJECTION")
def lsh_projection(
    c: TensorFlowContext, hashes: Shape, x: Shape, weights: Shape | None = None, *, type: str = "UNKNOWN"
) -> Shape:
    """[H, bits], [N, *S], [N] -> [H] if sparse, else [H * bits]."""
    count, bits = c.require_rank(hashes, 2, "the hashes")
    c.at_most(bits, MAX_BITS, "a hash must have 32 bits at most")
    require_elements(c, [require_rank_between(c, x, 1)[0]], "the input must have items")
    require_vector(c, weights, x[0], "each item must have a weight")
    if type not in ("SPARSE", "DENSE"):
        c.fail("the type must be SPARSE or DENSE", type)
    return Shape((count if type == "SPARSE" else count * bits,))


@tflite("SKIP_GRAM")
def skip_gram(c: TensorFlowContext, text: Shape) -> Shape:
    """A text [] -> its word sequences [n]."""
    return Shape((c.fresh("count"),))
