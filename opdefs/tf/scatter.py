"""Scattering: updates of slices at indices, in new tensors, copies, references and variables."""

from __future__ import annotations

from opdefs.rules.contents.constants import constant_tensor, zero_of
from opdefs.rules.contents.updates import update_rule
from opdefs.rules.gathering import constrain_index_tuples, constrain_indices, infer_index_length, scatter_tuples
from opdefs.rules.reshaping import shape_from_sizes
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.gather import IGNORES
from opdefs.tf.shapes import variable
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import Value
from shapeinf.ops.context import tf_shape


@tf("ScatterNd")
def scatter_nd(
    c: TensorFlowContext, indices: Value, updates: Value, shape: Value, *, bad_indices_policy: str = ""
) -> PartialTensor:
    """[*I, k], [*I, *D[k:]], shape [R] -> [*D], the requested shape: updates added to zeros."""
    c.with_rank(shape.shape, 1)
    result = shape_from_sizes(c, shape, "shape")
    if result.dims is None:
        result = _infer_rank(c, indices.shape, updates.shape, shape.shape[0])
    _check_updates(c, indices.shape, updates.shape, result, "output")
    if bad_indices_policy == IGNORES or result.dims is None:
        return PartialTensor(updates.dtype, result, None)
    _constrain_tuples(c, indices, result)
    zeros = constant_tensor(updates.dtype, result, zero_of(updates.dtype))
    return _update(c, zeros, result, indices, updates, "add")


def _infer_rank(c: TensorFlowContext, indices: Shape, updates: Shape, length: DimSize) -> Shape:
    """[*I, k], [*I, *D[k:]] and the length of the shape, which must be that of [*D] -> a shape of the rank of [*D]."""
    depth = c.concrete(indices.dims[-1]) if indices.dims else None
    if depth is None or indices.dims is None or updates.dims is None or len(updates) < len(indices) - 1:
        return c.unknown_shape()
    rank = depth + len(updates) - (len(indices) - 1)
    c.merge(length, rank, "the shape must have as many axes as indices and updates have together")
    return c.unknown_shape_of_rank(rank)


@tf("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", in_place=(0,))
@tf("TensorScatterMin", "ScatterNdNonAliasingAdd", in_place=(0,))
def tensor_scatter_update(
    c: TensorFlowContext, x: Value, indices: Value, updates: Value, *, bad_indices_policy: str = ""
) -> PartialTensor:
    """[*D], [*I, k], [*I, *D[k:]] -> [*D]."""
    shape = _scatter_shape(c, x.shape, indices, updates.shape, bad_indices_policy)
    reduction = c.op_def.name.removeprefix("TensorScatter").removeprefix("ScatterNdNonAliasing").lower()
    if bad_indices_policy == IGNORES:
        return PartialTensor(x.dtype, shape, None)
    return _update(c, x, shape, indices, updates, "none" if reduction == "update" else reduction)


def _update(
    c: TensorFlowContext, x: PartialTensor, shape: Shape, indices: PartialTensor, updates: PartialTensor, reduction: str
) -> PartialTensor:
    """The updated tensor, of `shape`; contents where all are known, and the indices are not empty tuples."""
    depth = indices.shape.dims[-1] if indices.shape.dims else None
    if not isinstance(depth, int) or not depth or x.elements is None:
        return PartialTensor(x.dtype, shape, None)
    return scatter_tuples(x, indices, updates, update_rule(c, x.dtype, reduction))


@tf("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", in_place=(0,))
@tf("ScatterNdMax", "ScatterNdMin", in_place=(0,))
def tensor_scatter(
    c: TensorFlowContext, x: Shape, indices: Value, updates: Shape, *, bad_indices_policy: str = ""
) -> Shape:
    """[*D], [*I, k], [*I, *D[k:]] -> [*D]."""
    return _scatter_shape(c, x, indices, updates, bad_indices_policy)


@tf("ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub")
@tf("ResourceScatterNdMax", "ResourceScatterNdMin")
def resource_scatter_nd(
    c: TensorFlowContext, ref: TensorType, indices: Value, updates: Shape, *, bad_indices_policy: str = ""
) -> tuple[Shape, ...]:
    """A variable [*D], [*I, k], [*I, *D[k:]] -> no outputs."""
    _scatter_shape(c, variable(c, ref).shape, indices, updates, bad_indices_policy)
    return ()


