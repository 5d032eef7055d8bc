"""Types of values: tensors, with contents known in full, in part or by a formula; sequences, optionals and maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs

from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice.dtypes import DTYPES, ML_DTYPES, WITHOUT_NUMPY_TYPE
from shapeinf.lattice.shape import Shape
from shapeinf.packages import is_installed, require_package

if TYPE_CHECKING:  # contents are Python's own numbers: numpy, which takes long to import, is for arrays only
    import numpy as np
    import numpy.typing as npt


@attrs.frozen
class Condition:
    """An undecided bool: `expression >= 0`."""

    expression: Dimension

    def __str__(self) -> str:
        """`B - 1 >= 0`."""
        return f"{self.expression} >= 0"


@attrs.frozen
class Quotient:
    """A fraction of dims, `numerator / denominator`, rounded once to the float type of its tensor."""

    numerator: DimSize
    denominator: DimSize

    def __str__(self) -> str:
        """`(h + 1)/(2)`."""
        return f"({self.numerator})/({self.denominator})"


@attrs.frozen
class FloatInterval:
    """A float that runtimes compute with different errors: any number from `low` to `high`, which are finite."""

    low: float
    high: float

    def __str__(self) -> str:
        """`1.9999998..2.0000002`."""
        return f"{self.low}..{self.high}"


Element = int | float | bool | str | complex | Dimension | Condition | Quotient | FloatInterval | None
"""One element of a PartialTensor: concrete, symbolic, between two floats, or None when unknown."""

NOT_CONCRETE = frozenset((type(None), Dimension, Condition, Quotient, FloatInterval))
"""The types of elements that no array of numbers holds."""


def dims_in(element: object) -> Iterator[Dimension]:
    """The dims inside a symbolic number; none for any other element."""
    parts = (element.numerator, element.denominator) if isinstance(element, Quotient) else (element,)
    return (d for d in parts if isinstance(d, Dimension))


MAX_ELEMENTS = 4096
"""Tensors with more elements than this have no known contents."""

MAX_RANK = 30
"""Tensors with more axes than this have no known contents; numpy allows 32."""

MAX_PRINTED = 8
"""Elements that the text of a tensor lists."""


class TensorType:
    """A tensor's element type (numpy name, None when unknown) and shape."""

    __slots__ = ("dtype", "shape")
    kind: ClassVar[Literal["tensor"]] = "tensor"

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
        """The known contents, in the form of the subclass: equal where the same is known."""
        return self.elements

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """The same contents in another type; the dims must equal those of this shape."""
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

    @property
    def contents_text(self) -> str | None:
        """The known contents as text; None where nothing is known of them."""
        return None

    def __repr__(self) -> str:
        """`float32[2, 3]`, `int64[2]{B, -1}` where contents are known."""
        contents = self.contents_text
        return f"{self.dtype or '?'}{self.shape}" + ("" if contents is None else f"{{{contents}}}")


class PartialTensor(TensorType):
    """A tensor of which some or all elements are known.

    `elements` is the flat row-major tuple of its contents, None when nothing is known. Only static shapes with at most
    `MAX_ELEMENTS` elements on at most `MAX_RANK` axes have contents.

    >>> PartialTensor("int64", Shape((2,)), (1, -1))
    int64[2]{1, -1}
    """

    __slots__ = ("elements",)

    elements: tuple[Element, ...] | None
    """The flat row-major contents, or None."""

    def __init__(self, dtype: str | None, shape: Shape, elements: Iterable[Element] | None) -> None:
        """Raises ValueError when the number of elements does not fit the shape."""
        self.dtype = dtype
        self.shape = shape
        if elements is None:
            self.elements = None
            return
        elements = tuple(elements)
        if len(elements) != _count(shape):
            raise ValueError(f"{len(elements)} elements do not fill {shape}")
        self.elements = None if shape.dims is not None and len(shape.dims) > MAX_RANK else elements

    @property
    def contents(self) -> tuple[object, ...] | None:
        """See `TensorType.contents`."""
        return self.elements

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> PartialTensor:
        """A tensor with all elements known; past `MAX_ELEMENTS` only with its shape."""
        dtype = "string" if array.dtype.kind in "OUS" else array.dtype.name
        elements = array.reshape(-1).tolist() if array.size <= MAX_ELEMENTS else None
        return cls(dtype, Shape(array.shape), elements)

    def array(self) -> npt.NDArray[Any] | None:
        """A numpy array when every element is concrete and fits the type, else None."""
        if self.elements is None or not NOT_CONCRETE.isdisjoint(map(type, self.elements)):
            return None
        if self.dtype is not None and not has_numpy_type(self.dtype):
            return None
        import numpy as np

        dims = [d for d in self.shape if isinstance(d, int)]
        try:
            with np.errstate(all="ignore"):  # a float32 may be no finite float16
                return np.array(self.elements, dtype=numpy_dtype(self.dtype)).reshape(dims)
        except (OverflowError, TypeError):  # a model that mixes types, or a type that numpy does not have
            return None

    def rearranged(self, shape: Shape) -> PartialTensor:
        """A tensor of some elements of this one, in any order; its contents are what holds for every element."""
        return PartialTensor(self.dtype, shape, None)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.elements))

    @property
    def contents_text(self) -> str | None:
        """The first elements, unknown ones as `?`: `B, -1`."""
        if self.elements is None:
            return None
        texts = ["?" if e is None else str(e) for e in self.elements[:MAX_PRINTED]]
        more = ["..."] if len(self.elements) > MAX_PRINTED else []
        return ", ".join(texts + more)


