"""Gathering and scattering."""

from __future__ import annotations

import numpy as np

from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import fits, known_dims, known_ints
from opdefs.rules.gathering import gather, gather_elements, gather_nd, scatter_elements, scatter_nd
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

onnx("Gather")(gather)
onnx("GatherElements")(gather_elements)
onnx("GatherND")(gather_nd)
onnx("ScatterND", in_place=(0,))(scatter_nd)
onnx("Scatter", "ScatterElements", in_place=(0,))(scatter_elements)


@onnx("TensorScatter", in_place=(0,))
def tensor_scatter(
    c: InferenceContext, cache: Shape, update: Shape, places: Shape | None = None, *, axis: int = -2
) -> Shape:
    """The shape of the cache; an update differs from it along one axis only, where it must fit."""
    at = c.axis(axis, c.same_rank(cache, update))
    for i, (a, b) in enumerate(zip(cache, update, strict=True)):
        if i != at:
            c.merge(a, b, f"axis {i} of cache and update must be equal")
    c.at_most(update[at], cache[at], "an update must fit into the cache")
    if places is not None:
        c.merge(c.require_rank(places, 1, "write_indices")[0], cache[0], "write_indices must hold one value a sample")
    return cache


@onnx("ReverseSequence")
def reverse_sequence(c: InferenceContext, x: Shape, lengths: Shape, *, batch_axis: int = 1) -> Shape:
    """The shape of the data; one length a sample."""
    at = c.axis(batch_axis, len(x))
    c.merge(c.require_rank(lengths, 1, "sequence_lens")[0], x[at], "sequence_lens must hold one value a sample")
    return x


@onnx("OneHot")
def one_hot(c: InferenceContext, indices: Value, depth: Value, values: Value, *, axis: int = -1) -> PartialTensor:
    """An axis of size `depth` put in at `axis` of the output; [off, on] are the two elements of `values`."""
    at = c.axis(axis, len(indices.shape) + 1)
    known = known_dims(depth)
    size = known[0] if known else None
    if isinstance(size, int) and size < 0:
        c.fail("the depth must be at least 0", size)
    if c.version < 11 and any(i < 0 for i in known_ints(indices) or ()):
        c.fail("before opset 11 indices must be at least 0", known_ints(indices))
    if size is None or c.prove_le(0, size) is not True:
        size = c.fresh("depth")
    shape = Shape((*indices.shape[:at], size, *indices.shape[at:]))
    hot = known_ints(indices)
    if hot is None or values.elements is None or not isinstance(size, int) or not fits(shape):
        return PartialTensor(values.dtype, shape, None)
    off, on = values.elements
    index = np.array(hot, dtype=np.int64).reshape([d for d in indices.shape if isinstance(d, int)])
    places = np.arange(size)  # an index that is out of range is hot nowhere
    chosen = np.moveaxis((places == index[..., None]) | (places - size == index[..., None]), -1, at)
    return PartialTensor(values.dtype, shape, [on if one else off for one in chosen.reshape(-1).tolist()])
