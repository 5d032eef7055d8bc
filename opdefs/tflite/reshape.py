"""Reshapes, axes of size 1, permutations and reversals."""

from __future__ import annotations

from itertools import pairwise

from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.contents.rearrangement import reverse_parts
from opdefs.rules.reshaping import flip, insert_axes, insert_unit_axes, squeeze_axes, squeeze_units
from opdefs.rules.reshaping import transpose as permute
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.reshape import bitcast as cast_bits
from opdefs.tf.reshape import reshape as reshape_to
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import axis_of, output_type, refuse_warnings, require_rank_between, scalar_value
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Ints, Value

_reshape = refuse_warnings(reshape_to)


@tflite("RESHAPE", views={0: 0})
def reshape(c: TensorFlowContext, x: Value, shape: Value | None = None, *, new_shape: Ints = ()) -> PartialTensor:
    """[*S], sizes [R] -> [*sizes], where -1 is inferred.

    The sizes are those of the option where the second input is missing or no vector of int32. The option [0] stands
    for a scalar.
    """
    if shape is None or shape.dtype not in (None, "int32") or len(shape.shape) != 1:
        sizes = () if new_shape == (0,) else new_shape
        shape = PartialTensor("int32", Shape((len(sizes),)), sizes)
    result: PartialTensor = _reshape(c, x, shape)  # type: ignore[assignment]
    return result


@tflite("STABLEHLO_RESHAPE", views={0: 0})
def stablehlo_reshape(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[*S] -> the sizes of the output in the file."""
    raise c.unknowable("LiteRT has no kernel for it, and its sizes are in the type of its output alone")


MAX_SQUEEZED = 8


@tflite("SQUEEZE", views={0: 0})
def squeeze(c: TensorFlowContext, x: Value, *, squeeze_dims: Ints = ()) -> PartialTensor:
    """[*P, 1, *Q] -> [*P, *Q]: without the axes of the option, or all of size 1."""
    require_rank_between(c, x.shape, 0, MAX_SQUEEZED)
    if not squeeze_dims:
        return squeeze_units(c, x)
    return squeeze_axes(c, x, sorted({axis_of(c, axis, len(x.shape)) for axis in squeeze_dims}))


@tflite("EXPAND_DIMS", views={0: 0})
def expand_dims(c: TensorFlowContext, x: Value, axis: Value) -> PartialTensor:
    """[*P, *Q], axis [] -> [*P, 1, *Q]."""
    known = scalar_value(c, axis, "axis")
    if not isinstance(known, int):
        return PartialTensor(x.dtype, insert_unit_axes(c, x.shape, 1), None)
    return insert_axes(c, x, [axis_of(c, known, len(x.shape) + 1)])


@tflite("TRANSPOSE")
def transpose(c: TensorFlowContext, x: Value, perm: Value) -> PartialTensor:
    """[*S], [R] -> the axes in the order of `perm`."""
    rank = len(x.shape)
    c.merge(c.require_rank(perm.shape, 1, "perm")[0], rank, "perm must have one value for each axis")
    order = known_dims(perm)
    if order is None or not all(isinstance(axis, int) for axis in order):
        return PartialTensor(x.dtype, Shape(c.fresh(f"transpose.{i}") for i in range(rank)), None)
    axes = [axis_of(c, axis, rank) for axis in order if isinstance(axis, int)]
    if len(set(axes)) < rank:  # the kernel does not compare them
        return PartialTensor(x.dtype, Shape(x.shape[axis] for axis in axes), None)
    return permute(x, axes)


@tflite("BITCAST", views={0: 0})
def bitcast(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[*S] -> [*S, k] for an output type k times narrower; [*S, k] -> [*S] for a wider one."""
    dtype = output_type(c)
    if dtype is None:
        raise c.unknowable("the element type of the output is unknown")
    return cast_bits(c, x, type_=dtype)


MAX_REVERSED = 8


@tflite("REVERSE_V2")
def reverse_v2(c: TensorFlowContext, x: Value, axis: Value) -> PartialTensor:
    """[*S], axes [n] -> [*S], reversed along these axes."""
    c.require_rank(axis.shape, 1, "axis")
    axes = known_ints(axis)
    if axes is None:
        return PartialTensor(x.dtype, x.shape, None)
    reversed_axes = sorted(axis_of(c, item, len(x.shape)) for item in axes)
    if any(b - a > 1 or a == b for a, b in pairwise(reversed_axes)):
        c.fail("the axes must be next to one another", axes)
    return flip(x, reversed_axes)


@tflite("REVERSE_SEQUENCE")
def reverse_sequence(
    c: TensorFlowContext, x: Value, seq_lengths: Value, *, seq_dim: int = 0, batch_dim: int = 0
) -> PartialTensor:
    """[*S], lengths [B] -> [*S], where axis `batch_dim` has size B; so many elements of axis `seq_dim` are reversed."""
    rank, count = len(x.shape), c.require_rank(seq_lengths.shape, 1, "seq_lengths")[0]
    if not (0 <= seq_dim < rank and 0 <= batch_dim < rank) or seq_dim == batch_dim:
        c.fail("seq_dim and batch_dim must be different axes", seq_dim, batch_dim)
    c.merge(count, x.shape[batch_dim], "seq_lengths must have one value for each item of the batch")
    lengths, size = known_ints(seq_lengths), x.shape[seq_dim]
    if lengths:  # the kernel compares the first one alone
        c.at_least(size, lengths[0], "the axis must be at least as long as the reversed part")
    if x.elements is None or lengths is None or not isinstance(size, int) or max(lengths, default=0) > size:
        return PartialTensor(x.dtype, x.shape, None)
    return reverse_parts(x, lengths, batch_dim, seq_dim)
