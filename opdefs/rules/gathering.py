"""Gathering and scattering."""

from __future__ import annotations

from typing import Any

import numpy as np

from opdefs.rules.elements import Elements, elements_of, fits, known_ints, moved
from opdefs.rules.progressions import ends
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

INSIDE = "indices must lie inside of the axis that they pick from"


def _known(indices: Value) -> tuple[int, ...] | None:
    """The indices, where they are known and may be any."""
    return known_ints(indices) if indices.dtype is None or "int" in indices.dtype else None


def gather(c: InferenceContext, x: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """The axes of `indices` in place of one axis of the data."""
    at = c.axis(axis, len(x.shape))
    shape = Shape((*x.shape[:at], *indices.shape, *x.shape[at + 1 :]))
    known = _known(indices)
    tell_inside(c, indices, x.shape[at])
    if known is None or x.elements is None or not fits(shape):
        return PartialTensor(x.dtype, shape, None)
    if len(x.shape) == 1:
        return PartialTensor(x.dtype, shape, [x.elements[i] for i in known])
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    return moved(x, shape, lambda array: np.take(array, index, axis=at))


def gather_elements(c: InferenceContext, x: Shape, indices: Value, *, axis: int = 0) -> Shape:
    """The shape of the indices."""
    shape = c.require_rank(indices.shape, len(x), "indices")
    at = c.axis(axis, len(x))
    tell_within(c, shape, x, at)
    tell_inside(c, indices, x[at])
    return shape


def tell_within(c: InferenceContext, indices: Shape, x: Shape, axis: int) -> None:
    """Tell that indices along an axis reach no further than the data along the others: there they are places."""
    for i, (places, size) in enumerate(zip(indices, x, strict=True)):
        if i != axis:
            c.at_most(places, size, f"along axis {i} there must not be more indices than data")


def gather_nd(c: InferenceContext, x: Value, indices: Value, *, batch_dims: int = 0) -> PartialTensor:
    """[*B, *I, k] indices into [*B, *D] data -> [*B, *I, *D[k:]]."""
    if indices.shape.dims == ():
        c.fail("indices must have an axis, along which an index lies", indices.shape)
    depth = c.concrete(indices.shape[-1])
    if depth is None:
        raise c.unknowable("the length of an index (the last axis of `indices`) is not known")
    if not 0 <= batch_dims < min(len(x.shape), len(indices.shape)):
        c.fail("batch_dims must be less than both ranks", batch_dims, x.shape, indices.shape)
    if batch_dims + depth > len(x.shape):
        c.fail("an index is longer than the data's rank", x.shape, indices.shape)
    for i in range(batch_dims):
        c.merge(x.shape[i], indices.shape[i], f"batch axis {i} of data and indices must be equal")
    shape = Shape((*indices.shape[:-1], *x.shape[batch_dims + depth :]))
    known = _known(indices)
    tell_all_inside(c, indices, x.shape[batch_dims : batch_dims + depth])
    if known is None or batch_dims or x.elements is None or not fits(shape):
        return PartialTensor(x.dtype, shape, None)
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    return moved(x, shape, lambda array: _at(array, index))


def _at(array: Elements, index: Any) -> Any:
    return array[tuple(np.moveaxis(index, -1, 0))]


def scatter_nd(
    c: InferenceContext, x: Value, indices: Value, updates: Value, *, reduction: str = "none"
) -> PartialTensor:
    """The shape of the data; contents where all three are known and nothing is reduced."""
    tell_updates(c, x.shape, indices.shape, updates.shape)
    known, new = _known(indices), elements_of(updates)
    depth = indices.shape.dims[-1] if indices.shape.dims else 0
    unusual = reduction != "none" or c.warnings or depth == 0
    if isinstance(depth, int) and x.shape.dims is not None and not c.warnings:
        tell_all_inside(c, indices, x.shape[:depth])
    if known is None or new is None or x.elements is None or unusual or not isinstance(depth, int):
        return PartialTensor(x.dtype, x.shape, None)
    index = np.array(known, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])

    def scattered(array: Elements) -> Elements:
        result = array.copy()
        result[tuple(np.moveaxis(index, -1, 0))] = new if new.ndim else new.item()
        return result

    return moved(x, x.shape, scattered)


def tell_updates(c: InferenceContext, x: Shape, indices: Shape, updates: Shape) -> None:
    """[*I, k] indices into [*D] data take updates of shape [*I, *D[k:]]."""
    if indices.dims == ():
        c.fail("indices must have an axis, along which an index lies", indices)
    depth = None if x.dims is None or indices.dims is None else c.concrete(indices[-1])
    if depth is None:
        return
    if depth > len(x):
        c.fail("an index is longer than the data's rank", x, indices)
    c.expect(Shape((*indices[:-1], *x[depth:])), updates, "an update must have the shape of what an index picks")


def tell_inside(c: InferenceContext, indices: PartialTensor, size: Dim) -> None:
    """Tell that indices lie in an axis, negative ones from its end: those that are known, or the ends of all."""
    elements = indices.elements
    if elements is not None and len(elements) == 1 and isinstance(size, int):
        (only,) = elements
        if type(only) is int and -size <= only < size:  # most of all: an element of a shape
            return
    if indices.contents is not None:
        _tell_ends(c, ends(c, indices), size)
    elif c.store.bounds(size)[0] < 1:
        _tell_there(c, indices.shape, size)


def _tell_there(c: InferenceContext, indices: Shape, size: Dim) -> None:
    """Tell that there is an element to pick where there is an index."""
    if indices.dims is not None and c.store.bounds(c.numel(indices))[0] >= 1:
        c.at_least(size, 1, INSIDE)


def tell_all_inside(c: InferenceContext, indices: PartialTensor, sizes: tuple[Dim, ...]) -> None:
    """Tell that the places that the last axis of `indices` holds lie in as many axes."""
    if len(sizes) == 1:
        tell_inside(c, indices, sizes[0])
        return
    elements = indices.elements or ()
    for place, size in enumerate(sizes):
        part = elements[place :: len(sizes)]
        _tell_ends(c, ends(c, PartialTensor(indices.dtype, Shape((len(part),)), part)), size)


def _tell_ends(c: InferenceContext, found: tuple[list[Dim], list[Dim]], size: Dim) -> None:
    lows, highs = found
    if isinstance(size, int):
        for index in (*lows, *highs):
            if isinstance(index, int) and not -size <= index < size:
                c.fail(f"indices must lie in [-{size}, {size})", index)
    for index in highs:
        c.at_most(index, size - 1, INSIDE)
    for index in lows:
        if c.prove_le(0, index) is not True:
            c.at_least(index, -size, INSIDE)


def scatter_elements(
    c: InferenceContext, x: Value, indices: Value, updates: Value, *, axis: int = 0, reduction: str = "none"
) -> PartialTensor:
    """The shape of the data; contents where all three are known and nothing is reduced."""
    c.merge(indices.shape, updates.shape, "indices and updates must be of equal shape")
    if x.shape.dims is None or indices.shape.dims is None:
        return PartialTensor(x.dtype, x.shape, None)
    at = c.axis(axis, c.same_rank(x.shape, indices.shape))
    tell_within(c, indices.shape, x.shape, at)
    known, new = _known(indices), elements_of(updates)
    tell_inside(c, indices, x.shape[at])
    if known is None or new is None or reduction != "none":
        return PartialTensor(x.dtype, x.shape, None)
    index = np.array(known, dtype=np.int64).reshape(new.shape)

    def scattered(array: Elements) -> Elements:
        result = array.copy()
        np.put_along_axis(result, index, new, at)
        return result

    return moved(x, x.shape, scattered)
