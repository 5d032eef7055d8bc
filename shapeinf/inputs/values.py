"""Values of small inputs that users specify: parsed, checked against the type of the input, and then its contents.

    value := "[" [value ("," value)*] "]" | element
    element := number | "true" | "false" | "?" | expression of dims | text, perhaps in quotes

The type of the input decides how an element is read. Inputs of integers may hold sizes: `shape=[batch,3,?]`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from typing import Any

from shapeinf.errors import DimSyntaxError, ShapeInferenceError, SpecError
from shapeinf.expr import Dimension, DimSize, axis_label, parse_dim, quote_name
from shapeinf.inputs.named_dims import Dim
from shapeinf.inputs.reader import InputReader
from shapeinf.inputs.spec import unquote_name
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.lattice.dtypes import INTEGER_RANGES, KINDS
from shapeinf.lattice.types import MAX_ELEMENTS, MAX_RANK, Element, HandleType, numpy_dtype
from shapeinf.texts import shell_word

_BLANKS = re.compile(r"\s*")
_OPENING = re.compile(r"\s*\[")
_QUOTED = re.compile(r"\s*(\"[^\"]*\"|'[^']*')\s*(?=[,\]]|$)")
_UNKNOWN = ("?", "None")
_BOOLS = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}


def parse_value_option(text: str) -> tuple[str, object]:
    """Parse `NAME=VALUE`: the name, and the value as a text or as nested lists of texts. Raises SpecError.

    >>> parse_value_option("axes=[0, 2]"), parse_value_option("`a=b`=max(n, 3)")
    (('axes', ['0', '2']), ('a=b', 'max(n, 3)'))
    """
    match = re.fullmatch(r"\s*(`(?:[^`]|``)+`|[^=`]+?)\s*=(.*)", text, re.DOTALL)
    if match is None or not match[2].strip():
        raise SpecError(text, 0, "NAME=VALUE, such as sr=16000 or axes=[0,2]")
    return unquote_name(match[1]), _ValueReader(text, match.start(2)).read()


def parse_value(text: str) -> object:
    """Parse a value: a text, or nested lists of texts. Raises SpecError.

    >>> parse_value("[[1, 2], [batch, ?]]")
    [['1', '2'], ['batch', '?']]
    """
    return _ValueReader(text, 0).read()


class _ValueReader:
    """Parses one value; the position in an error is that in the whole text."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.count = 0

    def read(self) -> object:
        value = self._value(0)
        if self.text[self.at :].strip():
            raise SpecError(self.text, self.at, "the end of the value")
        return value

    def _value(self, depth: int) -> object:
        opening = _OPENING.match(self.text, self.at)
        if opening is None:
            return self._element(depth)
        if depth >= MAX_RANK:
            raise SpecError(self.text, self.at, f"at most {MAX_RANK} axes")
        self.at = opening.end()
        items: list[object] = []
        while not (not items and self._take("]")):
            items.append(self._value(depth + 1))
            if self._take("]"):
                break
            if not self._take(","):
                raise SpecError(self.text, self.at, "',' or ']'")
        return items

    def _take(self, char: str) -> bool:
        match = _BLANKS.match(self.text, self.at)
        start = self.at if match is None else match.end()
        if not self.text.startswith(char, start):
            return False
        self.at = start + 1
        return True

    def _element(self, depth: int) -> str:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise SpecError(self.text, self.at, f"at most {MAX_ELEMENTS} elements")
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            return quoted[1][1:-1]
        begin, end = self.at, self._end_of_element() if depth else len(self.text)
        self.at = end
        element = self.text[begin:end].strip()
        if not element:
            raise SpecError(self.text, begin, "a number, a dim, ? or a text")
        return element

    def _end_of_element(self) -> int:
        """The position of the comma or bracket after an element: outside of parentheses and backquotes."""
        nested, quoted = 0, False
        for i in range(self.at, len(self.text)):
            char = self.text[i]
            quoted ^= char == "`"
            if quoted:
                continue
            if char in ",]" and not nested:
                return i
            nested += (char == "(") - (char == ")")
        return len(self.text)


