"""Sequences of tensors. Their type is that of any element, so sizes that differ between elements are unknown."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_dims
from opdefs.rules.joining import any_dim, any_of, one_of
from shapeinf.algebra import Dim
from shapeinf.lattice import SCALAR, SequenceType, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

Elements = SequenceType | TensorType
"""What a sequence input may be: a TensorType where its producer is unknown."""


def _element(c: InferenceContext, sequence: Elements) -> TensorType:
    """The type of any element."""
    if not isinstance(sequence, SequenceType) or not isinstance(sequence.element, TensorType):
        raise c.unknowable("the elements of the sequence are not known")
    return sequence.element


@onnx("SequenceEmpty")
def sequence_empty(c: InferenceContext, *, dtype: int = 1) -> SequenceType:
    """A sequence of no elements: nothing is known of their shape."""
    return SequenceType(TensorType(dtype_name(dtype), c.unknown_shape()))


@onnx("SequenceConstruct")
def sequence_construct(c: InferenceContext, *xs: Shape) -> SequenceType:
    """The sequence of the inputs."""
    return SequenceType(TensorType(c.dtype(0), any_of(c, xs)))


@onnx("SequenceInsert")
def sequence_insert(c: InferenceContext, sequence: Elements, x: Shape, position: Shape | None = None) -> SequenceType:
    """One element more."""
    element = _element(c, sequence)
    return SequenceType(TensorType(element.dtype or c.dtype(1), any_of(c, (element.shape, x))))


@onnx("SequenceErase")
def sequence_erase(c: InferenceContext, sequence: Elements, position: Shape | None = None) -> SequenceType:
    """One element less."""
    return SequenceType(_element(c, sequence))


@onnx("SequenceAt")
def sequence_at(c: InferenceContext, sequence: Elements, position: Shape) -> TensorType:
    """One element."""
    element = _element(c, sequence)
    return TensorType(element.dtype, one_of(c, element.shape))


@onnx("SequenceLength")
def sequence_length(c: InferenceContext, sequence: Elements) -> TensorType:
    """A scalar."""
    return TensorType("int64", SCALAR)


@onnx("ConcatFromSequence")
def concat_from_sequence(c: InferenceContext, sequence: Elements, *, axis: int, new_axis: int = 0) -> TensorType:
    """The elements side by side along an axis, which is a new one with `new_axis`."""
    element = _element(c, sequence)
    if element.shape.dims is None:
        return TensorType(element.dtype, c.unknown_shape())
    dims = one_of(c, element.shape).require()
    at = c.axis(axis, len(dims) + bool(new_axis))
    rest = dims[at:] if new_axis else dims[at + 1 :]
    return TensorType(element.dtype, Shape((*dims[:at], c.fresh("concat"), *rest)))


@onnx("SplitToSequence")
def split_to_sequence(
    c: InferenceContext, x: Shape, split: Value | None = None, *, axis: int = 0, keepdims: int = 1
) -> SequenceType:
    """Parts along an axis: of the sizes in `split`, of one size and a smaller last one, or of size 1 without it."""
    if x.dims is None:
        return SequenceType(TensorType(c.dtype(0), c.unknown_shape()))
    at = c.axis(axis, len(x))
    if split is None:
        middle: tuple[Dim, ...] = (1,) if keepdims else ()
    else:
        middle = (_part(c, x[at], split),)
    return SequenceType(TensorType(c.dtype(0), Shape((*x[:at], *middle, *x[at + 1 :]))))


def _part(c: InferenceContext, size: Dim, split: Value) -> Dim:
    """The size of any part."""
    sizes = known_dims(split)
    if not sizes or None in sizes:
        return c.fresh("part", 0, c.interval(size).hi)
    known = [s for s in sizes if s is not None]
    if split.shape.rank == 1:
        c.merge(sum(known), size, "the sizes of the parts must add up to the axis")
        return any_dim(c, known, "part")
    step = known[0]
    if isinstance(step, int) and step < 1:
        c.fail("the size of the parts must be at least 1", step)
    if isinstance(size, int) and isinstance(step, int):
        whole = min(step, size)
        return any_dim(c, (whole, size % step or whole), "part")
    even = isinstance(step, int) and size % step == 0
    return step if even else c.fresh("part", 0, c.interval(step).hi)
