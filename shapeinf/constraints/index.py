"""Facts that could only be kept, found by their symbols, so that news of a symbol leads to what it may decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from shapeinf.constraints.records import Disjunction, Divisibility, Relation
from shapeinf.constraints.undo_log import UndoLog
from shapeinf.errors import Source
from shapeinf.expr.dimension import Dim, Dimension

Fact = Relation | Divisibility | Disjunction
Key = TypeVar("Key")


class ConstraintIndex:
    """Relations, divisibilities and guards in the order told, each found by all symbols of its canonical form."""

    def __init__(self, undo_log: UndoLog, other: ConstraintIndex | None = None) -> None:
        """Those of another one; changes are written through the journal."""
        self._undo_log = undo_log
        self.relations: list[Relation] = [] if other is None else list(other.relations)
        self.divisibilities: list[Divisibility] = [] if other is None else list(other.divisibilities)
        self.disjunctions: dict[Disjunction, None] = {} if other is None else dict(other.disjunctions)
        self._texts = {(g.template, g.source.node, g.operands) for g in self.disjunctions}
        self._about: dict[Dimension, dict[Fact, None]] = _copied({} if other is None else other._about)
        self._choices: dict[Dimension, dict[Disjunction, None]] = _copied({} if other is None else other._choices)
        """The conditions with alternatives by the symbols of their operands: apart, since no one equation says them."""

    def add(self, fact: Fact, canonical: Dim) -> None:
        """Keep a fact that depends on the symbols of this dim."""
        if isinstance(fact, Relation):
            self._undo_log.append(self.relations, fact)
        elif isinstance(fact, Divisibility):
            self._undo_log.append(self.divisibilities, fact)
        else:
            self._undo_log.put(self.disjunctions, fact, None)
        self.follow(fact, canonical)

    def add_text(self, template: str, source: Source, operands: tuple[Dim, ...], canonical: Iterable[Dim]) -> None:
        """Keep a condition that nothing decides; told twice by a node is told once."""
        key = (template, source.node, operands)
        if key not in self._texts:
            self._texts.add(key)
            disjunction = Disjunction(template, source, None, operands)
            self.disjunctions[disjunction] = None
            if disjunction.alternatives is not None:
                self.follow_choice(disjunction, canonical)

    def drop(self, disjunction: Disjunction) -> None:
        """A guard is decided, or told in another way."""
        self._undo_log.drop(self.disjunctions, disjunction)

    def follow(self, fact: Fact, canonical: Dim) -> None:
        """What is found out about the symbols of this dim concerns a fact from now on."""
        for symbol in canonical.symbols() if isinstance(canonical, Dimension) else ():
            about = self._about.setdefault(symbol, {})
            if fact not in about:
                self._undo_log.put(about, fact, None)

    def follow_choice(self, disjunction: Disjunction, canonical: Iterable[Dim]) -> None:
        """What is found out about the symbols of these operands concerns its alternatives from now on."""
        for symbol in {s for d in canonical if isinstance(d, Dimension) for s in d.symbols()}:
            about = self._choices.setdefault(symbol, {})
            if disjunction not in about:
                self._undo_log.put(about, disjunction, None)

    def choices(self, symbol: Dimension) -> tuple[Disjunction, ...]:
        """The conditions with alternatives that depend on a symbol."""
        return tuple(self._choices.get(symbol, ()))

    def divides(self, divisor: int, e: Dim) -> bool:
        """Whether it was told that this number, or a multiple of it, divides this dim."""
        return any(
            isinstance(fact, Divisibility) and fact.expression is e and fact.divisor % divisor == 0
            for fact in self._with(e)
        )

    def equates(self, e: Dimension) -> bool:
        """Whether it was told that this dim is 0."""
        return any(isinstance(fact, Disjunction) and fact.equation is e for fact in self._with(e))

    def _with(self, e: Dim) -> tuple[Fact, ...]:
        """The facts in which some symbol of a dim is: those about this dim are among them."""
        return self.about(next(iter(e.symbols()))) if isinstance(e, Dimension) else ()

    def about(self, symbol: Dimension) -> tuple[Fact, ...]:
        """The facts that depend on a symbol."""
        found = self._about.get(symbol, ())
        return tuple(fact for fact in found if not isinstance(fact, Disjunction) or fact in self.disjunctions)

    def related(self, d: Dim, canon: Callable[[Dim], Dim]) -> set[int]:
        """The ids of all facts that share a symbol with a canonical dim, or with another such fact."""
        found: set[int] = set()  # hashing a fact takes long
        seen = set(d.symbols()) if isinstance(d, Dimension) else set()
        left = list(seen)
        while left:
            for fact in self.about(left.pop()):
                if id(fact) not in found:
                    found.add(id(fact))
                    inside = canon(_expression(fact))
                    new = inside.symbols() - seen if isinstance(inside, Dimension) else frozenset()
                    seen |= new
                    left += new
        return found

    def relations_about(self, d: Dim) -> Iterator[Relation]:
        """Relations in which any symbol of a canonical dim is; no other one says anything of it."""
        seen: set[Fact] = set()
        for symbol in sorted(d.symbols(), key=_age) if isinstance(d, Dimension) else ():
            for fact in self._about.get(symbol, ()):
                if isinstance(fact, Relation) and fact not in seen:
                    seen.add(fact)
                    yield fact


def _copied(about: dict[Dimension, dict[Key, None]]) -> dict[Dimension, dict[Key, None]]:
    return {symbol: dict(store) for symbol, store in about.items()}


def _expression(fact: Fact) -> Dim:
    if isinstance(fact, Disjunction):
        assert fact.equation is not None  # a condition in words is not found by symbols
        return fact.equation
    return fact.expression


def _age(symbol: Dimension) -> int:
    return symbol.atom
