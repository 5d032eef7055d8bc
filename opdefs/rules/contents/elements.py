"""Known contents of tensors: arrays of elements (ints, floats, bools, strings, Dimensions; None is unknown)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from opdefs.rules.contents.integers import wrap_element
from shapeinf.expr import Dimension, DimSize, maximum, minimum
from shapeinf.lattice import MAX_ELEMENTS, NOT_CONCRETE, Condition, Element, PartialTensor, Shape
from shapeinf.lattice.truths import Truth
from shapeinf.lattice.truths import logical_and as logical_and
from shapeinf.lattice.truths import logical_not as logical_not
from shapeinf.lattice.truths import logical_or as logical_or
from shapeinf.lattice.truths import nonnegative_condition as nonnegative_condition
from shapeinf.ops import InferenceContext

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Elements: TypeAlias = "npt.NDArray[np.object_]"
Operation = Callable[..., Element]


def element_array(value: PartialTensor) -> Elements | None:
    """The contents as an object array of the tensor's shape; None where they are unknown."""
    if value.elements is None or not is_listable(value.shape):
        return None
    import numpy as np

    array = np.empty(len(value.elements), dtype=object)
    array[:] = value.elements
    return array.reshape([d for d in value.shape if isinstance(d, int)])


def tensor_from_array(array: npt.NDArray[Any], dtype: str | None = None) -> PartialTensor:
    """A tensor with the contents of an array; of more than MAX_ELEMENTS, only its shape."""
    elements = array.reshape(-1).tolist() if array.size <= MAX_ELEMENTS else None
    return PartialTensor(dtype, Shape(array.shape), elements)


def move_elements(value: PartialTensor, shape: Shape, move: Callable[[Elements], npt.NDArray[Any]]) -> PartialTensor:
    """The tensor of `shape` with the contents of `value`, rearranged by `move`; unknown where those are."""
    array = element_array(value)
    if array is None or not is_listable(shape):
        return value.rearranged(shape)
    import numpy as np

    result = np.asarray(move(array), dtype=object)  # numpy returns an element instead of a scalar array
    return PartialTensor(value.dtype, shape, result.reshape(-1).tolist())


def select_elements(
    elements: Sequence[Element], sizes: Sequence[int], indices: Sequence[Sequence[int]]
) -> list[Element]:
    """The elements at `indices` of each axis, for a tensor of these elements and `sizes`. Does not import numpy.

    >>> select_elements("abcdef", [2, 3], [[1], [2, 1, 0]])
    ['f', 'e', 'd']
    """
    if not all(indices):  # the result is empty, whatever the other axes are
        return []
    positions, stride = [0], len(elements)
    for size, chosen in zip(sizes, indices, strict=True):
        stride //= size
        offsets = [index * stride for index in chosen]
        positions = [position + offset for position in positions for offset in offsets]
    return [elements[position] for position in positions]


def is_listable(shape: Shape) -> bool:
    """Whether contents of this shape may be listed: all sizes are known, and the elements are few (MAX_ELEMENTS)."""
    if shape.dims is None:
        return False
    total = 1
    for d in shape.dims:
        if not isinstance(d, int) or d > MAX_ELEMENTS:  # numpy cannot create empty arrays with huge axes
            return False
        total *= d
    return total <= MAX_ELEMENTS


def list_elements(value: PartialTensor) -> PartialTensor:
    """The tensor; with a list of unknown elements where its contents are unknown and its shape is listable."""
    if value.elements is not None or not is_listable(value.shape):
        return value
    count = 1
    for d in value.shape:
        count *= d if isinstance(d, int) else 1
    return PartialTensor(value.dtype, value.shape, (None,) * count)


def map_elements(dtype: str | None, shape: Shape, operation: Operation, *values: PartialTensor) -> PartialTensor:
    """An operation on elements, applied to the broadcast of the values. Unknown elements are passed to it as None."""
    if any([v.elements is None for v in values]) or not is_listable(shape):
        return PartialTensor(dtype, shape, None)
    if all(v.shape == shape for v in values):
        return PartialTensor(dtype, shape, map(operation, *(v.elements or () for v in values)))
    if len(shape) <= 1:  # a single element is repeated
        size = int(shape[0]) if shape.dims else 1
        flat = ((v.elements or ()) * (size if len(v.elements or ()) == 1 else 1) for v in values)
        return PartialTensor(dtype, shape, map(operation, *flat))
    return PartialTensor(dtype, shape, map(operation, *(broadcast_list(v, shape) for v in values)))