def read_value(value: object, declared: Type | None, name: str, reader: InputReader) -> PartialTensor:
    """The type of an input with these contents; the sizes of the value become constraints on the dims of the input.

    Raises ShapeInferenceError, with the input, its type and the value, for a value that the input cannot have.
    """
    tensor = _require_tensor(declared, name)
    dims, leaves = _flatten(value, name, is_text=tensor.dtype == "string")
    shape = _unify(dims, tensor, name, reader)
    elements = _Elements(tensor, name, reader).read(leaves)
    return PartialTensor(tensor.dtype, shape, elements)


def _require_tensor(declared: Type | None, name: str) -> TensorType:
    if not isinstance(declared, TensorType) or isinstance(declared, HandleType):
        kind = "value of unknown type" if declared is None else declared.kind
        raise ShapeInferenceError(f"input {name} is a {kind}: only tensors of numbers and strings can have a value")
    if declared.dtype is None:
        example = f"--input-shapes {shell_word(quote_name(name) + ':i64:[2]')} or inputs={{{name!r}: 'i64:[2]'}}"
        raise ShapeInferenceError(f"the element type of input {name} is not known: specify it, as in {example}")
    if KINDS[declared.dtype] not in ("bool", "integer", "float", "string"):
        raise ShapeInferenceError(f"input {name} is a {declared.dtype}: only numbers, bools and strings have values")
    return declared


def _flatten(value: object, name: str, is_text: bool) -> tuple[tuple[int, ...], list[object]]:
    """The shape of a value, and its elements in row-major order."""
    if isinstance(value, str) and not is_text and _OPENING.match(value):
        value = parse_value(value)
    if hasattr(value, "tolist") and hasattr(value, "shape"):  # an array of numpy or another package
        _check_count(math.prod(value.shape), name)
        array: Any = value
        return tuple(array.shape), list(array.reshape(-1).tolist())
    level: list[object] = [value]
    dims: list[int] = []
    while level and all(isinstance(item, (list, tuple)) for item in level):
        lengths = {len(item) for item in level}  # type: ignore[arg-type]
        if len(lengths) > 1:
            raise ShapeInferenceError(f"the value of input {name} is not an array: its lists have different lengths")
        dims.append(lengths.pop())
        level = [element for item in level for element in item]  # type: ignore[attr-defined]
        _check_count(len(level), name)
        if len(dims) > MAX_RANK:
            raise ShapeInferenceError(f"the value of input {name} has more than {MAX_RANK} axes")
    if any(isinstance(item, (list, tuple)) for item in level):
        raise ShapeInferenceError(f"the value of input {name} is not an array: its lists have different depths")
    return tuple(dims), level


def _check_count(count: int, name: str) -> None:
    if count > MAX_ELEMENTS:
        raise ShapeInferenceError(
            f"the value of input {name} has {count} elements; the limit is {MAX_ELEMENTS}: specify its shape instead"
        )


def _unify(dims: tuple[int, ...], declared: TensorType, name: str, reader: InputReader) -> Shape:
    """The shape of a value; adds that it is the shape of the input."""
    known = declared.shape.dims
    text = f"the value of input {name} has the shape {Shape(dims)}, the model declares {declared!r}"
    if known is not None and len(known) != len(dims):
        hint = ": write it in brackets" if not dims and known == (1,) else ""
        raise ShapeInferenceError(f"{text}{hint}")
    for axis, (dim, size) in enumerate(zip(known or (), dims, strict=False)):
        if isinstance(dim, int):
            if dim != size:
                raise ShapeInferenceError(text)
        elif not dim.is_symbol:
            _add_size(reader, dim, size, f"{axis_label(name, axis)}={size}")
        elif not dim.is_anonymous:
            reader.add_named_dim(Dim(dim.name, size, size))
        elif not (dim.symbol.lo or 0) <= max(size, reader.store.policy.min_dim) or size > (dim.symbol.hi or size):
            raise ShapeInferenceError(text)
    return Shape(dims)