def _scatter_shape(c: TensorFlowContext, x: Shape, indices: PartialTensor, updates: Shape, policy: str) -> Shape:
    """[*D], [*I, k], [*I, *D[k:]] -> [*D]."""
    shape = c.with_rank_at_least(x, 1)
    c.with_rank_at_least(indices.shape, 1)
    c.with_rank_at_least(updates, 1)
    empty = shape.dims is not None and 0 in shape.dims
    if empty and all(c.interval(c.num_elements(s)).lo not in (None, 0) for s in (indices.shape, updates)):
        c.fail("Indices and updates specified for empty input", shape)
    _check_updates(c, indices.shape, updates, shape, "input")
    if policy != IGNORES:
        _constrain_tuples(c, indices, shape)
    return shape


def _check_updates(c: TensorFlowContext, indices: Shape, updates: Shape, x: Shape, name: str) -> None:
    """Require updates [*I, *D[k:]] for indices [*I, k] and data [*D], which errors call `name`."""
    if indices.dims is None or updates.dims is None:
        return
    c.with_rank_at_least(indices, 1)
    outer = len(indices.dims) - 1
    updated = c.with_rank_at_least(updates, outer).require()
    try:
        c.merge(Shape(updated[:outer]), Shape(indices.dims[:-1]))
    except ShapeError as error:
        sides = _dims_of("indices", indices, 0, outer), _dims_of("updates", updates, 0, outer)
        raise ShapeError("Dimensions {} must match dimensions {}".format(*sides), because=error.because) from None
    depth = infer_index_length(c, x, indices, updates)
    if depth is None or x.dims is None:
        return
    try:
        c.merge(Shape(x.dims[depth:]), Shape(updated[outer:]))
    except ShapeError as error:
        sides = _dims_of(name, x, depth, len(x.dims)), _dims_of("updates", updates, outer, len(updated))
        raise ShapeError("Dimensions {} must match dimensions {}".format(*sides), because=error.because) from None


def _dims_of(name: str, shape: Shape, start: int, end: int) -> str:
    """The dims start..end of an operand in TensorFlow's text."""
    return f"[{start},{end}) of {name}[shape={tf_shape(shape)}] = {tf_shape(Shape(shape[start:end]))}"


def _constrain_tuples(c: TensorFlowContext, indices: PartialTensor, x: Shape) -> None:
    """Require that known tuples of indices lie inside the data."""
    depth = indices.shape.dims[-1] if indices.shape.dims else None
    if isinstance(depth, int) and x.dims is not None and depth <= len(x.dims):
        constrain_index_tuples(c, indices, x.dims[:depth], from_end=False)


@tf("ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", in_place=(0,))
@tf("ScatterMin", "ScatterMax", in_place=(0,))
def scatter_rows(c: TensorFlowContext, ref: Shape, indices: Value, updates: Shape) -> Shape:
    """[n, *D], [*I], [*I, *D] or [] -> [n, *D]."""
    _check_rows(c, ref, indices, updates)
    return ref


@tf("ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul")
@tf("ResourceScatterDiv", "ResourceScatterMin", "ResourceScatterMax")
def resource_scatter_rows(c: TensorFlowContext, ref: TensorType, indices: Value, updates: Shape) -> tuple[Shape, ...]:
    """A variable [n, *D], [*I], [*I, *D] or [] -> no outputs."""
    _check_rows(c, variable(c, ref).shape, indices, updates)
    return ()


def _check_rows(c: TensorFlowContext, x: Shape, indices: PartialTensor, updates: Shape) -> None:
    """Require updates [*I, *D] or [] for data [n, *D] and indices [*I] inside it."""
    if x.dims is None:
        return
    rows = c.with_rank_at_least(x, 1).require()
    constrain_indices(c, indices, rows[0], from_end=False)
    if indices.shape.dims is not None and updates.dims != ():
        c.merge(updates, Shape((*indices.shape.dims, *rows[1:])))


@tf("InplaceUpdate", "InplaceAdd", "InplaceSub", in_place=(0,))
def update_rows(c: TensorFlowContext, x: Shape, i: Shape, v: Shape) -> Shape:
    """[n, *D], [*], [*, *D] -> [n, *D]."""
    return x
