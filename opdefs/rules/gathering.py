"""Gathering and scattering: slices and elements at indices, and the range of these."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import Array, Elements, element_array, is_listable, known_ints, move_elements
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import extremes
from opdefs.rules.contents.rearrangement import index_array, pick_batches, take_along_axis
from opdefs.rules.contents.updates import Combine, replace_element, update_elements, update_rule
from shapeinf.expr import DimSize
from shapeinf.lattice import ChosenIndices, Element, IndexTuples, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

INDEX_RANGE = "indices must lie inside the indexed axis"


def _known_indices(indices: Value) -> tuple[int, ...] | None:
    """The indices; None where they are unknown or not integers."""
    return known_ints(indices) if indices.dtype is None or "int" in indices.dtype else None


def gather(c: InferenceContext, x: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """[*P, n, *Q] data, [*I] indices -> [*P, *I, *Q]: the indices replace axis `axis`, counted from either end."""
    at = c.axis(axis, len(x.shape))
    constrain_indices(c, indices, x.shape[at])
    return take_axis(x, indices, at)


def take_axis(x: PartialTensor, indices: PartialTensor, at: int) -> PartialTensor:
    """[*P, n, *Q] data, [*I] indices inside axis `at` -> [*P, *I, *Q]. Adds no constraint."""
    dims = x.shape.require()
    shape = Shape((*dims[:at], *indices.shape, *dims[at + 1 :]))
    elements = x.elements
    known = None if elements is None else _known_indices(indices)
    if elements is None or known is None or not is_listable(shape):
        return x.rearranged(shape)
    if len(dims) == 1:
        return PartialTensor(x.dtype, shape, [elements[i] for i in known])
    index = index_array(indices, known)
    return move_elements(x, shape, lambda array: array.take(index, axis=at))


def gather_elements(c: InferenceContext, x: Value, indices: Value, *, axis: int = 0) -> PartialTensor:
    """[*D] data, [*I] indices of the same rank -> [*I]: an element of the data for each index along `axis`."""
    shape = c.require_rank(indices.shape, len(x.shape), "indices")
    at = c.axis(axis, len(x.shape))
    constrain_index_shape(c, shape, x.shape, at)
    constrain_indices(c, indices, x.shape[at])
    return pick_elements(x, indices, at)


def pick_elements(x: PartialTensor, indices: PartialTensor, axis: int) -> PartialTensor:
    """[*D] data, [*I] indices inside an axis -> [*I]. Adds no constraint."""
    known = None if x.elements is None else _known_indices(indices)
    if known is None:
        return x.rearranged(indices.shape)
    return take_along_axis(x, index_array(indices, known), axis, indices.shape)


INDEX_LENGTH = "the length of an index must be at most the rank of the data"
UPDATES = "updates must have the shape of the indexed slices"


def constrain_index_shape(c: InferenceContext, indices: Shape, x: Shape, axis: int) -> None:
    """Require that `indices` is at most as large as the data along all axes except `axis`."""
    for i, (count, size) in enumerate(zip(indices, x, strict=True)):
        if i != axis:
            c.at_most(count, size, f"along axis {i}, indices must not be larger than the data")


def gather_nd(c: InferenceContext, x: Value, indices: Value, *, batch_dims: int = 0) -> PartialTensor:
    """[*B, *I, k] indices into [*B, *D] data -> [*B, *I, *D[k:]]."""
    if indices.shape.dims == ():
        c.fail("indices must have rank 1 or more", indices.shape)
    depth = c.concrete(indices.shape[-1])
    if not 0 <= batch_dims < min(len(x.shape), len(indices.shape)):
        c.fail("batch_dims must be less than both ranks", batch_dims, x.shape, indices.shape)
    if depth is None:
        c.at_most(indices.shape[-1], len(x.shape) - batch_dims, INDEX_LENGTH)
        raise c.unknowable("the length of an index (the last axis of `indices`) is unknown")
    if batch_dims + depth > len(x.shape):
        c.fail(INDEX_LENGTH, x.shape, indices.shape)
    for i in range(batch_dims):
        c.merge(x.shape[i], indices.shape[i], f"batch axis {i} of data and indices must be equal")
    constrain_index_tuples(c, indices, x.shape[batch_dims : batch_dims + depth])
    if not batch_dims:
        return pick_tuples(x, indices, depth)
    shape = Shape((*indices.shape[:-1], *x.shape[batch_dims + depth :]))
    known = None if x.elements is None or not depth else _known_indices(indices)
    if known is None:
        return PartialTensor(x.dtype, shape, None)
    return pick_batches(x, index_array(indices, known), batch_dims, shape)


def pick_tuples(x: PartialTensor, indices: PartialTensor, depth: int) -> PartialTensor:
    """[*D] data, [*I, depth] indices inside it -> [*I, *D[depth:]]. Adds no constraint."""
    shape = Shape((*indices.shape[:-1], *x.shape[depth:]))
    known = _known_indices(indices)
    if not depth or known is None or x.elements is None or not is_listable(shape):
        return PartialTensor(x.dtype, shape, None)
    index = index_array(indices, known)
    return move_elements(x, shape, lambda array: array[tuple(numpy_function("moveaxis")(index, -1, 0))])


def scatter_nd(
    c: InferenceContext, x: Value, indices: Value, updates: Value, *, reduction: str = "none"
) -> PartialTensor:
    """[*D] data, [*I, k] indices, [*I, *D[k:]] updates -> [*D]; contents where all three are known."""
    constrain_updates(c, x.shape, indices.shape, updates.shape)
    depth = indices.shape.dims[-1] if indices.shape.dims else 0
    unusual = c.warnings or depth == 0
    if isinstance(depth, int) and x.shape.dims is not None and not c.warnings:
        constrain_index_tuples(c, indices, x.shape[:depth])
    if unusual or not isinstance(depth, int):
        return PartialTensor(x.dtype, x.shape, None)
    return scatter_tuples(x, indices, updates, update_rule(c, x.dtype, reduction))


def scatter_tuples(
    x: PartialTensor, indices: PartialTensor, updates: PartialTensor, combine: Combine = replace_element
) -> PartialTensor:
    """[*D] data, [*I, k] indices inside it, [*I, *D[k:]] updates -> [*D]; contents where all three are known."""
    known, new = _known_indices(indices), element_array(updates)
    if known is None or new is None or x.elements is None:
        return PartialTensor(x.dtype, x.shape, None)
    index = index_array(indices, known)
    depth = index.shape[-1]

    def scatter(array: Elements) -> Elements:
        import numpy as np

        coordinates = np.moveaxis(index.reshape(-1, depth), -1, 0)
        positions = np.arange(array.size).reshape(array.shape)[tuple(coordinates)].reshape(-1).tolist()
        return update_elements(array, positions, new.reshape(-1).tolist(), combine)

    return move_elements(x, x.shape, scatter)


def constrain_updates(c: InferenceContext, x: Shape, indices: Shape, updates: Shape) -> None:
    """Require updates [*I, *D[k:]] for data [*D] and indices [*I, k]; a violation is a warning."""
    if indices.dims == ():
        c.fail("indices must have rank 1 or more", indices)
    depth = infer_index_length(c, x, indices, updates)
    if depth is not None:
        c.expect(Shape((*indices[:-1], *x[depth:])), updates, UPDATES)


def infer_index_length(c: InferenceContext, x: Shape, indices: Shape, updates: Shape) -> int | None:
    """The length k of each index in [*I, k], also as it follows from the rank of the updates [*I, *D[k:]].

    None where it is unknown, or a rank is. Raises ShapeError for a length above the rank of the data.
    """
    if x.dims is None or indices.dims is None:
        return None
    depth = c.concrete(indices[-1])
    if depth is None and updates.dims is not None:
        depth = len(indices) - 1 + len(x) - len(updates)
        c.expect(indices[-1], max(depth, 0), UPDATES)
    elif depth is None:
        c.at_most(indices[-1], len(x), INDEX_LENGTH)
    if depth is not None and depth > len(x):
        c.fail(INDEX_LENGTH, x, indices)
    return None if depth is None or depth < 0 else depth


def constrain_indices(c: InferenceContext, indices: PartialTensor, size: DimSize, *, from_end: bool = True) -> None:
    """Require that indices lie inside an axis: all that are known, or the extremes.

    Negative indices count from the end of the axis; without `from_end`, they are errors.
    """
    elements = indices.elements
    if elements is not None and len(elements) == 1 and isinstance(size, int):
        (only,) = elements
        if type(only) is int and (-size if from_end else 0) <= only < size:  # the usual case: an element of a shape
            return
    if isinstance(indices, ChosenIndices):
        _constrain_choice(c, indices, size)
    elif indices.contents is not None:
        _constrain_index_range(c, extremes(c, indices), size, from_end)
    elif c.store.bounds(size)[0] < 1:
        _require_nonempty(c, indices.shape, size)


def _constrain_choice(c: InferenceContext, indices: ChosenIndices, size: DimSize) -> None:
    """Require that indices that data chooses lie inside an axis, unless each index of the other axis does."""
    _require_nonempty(c, indices.shape, size)
    if indices.shape.dims is not None and c.store.bounds(c.numel(indices.shape))[1] == 0:
        return
    if indices.size is None or c.prove_le(indices.size, size) is not True:
        other = "" if indices.size is None else f" and below {indices.size}"
        c.store.add_disjunction(f"data chooses indices below {size}{other}", c.source(INDEX_RANGE))


def _require_nonempty(c: InferenceContext, indices: Shape, size: DimSize) -> None:
    """Require that an axis is not empty if there is an index into it."""
    if indices.dims is not None and c.store.bounds(c.numel(indices))[0] >= 1:
        c.at_least(size, 1, INDEX_RANGE)


def constrain_index_tuples(
    c: InferenceContext, indices: PartialTensor, sizes: tuple[DimSize, ...], *, from_end: bool = True
) -> None:
    """Require that tuples, the last axis of `indices`, lie inside axes of these sizes. See `constrain_indices`."""
    if len(sizes) == 1:
        constrain_indices(c, indices, sizes[0], from_end=from_end)
        return
    if isinstance(indices, IndexTuples):
        for positions, size in zip(indices.positions(), sizes, strict=True):
            _constrain_index_range(c, extremes(c, positions), size, from_end)
        return
    elements = indices.elements or ()
    for position, size in enumerate(sizes):
        part = elements[position :: len(sizes)]
        _constrain_index_range(c, extremes(c, PartialTensor(indices.dtype, Shape((len(part),)), part)), size, from_end)


def _constrain_index_range(
    c: InferenceContext, bounds: tuple[list[DimSize], list[DimSize]], size: DimSize, from_end: bool
) -> None:
    lows, highs = bounds
    lowest: DimSize = -size if from_end else 0
    if isinstance(size, int) and isinstance(lowest, int):
        for index in (*lows, *highs):
            if isinstance(index, int) and not lowest <= index < size:
                c.fail(f"indices must lie in [{lowest}, {size})", index)
    for index in highs:
        if isinstance(index, int) or not c.prove_within_limits(index, size - 1):
            c.at_most(index, size - 1, INDEX_RANGE)
    for index in lows:
        if c.prove_le(0, index) is not True:
            c.at_least(index, lowest, INDEX_RANGE)


def scatter_elements(
    c: InferenceContext, x: Value, indices: Value, updates: Value, *, axis: int = 0, reduction: str = "none"
) -> PartialTensor:
    """[*D] data, [*I] indices and updates of the same rank -> [*D]; contents where all are known."""
    c.merge(indices.shape, updates.shape, "indices and updates must have the same shape")
    if x.shape.dims is None or indices.shape.dims is None:
        return PartialTensor(x.dtype, x.shape, None)
    at = c.axis(axis, c.same_rank(x.shape, indices.shape))
    constrain_index_shape(c, indices.shape, x.shape, at)
    known, new = _known_indices(indices), element_array(updates)
    constrain_indices(c, indices, x.shape[at])
    if known is None or new is None:
        return PartialTensor(x.dtype, x.shape, None)
    return scatter_along_axis(x, index_array(indices, known), new, at, update_rule(c, x.dtype, reduction))


def scatter_along_axis(x: PartialTensor, index: Array, updates: Elements, axis: int, combine: Combine) -> PartialTensor:
    """[*D] data with updates at indices of an axis, both at most as large as the data."""

    def scatter(array: Elements) -> Elements:
        import numpy as np

        coordinates: list[Array] = list(np.indices(index.shape))
        coordinates[axis] = index
        positions = np.arange(array.size).reshape(array.shape)[tuple(coordinates)].reshape(-1).tolist()
        return update_elements(array, positions, updates.reshape(-1).tolist(), combine)

    return move_elements(x, x.shape, scatter)


def one_hot_tensor(
    dtype: str | None, shape: Shape, axis: int, indices: Sequence[int], on: Element, off: Element
) -> PartialTensor:
    """[*I] indices -> [*I[:axis], n, *I[axis:]], the `shape`: `on` at each index, `off` elsewhere."""
    import numpy as np

    sizes = [d for d in shape if isinstance(d, int)]
    index = np.array(indices, dtype=np.int64).reshape(sizes[:axis] + sizes[axis + 1 :])
    chosen = np.moveaxis(np.arange(sizes[axis]) == index[..., None], -1, axis)
    return PartialTensor(dtype, shape, [on if is_hot else off for is_hot in chosen.reshape(-1).tolist()])