def broadcast_list(value: PartialTensor, shape: Shape) -> list[Element]:
    """The elements, row by row, of a tensor with known elements that is broadcast to a listable shape.

    >>> broadcast_list(PartialTensor("int64", Shape((2, 1)), (1, 2)), Shape((2, 3)))
    [1, 1, 1, 2, 2, 2]
    """
    sizes = [d for d in shape if isinstance(d, int)]
    if 0 in sizes:
        return []
    elements, length = list(value.elements or ()), 1
    own = [1] * (len(sizes) - len(value.shape)) + [d for d in value.shape if isinstance(d, int)]
    for size, repeated in zip(reversed(own), reversed(sizes), strict=True):
        if size != repeated:  # rows of this axis have `length` elements
            rows = (elements[start : start + length] for start in range(0, len(elements), length))
            elements = [e for row in rows for e in row * repeated]
        length *= repeated
    return elements


def map_dims(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    operation: Callable[..., DimSize | bool | Condition | None],
    *values: PartialTensor,
) -> PartialTensor | None:
    """An operation on dims, applied to the broadcast of index tensors: a fast path for scalars and vectors of sizes.

    None where it does not apply, so that `fold_elements` has to: other types, elements that are not dims, broadcasts
    of more than single elements, and results that are unknown.
    """
    source = values[0].dtype
    if source not in INDEX_TYPES or not is_listable(shape):
        return None
    count = prod(shape)
    columns: list[Sequence[Element]] = []
    for v in values:
        elements = v.elements
        if elements is None or v.dtype != source or not are_dims(elements):
            return None
        if len(elements) != count:
            if len(elements) != 1:
                return None
            elements = elements * count  # type: ignore[operator]
        columns.append(elements)
    results: list[Element] = list(map(operation, *columns))
    if None in results:
        return None
    return PartialTensor(dtype, shape, [wrap_element(c, source, result) for result in results])


def fold_elements(
    dtype: str | None, shape: Shape, concrete: Callable[..., Any], operation: Operation, *values: PartialTensor
) -> PartialTensor:
    """`map_elements`, but computed by numpy, in the type of the tensors, where every element is concrete."""
    if not is_listable(shape) or any(v.elements is None for v in values):
        return PartialTensor(dtype, shape, None)
    known = [NOT_CONCRETE.isdisjoint(map(type, v.elements or ())) for v in values]
    arrays = [v.array() for v in values] if all(known) else [None]
    if any([a is None for a in arrays]):
        return map_elements(dtype, shape, operation, *values)
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            result = np.asarray(concrete(*arrays))
    except (AttributeError, TypeError, ValueError):  # undefined for strings, or shapes that do not match
        return PartialTensor(dtype, shape, None)
    return PartialTensor(dtype, shape, result.reshape(-1).tolist())


def fold_dims(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    concrete: Callable[..., Any],
    symbolic: Callable[..., DimSize | bool | Condition | None],
    *values: PartialTensor,
) -> PartialTensor:
    """`fold_elements` with an operation on dims, whose results wrap around as the type of the values does.

    On ints, `symbolic` returns what `concrete` does, or None.
    """
    if any([v.elements is None for v in values]):  # as of most tensors
        return PartialTensor(dtype, shape, None)
    sizes = map_dims(c, dtype, shape, symbolic, *values)
    if sizes is not None:
        return sizes
    return fold_elements(dtype, shape, concrete, integer_operation(c, values[0].dtype, symbolic), *values)


def to_dim(element: Element) -> DimSize | None:
    """An element as a dim: an int, a Dimension or an integral float; None for any other."""
    if type(element) is int or type(element) is Dimension:
        return element
    if isinstance(element, (bool, int)):
        return int(element)
    if isinstance(element, Dimension):
        return element
    if isinstance(element, float) and element.is_integer() and abs(element) < 2**53:
        return int(element)
    return None


def dim_operation(operation: Callable[..., DimSize | bool | Condition | None]) -> Operation:
    """An operation on dims, lifted to elements; its result is None where an operand is not an integer."""

    def apply(*elements: Element) -> Element:
        dims = [to_dim(e) for e in elements]
        return None if any(d is None for d in dims) else operation(*dims)

    return apply


