"""Sequences of tensors: the join of all elements, their number, and each of them where they are known apart."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.elements import known_dims, known_ints
from opdefs.rules.joining import any_of, one_of
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import SCALAR, PartialTensor, SequenceType, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

Elements = SequenceType | TensorType
"""What a sequence input may be: a TensorType where its producer is unknown."""

MAX_ITEMS = 64
"""Longer sequences are known by the join of their elements only."""


def sequence_of(c: InferenceContext, items: Sequence[TensorType]) -> SequenceType:
    """The sequence of these tensors."""
    dtype = next((t.dtype for t in items if t.dtype is not None), None)
    element = TensorType(dtype, any_of(c, [t.shape for t in items]) if items else c.unknown_shape())
    return SequenceType(element, len(items), tuple(items) if len(items) <= MAX_ITEMS else None)


def _sequence(c: InferenceContext, found: Elements) -> SequenceType:
    if type(found) is not SequenceType:
        raise c.unknowable("the elements of the sequence are not known")
    return found


def _element(c: InferenceContext, found: Elements) -> TensorType:
    """The type of any element."""
    element = _sequence(c, found).element
    if not isinstance(element, TensorType):
        raise c.unknowable("the elements of the sequence are no tensors")
    return element


def _items(found: Elements) -> list[TensorType] | None:
    """The elements one by one, None when they are not known apart."""
    items = found.items if isinstance(found, SequenceType) else None
    tensors = [t for t in items or () if isinstance(t, TensorType)]
    return None if items is None or len(tensors) < len(items) else tensors


def _place(c: InferenceContext, position: PartialTensor | None, length: int, places: int, default: int) -> int | None:
    """A known position counted from the front; ShapeError when there is none such of so many places.

    A position below 0 counts from the end of the sequence.
    """
    known = (default,) if position is None else known_ints(position)
    if not known:
        return None
    at = known[0] + length if known[0] < 0 else known[0]
    if not 0 <= at < places:
        c.fail(f"a position must lie in [{-length}, {places})", known[0])
    return at


def _demand_place(c: InferenceContext, sequence: Elements, position: PartialTensor | None, more: int = 0) -> None:
    """Tell that a sequence is long enough for a position in it, or `more` behind its end."""
    length = _sequence(c, sequence).length
    at = (known_dims(position) or (None,))[0]
    if length is None or at is None:
        return
    if c.prove_le(0, at) is True:
        c.at_least(length, at + 1 - more, "a sequence must be long enough for a position in it")
    elif c.prove_le(at, -1) is True:
        c.at_least(length, -at, "a sequence must be long enough for a position counted from its end")


@onnx("SequenceEmpty")
def sequence_empty(c: InferenceContext, *, dtype: int = 1) -> SequenceType:
    """A sequence of no elements: nothing is known of their shape."""
    return SequenceType(TensorType(dtype_name(dtype), c.unknown_shape()), 0, ())


@onnx("SequenceConstruct")
def sequence_construct(c: InferenceContext, *xs: Shape) -> SequenceType:
    """The sequence of the inputs."""
    return sequence_of(c, [TensorType(c.dtype(i), x) for i, x in enumerate(xs)])


@onnx("SequenceInsert")
def sequence_insert(c: InferenceContext, sequence: Elements, x: Shape, position: Value | None = None) -> SequenceType:
    """One element more."""
    new = TensorType(c.dtype(1), x)
    items = _items(sequence)
    if items is not None:
        at = _place(c, position, len(items), len(items) + 1, len(items))
        if at is not None:
            return sequence_of(c, [*items[:at], new, *items[at:]])
    _demand_place(c, sequence, position, more=1)
    length = _sequence(c, sequence).length
    element = _element(c, sequence)
    if length != 0:
        new = TensorType(element.dtype or new.dtype, any_of(c, (element.shape, x)))
    return SequenceType(new, None if length is None else length + 1)


@onnx("SequenceErase")
def sequence_erase(c: InferenceContext, sequence: Elements, position: Value | None = None) -> SequenceType:
    """One element less."""
    items = _items(sequence)
    if items is not None:
        at = _place(c, position, len(items), len(items), -1)
        if at is not None:
            return sequence_of(c, [*items[:at], *items[at + 1 :]])
    _demand_place(c, sequence, position)
    length = _sequence(c, sequence).length
    if length is not None:
        c.at_least(length, 1, "there must be an element to erase")
    return SequenceType(_element(c, sequence), None if length is None else length - 1)


@onnx("SequenceAt")
def sequence_at(c: InferenceContext, sequence: Elements, position: Value) -> TensorType:
    """One element."""
    items = _items(sequence)
    if items is not None and known_ints(position) is not None:
        at = _place(c, position, len(items), len(items), 0)
        if at is not None:
            return items[at]
    _demand_place(c, sequence, position)
    element = _element(c, sequence)
    return TensorType(element.dtype, one_of(c, element.shape))


@onnx("SequenceLength")
def sequence_length(c: InferenceContext, sequence: Elements) -> PartialTensor:
    """A scalar."""
    length = sequence.length if isinstance(sequence, SequenceType) else None
    return PartialTensor("int64", SCALAR, None if length is None else (length,))


@onnx("ConcatFromSequence")
def concat_from_sequence(c: InferenceContext, sequence: Elements, *, axis: int, new_axis: int = 0) -> TensorType:
    """The elements side by side along an axis, which is a new one with `new_axis`."""
    element = _element(c, sequence)
    length = _sequence(c, sequence).length
    if length is not None:
        c.at_least(length, 1, "a sequence that is joined must hold a tensor")
    items = _items(sequence)
    shapes = [t.shape for t in items] if items else []
    if len({s.rank for s in shapes}) == 1 and shapes[0].dims is not None:
        return TensorType(element.dtype, _side_by_side(c, shapes, axis, bool(new_axis)))
    if element.shape.dims is None:
        raise c.unknowable("the rank of the elements is not known", element.dtype)
    dims = one_of(c, element.shape).require()
    at = c.axis(axis, len(dims) + bool(new_axis))
    if new_axis:
        return TensorType(
            element.dtype, Shape((*dims[:at], c.fresh("concat") if length is None else length, *dims[at:]))
        )
    each = element.shape.dims[at]
    own = not isinstance(each, int) and each.is_anonymous
    total = c.fresh("concat") if length is None or own else length * each
    return TensorType(element.dtype, Shape((*dims[:at], total, *dims[at + 1 :])))


def _side_by_side(c: InferenceContext, shapes: Sequence[Shape], axis: int, new_axis: bool) -> Shape:
    rank = c.same_rank(*shapes)
    at = c.axis(axis, rank + new_axis)
    dims: list[Dim] = list(shapes[0])
    for shape in shapes[1:]:
        for i, d in enumerate(shape):
            if i == at and not new_axis:
                dims[i] = dims[i] + d
            else:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all elements")
    return Shape((*dims[:at], len(shapes), *dims[at:])) if new_axis else Shape(dims)


@onnx("SplitToSequence")
def split_to_sequence(
    c: InferenceContext, x: Shape, split: Value | None = None, *, axis: int = 0, keepdims: int = 1
) -> SequenceType:
    """Parts along an axis: of the sizes in `split`, of one size and a smaller last one, or of size 1 without it."""
    if x.dims is None:
        return SequenceType(TensorType(c.dtype(0), c.unknown_shape()))
    dims, at = x.dims, c.axis(axis, len(x.dims))
    size = dims[at]
    if split is None:
        one: tuple[Dim, ...] = (1,) if keepdims else ()
        return SequenceType(TensorType(c.dtype(0), Shape((*dims[:at], *one, *dims[at + 1 :]))), size)
    parts = _parts(c, size, split)
    if isinstance(parts, list):
        return sequence_of(c, [TensorType(c.dtype(0), Shape((*dims[:at], p, *dims[at + 1 :]))) for p in parts])
    part, count = parts
    return SequenceType(TensorType(c.dtype(0), Shape((*dims[:at], part, *dims[at + 1 :]))), count)


def _parts(c: InferenceContext, size: Dim, split: Value) -> list[Dim] | tuple[Dim, Dim | None]:
    """The size of each part, or that of any part and their number."""
    sizes = known_dims(split)
    known = [s for s in sizes or () if s is not None]
    if not known or len(known) < len(sizes or ()):
        return c.fresh("part", 0, c.interval(size).hi), split.shape[0] if split.shape.rank == 1 else None
    if split.shape.rank == 1:
        for part in known:
            c.at_least(part, 0, "the size of a part must not be negative")
        c.merge(sum(known), size, "the sizes of the parts must add up to the axis")
        return known
    step = known[0]
    if isinstance(step, int) and step < 1:
        c.fail("the size of the parts must be at least 1", step)
    if isinstance(size, int) and isinstance(step, int) and size // step < MAX_ITEMS:
        return [*(step for _ in range(size // step)), *((size % step,) if size % step else ())]
    if not isinstance(step, int) or c.prove_le(1, size) is not True:
        return c.fresh("part", 0, c.interval(step).hi), None
    return step if size % step == 0 else c.fresh("part", 1, step), ceildiv(size, step)
