"""StableHLO's operators with kernels of their own: gathers, scatters, padding, windows, permutations."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.reshaping import transpose as permute
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import FunctionReference
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Ints, Value


@tflite("STABLEHLO_TRANSPOSE")
def stablehlo_transpose(c: TensorFlowContext, x: Value, *, permutation: Ints = ()) -> PartialTensor:
    """[*S] -> the axes in the order of the option."""
    if sorted(permutation) != list(range(len(x.shape))):
        c.fail("permutation must name each axis once", permutation)
    return permute(x, permutation)


@tflite("STABLEHLO_GATHER")
def stablehlo_gather(
    c: TensorFlowContext,
    x: Shape,
    indices: Shape,
    *,
    offset_dims: Ints = (),
    collapsed_slice_dims: Ints = (),
    start_index_map: Ints = (),
    index_vector_dim: int = 0,
    slice_sizes: Ints = (),
) -> Shape:
    """[*D], indices -> slices of `slice_sizes` at each index; `offset_dims` are the axes of slices in the output."""
    if len(slice_sizes) != len(x):
        c.fail("slice_sizes must have one value for each axis", slice_sizes)
    for size, limit in zip(slice_sizes, x, strict=True):
        c.at_most(size, limit, "a slice must not be larger than the operand")
    batch = [d for axis, d in enumerate(indices) if axis != index_vector_dim]
    inner = [size for axis, size in enumerate(slice_sizes) if axis not in collapsed_slice_dims]
    rank = len(batch) + len(inner)
    if len(inner) != len(offset_dims) or any(not 0 <= axis < rank for axis in offset_dims):
        c.fail("offset_dims must have one axis of the output for each axis of a slice", offset_dims)
    first, second = iter(inner), iter(batch)
    return Shape(next(first) if axis in offset_dims else next(second) for axis in range(rank))


@tflite("STABLEHLO_SCATTER")
def stablehlo_scatter(c: TensorFlowContext, x: Shape, indices: Shape, updates: Shape) -> Shape:
    """[*D], indices, updates -> [*D]."""
    return x


@tflite("STABLEHLO_PAD")
def stablehlo_pad(
    c: TensorFlowContext,
    x: Shape,
    fill: Shape,
    *,
    edge_padding_low: Ints = (),
    edge_padding_high: Ints = (),
    interior_padding: Ints = (),
) -> Shape:
    """[*S], [] -> each axis with padding at its ends, which may be negative, and between its elements."""
    rank = len(x)
    if not len(edge_padding_low) == len(edge_padding_high) == len(interior_padding) == rank:
        c.fail("each axis must have three paddings", edge_padding_low)
    amounts = zip(x, edge_padding_low, edge_padding_high, interior_padding, strict=True)
    dims = [size + maximum(size - 1, 0) * interior + low + high for size, low, high, interior in amounts]
    if any(c.prove_le(d, 0) is True for d in dims):
        return Shape((0,) * rank)  # the kernel empties all axes
    if all(c.prove_le(1, d) is True for d in dims):
        return Shape(dims)
    return Shape(c.fresh_at_most(maximum(d, 0), f"pad.{axis}") for axis, d in enumerate(dims))


@tflite("STABLEHLO_REDUCE_WINDOW", labels={"body_subgraph_index": "body"})
def stablehlo_reduce_window(
    c: TensorFlowContext,
    x: Shape,
    initial: Shape,
    *,
    window_dimensions: Ints = (),
    window_strides: Ints = (),
    base_dilations: Ints = (),
    window_dilations: Ints = (),
    padding: Ints = (),
    body_subgraph_index: FunctionReference | None = None,
) -> Shape:
    """[*S], [] -> the number of windows along each axis."""
    rank = len(x)
    ones = (1,) * rank
    pads = padding or (0,) * (2 * rank)
    options = window_dimensions or ones, window_strides or ones, base_dilations or ones, window_dilations or ones
    if any(len(values) != rank for values in options) or len(pads) != 2 * rank:
        c.fail("each option must have one value for each axis")
    dims = []
    for axis, (size, window, stride, base, dilation) in enumerate(zip(x, *options, strict=True)):
        full = size if base < 2 else (size - 1) * base + 1
        dims.append(count_windows(c, full + pads[2 * axis] + pads[2 * axis + 1], window, stride, dilation))
    return Shape(dims)


@tflite("REDUCE_WINDOW")
def reduce_window(
    c: TensorFlowContext, x: Shape, initial: Shape, window: Value, strides: Value, dilations: Value
) -> Shape:
    """[*S], [], sizes, strides and dilations [R] -> the number of windows along each axis."""
    rank = len(x)
    options: list[Sequence[DimSize | None]] = []
    for vector, name in ((window, "window_shape"), (strides, "window_strides"), (dilations, "window_dilations")):
        c.merge(c.require_rank(vector.shape, 1, name)[0], rank, f"{name} must have one value for each axis")
        options.append(known_dims(vector) or (None,) * rank)
    dims: list[DimSize] = []
    for axis, (size, *values) in enumerate(zip(x, *options, strict=True)):
        known = [value for value in values if isinstance(value, int)]
        dims.append(count_windows(c, size, *known) if len(known) == 3 else c.fresh(f"windows.{axis}"))
    return Shape(dims)


def count_windows(c: TensorFlowContext, size: DimSize, window: int, stride: int, dilation: int) -> DimSize:
    """The number of windows along an axis, 0 where none fits."""
    if stride < 1 or dilation < 1 or window < 1:
        c.fail("windows, strides and dilations must be at least 1", window, stride, dilation)
    count = (size - (window - 1) * dilation - 1) // stride + 1
    return count if c.prove_le(0, count) is True else maximum(count, 0)
