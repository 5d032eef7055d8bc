"""The values of expressions of an NNEF document, and their limits.

A value that is known when the graph is built is a Python one: int, float, bool, str, and tuples of values for both
arrays and tuples. A value known only when the graph runs is a `Tensor`, or one of the two extents below.
"""

from __future__ import annotations

from typing import Union

import attrs

from shapeinf.formats.nnef.language.lexer import quote
from shapeinf.formats.nnef.language.types import PrimitiveName

MAX_ITEMS = 1_000_000
"""The most items of an array, with those of inner arrays, and the most characters of a string."""

MAX_BITS = 4096
"""The most bits of a computed integer."""


@attrs.define(eq=False)
class Tensor:
    """A tensor of the graph, or a literal for one, which has `literal` and no name.

    `of` is its element type, None if unknown.
    """

    name: str
    of: PrimitiveName | None = None
    literal: Value | None = None


@attrs.frozen(eq=False)
class AxisOf:
    """The extent of an axis of a tensor that is not known when the graph is built."""

    tensor: str
    axis: int


@attrs.frozen
class Symbol:
    """A named extent, or an expression of named extents (tract); `text` is the text of the dim."""

    text: str


Value = Union[int, float, str, bool, Tensor, AxisOf, Symbol, "tuple[Value, ...]"]

RUNTIME = (Tensor, AxisOf, Symbol)
"""The classes of values that are not known when the graph is built."""


class BadValue(Exception):  # noqa: N818  (internal, no error)
    """An operation on values that has no result; `part` is the operand that causes it, -1 for the operation itself.

    Internal: caught in `formats.nnef.evaluation.evaluator` and `formats.nnef.evaluation.machine`, for a diagnostic.
    """

    def __init__(self, message: str, part: int = -1, code: str = "N501") -> None:
        """`code` is a diagnostic code of `formats.nnef.codes`."""
        super().__init__(message)
        self.message = message
        self.part = part
        self.code = code


def check_limits(value: Value) -> Value:
    """The value unchanged. Raises BadValue for one that is too large."""
    kind = type(value)
    if kind is int:
        if value.bit_length() > MAX_BITS:  # type: ignore[union-attr]
            raise BadValue(f"the integer has more than {MAX_BITS:,} bits", code="N902")
    elif (kind is tuple or kind is str) and len(value) > MAX_ITEMS:  # type: ignore[arg-type]
        raise BadValue(f"the {kind_of(value)} has more than {MAX_ITEMS:,} items", code="N902")
    return value


def size_of(value: Value) -> int:
    """The number of items of an array, with those of inner arrays. Raises BadValue for too many."""
    if type(value) is not tuple:
        return 1
    total, pending = 0, [value]
    while pending:
        items = pending.pop()
        total += len(items) + 1
        if total > 2 * MAX_ITEMS:
            raise BadValue(f"the array has more than {MAX_ITEMS:,} items in all", code="N902")
        pending += [item for item in items if type(item) is tuple]
    return total


def is_known(value: Value) -> bool:
    """Whether a value is known when the graph is built."""
    if type(value) is tuple:
        return all(map(is_known, value))
    return not isinstance(value, RUNTIME)


def kind_of(value: Value) -> str:
    """The name of the type of a value, for messages."""
    names = {bool: "logical", int: "integer", float: "scalar", str: "string", tuple: "array"}
    return names.get(type(value), "tensor")


def primitive_of(value: Value) -> PrimitiveName | None:
    """The element type of a value as a tensor; None for an empty array.

    An array of integers and scalars is one of scalars.
    """
    if type(value) is tuple:
        items = dict.fromkeys(map(primitive_of, value))
        return "scalar" if "scalar" in items else next(iter(items), None)
    if isinstance(value, Tensor):
        return value.of
    if isinstance(value, bool):
        return "logical"
    if isinstance(value, float):
        return "scalar"
    return "string" if isinstance(value, str) else "integer"


def literal_shape(value: Value) -> tuple[int, ...]:
    """The shape of nested arrays as a tensor. Raises BadValue if their lengths differ."""
    if type(value) is not tuple:
        return ()
    shapes = {literal_shape(item) for item in value}
    if len(shapes) > 1:
        raise BadValue("the arrays in an array that stands for a tensor must have the same lengths")
    return (len(value), *(shapes.pop() if shapes else ()))


def flatten(value: Value) -> list[Value]:
    """The items of nested arrays, in order."""
    return [leaf for item in value for leaf in flatten(item)] if type(value) is tuple else [value]


def as_scalars(value: Value) -> Value:
    """The value with its integers converted to scalars."""
    if type(value) is tuple:
        return tuple([as_scalars(item) for item in value])
    if type(value) is int:
        return float(value) if value.bit_length() <= 1000 else float("inf")
    return value


def format_value(value: Value) -> str:
    """A value as NNEF text; long arrays are cut."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(format_value, value[:4])) + (", ..." if len(value) > 4 else "") + "]"
    return value.name if isinstance(value, Tensor) else str(value)
