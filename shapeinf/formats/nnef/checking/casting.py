"""What one type of the NNEF language is worth where another is wanted: implicit casts, common types, generic types.

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
    SCALAR,
    ArrayOf,
    NnefType,
    Primitive,
    TensorOf,
    TupleOf,
)
from shapeinf.formats.nnef.versions import DialectName

MAX_TYPE_SIZE = 200
"""Items of the type of a value that a document may build, so that no work on types is without bounds."""

LONGEST_SHOWN = 60
"""Characters of a type in a message."""


Made = TypeVar("Made", ArrayOf, TupleOf)


class TypeTooLargeError(Exception):
    """A value has a type with more than `MAX_TYPE_SIZE` items."""


@lru_cache(maxsize=4096)
def array_of(item: NnefType | None) -> ArrayOf:
    """The type of an array of items of a type (None: of no items)."""
    return _of_bounded_size(ArrayOf(item))


@lru_cache(maxsize=4096)
def tuple_of(items: tuple[NnefType, ...]) -> TupleOf:
    """The type of a tuple of items of these types."""
    return _of_bounded_size(TupleOf(items))


def _of_bounded_size(made: Made) -> Made:
    if _size(made) > MAX_TYPE_SIZE:
        raise TypeTooLargeError
    return made


@lru_cache(maxsize=4096)
def _size(of: NnefType | None) -> int:
    # The parts of a type that is made are of bounded size themselves, so this cannot go deep.
    if isinstance(of, TupleOf):
        return 1 + sum(map(_size, of.items))
    return 1 + _size(of.of) if isinstance(of, ArrayOf) else 1


def has_tensor(of: NnefType | None) -> bool:
    """Whether a type is a tensor, or made of some."""
    if isinstance(of, TupleOf):
        return any(map(has_tensor, of.items))
    return has_tensor(of.of) if isinstance(of, ArrayOf) else isinstance(of, TensorOf)


def has_attribute(of: NnefType | None) -> bool:
    """Whether a type is of values that are known when the graph is built, or has such items."""
    if isinstance(of, TupleOf):
        return any(map(has_attribute, of.items))
    return has_attribute(of.of) if isinstance(of, ArrayOf) else isinstance(of, Primitive)


def is_generic(of: NnefType | None) -> bool:
    """Whether `?` occurs in a type."""
    if isinstance(of, TupleOf):
        return any(map(is_generic, of.items))
    return of is not None and (of == GENERIC or (not isinstance(of, Primitive) and is_generic(of.of)))


def shown_type(of: NnefType) -> str:
    """A type for a message: as in NNEF text, shortened where it is long."""
    text = "[] (an array of no type yet)" if of == ArrayOf(None) else str(of)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 4] + " ..."


def with_argument(of: NnefType, argument: Primitive) -> NnefType:
    """A type with the type argument of its generic fragment put in the place of `?`."""
    match of:
        case TupleOf():
            return TupleOf(tuple(with_argument(item, argument) for item in of.items))
        case ArrayOf():
            return ArrayOf(None if of.of is None else with_argument(of.of, argument))
        case TensorOf():
            return TensorOf(argument) if of.of == GENERIC else of
        case Primitive():
            return argument if of == GENERIC else of


def arguments_in(declared: NnefType, given: NnefType | None) -> Iterable[Primitive]:
    """What `?` of a declared type stands for when a value of another type is given: all candidates."""
    if isinstance(declared, TupleOf) and isinstance(given, TupleOf):
        for declared_item, item in zip(declared.items, given.items, strict=False):
            yield from arguments_in(declared_item, item)
    elif isinstance(declared, ArrayOf) and isinstance(given, ArrayOf) and declared.of is not None:
        yield from arguments_in(declared.of, given.of)
    elif isinstance(given, Primitive) and declared in (GENERIC, TensorOf(GENERIC)):
        yield given
    elif isinstance(given, TensorOf) and given.of is not None and declared == TensorOf(GENERIC):
        yield given.of


@attrs.frozen
class Casting:
    """The implicit casts of a dialect."""

    dialect: DialectName

    def casts(self, given: NnefType | None, wanted: NnefType | None) -> bool:
        """Whether a value of a type may stand where another is wanted; None is a type that is not known."""
        if given is wanted or given is None or wanted is None:
            return True
        match wanted:
            case TensorOf():
                return self._casts_to_tensor(given, wanted)
            case Primitive():
                return self._casts_to_primitive(given, wanted)
            case ArrayOf():
                return self._casts_to_array(given, wanted)
            case TupleOf():
                if self.dialect == "tract" and isinstance(given, ArrayOf):
                    return all(self.casts(given.of, item) for item in wanted.items)
                return (
                    isinstance(given, TupleOf)
                    and len(given.items) == len(wanted.items)
                    and all(map(self.casts, given.items, wanted.items))
                )

    def _casts_to_tensor(self, given: NnefType, wanted: TensorOf) -> bool:
        if self.dialect == "tract":
            # Its literals and arrays of literals are tensors, and its declarations say nothing of the elements.
            return not isinstance(given, TupleOf) and (
                not isinstance(given, ArrayOf) or given.of is None or self.casts(given.of, wanted)
            )
        if self.dialect == "provisional":
            # `tensor` there has no element type; scalars and logicals cast to it.
            return isinstance(given, TensorOf) or (isinstance(given, Primitive) and given != INTEGER)
        if isinstance(given, TensorOf):
            return wanted.of is None or given.of == wanted.of
        return isinstance(given, Primitive) and wanted.of in (None, given, GENERIC)

    def _casts_to_primitive(self, given: NnefType, wanted: Primitive) -> bool:
        if self.dialect == "tract":
            return isinstance(given, TensorOf) or wanted in (given, GENERIC) or (given == INTEGER and wanted == SCALAR)
        return isinstance(given, Primitive) and wanted in (given, GENERIC)

    def _casts_to_array(self, given: NnefType, wanted: ArrayOf) -> bool:
        if isinstance(given, ArrayOf):
            # In tract an array among the items of an array gives its own items.
            return self.casts(given.of, wanted.of) or (
                self.dialect == "tract" and isinstance(given.of, ArrayOf) and self.casts(given.of, wanted)
            )
        return self.dialect == "tract" and (isinstance(given, TensorOf) or self.casts(given, wanted.of))

    def common(self, one: NnefType | None, other: NnefType | None) -> NnefType | None:
        """The type that two values have in common, as the items of an array must.

        Raises:
            NoCommonTypeError: there is none.
        """
        if one is other or other is None:
            return one
        if one is None:
            return other
        if isinstance(one, ArrayOf) and isinstance(other, ArrayOf):
            return array_of(self.common(one.of, other.of))
        if isinstance(one, TupleOf) and isinstance(other, TupleOf) and len(one.items) == len(other.items):
            items = [self.common(a, b) for a, b in zip(one.items, other.items, strict=True)]
            # What is not known is so in both.
            return None if None in items else tuple_of(tuple(item for item in items if item is not None))
        if self.casts(one, other):
            return other
        if self.casts(other, one):
            return one
        raise NoCommonTypeError


class NoCommonTypeError(Exception):
    """Two values whose types have nothing in common."""