def operand_text(type_: Type | None) -> str:
    """The text of an operand in a diagnostic: with its contents only where they are few integers, not weights.

    >>> operand_text(PartialTensor("int64", Shape((2,)), (1, -1)))
    'int64[2]{1, -1}'
    >>> operand_text(PartialTensor("float32", Shape((2,)), (0.5, -0.25)))
    'float32[2]'
    """
    if not isinstance(type_, PartialTensor) or type_.elements is None:
        return repr(type_)
    if type_.dtype in _INTEGERS and len(type_.elements) <= MAX_PRINTED:
        return repr(type_)
    return f"{type_.dtype or '?'}{type_.shape}"


_INTEGERS = frozenset({"int32", "int64", "bool"})
"""Element types of sizes, axes, indices and conditions."""


def to_partial(tensor: TensorType) -> PartialTensor:
    """The same type as a PartialTensor; a plain type has no known contents."""
    return tensor if isinstance(tensor, PartialTensor) else PartialTensor(tensor.dtype, tensor.shape, None)


class BoundedTensor(PartialTensor):
    """A large tensor of integers of which only the least and the greatest element are known.

    >>> BoundedTensor("int64", Shape((5000,)), 0, 511)
    int64[5000]{0..511}
    """

    __slots__ = ("least", "most")

    def __init__(self, dtype: str | None, shape: Shape, least: int, most: int) -> None:
        """Both `least` and `most` are elements of the tensor."""
        super().__init__(dtype, shape, None)
        self.least = least
        self.most = most

    @property
    def contents(self) -> tuple[object, ...]:
        """The range, which equals no list of elements."""
        return (range(self.least, self.most + 1),)

    def __eq__(self, other: object) -> bool:
        """Same dtype, shape and range."""
        return isinstance(other, BoundedTensor) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.least, self.most))

    @property
    def contents_text(self) -> str:
        """`0..511`."""
        return f"{self.least}..{self.most}"


class ChosenIndices(PartialTensor):
    """Integers that data chooses among the indices 0..size-1 of an axis, as the positions of the largest elements.

    `size` is None where it is not known.

    >>> ChosenIndices("int64", Shape((10,)), 40)
    int64[10]{chosen below 40}
    """

    __slots__ = ("size",)

    def __init__(self, dtype: str | None, shape: Shape, size: DimSize | None) -> None:
        """`size` is that of the axis whose elements were compared, not of the axis that is indexed."""
        super().__init__(dtype, shape, None)
        self.size = size

    @property
    def contents(self) -> tuple[object, ...]:
        """The size of the axis."""
        return ChosenIndices, self.size

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """See `TensorType.with_type`."""
        return ChosenIndices(dtype, shape, self.size)

    def rearranged(self, shape: Shape) -> PartialTensor:
        """See `PartialTensor.rearranged`."""
        return ChosenIndices(self.dtype, shape, self.size)

    def __eq__(self, other: object) -> bool:
        """Same dtype and shape, and the same size of the axis."""
        return isinstance(other, ChosenIndices) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.size))

    @property
    def contents_text(self) -> str:
        """`chosen below n`."""
        return f"chosen below {'?' if self.size is None else self.size}"


