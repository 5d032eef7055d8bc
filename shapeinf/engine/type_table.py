"""The types of one inference as small ints, so that calls are compared and hashed without looking into shapes.

A type is in *canonical form* when each dim is written with the representatives that the constraints choose: after
`n == m` both `[n]` and `[m]` are `[n]`. New constraints change canonical forms; numbers of types stay.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice

from shapeinf.expr import Dimension
from shapeinf.lattice import (
    BroadcastAxes,
    ChosenIndices,
    HandleType,
    IndexTuples,
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


_WORK_PER_TYPE = 10
"""The work to canonicalize a type, in terms of dims, besides that on its dims."""


class TypeTable:
    """Numbers of types; equal types have equal numbers.

    `canonical[n]` is the number of the canonical form of type n, `type_only[n]` that of the same form without contents.
    Both are brought up to date when they are read; a caller that keeps one of these lists calls `keep_up` after
    everything that may add constraints. A type that is added must be in canonical form, else use `add_any`.
    """

    def __init__(self, store: ShapeStore) -> None:
        """A table with "no type" alone."""
        self.store = store
        self.types: list[Type | None] = [None]
        self._epoch = store.epoch
        """The version of the canonical forms of the store that `_canonical` and `_type_only` are for."""
        self._canonical: list[int] = [NOTHING]
        self._type_only: list[int] = [NOTHING]
        self._numbers: dict[Hashable, int] = {}
        self._unranked: list[int] = []
        """The types whose canonical form can change by more than their symbols; see `_symbols`."""
        self._by_shape: dict[Shape | None, list[int]] = {}
        """These types by the unknown rank that alone can change them; None for those with more in them."""
        self._using: dict[Dimension, list[int]] = {}
        """For each symbol the types in which it occurs."""
        self._same: dict[int, list[int]] = {}
        """For each canonical form the other types that have it."""
        self._new_numbers: list[int] = []
        """The types added since the last refresh."""
        self._read_changes = len(store.changed_symbols)
        self._ranks = (len(store.shapes), store.resets)

    def fork(self, store: ShapeStore) -> TypeTable:
        """A copy of the table for a copy of the store; later additions to one are not in the other."""
        self._refresh()
        other = TypeTable(store)
        other.types, other._canonical, other._type_only = list(self.types), list(self._canonical), list(self._type_only)
        other._numbers, other._unranked = dict(self._numbers), list(self._unranked)
        other._using = {symbol: list(numbers) for symbol, numbers in self._using.items()}
        other._by_shape = {shape: list(numbers) for shape, numbers in self._by_shape.items()}
        other._same = {number: list(numbers) for number, numbers in self._same.items()}
        other._new_numbers = list(self._new_numbers)
        return other

    @property
    def canonical(self) -> list[int]:
        """For each type the number of its canonical form."""
        self.keep_up()
        return self._canonical

    @property
    def type_only(self) -> list[int]:
        """For each type the number of its canonical form without contents."""
        self.keep_up()
        return self._type_only

    def keep_up(self) -> None:
        """Bring canonical forms up to date, in the lists that they are in."""
        if self.store.epoch != self._epoch:
            self._refresh()

    def add_any(self, new: Type) -> int:
        """As `add`, for a type that need not be in canonical form."""
        return self.add(canonicalize(self.store, new))

    def add(self, new: Type) -> int:
        """The number of a type in canonical form, which is added if it is new."""
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
            self._type_only[number] = without
        return number

    def _append(self, key: Hashable, new: Type) -> int:
        """Add a type, which is its own canonical form, and return its number."""
        number = self._numbers[key] = len(self.types)
        self.types.append(new)
        self._canonical.append(number)
        self._type_only.append(number)
        self._new_numbers.append(number)
        return number

    def add_constant(self, constant: PartialTensor) -> int:
        """The number of a constant's type, whose contents are numbers or unknown."""
        if not constant.shape.is_concrete:
            return self.add(constant)
        before = len(self._new_numbers)
        number = self.add(constant)
        del self._new_numbers[before:]  # without symbols, its canonical form never changes
        return number

    def _refresh(self) -> None:
        """Update canonical forms of new types, and of those whose symbols have changed."""
        store = self.store
        self._epoch = store.epoch
        affected = {
            n for symbol in set(store.changed_symbols[self._read_changes :]) for n in self._using.get(symbol, ())
        }
        affected.update(self._affected_by_ranks())
        self._read_changes, self._ranks = len(store.changed_symbols), (len(store.shapes), store.resets)
        while self._new_numbers:
            number = self._new_numbers.pop()
            new = self.types[number]
            symbols = frozenset() if new is None else _symbols(new)
            if symbols is None:
                self._unranked.append(number)
                self._by_shape.setdefault(_only_shape(new), []).append(number)
            for symbol in symbols or ():
                self._using.setdefault(symbol, []).append(number)
            if symbols is None or symbols:
                affected.add(number)
        store.scope.work += _WORK_PER_TYPE * len(affected)
        for number in affected:
            self._canonicalize(number)

    def _affected_by_ranks(self) -> list[int]:
        """The types that ranks which became known may change: those with one of them; after a reset all."""
        shapes = self.store.shapes
        count, resets = self._ranks
        if resets != self.store.resets or len(shapes) < count:
            return self._unranked
        if len(shapes) == count:
            return []
        bound = islice(reversed(shapes), len(shapes) - count)  # a dict is in the order of its additions
        return [number for shape in (None, *bound) for number in self._by_shape.get(shape, ())]

    def _canonicalize(self, number: int) -> None:
        """Update the canonical form of a type, and of the types whose canonical form it was."""
        old = self.types[number]
        assert old is not None
        new = canonicalize(self.store, old)
        canonical = number if new is old else self.add(new)
        contents = isinstance(new, TensorType) and new.contents is not None
        type_only = self.add(drop_contents(new)) if contents else canonical
        if canonical == number:
            self._canonical[number], self._type_only[number] = number, type_only
            return
        for equal in (number, *self._same.pop(number, ())):
            if equal != number and self._canonical[equal] != number:
                continue  # a constraint was undone since, and its canonical form is another one
            if self._canonical[equal] != canonical:
                self._same.setdefault(canonical, []).append(equal)
            self._canonical[equal], self._type_only[equal] = canonical, type_only

    def get(self, number: int) -> Type | None:
        """The canonical form of the type with this number."""
        self.keep_up()
        return self.types[self._canonical[number]]


