"""What one inference has learned about its dims: equalities, ranges, divisibility, relations, guards.

Every fact carries the `Source` that said it. Telling is a meet: facts are only added, never taken back (a what-if is a
`copy`). An equation that can be solved for a symbol with coefficient 1 or -1 is solved, unknowns before names and late
names before early ones, so the same facts give the same canonical forms in any order; an equation that cannot is kept
as a guard, sound but not complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from math import inf

from shapeinf.constraints.congruences import Congruences, NoSolution, knowledge
from shapeinf.constraints.disjunctions import recheck_choices
from shapeinf.constraints.index import ConstraintIndex
from shapeinf.constraints.provenance import conflict_source
from shapeinf.constraints.records import Disjunction, Divisibility, Range, Relation
from shapeinf.constraints.undo_log import Solutions, UndoLog, Uses
from shapeinf.errors import Contradiction, Source
from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dim, Dimension, Scope
from shapeinf.expr.equations import as_linear, primitive_part
from shapeinf.expr.evaluation import simplify_maxima, substitute
from shapeinf.expr.interval import Bounds, Interval, as_interval, bounds_with

_MAX_RELATIONS_TRIED = 64


class ConstraintStore:
    """The facts of one inference over the symbols of one `Scope`."""

    def __init__(self, scope: Scope) -> None:
        """Nothing is known but the declared bounds of the symbols."""
        self.scope = scope
        self.version = 0
        self.epoch = 0
        """Counts the changes of canonical forms."""
        self.news: list[Dimension] = []
        """Symbols of which something was found out or taken back, in order."""
        self.resets = 0
        """Counts how often all facts were replaced."""
        self.narrowed = False
        """Whether any symbol has tighter bounds than it was made with: then maxima may be decided."""
        self.solved = Solutions()
        self.sources: dict[Dimension, Source] = {}
        self.ranges: dict[int, Range] = {}
        self.congruences = Congruences(scope)
        """What the divisibilities tell of single symbols."""
        self._canonical: dict[Dimension, Dim] = {}
        self._bounds: dict[Dimension, Bounds] = {}
        self._uses = Uses()
        self._undo_log = UndoLog()
        self._kept = ConstraintIndex(self._undo_log)
        self._known = knowledge(self.ranges, self.congruences)

    @property
    def relations(self) -> Sequence[Relation]:
        """Expressions that are at least 0, in the order told."""
        return self._kept.relations

    @property
    def divisibilities(self) -> Sequence[Divisibility]:
        """Expressions that a number divides, in the order told."""
        return self._kept.divisibilities

    @property
    def disjunctions(self) -> Collection[Disjunction]:
        """Conditions that are no range or relation of symbols and no equation that could be solved."""
        return self._kept.disjunctions.keys()

    @property
    def count(self) -> int:
        """How many facts were told, but for bounds."""
        return len(self.relations) + len(self.divisibilities) + len(self.disjunctions) + len(self.solved)

    @property
    def plain(self) -> bool:
        """Whether every dim is its own canonical form."""
        return not (self.solved or self.congruences or (self.narrowed and self.scope.has_maxima))

    # -- reading -----------------------------------------------------------------------------------------------------

    def canon(self, d: Dim) -> Dim:
        """The canonical form of a dim under the equalities known today."""
        if isinstance(d, int) or self.plain:
            return d
        found = self._canonical.get(d)
        if found is None:
            found = substitute(d, self.solved)
            if self.narrowed and self.scope.has_maxima:
                found = simplify_maxima(found, self._known.at_least_zero)
            self._canonical[d] = found = self.congruences.canonical(found)
            self._uses.add(d, found)
            if found is not d:
                self._uses.add(d, d)  # what is known of these may be taken back
        return found

    def bounds(self, d: Dim) -> Bounds:
        """Bounds as numbers, infinities for none (the inside form of `interval`)."""
        if isinstance(d, int):
            return d, d
        found = self._bounds.get(d)
        if found is None:
            canonical = self.canon(d)
            found = self._bounds[d] = bounds_with(canonical, self._known)
            self._uses.add(d, canonical)
        return found

    def interval(self, d: Dim) -> Interval:
        """Bounds of a dim under the facts."""
        return as_interval(self.bounds(d))

    def prove_le(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a <= b` always (True), never (False), or not decided (None); intervals and single relations only."""
        (a_low, a_high), (b_low, b_high) = self.bounds(a), self.bounds(b)
        if a_high <= b_low:
            return True
        if a_low > b_high:
            return False
        if isinstance(a, Dimension) and isinstance(b, Dimension):
            low, high = self.bounds(b - a)
            if low >= 0:
                return True
            if high < 0:
                return False
        if not self._kept.relations:
            return None
        difference = self.canon(b - a)
        for relation in islice(self._kept.relations_about(difference), _MAX_RELATIONS_TRIED):
            known = self.canon(relation.expression)
            if self.bounds(difference - known)[0] >= 0:
                return True
            if self.bounds(difference + known)[1] < 0:
                return False
        return None

    def prove_eq(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a == b` always, never, or not decided."""
        if a is b or a == b:
            return True
        e = self.canon(a - b)
        if isinstance(e, int):
            return e == 0
        low, high = self.bounds(e)
        if low > 0 or high < 0 or self.congruences.no_root(e):
            return False
        return True if low == high else None

    def divides(self, divisor: int, d: Dim) -> bool | None:
        """Whether `divisor` divides `d` always, never, or not decided."""
        e = self.canon(d)
        return self.prove_eq(self.canon(e % divisor), 0)

    def prove_ne(self, a: Dim, b: Dim) -> bool | None:
        """Whether `a != b` always, never, or not decided."""
        equal = self.prove_eq(a, b)
        return None if equal is None else not equal

    def related(self, d: Dim) -> set[int]:
        """The ids of the relations, divisibilities and equations that have to do with a dim, directly or by others."""
        return self._kept.related(self.canon(d), self.canon)

    def copy(self) -> ConstraintStore:
        """Independent facts over the same scope, for a what-if."""
        other = ConstraintStore(self.scope)
        other._restore(self)
        other.version = self.version
        return other

    # -- telling -----------------------------------------------------------------------------------------------------

    def add_equal(self, a: Dim, b: Dim, source: Source) -> Dim:
        """Learn `a == b`; the canonical dim. Raises Contradiction and changes nothing when it cannot hold."""
        if a is b:
            return self.canon(a)
        equation = self.canon(a - b)
        if equation != 0:
            with self._taken_back():
                self._equate(equation, source, (a, b))
        told, other = self.canon(a), self.canon(b)
        return other if isinstance(other, int) else told

    def add_range(self, d: Dim, lo: int | None, hi: int | None, source: Source) -> None:
        """Learn `lo <= d <= hi` (None for no bound). Raises Contradiction when it cannot hold."""
        with self._taken_back():
            self._bound(self.canon(d), (-inf if lo is None else lo, inf if hi is None else hi), source)

    def add_le(self, a: Dim, b: Dim, source: Source) -> None:
        """Learn `a <= b`. Raises Contradiction when it cannot hold."""
        difference = self.canon(b - a)
        if self.bounds(difference)[0] < 0:
            with self._taken_back():
                self._bound(difference, (0, inf), source)

    def add_divisible(self, d: Dim, divisor: int, source: Source) -> None:
        """Learn that `divisor` (1 or more) divides `d`. Raises Contradiction when it cannot."""
        e = self.canon(d)
        known = self.divides(divisor, e)
        if known:
            return
        message = f"{d} must be divisible by {divisor}"
        if known is False:
            raise Contradiction(message, source, conflict_source(self, e, d))
        if not self._kept.divides(divisor, e):
            with self._taken_back():
                self._kept.add(Divisibility(e, divisor, source), e)
                self.version += 1
                self._learn_congruence(e, divisor, source, message)

    def set_bounds(self, symbol: Dimension, bounds: Bounds, source: Source) -> None:
        """Set (not narrow) the bounds of a join site's own symbol; only `Relaxer` may, before its loop has ended."""
        told = self.ranges.get(symbol.atom)
        if told is None or told.bounds != bounds:
            self.ranges[symbol.atom] = Range(bounds, source)
            self.news.append(symbol)
            self.epoch += self.scope.has_maxima
            self._changed(symbol)

    def add_disjunction(self, template: str, source: Source, *operands: Dim) -> None:
        """Keep a condition that is no single equation, as a text about `{0}`, `{1}`...; told twice is told once."""
        self._kept.add_text(template, source, operands, map(self.canon, operands))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _changed(self, symbol: Dimension | None = None) -> None:
        """Something is known of a symbol now (of any, without one): forget what was worked out before that."""
        self.version += 1
        self._known.forget()
        if symbol is None:
            self._canonical.clear()
            self._bounds.clear()
            self._uses.clear()
            return
        for d in self._uses.pop(symbol):
            self._canonical.pop(d, None)
            self._bounds.pop(d, None)

    @contextmanager
    def _taken_back(self) -> Iterator[None]:
        try:
            with self._undo_log.all_or_nothing():
                yield
        except Exception:
            self._changed()  # all is as it was before, but for what was worked out meanwhile
            raise

    def _restore(self, before: ConstraintStore) -> None:
        """Know what other facts over the same scope know, and nothing else."""
        self.solved = Solutions(before.solved)
        self.sources, self.ranges = dict(before.sources), dict(before.ranges)
        self.congruences = Congruences(self.scope, before.congruences)
        self._known = knowledge(self.ranges, self.congruences)
        self._kept = ConstraintIndex(self._undo_log, before._kept)
        self.narrowed = bool(self.ranges or self.congruences)
        self.epoch += 1
        self.resets += 1

    def _equate(self, e: Dim, source: Source, operands: tuple[Dim | str, Dim | str], *about: Dim) -> None:
        """Learn `e == 0` for a canonical `e`."""
        e = primitive_part(e, self._positive)
        if e == 0 or self.bounds(e) == (0, 0):
            return
        if isinstance(e, int) or self.prove_eq(e, 0) is False:
            raise Contradiction(
                "dimensions must be equal", source, conflict_source(self, *operands, *about), map(str, operands)
            )
        chosen = self.congruences.solution(e)
        if chosen is None:
            if not self._kept.equates(e):
                self._kept.add(Disjunction(f"{operands[0]} == {operands[1]}", source, e), e)
                self.version += 1
            return
        symbol, value = chosen
        low, high = self._known.symbol(symbol.atom, symbol.symbol)
        self._solve(symbol, value, source)
        self._bound(self.canon(value), (low, high), source)
        self._recheck(symbol)

    def _learn_congruence(self, e: Dim, divisor: int, source: Source, message: str) -> None:
        """Learn what `divisor` dividing `e` tells of a single symbol."""
        try:
            found = self.congruences.learn(e, divisor, source)
        except NoSolution:
            raise Contradiction(message, source, conflict_source(self, e)) from None
        if found is None:
            return
        low, high = found.rounded(self._known.symbol(found.atom, found.symbol.symbol))
        if low > high:
            raise Contradiction(message, source, conflict_source(self, found.symbol))
        self._undo_log.put(self.congruences, found.atom, found)
        self.narrowed = True
        self.news.append(found.symbol)
        self.epoch += 1
        self._changed(found.symbol)
        if low == high:
            self._solve(found.symbol, int(low), source)
        self._recheck(found.symbol)

    def _positive(self, d: Dim) -> bool:
        return self.bounds(d)[0] >= 1

    def _solve(self, symbol: Dimension, value: Dim, source: Source) -> None:
        self.solved.solve(symbol, value, self._undo_log)
        self._undo_log.put(self.sources, symbol, source)
        self.news.append(symbol)
        self.epoch += 1
        self._changed(symbol)

    def _bound(self, e: Dim, bounds: Bounds, source: Source) -> None:
        """Learn bounds of a canonical `e`."""
        low, high = self.bounds(e)
        if bounds[0] > high or bounds[1] < low:
            raise Contradiction(
                f"{e} must lie in {as_interval(bounds)} but lies in {self.interval(e)}",
                source,
                conflict_source(self, e),
            )
        if isinstance(e, int) or (bounds[0] <= low and bounds[1] >= high):
            return
        parts = as_linear(e)
        if parts is None:
            self._relate(e, bounds, source)
            return
        atom, factor, constant = parts
        low, high = (b - constant for b in (bounds if factor > 0 else bounds[::-1]))
        new_low = -(-low // factor) if low not in (inf, -inf) else -inf
        new_high = high // factor if high not in (inf, -inf) else inf
        found = self.scope.atoms[atom]
        if isinstance(found, Symbol):
            self._narrow(self.scope.atom_dim(atom), (new_low, new_high), source)
        elif isinstance(found, Floor) and isinstance(found.denominator, int):
            q = found.denominator  # floor(n/q) in low..high is n in q*low..q*high + q - 1
            self._bound(found.numerator, (q * new_low, q * new_high + q - 1), source)
        else:
            self._relate(e, bounds, source)

    def _relate(self, e: Dimension, bounds: Bounds, source: Source) -> None:
        wanted = [e - int(bounds[0])] if bounds[0] > -inf else []
        if bounds[1] < inf:
            wanted.append(int(bounds[1]) - e)
        for expression in wanted:
            if self.prove_le(0, expression) is None:
                self._kept.add(Relation(expression, source), expression)
                self.version += 1

    def _narrow(self, symbol: Dimension, bounds: Bounds, source: Source) -> None:
        atom = symbol.atom
        low, high = self._known.symbol(atom, symbol.symbol)
        new = self.congruences.rounded(atom, (max(low, bounds[0]), min(high, bounds[1])))
        if new[0] > new[1]:
            message = f"{symbol} must lie in {as_interval(bounds)} but lies in {as_interval((low, high))}"
            raise Contradiction(message, source, conflict_source(self, symbol))
        if new == (low, high):
            return
        self._undo_log.put(self.ranges, atom, Range(new, source, self.ranges.get(atom)))
        self.narrowed = True
        self.news.append(symbol)
        self.epoch += self.scope.has_maxima
        self._changed(symbol)
        if new[0] == new[1]:
            self._solve(symbol, int(new[0]), source)
        self._recheck(symbol)

    def _recheck(self, symbol: Dimension) -> None:
        """Look again at what was kept of a symbol: it may be decided, contradicted or solvable now."""
        for fact in self._kept.about(symbol):
            if isinstance(fact, Relation):
                self._recheck_relation(fact)
            elif isinstance(fact, Divisibility):
                self._recheck_divisibility(fact)
            elif fact in self._kept.disjunctions:  # what the last one led to may have decided this one
                self._recheck_equation(fact)
        recheck_choices(self, self._kept, symbol)

    def _recheck_relation(self, relation: Relation) -> None:
        expression = self.canon(relation.expression)
        if self.bounds(expression)[1] < 0:
            second = conflict_source(self, expression, relation.expression)
            raise Contradiction(f"{relation.expression} must be at least 0", relation.source, second)
        self._kept.follow(relation, expression)

    def _recheck_divisibility(self, fact: Divisibility) -> None:
        expression = self.canon(fact.expression)
        known = self.divides(fact.divisor, expression)
        message = f"{fact.expression} must be divisible by {fact.divisor}"
        if known is False:
            raise Contradiction(message, fact.source, conflict_source(self, expression, fact.expression))
        self._kept.follow(fact, expression)
        if known is None:
            self._learn_congruence(expression, fact.divisor, fact.source, message)

    def _recheck_equation(self, disjunction: Disjunction) -> None:
        assert disjunction.equation is not None
        equation = primitive_part(self.canon(disjunction.equation), self._positive)
        self._kept.drop(disjunction)
        if equation != 0:
            left, _, right = disjunction.template.partition(" == ")
            self._equate(equation, disjunction.source, (left, right), disjunction.equation)
