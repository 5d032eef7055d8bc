"""Conversions between the types of the NNEF language: implicit casts, common types, generic types.

Source: NNEF 1.0.5, 3.3.1 "Types", in particular "Type Casting".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

import attrs

from shapeinf.formats.nnef.language.types import (
    GENERIC,
    INTEGER,
    LOGICAL,
    SCALAR,
    ArrayOf,
    NnefType,
    Primitive,
    TensorOf,
    TupleOf,
)
from shapeinf.formats.nnef.versions import DialectName

MAX_TYPE_SIZE = 200
"""The most items of the type of a value, which limits the work on types."""

MAX_TYPE_LENGTH = 60
"""The most characters of a type in a message."""


Composite = TypeVar("Composite", ArrayOf, TupleOf)


class TypeTooLargeError(Exception):
    """A value has a type with more than `MAX_TYPE_SIZE` items. Internal: caught in `formats.nnef.checking.checker`."""


@lru_cache(maxsize=4096)
def array_of(item: NnefType | None) -> ArrayOf:
    """The type of an array of items of a type; None for an empty array."""
    return _check_size(ArrayOf(item))


@lru_cache(maxsize=4096)
def tuple_of(items: tuple[NnefType, ...]) -> TupleOf:
    """The type of a tuple of items of these types."""
    return _check_size(TupleOf(items))


def _check_size(of: Composite) -> Composite:
    if _size(of) > MAX_TYPE_SIZE:
        raise TypeTooLargeError
    return of


@lru_cache(maxsize=4096)
def _size(of: NnefType | None) -> int:
    # The parts of a type are within the limit, which limits the recursion.
    if isinstance(of, TupleOf):
        return 1 + sum(map(_size, of.items))
    return 1 + _size(of.of) if isinstance(of, ArrayOf) else 1


def has_tensor(of: NnefType | None) -> bool:
    """Whether a type is a tensor, or contains one."""
    if isinstance(of, TupleOf):
        return any(map(has_tensor, of.items))
    return has_tensor(of.of) if isinstance(of, ArrayOf) else isinstance(of, TensorOf)


def has_attribute(of: NnefType | None) -> bool:
    """Whether a type is that of values that are known when the graph is built, or contains such a type."""
    if isinstance(of, TupleOf):
        return any(map(has_attribute, of.items))
    return has_attribute(of.of) if isinstance(of, ArrayOf) else isinstance(of, Primitive)


def is_generic(of: NnefType | None) -> bool:
    """Whether `?` occurs in a type."""
    if isinstance(of, TupleOf):
        return any(map(is_generic, of.items))
    return of is not None and (of == GENERIC or (not isinstance(of, Primitive) and is_generic(of.of)))


def format_type(of: NnefType) -> str:
    """The NNEF text of a type for messages; a long one is cut."""
    text = "[] (an array of no type yet)" if of == ArrayOf(None) else str(of)
    return text if len(text) <= MAX_TYPE_LENGTH else text[: MAX_TYPE_LENGTH - 4] + " ..."


def with_argument(of: NnefType, argument: Primitive) -> NnefType:
    """A type with `?` replaced by the type argument of its generic fragment."""
    match of:
        case TupleOf():
            return TupleOf(tuple(with_argument(item, argument) for item in of.items))
        case ArrayOf():
            return ArrayOf(None if of.of is None else with_argument(of.of, argument))
        case TensorOf():
            return TensorOf(argument) if of.of == GENERIC else of
        case Primitive():
            return argument if of == GENERIC else of


def arguments_in(declared: NnefType, actual: NnefType | None) -> Iterable[Primitive]:
    """The candidates for `?` in a declared type, from the type of an argument."""
    if isinstance(declared, TupleOf) and isinstance(actual, TupleOf):
        for declared_item, item in zip(declared.items, actual.items, strict=False):
            yield from arguments_in(declared_item, item)
    elif isinstance(declared, ArrayOf) and isinstance(actual, ArrayOf) and declared.of is not None:
        yield from arguments_in(declared.of, actual.of)
    elif isinstance(actual, Primitive) and declared in (GENERIC, TensorOf(GENERIC)):
        yield actual
    elif isinstance(actual, TensorOf) and actual.of is not None and declared == TensorOf(GENERIC):
        yield actual.of


@attrs.frozen
class Casting:
    """The implicit casts of a dialect."""

    dialect: DialectName

    def casts(self, actual: NnefType | None, expected: NnefType | None) -> bool:
        """Whether a value of a type can be passed where another type is expected; None is an unknown type."""
        if actual is expected or actual is None or expected is None:
            return True
        match expected:
            case TensorOf():
                return self._casts_to_tensor(actual, expected)
            case Primitive():
                return self._casts_to_primitive(actual, expected)
            case ArrayOf():
                return self._casts_to_array(actual, expected)
            case TupleOf():
                if self.dialect == "tract" and isinstance(actual, ArrayOf):
                    return all(self.casts(actual.of, item) for item in expected.items)
                return (
                    isinstance(actual, TupleOf)
                    and len(actual.items) == len(expected.items)
                    and all(map(self.casts, actual.items, expected.items))
                )

    def _casts_to_tensor(self, actual: NnefType, expected: TensorOf) -> bool:
        if self.dialect == "tract":
            # In tract literals and arrays of literals are tensors, and declarations have no element types.
            return not isinstance(actual, TupleOf) and (
                not isinstance(actual, ArrayOf) or actual.of is None or self.casts(actual.of, expected)
            )
        if self.dialect == "provisional":
            # `tensor` in a document is of any element type; a scalar or a logical stands for a tensor of its type.
            if isinstance(actual, TensorOf):
                return expected.of in (None, GENERIC) or actual.of in (None, GENERIC, expected.of)
            return actual in (SCALAR, LOGICAL) and expected.of in (None, actual, GENERIC)
        if isinstance(actual, TensorOf):
            return expected.of is None or actual.of == expected.of
        return isinstance(actual, Primitive) and expected.of in (None, actual, GENERIC)

    def is_extent_for_scalar(self, actual: NnefType | None, expected: NnefType | None) -> bool:
        """Whether an extent is passed for a scalar, which the examples of the provisional specification do."""
        if isinstance(actual, ArrayOf) and isinstance(expected, ArrayOf):
            return self.is_extent_for_scalar(actual.of, expected.of)
        return self.dialect == "provisional" and actual == INTEGER and expected == SCALAR

    def _casts_to_primitive(self, actual: NnefType, expected: Primitive) -> bool:
        if self.dialect == "tract":
            return (
                isinstance(actual, TensorOf)
                or expected in (actual, GENERIC)
                or (actual == INTEGER and expected == SCALAR)
            )
        return isinstance(actual, Primitive) and expected in (actual, GENERIC)

    def _casts_to_array(self, actual: NnefType, expected: ArrayOf) -> bool:
        if isinstance(actual, ArrayOf):
            # In tract an array among the items of an array is replaced by its items.
            return self.casts(actual.of, expected.of) or (
                self.dialect == "tract" and isinstance(actual.of, ArrayOf) and self.casts(actual.of, expected)
            )
        return self.dialect == "tract" and (isinstance(actual, TensorOf) or self.casts(actual, expected.of))

    def common(self, left: NnefType | None, right: NnefType | None) -> NnefType | None:
        """The common type of two values, such as items of an array.

        Raises:
            NoCommonTypeError: there is none.
        """
        if left is right or right is None:
            return left
        if left is None:
            return right
        if isinstance(left, ArrayOf) and isinstance(right, ArrayOf):
            return array_of(self.common(left.of, right.of))
        if isinstance(left, TupleOf) and isinstance(right, TupleOf) and len(left.items) == len(right.items):
            items = [self.common(a, b) for a, b in zip(left.items, right.items, strict=True)]
            # An unknown item is unknown in both.
            return None if None in items else tuple_of(tuple(item for item in items if item is not None))
        if self.casts(left, right):
            return right
        if self.casts(right, left):
            return left
        raise NoCommonTypeError


class NoCommonTypeError(Exception):
    """Two values whose types have nothing in common.

    Internal: caught in `formats.nnef.checking.expression_types` and `formats.nnef.checking.operators`.
    """