def _symbols(old: Type) -> frozenset[Dimension] | None:
    """The symbols in a type; None where more than its symbols can change it, as a rank that becomes known."""
    if not isinstance(old, TensorType) or old.shape.dims is None:
        return None
    symbols = old.shape.symbols()
    if isinstance(old, HandleType):
        return _handle_symbols(old, symbols)
    if isinstance(old, BroadcastAxes):
        return symbols.union(*(d.symbols() for d in (*old.sizes, *old.others) if isinstance(d, Dimension)))
    if isinstance(old, ChosenIndices):
        return symbols | old.size.symbols() if isinstance(old.size, Dimension) else symbols
    if isinstance(old, IndexTuples):
        return symbols.union(*(p[0].symbols() for p in old.parts if p is not None and isinstance(p[0], Dimension)))
    if isinstance(old, Progression):
        return symbols | old.base.symbols() if isinstance(old.base, Dimension) else symbols
    if old.elements is not None and not _SYMBOLIC.isdisjoint(map(type, old.elements)):
        return symbols.union(*(d.symbols() for e in old.elements for d in dims_in(e)))
    return symbols


def _handle_symbols(old: HandleType, symbols: frozenset[Dimension]) -> frozenset[Dimension] | None:
    """The symbols in a type of handles, those of its shape (`symbols`) included; None as in `_symbols`."""
    if isinstance(old.length, Dimension):
        symbols |= old.length.symbols()
    for value in old.values or ():
        inner = _symbols(value)
        if inner is None:
            return None
        symbols |= inner
    return symbols


_SYMBOLIC = {Dimension, Quotient}


def _only_shape(old: Type | None) -> Shape | None:
    """The shape of a tensor that is all that can change in it; None where more can."""
    return old.shape if old.__class__ is PartialTensor and old.contents is None else None


def canonicalize(store: ShapeStore, old: Type) -> Type:
    """The canonical form of a type; the same object when the type is canonical already."""
    return map_type(old, store.canon, store.canon_shape)


def drop_contents(old: Type) -> Type:
    """The type with no element known; the same object when none is."""
    if isinstance(old, TensorType) and old.contents is not None:
        return PartialTensor(old.dtype, old.shape, None)
    return old


def unknown_type() -> TensorType:
    """A tensor with unknown element type and shape."""
    return PartialTensor(None, Shape.unknown(), None)
