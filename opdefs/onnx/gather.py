"""Gathering and scattering."""

from __future__ import annotations

from typing import Any

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import Elements, elements_of, fits, known_ints, moved
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@onnx("Gather")
def gather(c: InferenceContext, x: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """The axes of `indices` in place of one axis of the data."""
    at = c.axis(axis, len(x.shape))
    shape = Shape((*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))
    known = known_ints(indices)
    size = x.shape[at]
    if known is not None and isinstance(size, int) and any(not -size <= i < size for i in known):
        c.fail(f"indices must lie in [-{size}, {size})", known[:8])
    if known is None or x.elements is None:
        return PartialTensor(x.dtype, shape, None)
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    return moved(x, shape, lambda array: np.take(array, index, axis=at))


@onnx("GatherElements")
def gather_elements(c: InferenceContext, x: Shape, indices: Shape, *, axis: int = 0) -> Shape:
    """The shape of the indices."""
    c.same_rank(x, indices)
    return indices


@onnx("GatherND")
def gather_nd(c: InferenceContext, x: Value, indices: Value, *, batch_dims: int = 0) -> PartialTensor:
    """[*B, *I, k] indices into [*B, *D] data -> [*B, *I, *D[k:]]."""
    depth = c.concrete(indices.shape[-1])
    if depth is None:
        raise c.unknowable("the length of an index (the last axis of `indices`) is not known")
    if batch_dims + depth > len(x.shape):
        c.fail("an index is longer than the data's rank", x.shape, indices.shape)
    for i in range(batch_dims):
        c.merge(x.shape[i], indices.shape[i], f"batch axis {i} of data and indices must be equal")
    shape = Shape((*indices.shape[:-1], *x.shape[batch_dims + depth :]))
    known = known_ints(indices)
    if known is None or batch_dims or x.elements is None:
        return PartialTensor(x.dtype, shape, None)
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    return moved(x, shape, lambda array: _at(array, index))


def _at(array: Elements, index: Any) -> Any:
    return array[tuple(np.moveaxis(index, -1, 0))]


@onnx("ScatterND")
def scatter_nd(c: InferenceContext, x: Value, indices: Value, updates: Value) -> PartialTensor:
    """The shape of the data; contents where all three are known and nothing is reduced."""
    known, new = known_ints(indices), elements_of(updates)
    plain = c.attributes.get("reduction", "none") == "none"
    if known is None or new is None or not plain:
        return PartialTensor(x.dtype, x.shape, None)
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])

    def scattered(array: Elements) -> Elements:
        result = array.copy()
        result[tuple(np.moveaxis(index, -1, 0))] = new
        return result

    return moved(x, x.shape, scattered)


@onnx("Scatter", "ScatterElements", "ReverseSequence")
def same_as_data(c: InferenceContext, x: Shape, *others: Shape) -> Shape:
    """The shape of the data."""
    return x


@onnx("OneHot")
def one_hot(c: InferenceContext, indices: Value, depth: Value, values: Value, *, axis: int = -1) -> PartialTensor:
    """An axis of size `depth` put in at `axis` of the output; [off, on] are the two elements of `values`."""
    at = c.axis(axis, len(indices.shape) + 1)
    known = known_ints(depth)
    size = known[0] if known else c.fresh("depth")
    shape = Shape((*indices.shape[:at], size, *indices.shape[at:]))
    hot = known_ints(indices)
    if hot is None or values.elements is None or not isinstance(size, int) or not fits(shape):
        return PartialTensor(values.dtype, shape, None)
    off, on = values.elements
    index = np.array(hot, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    chosen = np.moveaxis(np.arange(size) == (index % size)[..., None], -1, at)
    return PartialTensor(values.dtype, shape, [on if one else off for one in chosen.reshape(-1).tolist()])
