"""Gathering and scattering."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import is_listable, known_dims, known_ints
from opdefs.rules.contents.rearrangement import reverse_parts
from opdefs.rules.gathering import gather, gather_elements, gather_nd, one_hot_tensor, scatter_elements, scatter_nd
from opdefs.rules.operands import require_single, require_vector
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value

onnx("Gather")(gather)
onnx("GatherElements")(gather_elements)
onnx("GatherND")(gather_nd)
onnx("ScatterND", in_place=(0,))(scatter_nd)
onnx("Scatter", "ScatterElements", in_place=(0,))(scatter_elements)


@onnx("TensorScatter", in_place=(0,))
def tensor_scatter(
    c: InferenceContext,
    cache: Shape,
    update: Shape,
    write_indices: Value | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Shape:
    """[*A, P, *B], an update [*A, S, *B] of at most P entries -> [*A, P, *B]."""
    at = c.axis(axis, c.same_rank(cache, update))
    for i, (a, b) in enumerate(zip(cache, update, strict=True)):
        if i != at:
            c.merge(a, b, f"axis {i} of past_cache and update must be equal")
    c.at_most(update[at], cache[at], "the update must be at most as long as past_cache")
    if write_indices is not None:
        require_vector(c, write_indices.shape, cache[0], "write_indices must have one value per sample")
    known = known_ints(write_indices)
    if known and mode == "linear":
        c.at_most(
            update[at] + max(known), cache[at], "the update must end inside past_cache at each of its write_indices"
        )
    return cache


@onnx("ReverseSequence")
def reverse_sequence(
    c: InferenceContext, x: Value, lengths: Value, *, batch_axis: int = 1, time_axis: int = 0
) -> PartialTensor:
    """[*S] -> [*S]; one length per sample, at most the size of the time axis."""
    batch, time = c.axis(batch_axis, len(x.shape)), c.axis(time_axis, len(x.shape))
    samples, steps = x.shape[batch], x.shape[time]
    require_vector(c, lengths.shape, samples, "sequence_lens must have one value per sample")
    known = known_ints(lengths)
    if known:
        c.at_most(max(known), steps, "sequence_lens must be at most the size of the time axis")
    if known is None or x.elements is None or any(length < 0 for length in known) or batch == time:
        return PartialTensor(x.dtype, x.shape, None)
    return reverse_parts(x, known, batch, time)


@onnx("OneHot")
def one_hot(c: InferenceContext, indices: Value, depth: Value, values: Value, *, axis: int = -1) -> PartialTensor:
    """[*A, *B] -> [*A, depth, *B] with the new axis at `axis`; `values` is [off, on]."""
    at = c.axis(axis, len(indices.shape) + 1)
    if indices.shape.dims == ():
        c.fail("indices must have rank 1 or more", indices.shape)
    require_single(c, depth.shape, "depth must have exactly one element")
    require_vector(c, values.shape, 2, "values must have two elements, [off, on]")
    known = known_dims(depth)
    size = known[0] if known else None
    if isinstance(size, int) and size < 0:
        c.fail("depth must be at least 0", size)
    if c.version < 11 and any(i < 0 for i in known_ints(indices) or ()):
        c.fail("before opset 11 indices must be at least 0", known_ints(indices))
    if size is None or c.prove_le(0, size) is not True:
        size = c.fresh("depth")
    shape = Shape((*indices.shape[:at], size, *indices.shape[at:]))
    hot = known_ints(indices)
    if hot is None or values.elements is None or not isinstance(size, int) or not is_listable(shape):
        return PartialTensor(values.dtype, shape, None)
    off, on = values.elements
    from_front = [i + size if i < 0 else i for i in hot]
    return one_hot_tensor(values.dtype, shape, at, from_front, on, off)