class Progression(PartialTensor):
    """Integers evenly spaced along each axis: the element at `[i, j, ...]` is `base + steps[0]*i + steps[1]*j + ...`.

    The first and the last element are known even where a size is symbolic, as those of position ids are.

    >>> Progression("int64", Shape((1, 4)), 3, (0, 2))
    int64[1, 4]{3 + 2*i1}
    """

    __slots__ = ("base", "steps")

    def __init__(self, dtype: str | None, shape: Shape, base: DimSize, steps: Iterable[int]) -> None:
        """Raises ValueError where there is not one step for each axis."""
        super().__init__(dtype, shape, None)
        self.base = base
        self.steps = tuple(steps)
        if len(self.steps) != len(shape):
            raise ValueError(f"{len(self.steps)} steps for {shape}")

    @property
    def contents(self) -> tuple[object, ...]:
        """The first element and the steps."""
        return self.base, self.steps

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """See `TensorType.with_type`."""
        return Progression(dtype, shape, self.base, self.steps)

    def __eq__(self, other: object) -> bool:
        """Same dtype, shape, first element and steps."""
        return isinstance(other, Progression) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.base, self.steps))

    @property
    def contents_text(self) -> str:
        """`past + 1*i0`, the element at the index `i0`."""
        return " + ".join([str(self.base), *(f"{step}*i{axis}" for axis, step in enumerate(self.steps) if step)])


class BroadcastAxes(PartialTensor):
    """The axes along which a tensor is repeated where it broadcasts with another one, while these are undecided.

    They are the axes whose size is 1, unless both tensors have equal shapes. `sizes` and `others` are the two shapes
    with equally many axes, None for an unknown size. Sums over these axes undo a broadcast.

    >>> BroadcastAxes("int32", Shape((1,)), (1, 3), (2, 3))
    int32[1]{axes of size 1 of [1, 3], next to [2, 3]}
    """

    __slots__ = ("others", "sizes")

    def __init__(
        self, dtype: str | None, shape: Shape, sizes: Iterable[DimSize | None], others: Iterable[DimSize | None]
    ) -> None:
        """`sizes` is the shape of the tensor itself."""
        super().__init__(dtype, shape, None)
        self.sizes = tuple(sizes)
        self.others = tuple(others)

    @property
    def contents(self) -> tuple[object, ...]:
        """Both shapes."""
        return BroadcastAxes, self.sizes, self.others

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """See `TensorType.with_type`."""
        return BroadcastAxes(dtype, shape, self.sizes, self.others)

    def __eq__(self, other: object) -> bool:
        """Same dtype and shape, and the same two shapes."""
        return isinstance(other, BroadcastAxes) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.sizes, self.others))

    def __repr__(self) -> str:
        """`int32[n]{axes of size 1 of [B, 3], next to [B, 3]}`."""
        sizes, others = (", ".join("?" if d is None else str(d) for d in part) for part in (self.sizes, self.others))
        return f"{super().__repr__()}{{axes of size 1 of [{sizes}], next to [{others}]}}"


MAX_TYPE_DEPTH = 32
"""The most sequences, optionals, maps and handles inside one another, of files and of operators."""


class HandleType(PartialTensor):
    """A tensor of handles, with the types of the values behind each: variables, tensor lists, queues, iterators.

    `values` are these types, None where nothing is known. `length` is the number of items of a list or an array of
    tensors, whose items have the type `values[0]`; None where unknown or where the handle is no list. An empty list
    whose items have no known type has `values` of `()`.

    >>> HandleType("resource", Shape(()), [TensorType("float32", Shape((3, 4)))])
    resource[]{float32[3, 4]}
    """

    __slots__ = ("depth", "length", "values")

    def __init__(
        self, dtype: str | None, shape: Shape, values: Iterable[TensorType] | None, length: DimSize | None = None
    ) -> None:
        """`dtype` is "resource" or "variant", or "float32" for the flow of a TensorArray."""
        super().__init__(dtype, shape, None)
        self.values = None if values is None else tuple(values)
        self.length = length
        self.depth = _depth_above(self.values or ())

    @property
    def contents(self) -> tuple[object, ...]:
        """The types behind the handle, and the length."""
        return HandleType, self.values, self.length

    def with_type(self, dtype: str | None, shape: Shape) -> TensorType:
        """See `TensorType.with_type`."""
        return HandleType(dtype, shape, self.values, self.length)

    def __eq__(self, other: object) -> bool:
        """Same dtype and shape, and the same types and length behind the handle."""
        return isinstance(other, HandleType) and super().__eq__(other)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.dtype, self.shape, self.values, self.length))

    @property
    def contents_text(self) -> str:
        """`float32[B, 4] x n`."""
        behind = "?" if self.values is None else ", ".join(map(repr, self.values))
        return behind + ("" if self.length is None else f" x {self.length}")