def _add_size(reader: InputReader, dim: Dimension, size: int, text: str) -> None:
    reader.add_user_constraint(text, reader.store.add_equal, dim, size)


class _Elements:
    """Converts the elements of a value by the element type of its input."""

    def __init__(self, tensor: TensorType, name: str, reader: InputReader) -> None:
        assert tensor.dtype is not None
        self.dtype = tensor.dtype
        self.tensor = tensor
        self.name = name
        self.reader = reader

    def read(self, leaves: Sequence[object]) -> tuple[Element, ...]:
        convert = {"bool": self._bool, "integer": self._integer, "float": self._float, "string": self._string}
        return tuple(None if leaf is None else convert[KINDS[self.dtype]](leaf) for leaf in leaves)

    def _refuse(self, leaf: object, expected: str) -> ShapeInferenceError:
        text = f"the value of input {self.name}, which the model declares as {self.tensor!r}, contains {leaf!r}"
        return ShapeInferenceError(f"{text}: expected {expected}")

    def _string(self, leaf: object) -> Element:
        if not isinstance(leaf, str):
            raise self._refuse(leaf, "a text")
        return leaf

    def _bool(self, leaf: object) -> Element:
        if isinstance(leaf, str):
            if leaf in _UNKNOWN:
                return None
            if leaf in _BOOLS:
                return _BOOLS[leaf]
        if not _is_bool(leaf):
            raise self._refuse(leaf, "true or false")
        return bool(leaf)

    def _float(self, leaf: object) -> Element:
        if leaf in _UNKNOWN:
            return None
        try:
            if _is_bool(leaf):
                raise ValueError
            number = float(leaf)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise self._refuse(leaf, "a number") from None
        import numpy as np

        with np.errstate(all="ignore"):
            rounded = float(np.array(number).astype(numpy_dtype(self.dtype)).astype(np.float64))
        if math.isfinite(number) and not math.isfinite(rounded):
            raise self._refuse(leaf, f"a number that {self.dtype} can hold")
        return rounded

    def _integer(self, leaf: object) -> Element:
        low, high = INTEGER_RANGES[self.dtype]
        if isinstance(leaf, (str, Dimension)):
            text = str(leaf)
            return None if text in _UNKNOWN else self._size(text, low, high)
        try:
            if _is_bool(leaf):
                raise TypeError
            number = operator.index(leaf)  # type: ignore[arg-type]
        except TypeError:
            raise self._refuse(leaf, "an integer") from None
        return self._check_range(number, low, high)

    def _check_range(self, number: int, low: int, high: int) -> int:
        if not low <= number <= high:
            raise self._refuse(number, f"an integer of {self.dtype}, from {low} to {high}")
        return number

    def _size(self, text: str, low: int, high: int) -> DimSize:
        """An integer or an expression of dims; adds that it is in the range of the element type."""
        if re.fullmatch(r"[+-]?\d{1,4000}", text):
            return self._check_range(int(text), low, high)
        store = self.reader.store
        try:
            size = parse_dim(text, store.scope, self.reader.store.policy.min_dim)
        except DimSyntaxError as error:
            raise self._refuse(text, f"an integer, ? or an expression of dims ({error.expected})") from None
        if isinstance(size, int):
            return self._check_range(size, low, high)
        bounds = store.interval(size)
        if bounds.lo is None or bounds.lo < low or ((bounds.hi is None or bounds.hi > high) and high < 2**63 - 1):
            text = f"{size} in {low}..{high}, as an element of {self.name},"
            self.reader.add_user_constraint(text, store.add_range, size, low, high)
        return size


def _is_bool(leaf: object) -> bool:
    """Whether an element is a bool, also one of numpy."""
    return isinstance(leaf, bool) or getattr(leaf, "dtype", None) == "bool"
