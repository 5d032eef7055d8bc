"""Handles: the types of the values behind resources, variants and references to them."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_dims
from opdefs.rules.unknowns import element_shape, is_steady
from opdefs.tf.context import TensorFlowContext
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import (
    SCALAR,
    Condition,
    Element,
    FloatInterval,
    HandleType,
    PartialTensor,
    Quotient,
    Shape,
    TensorType,
)

PAIR = Shape((2,))
"""The shape of the handle of an old operator: the names of a container and of a resource in it."""

OPEN = DeclaredType()
"""An attribute that declares no shape."""

Values = tuple[TensorType, ...] | None
"""The types behind a handle, None where nothing is known."""

Dtypes = tuple[str, ...]
Shapes = tuple[DeclaredType, ...]


def declared_shape(c: TensorFlowContext, declared: DeclaredType) -> Shape:
    """The shape in an attribute, with an unknown for each size that it leaves open."""
    dims = declared.dims
    return c.make_shape_from_shape_proto(None if dims is None else [d if isinstance(d, int) else -1 for d in dims])


def is_fully_declared(declared: DeclaredType) -> bool:
    """Whether an attribute leaves no size open."""
    return declared.dims is not None and all(isinstance(d, int) for d in declared.dims)


def declared_values(c: TensorFlowContext, dtypes: Dtypes, shapes: Shapes) -> tuple[TensorType, ...]:
    """The types of a list of element types and one of shapes; of unknown rank without shapes."""
    if not shapes:
        return tuple(TensorType(dtype, c.unknown_shape()) for dtype in dtypes)
    if len(shapes) != len(dtypes):
        c.fail(f"{len(dtypes)} element types require {len(dtypes)} shapes, not {len(shapes)}")
    return tuple(TensorType(d, declared_shape(c, s)) for d, s in zip(dtypes, shapes, strict=True))


def create_handle(c: TensorFlowContext, values: Values, length: DimSize | None = None) -> HandleType:
    """The handle that is output 0 of the operator: a pair of names for an old operator, else a scalar."""
    output = c.op_def.output(0)
    dtype = "resource" if output is None or output.type is None else output.type
    return HandleType(dtype, PAIR if dtype == "string" else SCALAR, values, length)


def require_handle(c: TensorFlowContext, handle: Shape) -> None:
    """Require the shape of input 0, a handle: a scalar, or the two names of an old operator."""
    if c.op_def.inputs[0].type == "resource":
        c.with_rank(handle, 0)
        return
    c.with_value(c.with_rank(handle, 1)[0], 2)


def values_behind(handle: TensorType) -> Values:
    """The types behind a handle, None if unknown."""
    return handle.values if isinstance(handle, HandleType) else None


def length_behind(handle: TensorType) -> DimSize | None:
    """The number of items of a list behind a handle, None if unknown."""
    return handle.length if isinstance(handle, HandleType) else None


def without_elements(value: TensorType) -> TensorType:
    """The type of a value that is stored behind a handle, without contents: values stored later may have others."""
    return value if isinstance(value, HandleType) else TensorType(value.dtype, value.shape)


def read_value(c: TensorFlowContext, value: TensorType) -> TensorType:
    """The type of a value read from behind a handle; sizes that may differ between reads become fresh unknowns."""
    shape = element_shape(c, value.shape)
    if isinstance(value, HandleType):
        values = None if value.values is None else [read_value(c, inner) for inner in value.values]
        length = None if value.length is None else element_shape(c, Shape((value.length,)))[0]
        return HandleType(value.dtype, shape, values, length)
    if value.elements is None:
        return value.with_type(value.dtype, shape)
    return PartialTensor(value.dtype, shape, (e if _is_steady(c, e) else None for e in value.elements))


def _is_steady(c: TensorFlowContext, element: Element) -> bool:
    """Whether an element of the values behind a handle is the same in all of them."""
    return (
        is_steady(c, element)
        if isinstance(element, Dimension)
        else not isinstance(element, (Condition, FloatInterval, Quotient))
    )


def refine(c: TensorFlowContext, first: Shape, second: Shape) -> Shape:
    """A shape that agrees with both shapes, without a constraint that they are equal.

    Raises ShapeError, with TensorFlow's text, where both cannot be true.
    """
    a, b = c.store.canon_shape(first), c.store.canon_shape(second)
    if a.dims is None or b.dims is None:
        return b if a.dims is None else a
    if len(a.dims) != len(b.dims):
        return c.merge(a, b)
    return Shape(_refine_dim(c, x, y) for x, y in zip(a.dims, b.dims, strict=True))


def _refine_dim(c: TensorFlowContext, x: DimSize, y: DimSize) -> DimSize:
    """The more specific of two dims that are equal."""
    if isinstance(x, int) and isinstance(y, int):
        return c.merge(x, y)
    if isinstance(x, int) or isinstance(y, int):
        return x if isinstance(x, int) else y
    return x if is_steady(c, x) else y


def refine_values(c: TensorFlowContext, declared: tuple[TensorType, ...], known: Values) -> tuple[TensorType, ...]:
    """The declared types, each refined by the known one; as declared if their numbers differ."""
    if known is None or len(known) != len(declared):
        return declared
    return tuple(_refine_value(c, a, b) for a, b in zip(declared, known, strict=True))


def _refine_value(c: TensorFlowContext, declared: TensorType, known: TensorType) -> TensorType:
    """A declared type refined by the known one; as declared if the element types differ."""
    if declared.dtype is not None and known.dtype is not None and declared.dtype != known.dtype:
        return declared
    return known.with_type(declared.dtype or known.dtype, refine(c, declared.shape, known.shape))


def join_values(
    c: TensorFlowContext, values: Values, items: Sequence[TensorType], *, with_elements: bool = False
) -> Values:
    """The type of the items of a list, joined with those of `items` that are stored in it; None if unknown.

    Contents are part of the type only `with_elements`: where the list has no other items, such as zeros.
    """
    if values is None:
        return None
    joined = values[0] if len(values) == 1 else None
    for index, item in enumerate(items if with_elements else map(without_elements, items)):
        if joined is None:
            joined = item
            continue
        relaxed = c.relax_type(joined, item, f"item{index}")
        assert isinstance(relaxed, TensorType)  # the join of tensors is one
        joined = relaxed
    return None if joined is None and values else (() if joined is None else (joined,))


def scalar_dim(c: TensorFlowContext, value: PartialTensor, name: str) -> DimSize | None:
    """The size in a scalar input, None if unknown. Raises ShapeError if it is negative."""
    c.with_rank(value.shape, 0)
    (size,) = known_dims(value) or (None,)
    if isinstance(size, int) and size < 0:
        c.fail(f"Input '{name}' must be >= 0, but is {size}")
    return size if size is not None and c.prove_le(0, size) is True else None