class SequenceType:
    """A sequence of values; `element` is the join of their types.

    `length` is their number, None when unknown. `items` are the types of the single values, where these are known;
    `total` counts the items at all levels, and `depth` the levels. Raises NotKnown past `MAX_TYPE_DEPTH` levels.
    """

    __slots__ = ("depth", "element", "items", "length", "total")
    kind: ClassVar[Literal["sequence", "optional", "map"]] = "sequence"

    def __init__(self, element: Type, length: DimSize | None = None, items: tuple[Type, ...] | None = None) -> None:
        """`length` is that of `items` where these are known."""
        self.element = element
        self.length = length if items is None else len(items)
        self.items = items
        inner = [item for item in items or () if isinstance(item, SequenceType)]
        self.total: int = len(items or ()) + sum(item.total for item in inner)
        self.depth = _depth_above((element, *inner))

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
        return f"{self.kind}({self.element!r})"


class OptionalType(SequenceType):
    """A value of the element type, or no value."""

    __slots__ = ()
    kind = "optional"

    def __init__(self, element: Type) -> None:
        """`element` is the type of the value when it is present."""
        super().__init__(element)


class MapType(SequenceType):
    """A map from keys of a dtype to values of the element type."""

    __slots__ = ("key",)
    kind = "map"

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
"""The types of a value of a graph (OptionalType and MapType are SequenceTypes by storage, not by meaning)."""


def _depth_above(types: Iterable[Type]) -> int:
    """The levels of a type of these types. Raises NotKnown past `MAX_TYPE_DEPTH` levels."""
    depth = 1 + max((t.depth for t in types if isinstance(t, (SequenceType, HandleType))), default=0)
    if depth > MAX_TYPE_DEPTH:
        raise NotKnown(f"types nest deeper than {MAX_TYPE_DEPTH}")
    return depth


def type_text(value: Type) -> str | None:
    """The text of a type without shapes; None where its element type is not known.

    >>> type_text(OptionalType(TensorType("int64", Shape.unknown()))), type_text(TensorType(None, Shape.unknown()))
    ('optional(int64)', None)
    """
    kinds = []
    while isinstance(value, SequenceType):
        kinds.append(f"map({value.key}," if isinstance(value, MapType) else f"{value.kind}(")
        value = value.element
    return f"{''.join(kinds)}{value.dtype}{')' * len(kinds)}" if value.dtype else None


def _count(shape: Shape) -> int:
    total = 1
    for d in shape.require():
        if not isinstance(d, int):
            raise ValueError(f"contents need a shape of known ints, not {shape}")
        total *= d
    return total


_OBJECTS = frozenset(dtype.name for dtype in DTYPES if dtype.kind in ("string", "handle"))
_QUANTIZED = frozenset(dtype.name for dtype in DTYPES if dtype.kind == "quantized")


_ML_NAMES = frozenset(ML_DTYPES.values())


def has_numpy_type(dtype: str) -> bool:
    """Whether numpy has a type; narrow floats and integers come from ml_dtypes, which may not be installed."""
    return (dtype not in ML_DTYPES and dtype not in _ML_NAMES) or is_installed("ml_dtypes")


@lru_cache(maxsize=64)
def numpy_dtype(dtype: str | None) -> np.dtype[Any] | None:
    """The numpy dtype of a dtype name (None of None: numpy's own choice); narrow floats and ints come from ml_dtypes.

    Quantized numbers are stored as integers, numbers of one bit as bytes before ml_dtypes 0.6. Raises
    MissingPackageError where ml_dtypes is needed and not installed.

    >>> numpy_dtype("int64"), numpy_dtype("quint8")
    (dtype('int64'), dtype('uint8'))
    """
    if dtype is None:
        return None
    import numpy as np

    if dtype in _OBJECTS:
        return np.dtype(object)
    if dtype in _QUANTIZED:
        dtype = dtype.removeprefix("q")
    if dtype in WITHOUT_NUMPY_TYPE:  # numpy's smallest complex type holds its numbers
        dtype = "complex64"
    if dtype not in ML_DTYPES and dtype not in _ML_NAMES:
        return np.dtype(dtype)
    require_package("ml_dtypes", f"an array of {dtype}")
    import ml_dtypes

    extended = getattr(ml_dtypes, ML_DTYPES.get(dtype, dtype), None)
    if extended is None and dtype in ("int1", "uint1"):
        dtype = {"int1": "int8", "uint1": "uint8"}[dtype]
    return np.dtype(dtype if extended is None else extended)
