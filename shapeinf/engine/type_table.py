"""The types of one inference as small ints, so that calls are compared and hashed without looking into shapes."""

from __future__ import annotations

from collections.abc import Hashable

from shapeinf.expr import Dimension
from shapeinf.lattice import (
    BroadcastAxes,
    HandleType,
    PartialTensor,
    Progression,
    Quotient,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    dims_in,
    map_type,
)

NOTHING = 0
"""The number of "no type": an absent input, a value that no node has computed yet."""


class TypeTable:
    """Numbers for types; equal types have equal numbers.

    `canonical[n]` is the number of type n in canonical form under the constraints known now, `type_only[n]` that of
    the same type without contents. Call `refresh` whenever `store.epoch` has changed.
    """

    def __init__(self, store: ShapeStore) -> None:
        """The table holds only "no type"."""
        self.store = store
        self.epoch = store.epoch
        self.types: list[Type | None] = [None]
        self.canonical: list[int] = [NOTHING]
        self.type_only: list[int] = [NOTHING]
        self._numbers: dict[Hashable, int] = {}
        self._unranked: list[int] = []
        """The types that can change by more than their symbols."""
        self._using: dict[Dimension, list[int]] = {}
        """The types in which a symbol occurs."""
        self._same: dict[int, list[int]] = {}
        """The types whose canonical form is this one."""
        self._new_numbers: list[int] = []
        """Numbers since the last refresh: their dims are canonical, so that only new constraints can change them."""
        self._read_changes = len(store.changed_symbols)
        self._ranks = (len(store.shapes), store.resets)

    def fork(self, store: ShapeStore) -> TypeTable:
        """The same numbers over a copy of the store, independent of this table from here on."""
        self.refresh()
        other = TypeTable(store)
        other.types, other.canonical, other.type_only = list(self.types), list(self.canonical), list(self.type_only)
        other._numbers, other._unranked = dict(self._numbers), list(self._unranked)
        other._using = {symbol: list(numbers) for symbol, numbers in self._using.items()}
        other._same = {number: list(numbers) for number, numbers in self._same.items()}
        other._new_numbers = list(self._new_numbers)
        return other

    def add(self, new: Type) -> int:
        """The number of a type."""
        if not isinstance(new, TensorType):
            return self._numbers.get(new) or self._append(new, new)
        contents = new.elements if new.__class__ is PartialTensor else new.contents
        dims: object = new.shape.dims  # hashed without a call into Shape, unless the rank is not known
        if dims is None:
            dims = new.shape
        key = (new.dtype, dims, contents)
        number = self._numbers.get(key)
        if number is None:
            if contents is None:
                partial = new.__class__ is PartialTensor
                return self._append(key, new if partial else PartialTensor(new.dtype, new.shape, None))
            number = self._append(key, new)
            key = (new.dtype, dims, None)
            without = self._numbers.get(key) or self._append(key, PartialTensor(new.dtype, new.shape, None))
            self.type_only[number] = without
        return number

    def _append(self, key: Hashable, new: Type) -> int:
        """The number of a new type, which is canonical and without contents so far."""
        number = self._numbers[key] = len(self.types)
        self.types.append(new)
        self.canonical.append(number)
        self.type_only.append(number)
        self._new_numbers.append(number)
        return number

    def add_constant(self, constant: PartialTensor) -> int:
        """The number of a type of the file, whose contents are known as numbers if at all."""
        if not constant.shape.is_concrete:
            return self.add(constant)
        before = len(self._new_numbers)
        number = self.add(constant)
        del self._new_numbers[before:]  # they have no symbols: no constraint changes them
        return number

    def refresh(self) -> None:
        """Bring `canonical` and `type_only` up to date: only types with changed symbols are canonicalized again."""
        store = self.store
        self.epoch = store.epoch
        affected = {
            n for symbol in set(store.changed_symbols[self._read_changes :]) for n in self._using.get(symbol, ())
        }
        ranks = (len(store.shapes), store.resets)
        if ranks != self._ranks:
            affected.update(self._unranked)
        self._read_changes, self._ranks = len(store.changed_symbols), ranks
        while self._new_numbers:
            number = self._new_numbers.pop()
            new = self.types[number]
            symbols = frozenset() if new is None else _symbols(new)
            if symbols is None:
                self._unranked.append(number)
            for symbol in symbols or ():
                self._using.setdefault(symbol, []).append(number)
            if symbols is None or symbols:
                affected.add(number)
        for number in affected:
            self._canonicalize(number)

    def _canonicalize(self, number: int) -> None:
        """Update the canonical form of a type, and of the types whose canonical form it was."""
        old = self.types[number]
        assert old is not None
        new = canonicalize(self.store, old)
        canonical = number if new is old else self.add(new)
        contents = isinstance(new, TensorType) and new.contents is not None
        type_only = self.add(without_contents(new)) if contents else canonical
        if canonical == number:
            self.canonical[number], self.type_only[number] = number, type_only
            return
        for equal in (number, *self._same.pop(number, ())):
            if equal != number and self.canonical[equal] != number:
                continue  # it has another form since a constraint was undone
            if self.canonical[equal] != canonical:
                self._same.setdefault(canonical, []).append(equal)
            self.canonical[equal], self.type_only[equal] = canonical, type_only

    def get(self, number: int) -> Type | None:
        """The type of a number, canonical."""
        return self.types[self.canonical[number]]


def _symbols(old: Type) -> frozenset[Dimension] | None:
    """The symbols in a type; None when more than its symbols can change it (an unknown rank may become known)."""
    if not isinstance(old, TensorType) or old.shape.dims is None:
        return None
    symbols = old.shape.symbols()
    if isinstance(old, HandleType):
        return _handle_symbols(old, symbols)
    if isinstance(old, BroadcastAxes):
        return symbols.union(*(d.symbols() for d in (*old.sizes, *old.others) if isinstance(d, Dimension)))
    if isinstance(old, Progression):
        return symbols | old.base.symbols() if isinstance(old.base, Dimension) else symbols
    if old.elements is not None and not _SYMBOLIC.isdisjoint(map(type, old.elements)):
        return symbols.union(*(d.symbols() for e in old.elements for d in dims_in(e)))
    return symbols


def _handle_symbols(old: HandleType, symbols: frozenset[Dimension]) -> frozenset[Dimension] | None:
    """The symbols in a type of handles, besides those of its shape."""
    if isinstance(old.length, Dimension):
        symbols |= old.length.symbols()
    for value in old.values or ():
        inner = _symbols(value)
        if inner is None:
            return None
        symbols |= inner
    return symbols


_SYMBOLIC = {Dimension, Quotient}


def canonicalize(store: ShapeStore, old: Type) -> Type:
    """A type with canonical dims and elements; the same object when it is canonical already."""
    return map_type(old, store.canon, store.canon_shape)


def without_contents(old: Type) -> Type:
    """The type with no element known."""
    if isinstance(old, TensorType) and old.contents is not None:
        return PartialTensor(old.dtype, old.shape, None)
    return old


def unknown_type() -> TensorType:
    """A tensor with unknown element type and shape."""
    return PartialTensor(None, Shape.unknown(), None)
