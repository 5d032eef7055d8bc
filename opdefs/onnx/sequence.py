"""Sequences of tensors (the join of all elements, the length, each item where it is known) and optional values."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_dims, known_ints
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.parts import split_axis
from opdefs.rules.repetition import concat
from opdefs.rules.reshaping import insert_axes
from opdefs.rules.sequences import MAX_ITEMS, create_sequence
from opdefs.rules.unknowns import cover_shape, element_shape
from shapeinf.expr import DimSize, ceildiv
from shapeinf.graph import DeclaredType
from shapeinf.lattice import (
    SCALAR,
    MapType,
    OptionalType,
    PartialTensor,
    SequenceType,
    Shape,
    TensorType,
    Type,
    to_partial,
)
from shapeinf.ops import InferenceContext, Value

Elements = SequenceType | TensorType
"""The type of a sequence input: a TensorType where its producer is unknown."""


def _require_sequence(c: InferenceContext, value: Elements) -> SequenceType:
    """The type of the sequence; raises NotKnown where its producer is unknown."""
    if type(value) is not SequenceType:
        raise c.unknowable("the elements of the sequence are not known")
    return value


def _element(c: InferenceContext, sequence: Elements) -> TensorType:
    """The join of the types of all elements."""
    element = _require_sequence(c, sequence).element
    if not isinstance(element, TensorType):
        raise c.unknowable("the elements of the sequence are not tensors")
    return element


def _items(sequence: Elements) -> list[TensorType] | None:
    """The types of the items; None if they are not tracked."""
    items = sequence.items if isinstance(sequence, SequenceType) else None
    tensors = [t for t in items or () if isinstance(t, TensorType)]
    return None if items is None or len(tensors) < len(items) else tensors


def _position(c: InferenceContext, position: PartialTensor | None, length: int, limit: int, default: int) -> int | None:
    """A known position counted from the front; None if unknown. Raises ShapeError unless it is less than `limit`.

    A negative position counts from the end of the sequence; `default` is the position of an absent input.
    """
    known = (default,) if position is None else known_ints(position)
    if not known:
        return None
    at = known[0] + length if known[0] < 0 else known[0]
    if not 0 <= at < limit:
        c.fail(f"position must lie in {-length}..{limit - 1}", known[0])
    return at


def _require_position(c: InferenceContext, sequence: Elements, position: PartialTensor | None, more: int = 0) -> None:
    """Require that a position lies inside a sequence, or at most `more` behind its end."""
    length = _require_sequence(c, sequence).length
    at = (known_dims(position) or (None,))[0]
    if length is None or at is None:
        return
    if c.prove_le(0, at) is True:
        c.at_least(length, at + 1 - more, "position must lie inside the sequence")
    elif c.prove_le(at, -1) is True:
        c.at_least(length, -at, "position, which counts from the end, must lie inside the sequence")


@onnx("SequenceEmpty")
def sequence_empty(c: InferenceContext, *, dtype: int = 1) -> SequenceType:
    """An empty sequence; the shape of its elements is unknown."""
    return SequenceType(TensorType(dtype_name(dtype), c.unknown_shape()), 0, ())


@onnx("SequenceConstruct")
def sequence_construct(c: InferenceContext, *xs: Value) -> SequenceType:
    """The sequence of the inputs, with their contents."""
    return create_sequence(c, xs)


@onnx("SequenceInsert")
def sequence_insert(c: InferenceContext, sequence: Elements, x: Value, position: Value | None = None) -> SequenceType:
    """The sequence with the tensor inserted at a position, by default at the end."""
    new: TensorType = x
    items = _items(sequence)
    if items is not None:
        at = _position(c, position, len(items), len(items) + 1, len(items))
        if at is not None:
            return create_sequence(c, [*items[:at], new, *items[at:]])
    _require_position(c, sequence, position, more=1)
    length = _require_sequence(c, sequence).length
    element = _element(c, sequence)
    if length != 0:
        new = TensorType(element.dtype or new.dtype, cover_shape(c, (element.shape, x.shape)))
    return SequenceType(new, None if length is None else length + 1)


@onnx("SequenceErase")
def sequence_erase(c: InferenceContext, sequence: Elements, position: Value | None = None) -> SequenceType:
    """The sequence without the element at a position, by default the last one."""
    items = _items(sequence)
    if items is not None:
        at = _position(c, position, len(items), len(items), -1)
        if at is not None:
            return create_sequence(c, [*items[:at], *items[at + 1 :]])
    _require_position(c, sequence, position)
    length = _require_sequence(c, sequence).length
    if length is not None:
        c.at_least(length, 1, "the sequence must have an element to erase")
    return SequenceType(_element(c, sequence), None if length is None else length - 1)


@onnx("SequenceAt")
def sequence_at(c: InferenceContext, sequence: Elements, position: Value) -> TensorType:
    """The element at a position."""
    c.state_types(sequence.element if isinstance(sequence, SequenceType) else None)
    items = _items(sequence)
    if items is not None and known_ints(position) is not None:
        at = _position(c, position, len(items), len(items), 0)
        if at is not None:
            return items[at]
    _require_position(c, sequence, position)
    element = _element(c, sequence)
    return TensorType(element.dtype, element_shape(c, element.shape))


@onnx("SequenceLength")
def sequence_length(c: InferenceContext, sequence: Elements) -> PartialTensor:
    """The number of elements, as an int64 scalar."""
    length = sequence.length if isinstance(sequence, SequenceType) else None
    return PartialTensor("int64", SCALAR, None if length is None else (length,))


@onnx("ConcatFromSequence")
def concat_from_sequence(c: InferenceContext, sequence: Elements, *, axis: int, new_axis: int = 0) -> TensorType:
    """The elements concatenated along an axis, or stacked along a new one with `new_axis`."""
    element = _element(c, sequence)
    c.state_types(element.dtype)
    length = _require_sequence(c, sequence).length
    if length is not None:
        c.at_least(length, 1, "the sequence must have at least one tensor")
    items = [to_partial(item) for item in _items(sequence) or ()]
    if len({t.shape.rank for t in items}) == 1 and items[0].shape.dims is not None:
        return _concat_items(c, element.dtype, items, axis, bool(new_axis))
    if element.shape.dims is None:
        raise c.unknowable("the rank of the elements is not known", element.dtype)
    dims = element_shape(c, element.shape).require()
    at = c.axis(axis, len(dims) + bool(new_axis))
    if new_axis:
        return TensorType(
            element.dtype, Shape((*dims[:at], c.fresh("concat") if length is None else length, *dims[at:]))
        )
    each = element.shape.dims[at]
    own = not isinstance(each, int) and each.is_anonymous
    total = c.fresh("concat") if length is None or own else length * each
    return TensorType(element.dtype, Shape((*dims[:at], total, *dims[at + 1 :])))


def _concat_items(
    c: InferenceContext, dtype: str | None, items: Sequence[PartialTensor], axis: int, new_axis: bool
) -> PartialTensor:
    """The items concatenated or stacked, with their contents."""
    shape = _concat_shapes(c, [item.shape for item in items], axis, new_axis)
    if any(item.elements is None for item in items):
        return PartialTensor(dtype, shape, None)
    at = c.axis(axis, len(shape))
    parts = [insert_axes(c, item, [at]) if new_axis else item for item in items]
    return PartialTensor(dtype, shape, concat(c, parts, at).elements)


def _concat_shapes(c: InferenceContext, shapes: Sequence[Shape], axis: int, new_axis: bool) -> Shape:
    rank = c.same_rank(*shapes)
    at = c.axis(axis, rank + new_axis)
    dims: list[DimSize] = list(shapes[0])
    for shape in shapes[1:]:
        for i, d in enumerate(shape):
            if i == at and not new_axis:
                dims[i] = dims[i] + d
            else:
                dims[i] = c.merge(dims[i], d, f"axis {i} must be equal in all elements")
    return Shape((*dims[:at], len(shapes), *dims[at:])) if new_axis else Shape(dims)


@onnx("SplitToSequence")
def split_to_sequence(
    c: InferenceContext, x: Value, split: Value | None = None, *, axis: int = 0, keepdims: int = 1
) -> SequenceType:
    """Parts along an axis: of the sizes in `split`, of equal size with a smaller last one, or of size 1 by default."""
    c.state_types(SequenceType(TensorType(c.dtype(0), c.unknown_shape())))
    if x.shape.dims is None:
        return SequenceType(TensorType(c.dtype(0), c.unknown_shape()))
    dims, at = x.shape.dims, c.axis(axis, len(x.shape.dims))
    size = dims[at]
    if split is None and isinstance(size, int) and x.elements is not None and 0 < size <= MAX_ITEMS:
        rest = Shape((*dims[:at], *dims[at + 1 :]))
        items = split_axis(x, at, [1] * size)
        return create_sequence(c, items if keepdims else [reshape_elements(item, rest) for item in items])
    if split is None:
        unit: tuple[DimSize, ...] = (1,) if keepdims else ()
        return SequenceType(TensorType(c.dtype(0), Shape((*dims[:at], *unit, *dims[at + 1 :]))), size)
    parts = _part_sizes(c, size, split)
    if isinstance(parts, list):
        return create_sequence(c, split_axis(x, at, parts))
    part, count = parts
    return SequenceType(TensorType(c.dtype(0), Shape((*dims[:at], part, *dims[at + 1 :]))), count)


def _part_sizes(c: InferenceContext, size: DimSize, split: Value) -> list[DimSize] | tuple[DimSize, DimSize | None]:
    """The size of each part; or one size that covers all parts, and their number."""
    sizes = known_dims(split)
    known = [s for s in sizes or () if s is not None]
    if not known or len(known) < len(sizes or ()):
        return c.fresh("part", 0, c.interval(size).hi), split.shape[0] if split.shape.rank == 1 else None
    if split.shape.rank == 1:
        for part in known:
            c.at_least(part, 0, "the sizes in split must be at least 0")
        c.merge(sum(known), size, "the sizes in split must add up to the size of the axis")
        return known
    step = known[0]
    if isinstance(step, int) and step < 1:
        c.fail("split must be at least 1", step)
    if isinstance(size, int) and isinstance(step, int) and size // step < MAX_ITEMS:
        return [*(step for _ in range(size // step)), *((size % step,) if size % step else ())]
    if not isinstance(step, int) or c.prove_le(1, size) is not True:
        return c.fresh("part", 0, c.interval(step).hi), None
    return step if size % step == 0 else c.fresh("part", 1, step), ceildiv(size, step)


def _declared_type(c: InferenceContext, declared: DeclaredType | None) -> Type:
    """The type that an attribute declares."""
    if declared is None:
        return TensorType(None, c.unknown_shape())
    if declared.kind == "tensor":
        if declared.dims is None:
            return TensorType(declared.dtype, c.unknown_shape())
        return TensorType(declared.dtype, Shape(d if isinstance(d, int) else c.fresh("dim") for d in declared.dims))
    inner = _declared_type(c, declared.of)
    if declared.kind == "map":
        return MapType(declared.dtype or "int64", inner)
    return SequenceType(inner) if declared.kind == "sequence" else OptionalType(inner)


@onnx("Optional", views={0: 0})
def optional(c: InferenceContext, x: Type | None = None, *, type_: DeclaredType | None = None) -> OptionalType:
    """The input, or an empty optional of the type in the attribute `type`."""
    if x is None and type_ is None:
        c.fail("an empty optional requires the attribute 'type'")
    return OptionalType(_declared_type(c, type_) if x is None else x)


@onnx("OptionalGetElement", views={0: 0})
def optional_get_element(c: InferenceContext, x: Type) -> Type:
    """The element of an optional; any other input is returned as it is."""
    return x.element if isinstance(x, OptionalType) else x


@onnx("OptionalHasElement")
def optional_has_element(c: InferenceContext, x: Type | None = None) -> PartialTensor:
    """A bool scalar: false without an input, true for an input that is not an optional."""
    known = None if isinstance(x, OptionalType) else (x is not None,)
    return PartialTensor("bool", SCALAR, known)
