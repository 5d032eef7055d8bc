"""The types of one inference as small ints, so that calls are compared and hashed without looking into shapes."""

from __future__ import annotations

from collections.abc import Hashable

from shapeinf.expr import Dimension
from shapeinf.lattice import (
    Element,
    MapType,
    PartialTensor,
    Progression,
    Quotient,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    dims_in,
)

NOTHING = 0
"""The number of "no type": an input that is not given, a value that no node has made yet."""


class TypeTable:
    """Numbers for types; equal types have equal numbers.

    `whole[n]` is the number of type n in canonical form under the facts of today, `bare[n]` that of the same without
    known contents. Call `refresh` whenever `store.epoch` has changed.
    """

    def __init__(self, store: ShapeStore) -> None:
        """Only "no type" is there."""
        self.store = store
        self.epoch = store.epoch
        self.types: list[Type | None] = [None]
        self.whole: list[int] = [NOTHING]
        self.bare: list[int] = [NOTHING]
        self._numbers: dict[Hashable, int] = {}
        self._unranked: list[int] = []
        """The types that more than symbols can change."""
        self._using: dict[Dimension, list[int]] = {}
        """The types in which a symbol occurs."""
        self._same: dict[int, list[int]] = {}
        """The types whose canonical form is this one."""
        self._new_ones: list[int] = []
        """Numbers given since the last refresh: made of canonical dims, so they need a look only when facts change."""
        self._heard = len(store.changed_symbols)
        self._ranks = (len(store.shapes), store.resets)

    def branched(self, store: ShapeStore) -> TypeTable:
        """The same numbers over a copy of the facts, to go on apart from this table."""
        self.refresh()
        other = TypeTable(store)
        other.types, other.whole, other.bare = list(self.types), list(self.whole), list(self.bare)
        other._numbers, other._unranked = dict(self._numbers), list(self._unranked)
        other._using = {symbol: list(numbers) for symbol, numbers in self._using.items()}
        other._same = {number: list(numbers) for number, numbers in self._same.items()}
        other._new_ones = list(self._new_ones)
        return other

    def add(self, found: Type) -> int:
        """The number of a type."""
        if isinstance(found, TensorType):
            dims = found.shape.dims  # hashed without a call into Shape, unless the rank is not known
            key: Hashable = (found.dtype, found.shape if dims is None else dims, found.contents)
        else:
            key = found
        number = self._numbers.get(key)
        return self._new(key, found) if number is None else number

    def _new(self, key: Hashable, found: Type) -> int:
        number = len(self.types)
        self._numbers[key] = number
        self.whole.append(number)
        self.bare.append(number)
        if isinstance(found, TensorType):
            contents = found.contents
            if found.__class__ is TensorType:
                found = PartialTensor(found.dtype, found.shape, None)
            self.types.append(found)
            if contents is not None:
                self.bare[number] = self.add(PartialTensor(found.dtype, found.shape, None))
        else:
            self.types.append(found)
        self._new_ones.append(number)
        return number

    def refresh(self) -> None:
        """Bring `whole` and `bare` up to the facts of today: only types with symbols that have news are looked at."""
        store = self.store
        self.epoch = store.epoch
        affected = {n for symbol in set(store.changed_symbols[self._heard :]) for n in self._using.get(symbol, ())}
        ranks = (len(store.shapes), store.resets)
        if ranks != self._ranks:
            affected.update(self._unranked)
        self._heard, self._ranks = len(store.changed_symbols), ranks
        while self._new_ones:
            number = self._new_ones.pop()
            found = self.types[number]
            symbols = frozenset() if found is None else _symbols(found)
            if symbols is None:
                self._unranked.append(number)
            for symbol in symbols or ():
                self._using.setdefault(symbol, []).append(number)
            if symbols is None or symbols:
                affected.add(number)
        for number in affected:
            self._canonicalize(number)

    def _canonicalize(self, number: int) -> None:
        """Find the canonical form of a type; those that had the old one have that one too."""
        found = self.types[number]
        assert found is not None
        new = canonical(self.store, found)
        whole = number if new is found else self.add(new)
        contents = isinstance(new, TensorType) and new.contents is not None
        bare = self.add(without_contents(new)) if contents else whole
        if whole == number:
            self.whole[number], self.bare[number] = number, bare
            return
        for one in (number, *self._same.pop(number, ())):
            if one != number and self.whole[one] != number:
                continue  # it has another form since something was taken back
            if self.whole[one] != whole:
                self._same.setdefault(whole, []).append(one)
            self.whole[one], self.bare[one] = whole, bare

    def get(self, number: int) -> Type | None:
        """The type of a number, canonical."""
        return self.types[self.whole[number]]


def _symbols(found: Type) -> frozenset[Dimension] | None:
    """The symbols in a type, None when more than symbols can change it (an unknown rank may become known)."""
    if not isinstance(found, TensorType) or found.shape.dims is None:
        return None
    symbols = found.shape.symbols()
    if isinstance(found, Progression):
        return symbols | found.base.symbols() if isinstance(found.base, Dimension) else symbols
    if found.elements is not None and not _SYMBOLIC.isdisjoint(map(type, found.elements)):
        return symbols.union(*(d.symbols() for e in found.elements for d in dims_in(e)))
    return symbols


_SYMBOLIC = {Dimension, Quotient}


def canonical(store: ShapeStore, found: Type) -> Type:
    """A type with canonical dims and elements; the same object when it is canonical already."""
    if not isinstance(found, TensorType):
        return _canonical_container(store, found)
    shape = store.canon_shape(found.shape)
    if isinstance(found, Progression):
        base = store.canon(found.base)
        same = shape is found.shape and base is found.base
        return found if same else Progression(found.dtype, shape, base, found.steps)
    elements = found.elements
    if elements is not None:
        new = tuple(_canonical_element(store, e) for e in elements)
        return found if shape is found.shape and new == elements else PartialTensor(found.dtype, shape, new)
    return found if shape is found.shape else PartialTensor(found.dtype, shape, elements)


def _canonical_element(store: ShapeStore, element: Element) -> Element:
    if isinstance(element, Quotient):
        return Quotient(store.canon(element.numerator), store.canon(element.denominator))
    return store.canon(element) if isinstance(element, Dimension) else element


def _canonical_container(store: ShapeStore, found: SequenceType) -> SequenceType:
    inner = canonical(store, found.element)
    length = found.length if found.length is None else store.canon(found.length)
    items = found.items if found.items is None else tuple(canonical(store, item) for item in found.items)
    if inner is found.element and length is found.length and items == found.items:
        return found
    if isinstance(found, MapType):
        return MapType(found.key, inner)
    return SequenceType(inner, length, items) if type(found) is SequenceType else type(found)(inner)


def without_contents(found: Type) -> Type:
    """A tensor of which no element is known."""
    if isinstance(found, TensorType) and found.contents is not None:
        return PartialTensor(found.dtype, found.shape, None)
    return found


def unknown_type() -> TensorType:
    """A tensor of which nothing is known."""
    return PartialTensor(None, Shape.unknown(), None)