def integer_operation(
    c: InferenceContext, dtype: str | None, operation: Callable[..., DimSize | bool | Condition | None]
) -> Operation:
    """An operation on dims, lifted to elements of a type: its results wrap around if that is an integer type."""
    on_elements = dim_operation(operation)
    return lambda *elements: wrap_element(c, dtype, on_elements(*elements))


def known_ints(value: PartialTensor | None) -> tuple[int, ...] | None:
    """The contents as ints; None where an element is unknown or symbolic."""
    known = known_dims(value)
    if known is None:
        return None
    for d in known:
        if type(d) is not int:
            return None
    return known  # type: ignore[return-value]


def known_dims(value: PartialTensor | None) -> tuple[DimSize | None, ...] | None:
    """The contents as dims, with None for each unknown element; None where there are no contents."""
    if value is None:
        return None
    elements = value.elements
    if elements is None:
        return () if is_listable(value.shape) and 0 in value.shape.require() else None
    if are_dims(elements):
        return elements  # type: ignore[return-value]
    return tuple([to_dim(e) for e in elements])


_TYPES_OF_DIMS = frozenset((int, Dimension))


def are_dims(elements: Sequence[Element]) -> bool:
    """Whether all elements are ints or Dimensions. Bools, integral floats and unknown elements are not."""
    return _TYPES_OF_DIMS.issuperset(map(type, elements))


INDEX_TYPES = ("int64", "int32")
"""The types of indices."""


def name_scalar(c: InferenceContext, value: PartialTensor) -> PartialTensor:
    """The tensor, with a fresh unknown for an unknown integer scalar: results computed from it stay comparable."""
    unknown = value.shape.dims == () and (value.elements is None or value.elements == (None,))
    if not unknown or value.dtype not in INDEX_TYPES:
        return value
    return PartialTensor(value.dtype, value.shape, (c.fresh("value", None),))


def is_float(dtype: str | None) -> bool:
    """Whether a dtype is a float or complex type."""
    return dtype is not None and ("float" in dtype or dtype == "complex64" or dtype == "complex128")


def clamp_at_zero(c: InferenceContext, d: DimSize) -> DimSize:
    """The larger of a dim and 0."""
    return d if c.store.bounds(d)[0] >= 0 or c.prove_le(0, d) is True else maximum(d, 0)


def truncated_quotient(c: InferenceContext) -> Callable[[DimSize, DimSize], DimSize | None]:
    """Integer division that rounds towards zero, as in runtimes. Symbolic only for a positive divisor."""

    def divide(a: DimSize, b: DimSize) -> DimSize | None:
        if isinstance(a, int) and isinstance(b, int):
            return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if not (b >= 1 if isinstance(b, int) else c.prove_le(1, b) is True):
            return None
        if c.store.bounds(a)[0] >= 0 or c.prove_le(0, a) is True:
            return a // b
        return maximum(a, 0) // b - maximum(-a, 0) // b

    return divide


def concatenate_elements(parts: Sequence[Elements], axis: int) -> Elements:
    """`np.concatenate` of object arrays."""
    import numpy as np

    return np.concatenate(list(parts), axis=axis)


MAX_RANK = 1024
"""The largest rank that contents may request; a larger one is a damaged or malicious file."""


def requested_dims(
    c: InferenceContext, shape: PartialTensor, name: str = "shape", dtype: str | None = None
) -> tuple[DimSize | None, ...]:
    """The dims that a vector input requests, None for each unknown one. Raises NotKnown if its length is unknown.

    The error carries `dtype`, the element type of the outputs, for operators whose definition does not declare it.
    """
    (size,) = c.require_rank(shape.shape, 1, f"`{name}`")
    known = known_dims(shape)
    length = len(known) if known is not None else c.concrete(size)
    if length is None:
        raise c.unknowable(f"neither the contents nor the length of `{name}` are known", dtype)
    if length > MAX_RANK:
        raise c.unknowable(f"`{name}` requests rank {length}, more than {MAX_RANK}", dtype)
    return known if known is not None else (None,) * length


Verdict = Truth


def compare_le(c: InferenceContext, a: DimSize, b: DimSize) -> Verdict:
    """`a <= b`, decided or as a condition."""
    decided = c.prove_le(a, b)
    if decided is not None:
        return decided
    return nonnegative_condition(b - a)


def compare_eq(c: InferenceContext, a: DimSize, b: DimSize) -> Verdict:
    """`a == b`, decided or as a condition: the smaller of both differences is not negative."""
    decided = c.prove_eq(a, b)
    return nonnegative_condition(minimum(a - b, b - a)) if decided is None else decided
