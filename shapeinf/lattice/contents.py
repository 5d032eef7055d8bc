"""Known contents of tensors for users: nested as the axes are, and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Union

from shapeinf.lattice.types import MAX_PRINTED, Element, PartialTensor, TensorType

Value = Union[Element, tuple["Value", ...]]  # noqa: UP007  # `|` does not take the name of a type that is not yet made
"""An element, or for each index of the first axis the value at that index."""


def nest_elements(tensor: PartialTensor) -> Value:
    """The elements nested as the axes are, that of a scalar by itself; a tensor without elements is `()`.

    >>> from shapeinf.lattice import Shape
    >>> nest_elements(PartialTensor("int64", Shape((2, 1)), (1, None)))
    ((1,), (None,))
    """
    return _nest(iter(tensor.elements), _sizes(tensor)) if tensor.elements else ()


def _nest(elements: Iterator[Element], sizes: Sequence[int]) -> Value:
    return tuple(_nest(elements, sizes[1:]) for _ in range(sizes[0])) if sizes else next(elements)


def format_elements(tensor: PartialTensor) -> str:
    """The elements in brackets, of many the type and the first ones; that of a scalar by itself.

    >>> from shapeinf.lattice import Shape
    >>> format_elements(PartialTensor("int64", Shape((2, 1)), (1, None)))
    '[[1], [?]]'
    """
    elements = iter(tensor.elements or ())
    sizes = _sizes(tensor)
    if math.prod(max(size, 1) for size in sizes) > MAX_PRINTED:  # one without elements may have many brackets
        first = ", ".join(map(format_element, islice(elements, MAX_PRINTED)))
        return repr(TensorType(tensor.dtype, tensor.shape)) + (f" of {first}, ..." if first else "")
    return _format_nested(elements, sizes)


def _format_nested(elements: Iterator[Element], sizes: Sequence[int]) -> str:
    if not sizes:
        return format_element(next(elements))
    return "[" + ", ".join(_format_nested(elements, sizes[1:]) for _ in range(sizes[0])) + "]"


def format_contents(tensor: TensorType) -> str:
    """All that is known of the contents, the elements in brackets; empty where nothing is known.

    >>> from shapeinf.lattice import BoundedTensor, Shape
    >>> format_contents(PartialTensor("int64", Shape((9,)), range(9)))
    '[0, 1, 2, 3, 4, 5, 6, 7, ...]'
    >>> format_contents(BoundedTensor("int64", Shape((5000,)), 0, 511))
    '0..511'
    """
    if not isinstance(tensor, PartialTensor) or tensor.elements is None:
        return tensor.contents_text or ""
    if len(tensor.elements) > MAX_PRINTED:
        return f"[{', '.join(map(format_element, tensor.elements[:MAX_PRINTED]))}, ...]"
    return format_elements(tensor) if tensor.elements else "[]"


def format_element(element: Element) -> str:
    """An element as text; one that is not known is `?`."""
    if element is None:
        return "?"
    if isinstance(element, bool):
        return str(element).lower()
    return repr(element) if isinstance(element, str) else str(element)


def _sizes(tensor: PartialTensor) -> list[int]:
    """The sizes of the axes of a tensor whose elements are known, which are numbers."""
    return [size for size in tensor.shape if isinstance(size, int)]
