"""Types of values: tensors (with or without known contents), sequences, optionals and maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import ml_dtypes
import numpy as np
import numpy.typing as npt

from shapeinf.expr import Dim, Dimension
from shapeinf.lattice.dtypes import ML_DTYPES
from shapeinf.lattice.shape import Shape


@attrs.frozen
class Condition:
    """A bool that is not decided: `expression >= 0`."""

    expression: Dimension

    def __str__(self) -> str:
        """`B - 1 >= 0`."""
        return f"{self.expression} >= 0"


@attrs.frozen
class Quotient:
    """A fraction of dims, `numerator / denominator`, rounded once to the float type of its tensor."""

    numerator: Dim
    denominator: Dim

    def __str__(self) -> str:
        """`(h + 1)/(2)`."""
        return f"({self.numerator})/({self.denominator})"


Element = int | float | bool | str | complex | Dimension | Condition | Quotient | None
"""One element of a PartialTensor: concrete, symbolic, or None when not known."""


def dims_in(element: object) -> Iterator[Dimension]:
    """The dims that a number is made of; none for anything else."""
    parts = (element.numerator, element.denominator) if isinstance(element, Quotient) else (element,)
    return (d for d in parts if isinstance(d, Dimension))


MAX_ELEMENTS = 4096
"""Contents of tensors with more elements than this are never kept."""

MAX_RANK = 30
"""Nor are those of tensors with more axes: numpy has 32."""

_SHOWN = 8


class TensorType:
    """A tensor's element type (numpy name, None when not known) and shape."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: str | None, shape: Shape) -> None:
        """`dtype` is a numpy-style name such as `float32`."""
        self.dtype = dtype
        self.shape = shape

    @property
    def elements(self) -> tuple[Element, ...] | None:
        """The known contents; a plain TensorType has none."""
        return None

    @property
    def contents(self) -> tuple[object, ...] | None:
        """All that is known of the contents, in whatever form: equal where the same is known."""
        return self.elements

    def retyped(self, dtype: str | None, shape: Shape) -> TensorType:
        """The same contents in another type, under dims that are equal to those before."""
        return PartialTensor(dtype, shape, self.elements)

    def __eq__(self, other: object) -> bool:
        """Same dtype, shape and known contents."""
        return (
            isinstance(other, TensorType)
            and self.dtype == other.dtype
            and self.shape == other.shape
            and self.contents == other.contents
        )

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        """`float32[2, 3]`."""
        return f"{self.dtype or '?'}{self.shape}"


class PartialTensor(TensorType):
    """A tensor of which some or all elements are known.

    `elements` is the flat row-major tuple of its contents (None as a whole when nothing is known). Contents are kept
    only for shapes of known ints with at most `MAX_ELEMENTS` elements, on at most `MAX_RANK` axes.

    >>> PartialTensor.from_array(np.array([1, -1]))
    int64[2]{1, -1}
    """

    __slots__ = ("_elements",)

    def __init__(self, dtype: str | None, shape: Shape, elements: Iterable[Element] | None) -> None:
        """Raises ValueError when the number of elements does not fit the shape."""
        self.dtype = dtype
        self.shape = shape
        self._elements = None if elements is None else tuple(elements)
        if self._elements is None:
            return
        if len(self._elements) != _count(shape):
            raise ValueError(f"{len(self._elements)} elements do not fill {shape}")
        if shape.dims is not None and len(shape.dims) > MAX_RANK:
            self._elements = None

    @property
    def elements(self) -> tuple[Element, ...] | None:
        """The flat row-major contents, or None."""
        return self._elements

    @property
    def contents(self) -> tuple[object, ...] | None:
        """See `TensorType.contents`."""
        return self._elements

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> PartialTensor:
        """All elements known; contents past `MAX_ELEMENTS` are dropped, the shape stays."""
        dtype = "string" if array.dtype.kind in "OUS" else array.dtype.name
        elements = array.reshape(-1).tolist() if array.size <= MAX_ELEMENTS else None
        return cls(dtype, Shape(array.shape), elements)

    def array(self) -> npt.NDArray[Any] | None:
        """A numpy array when every element is concrete and of a size that the type holds, else None."""
        if self._elements is None or any(
            e is None or isinstance(e, (Dimension, Condition, Quotient)) for e in self._elements
        ):
            return None
        dims = [d for d in self.shape if isinstance(d, int)]
        try:
            with np.errstate(all="ignore"):  # a float32 may be no finite float16
                return np.array(self._elements, dtype=numpy_dtype(self.dtype)).reshape(dims)
        except OverflowError:  # a model that mixes types
            return None

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self._elements))

    def __repr__(self) -> str:
        """`int64[2]{B, -1}`, unknown elements as `?`."""
        if self._elements is None:
            return super().__repr__()
        shown = ["?" if e is None else str(e) for e in self._elements[:_SHOWN]]
        more = ["..."] if len(self._elements) > _SHOWN else []
        return super().__repr__() + "{" + ", ".join(shown + more) + "}"


class SequenceType:
    """A sequence of values; `element` joins the types of all of them.

    `length` is their number, None when it is not known. `items` are the types one by one, where they are known apart.
    """

    __slots__ = ("element", "items", "length")

    def __init__(self, element: Type, length: Dim | None = None, items: tuple[Type, ...] | None = None) -> None:
        """`element` is the join of the types of all elements."""
        self.element = element
        self.length = length if items is None else len(items)
        self.items = items

    def __eq__(self, other: object) -> bool:
        """Same kind, same element type and the same known length and items."""
        return (
            type(other) is type(self)
            and isinstance(other, SequenceType)
            and self.element == other.element
            and (self.length is other.length or self.length == other.length)
            and self.items == other.items
        )

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((type(self).__name__, self.element, self.length))

    def __repr__(self) -> str:
        """`sequence(float32[2])`."""
        return f"{type(self).__name__.removesuffix('Type').lower()}({self.element!r})"


class OptionalType(SequenceType):
    """A value of the element type, or nothing."""

    __slots__ = ()

    def __init__(self, element: Type) -> None:
        """`element` is the type of the value, if there is one."""
        super().__init__(element)


class MapType(SequenceType):
    """A map from keys of a dtype to values of the element type."""

    __slots__ = ("key",)

    def __init__(self, key: str, value: Type) -> None:
        """`key` is the dtype of the keys."""
        super().__init__(value)
        self.key = key

    def __eq__(self, other: object) -> bool:
        """Same key and same value type."""
        return isinstance(other, MapType) and self.key == other.key and self.element == other.element

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(("map", self.key, self.element))


Type = TensorType | SequenceType
"""What a value of a graph can be (OptionalType and MapType are SequenceTypes by storage, not by meaning)."""


def _count(shape: Shape) -> int:
    total = 1
    for d in shape.require():
        if not isinstance(d, int):
            raise ValueError(f"contents need a shape of known ints, not {shape}")
        total *= d
    return total


def numpy_dtype(dtype: str | None) -> np.dtype[Any] | None:
    """The numpy dtype of a dtype name (None of None: numpy's own choice); narrow floats and ints come from ml_dtypes.

    >>> numpy_dtype("int64")
    dtype('int64')
    """
    if dtype is None:
        return None
    if dtype == "string":
        return np.dtype(object)
    extended = getattr(ml_dtypes, ML_DTYPES.get(dtype, dtype), None)
    return np.dtype(extended) if extended is not None else np.dtype(dtype)
