"""The tables of a store, each indexed by symbols, and the log that undoes changes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from shapeinf.constraints.records import Constraint
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.expr.evaluation import substitute

_ABSENT: Any = object()
_APPENDED: Any = object()
ConstraintSets = dict[Dimension, dict[Constraint, None]]


class UndoLog:
    """A log of writes to tables and lists; those of a transaction are undone when it fails."""

    def __init__(self) -> None:
        """Nothing is recorded outside of transactions."""
        self._entries: list[tuple[Any, Any, Any]] | None = None
        self._depth = 0

    def put(self, table: dict[Any, Any], key: object, value: object) -> None:
        """`table[key] = value`."""
        if self._entries is not None:
            self._entries.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def append(self, items: list[Any], item: object) -> None:
        """`items.append(item)`."""
        if self._entries is not None:
            self._entries.append((items, _APPENDED, None))
        items.append(item)

    def drop(self, table: dict[Any, Any], key: object) -> None:
        """`del table[key]`; a key that is put back comes last."""
        if self._entries is not None:
            self._entries.append((table, key, table[key]))
        del table[key]

    def begin(self) -> None:
        """Start a transaction, maybe inside of another one."""
        if self._entries is None:
            self._entries = []
        self._depth += 1

    def end(self, failed: bool) -> None:
        """End a transaction. The outermost one undoes everything that was written in it, if it has failed."""
        self._depth -= 1
        if self._depth == 0:
            entries, self._entries = self._entries or [], None
            if failed:
                self._undo(entries)

    @staticmethod
    def _undo(entries: list[tuple[Any, Any, Any]]) -> None:
        for table, key, old in entries[::-1]:
            if key is _APPENDED:
                table.pop()
            elif old is _ABSENT:
                del table[key]
            else:
                table[key] = old


class Solutions(dict[Dimension, DimSize]):
    """The value of each solved symbol; no value contains a solved symbol."""

    def __init__(self, solved: dict[Dimension, DimSize] | None = None) -> None:
        """A copy of another table, or an empty one."""
        self._mentions: dict[Dimension, set[Dimension]] = {}
        if solved:
            super().__init__(solved)
            for symbol, value in solved.items():
                self._mention(symbol, value)

    def solve(self, symbol: Dimension, value: DimSize, undo_log: UndoLog) -> None:
        """Set the value of a symbol, and replace the symbol in other values."""
        replaced = {symbol: value}
        for other in tuple(self._mentions.get(symbol, ())):  # they stay: a solution may be undone
            if other in self:
                new = substitute(self[other], replaced)
                undo_log.put(self, other, new)
                self._mention(other, new)
        undo_log.put(self, symbol, value)
        self._mention(symbol, value)

    def _mention(self, symbol: Dimension, value: DimSize) -> None:
        if isinstance(value, Dimension):
            for inside in value.symbols():
                self._mentions.setdefault(inside, set()).add(symbol)


class Uses:
    """The cached dims that depend on a symbol."""

    def __init__(self) -> None:
        """Without entries."""
        self._dims: dict[Dimension, list[Dimension]] = {}

    def add(self, dim: Dimension, depends: DimSize) -> None:
        """The cached results of `dim` depend on the symbols of `depends`."""
        if isinstance(depends, Dimension):
            for symbol in depends.symbols():
                dims = self._dims.get(symbol)
                if dims is None:
                    self._dims[symbol] = [dim]
                else:
                    dims.append(dim)

    def pop(self, symbol: Dimension) -> list[Dimension]:
        """The dims that depend on a symbol, which are removed here."""
        return self._dims.pop(symbol, [])

    def clear(self) -> None:
        """Remove all."""
        self._dims.clear()


class ConstraintIndex:
    """Pending constraints in the order added, each indexed by all symbols of its canonical form."""

    def __init__(self, undo_log: UndoLog, other: ConstraintIndex | None = None) -> None:
        """A copy of another index, or an empty one; changes are written through the undo log."""
        self._undo_log = undo_log
        self.relations: list[Constraint] = []
        self.divisibilities: list[Constraint] = []
        self.disjunctions: dict[Constraint, None] = {}
        """Disjunctions and pending equalities."""
        self._texts: set[tuple[str, str, tuple[DimSize, ...]]] = set()
        self._by_symbol: ConstraintSets = {}
        self._by_operand_symbol: ConstraintSets = {}
        """Disjunctions by the symbols of their operands: a table of their own, since they have no single expression."""
        if other is not None:
            self._copy(other)

    def _copy(self, other: ConstraintIndex) -> None:
        self.relations += other.relations
        self.divisibilities += other.divisibilities
        self.disjunctions.update(other.disjunctions)
        self._texts.update((c.template, c.source.node, c.operands) for c in self.disjunctions)
        self._by_symbol.update(_copy_sets(other._by_symbol))
        self._by_operand_symbol.update(_copy_sets(other._by_operand_symbol))

    def add(self, constraint: Constraint, canonical: DimSize) -> None:
        """Add a relation, divisibility or pending equality that depends on the symbols of this dim."""
        if constraint.kind == "relation":
            self._undo_log.append(self.relations, constraint)
        elif constraint.kind == "divisibility":
            self._undo_log.append(self.divisibilities, constraint)
        else:
            self._undo_log.put(self.disjunctions, constraint, None)
        self.follow(constraint, canonical)

    def add_disjunction(self, disjunction: Constraint, canonical: Iterable[DimSize]) -> None:
        """Add a disjunction; one that a node has added before is not added again."""
        if not self.has_disjunction(disjunction):
            self._texts.add((disjunction.template, disjunction.source.node, disjunction.operands))
            self.disjunctions[disjunction] = None
            if disjunction.alternatives is not None:
                self.follow_disjunction(disjunction, canonical)

    def has_disjunction(self, disjunction: Constraint) -> bool:
        """Whether the node of a disjunction has added it before."""
        return (disjunction.template, disjunction.source.node, disjunction.operands) in self._texts

    def drop(self, equality: Constraint) -> None:
        """Remove a pending equality, which is decided or replaced."""
        self._undo_log.drop(self.disjunctions, equality)

    def follow(self, constraint: Constraint, canonical: DimSize) -> None:
        """Index a constraint by the symbols of this dim, too."""
        for symbol in canonical.symbols() if isinstance(canonical, Dimension) else ():
            self._enter(self._by_symbol, symbol, constraint)

    def follow_disjunction(self, disjunction: Constraint, canonical: Iterable[DimSize]) -> None:
        """Index a disjunction by the symbols of these operands, too."""
        for symbol in {s for d in canonical if isinstance(d, Dimension) for s in d.symbols()}:
            self._enter(self._by_operand_symbol, symbol, disjunction)

    def _enter(self, table: ConstraintSets, symbol: Dimension, constraint: Constraint) -> None:
        entries = table.setdefault(symbol, {})
        if constraint not in entries:
            self._undo_log.put(entries, constraint, None)

    def disjunctions_with(self, symbol: Dimension) -> tuple[Constraint, ...]:
        """The disjunctions that depend on a symbol."""
        return tuple(self._by_operand_symbol.get(symbol, ()))

    def constraints_with(self, symbol: Dimension) -> tuple[Constraint, ...]:
        """The relations, divisibilities and pending equalities that depend on a symbol."""
        constraints = self._by_symbol.get(symbol, ())
        return tuple(c for c in constraints if c.kind != "equality" or c in self.disjunctions)

    def has_multiple(self, divisor: int, e: DimSize) -> bool:
        """Whether a constraint states that this number, or a multiple of it, divides this dim."""
        return any(
            c.kind == "divisibility" and c.expression is e and c.divisor % divisor == 0 for c in self._candidates(e)
        )

    def has_equality(self, e: Dimension) -> bool:
        """Whether a constraint states that this dim is 0."""
        return any(c.equation is e for c in self._candidates(e))

    def _candidates(self, e: DimSize) -> tuple[Constraint, ...]:
        """The constraints that depend on some symbol of a dim: those of this very dim are among them."""
        return self.constraints_with(next(iter(e.symbols()))) if isinstance(e, Dimension) else ()

    def related_ids(self, d: DimSize, canon: Callable[[DimSize], DimSize]) -> set[int]:
        """The ids of all constraints that share a symbol with a canonical dim, or with another such constraint."""
        ids: set[int] = set()  # hashing a constraint takes long
        seen = set(d.symbols()) if isinstance(d, Dimension) else set()
        pending = list(seen)
        while pending:
            for constraint in self.constraints_with(pending.pop()):
                if id(constraint) not in ids:
                    ids.add(id(constraint))
                    expression = canon(constraint.expression)
                    new = expression.symbols() - seen if isinstance(expression, Dimension) else frozenset()
                    seen |= new
                    pending += new
        return ids

    def relations_with(self, d: DimSize) -> Iterator[Constraint]:
        """Relations that depend on any symbol of a canonical dim; no other one restricts it."""
        seen: set[Constraint] = set()
        for symbol in sorted(d.symbols(), key=_age) if isinstance(d, Dimension) else ():
            for constraint in self._by_symbol.get(symbol, ()):
                if constraint.kind == "relation" and constraint not in seen:
                    seen.add(constraint)
                    yield constraint


def _copy_sets(table: ConstraintSets) -> ConstraintSets:
    return {symbol: dict(constraints) for symbol, constraints in table.items()}


def _age(symbol: Dimension) -> int:
    return symbol.atom


class Transaction:
    """A context whose changes are undone when an error leaves it.

    A class, since a generator takes longer than what most transactions do.
    """

    __slots__ = ("_invalidate", "_undo_log")

    def __init__(self, undo_log: UndoLog, invalidate: Callable[[], None]) -> None:
        """`invalidate` empties the caches, which the log does not restore."""
        self._undo_log = undo_log
        self._invalidate = invalidate

    def __enter__(self) -> None:
        """Begin to log changes."""
        self._undo_log.begin()

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Keep the changes, or undo them after an error."""
        self._undo_log.end(failed=error is not None)
        if error is not None and issubclass(error, Exception):
            self._invalidate()
