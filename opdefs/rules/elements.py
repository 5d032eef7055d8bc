"""Known contents of tensors: arrays of elements (ints, floats, bools, strings, Dimensions; None is unknown)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shapeinf.expr import Dim, Dimension, maximum
from shapeinf.lattice import MAX_ELEMENTS, Condition, Element, PartialTensor, Shape, numpy_dtype
from shapeinf.ops import InferenceContext

Array = npt.NDArray[Any]
Elements = npt.NDArray[np.object_]
Operation = Callable[..., Element]


def elements_of(value: PartialTensor) -> Elements | None:
    """The contents as an object array of the tensor's shape, None when nothing is known."""
    if value.elements is None:
        return None
    array = np.empty(len(value.elements), dtype=object)
    array[:] = value.elements
    return array.reshape([d for d in value.shape if isinstance(d, int)])


def tensor_of(array: npt.NDArray[Any], dtype: str | None = None) -> PartialTensor:
    """A tensor with these contents; past the limit only its shape is kept."""
    elements = array.reshape(-1).tolist() if array.size <= MAX_ELEMENTS else None
    return PartialTensor(dtype, Shape(array.shape), elements)


def moved(value: PartialTensor, shape: Shape, move: Callable[[Elements], npt.NDArray[Any]]) -> PartialTensor:
    """The tensor of `shape` whose contents are those of `value`, moved around; unknown when they are not known."""
    array = elements_of(value)
    if array is None or not fits(shape):
        return PartialTensor(value.dtype, shape, None)
    result = np.asarray(move(array), dtype=object)  # numpy gives a bare element in place of a scalar array
    return PartialTensor(value.dtype, shape, result.reshape(-1).tolist())


def fits(shape: Shape) -> bool:
    """Whether contents of this shape may be kept: known ints, few elements."""
    if shape.dims is None:
        return False
    total = 1
    for d in shape.dims:
        if not isinstance(d, int):
            return False
        total *= d
    return total <= MAX_ELEMENTS


def mapped(dtype: str | None, shape: Shape, operation: Operation, *values: PartialTensor) -> PartialTensor:
    """The broadcast of the values under an operation on single elements; an unknown operand gives an unknown."""
    if not fits(shape) or any(v.elements is None for v in values):
        return PartialTensor(dtype, shape, None)
    if all(v.shape == shape for v in values):
        return PartialTensor(dtype, shape, map(operation, *(v.elements or () for v in values)))
    if len(shape) <= 1:  # one element stands for all
        size = int(shape[0]) if shape.dims else 1  # type: ignore[arg-type]
        flat = ((v.elements or ()) * (size if len(v.elements or ()) == 1 else 1) for v in values)
        return PartialTensor(dtype, shape, map(operation, *flat))
    arrays = [elements_of(v) for v in values]
    spread = np.broadcast_arrays(*(a for a in arrays if a is not None))
    rows = zip(*(a.reshape(-1).tolist() for a in spread), strict=True)
    return PartialTensor(dtype, shape, [operation(*row) for row in rows])


def folded(
    dtype: str | None, shape: Shape, concrete: Callable[..., Any], operation: Operation, *values: PartialTensor
) -> PartialTensor:
    """Like `mapped`, but by numpy in the tensors' own type where every element of every value is concrete."""
    if not fits(shape) or any(v.elements is None for v in values):
        return PartialTensor(dtype, shape, None)
    arrays = [v.array() for v in values]
    if any(a is None for a in arrays):
        return mapped(dtype, shape, operation, *values)
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(concrete(*arrays))
    except (TypeError, ValueError):  # no operation on strings, or on tensors that do not fit each other
        return PartialTensor(dtype, shape, None)
    return PartialTensor(dtype, shape, result.reshape(-1).tolist())


def as_dim(element: Element) -> Dim | None:
    """An element as a dim: ints and integral floats, None for anything else."""
    if isinstance(element, (bool, int)):
        return int(element)
    if isinstance(element, Dimension):
        return element
    if isinstance(element, float) and element.is_integer() and abs(element) < 2**53:
        return int(element)
    return None


def on_dims(operation: Callable[..., Dim | bool | Condition | None]) -> Operation:
    """An operation on dims as one on elements; unknown where an operand is no whole number."""

    def lifted(*elements: Element) -> Element:
        dims = [as_dim(e) for e in elements]
        return None if any(d is None for d in dims) else operation(*dims)

    return lifted


def known_ints(value: PartialTensor | None) -> tuple[int, ...] | None:
    """The contents as ints, None when any is unknown or symbolic."""
    found = known_dims(value)
    if found is None:
        return None
    dims = list(found)
    ints = [d for d in dims if isinstance(d, int)]
    return tuple(ints) if len(ints) == len(dims) else None


def known_dims(value: PartialTensor | None) -> tuple[Dim | None, ...] | None:
    """The contents as dims, None for each that is unknown; None when nothing is known."""
    if value is None:
        return None
    if value.elements is None:
        return () if value.shape.dims is not None and 0 in value.shape.dims else None
    return tuple(as_dim(e) for e in value.elements)


def in_range(dtype: str | None, element: Element) -> Element:
    """The element, unknown when it would wrap around in an integer type."""
    kind = numpy_dtype(dtype)
    if kind is None or kind.kind not in "iu" or not isinstance(element, int):
        return element
    limits = np.iinfo(kind)
    return element if limits.min <= element <= limits.max else None


def is_float(dtype: str | None) -> bool:
    """Whether a dtype holds fractions."""
    return dtype is not None and ("float" in dtype or dtype == "complex64" or dtype == "complex128")


def truncated_quotient(c: InferenceContext) -> Callable[[Dim, Dim], Dim | None]:
    """Integer division as runtimes do it: towards zero. Symbolic only for a positive divisor."""

    def divide(a: Dim, b: Dim) -> Dim | None:
        if isinstance(a, int) and isinstance(b, int):
            return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if c.prove_le(1, b) is not True:
            return None
        if c.prove_le(0, a) is True:
            return a // b
        return maximum(a, 0) // b - maximum(-a, 0) // b

    return divide


def concatenated(parts: Sequence[Elements], axis: int) -> Elements:
    """`np.concatenate` that keeps objects."""
    return np.concatenate(list(parts), axis=axis)


MAX_RANK = 1024
"""Longest shape that contents may describe; a longer one is a mistake or an attack."""


def wanted_dims(
    c: InferenceContext, shape: PartialTensor, what: str = "shape", dtype: str | None = None
) -> tuple[Dim | None, ...]:
    """The dims that a vector input asks for, None for each that is not known; NotKnown without even a length.

    `dtype` is the element type of the outputs in that case, where their definition does not say it.
    """
    (size,) = c.require_rank(shape.shape, 1, f"`{what}`")
    known = known_dims(shape)
    length = len(known) if known is not None else c.concrete(size)
    if length is None:
        raise c.unknowable(f"neither the contents nor the length of `{what}` are known", dtype)
    if length > MAX_RANK:
        raise c.unknowable(f"`{what}` asks for a rank of {length}, more than {MAX_RANK}", dtype)
    return known if known is not None else (None,) * length
