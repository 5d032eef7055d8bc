"""The constraints on the dims of one inference: equalities, ranges, divisibility, relations, disjunctions.

Every constraint carries its `Source`. Adding one is a meet: constraints are never removed (what-if runs have a `copy`).
An equation that can be solved for a symbol with coefficient 1 or -1 is solved, unknowns before names and late names
before early ones, so the same constraints give the same canonical forms in any order; an equation that cannot stays
pending, which is sound but not complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from math import inf

from shapeinf.constraints.conflicts import conflict_source
from shapeinf.constraints.congruences import Congruences, NoSolution, known_bounds
from shapeinf.constraints.index import ConstraintIndex, Solutions, Transaction, UndoLog, Uses
from shapeinf.constraints.piecewise import solve_clauses
from shapeinf.constraints.records import Clause, Constraint, Range
from shapeinf.errors import Contradiction, Source
from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Scope
from shapeinf.expr.equations import as_divisibility, as_linear, primitive_part
from shapeinf.expr.evaluation import simplify_maxima, substitute
from shapeinf.expr.extremum import expand_maximum
from shapeinf.expr.interval import Bounds, Interval, as_interval, bounds_with
from shapeinf.expr.nests import has_outer_maximum
from shapeinf.expr.usual_bounds import usual_bounds

_WORK_PER_EQUALITY = 100
"""The work of one new equality besides that on its terms: what depends on its symbol is computed anew."""

_MAX_RELATIONS_TRIED = 64


class ConstraintStore:
    """The constraints of one inference on the symbols of one `Scope`."""

    def __init__(self, scope: Scope) -> None:
        """A store without constraints: only the declared bounds of the symbols hold."""
        self.scope = scope
        self.version = 0
        self.epoch = 0
        """Counts the changes of canonical forms."""
        self.changed_symbols: list[Dimension] = []
        """Symbols whose constraints have changed, in order."""
        self.resets = 0
        """Counts how often all constraints were replaced."""
        self.narrowed = False
        """Whether any symbol has tighter bounds than those it was created with: then maxima may be decided."""
        self.solved = Solutions()
        self.sources: dict[Dimension, Source] = {}
        self.ranges: dict[int, Range] = {}
        self.congruences = Congruences(scope)
        """The congruences that follow from divisibilities, by symbol."""
        self.conditions: tuple[Dimension, ...] = ()
        """Expressions of several symbols that are at least 0 where a branch or a trip runs: they decide maxima."""
        self.origins: dict[Dimension, Source] = {}
        """The sources of the bounds that symbols were created with, where these are not declared. Copies share it."""
        self._canonical: dict[Dimension, DimSize] = {}
        self._bounds: dict[Dimension, Bounds] = {}
        self._uses = Uses()
        self._undo_log = UndoLog()
        self._pending = ConstraintIndex(self._undo_log)
        self._known = known_bounds(self.ranges, self.congruences)

    def constraints(self, beyond: ConstraintStore | None = None) -> Iterator[Constraint]:
        """All constraints, or those that an earlier state of the store does not have, each kind in the order added.

        Solved equalities come first, then each narrowing of a range, then the pending ones.
        """
        self.scope.work += len(self.solved) + len(self.ranges)
        solved, ranges = ({}, {}) if beyond is None else (beyond.solved, beyond.ranges)
        for symbol in [symbol for symbol in self.solved if symbol not in solved]:
            yield Constraint("equality", self.sources[symbol], operands=(symbol, self.solved[symbol]))
        earlier = ranges.get
        for atom in [atom for atom, known in self.ranges.items() if earlier(atom) is not known]:
            yield from self.ranges[atom].constraints(self.scope.atom_dim(atom), earlier(atom))
        yield from self.pending(beyond)

    def pending(self, beyond: ConstraintStore | None = None) -> Iterator[Constraint]:
        """The constraints that canonical forms and bounds do not contain, those of a kind in the order added.

        Relations come first, then divisibilities, then disjunctions and equalities that could not be solved.
        """
        added = chain(self.relations, self.divisibilities, self.disjunctions)
        if beyond is None:
            return added
        known = {(c.kind, c.expression, c.divisor) for c in chain(beyond.relations, beyond.divisibilities)}
        return (c for c in added if c not in beyond.disjunctions and (c.kind, c.expression, c.divisor) not in known)

    @property
    def relations(self) -> Sequence[Constraint]:
        """Expressions that are at least 0, in the order added."""
        return self._pending.relations

    @property
    def divisibilities(self) -> Sequence[Constraint]:
        """Expressions that a number divides, in the order added."""
        return self._pending.divisibilities

    @property
    def disjunctions(self) -> Collection[Constraint]:
        """Disjunctions, and equalities that could not be solved."""
        return self._pending.disjunctions.keys()

    @property
    def count(self) -> int:
        """The number of constraints, without bounds."""
        return len(self.relations) + len(self.divisibilities) + len(self.disjunctions) + len(self.solved)

    @property
    def plain(self) -> bool:
        """Whether every dim is its own canonical form."""
        return not (self.solved or self.congruences or (self.narrowed and self.scope.has_maxima))

    # -- reading -----------------------------------------------------------------------------------------------------

    def canon(self, d: DimSize) -> DimSize:
        """The canonical form of a dim under the current equalities."""
        if isinstance(d, int) or not (self.solved or self.congruences or (self.narrowed and self.scope.has_maxima)):
            return d
        form = self._canonical.get(d)
        if form is None:
            form = substitute(d, self.solved)
            if self.narrowed and self.scope.has_maxima:
                decide = self._at_least_zero if self.conditions else self._known.at_least_zero
                form = simplify_maxima(form, decide)
            self._canonical[d] = form = self.congruences.canonical(form)
            self._uses.add(d, form)
            if form is not d:
                self._uses.add(d, d)  # the constraints on these may be undone
        return form

    def bounds(self, d: DimSize) -> Bounds:
        """Bounds of a dim under the constraints; an infinity is no bound, where `interval` has None."""
        if isinstance(d, int):
            return d, d
        bounds = self._bounds.get(d)
        if bounds is None:
            canonical = self.canon(d)
            bounds = self._bounds[d] = bounds_with(canonical, self._known)
            self._uses.add(d, canonical)
        return bounds

    def interval(self, d: DimSize) -> Interval:
        """Bounds of a dim under the constraints."""
        return as_interval(self.bounds(d))

    def usual_bounds(self, d: DimSize, cap: int, *, cap_powers: bool = False) -> Bounds:
        """Bounds of a dim under the constraints, with a cap for sizes without a bound; see `usual_bounds`."""
        exact, usual = self.bounds(d), usual_bounds(self.canon(d), self._known, cap, cap_powers=cap_powers)
        return max(exact[0], usual[0]), min(exact[1], usual[1])

    def prove_le(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a <= b` always (True), never (False), or not decided (None); intervals and single relations only."""
        if isinstance(a, int) and isinstance(b, int):
            return a <= b
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
        if not self._pending.relations:
            return None
        difference = self.canon(b - a)
        for relation in islice(self._pending.relations_with(difference), _MAX_RELATIONS_TRIED):
            known = self.canon(relation.expression)
            if self.bounds(difference - known)[0] >= 0:
                return True
            if self.bounds(difference + known)[1] < 0:
                return False
        return None

    def prove_eq(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a == b` always, never, or not decided."""
        if a is b or a == b:
            return True
        if isinstance(b, int):  # the bounds of sizes are known most of all
            low, high = self.bounds(a)
            if b < low or b > high:
                return False
        e = self.canon(a - b)
        if isinstance(e, int):
            return e == 0
        low, high = self.bounds(e)
        if low > 0 or high < 0 or self.congruences.has_no_root(e):
            return False
        return True if low == high else None

    def divides(self, divisor: int, d: DimSize) -> bool | None:
        """Whether `divisor` divides `d` always, never, or not decided."""
        e = self.canon(d)
        return self.prove_eq(self.canon(e % divisor), 0)

    def prove_ne(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a != b` always, never, or not decided."""
        equal = self.prove_eq(a, b)
        return None if equal is None else not equal

    def related_ids(self, d: DimSize) -> set[int]:
        """The ids of the relations, divisibilities and pending equalities on a dim, directly or through each other."""
        return self._pending.related_ids(self.canon(d), self.canon)

    def copy(self) -> ConstraintStore:
        """An independent store over the same scope, for a what-if run."""
        other = ConstraintStore(self.scope)
        other._restore(self)
        other.version = self.version
        return other

    # -- adding ------------------------------------------------------------------------------------------------------

    def add_equal(self, a: DimSize, b: DimSize, source: Source) -> DimSize:
        """Add `a == b`; returns the canonical dim. Raises Contradiction and changes nothing when it cannot hold."""
        if a is b:
            return self.canon(a)
        equation = self.canon(a - b)
        if equation != 0:
            with self._transaction():
                self._equate(equation, source, (a, b))
        left, right = self.canon(a), self.canon(b)
        return right if isinstance(right, int) else left

    def set_value(self, symbol: Dimension, value: int, source: Source) -> None:
        """Add that a new symbol, which no constraint has yet, is a number within its bounds."""
        with self._transaction():
            self._solve(symbol, value, source)

    def add_range(self, d: DimSize, lo: int | None, hi: int | None, source: Source) -> None:
        """Add `lo <= d <= hi` (None for no bound). Raises Contradiction when it cannot hold."""
        with self._transaction():
            self._bound(self.canon(d), (-inf if lo is None else lo, inf if hi is None else hi), source)

    def add_le(self, a: DimSize, b: DimSize, source: Source) -> None:
        """Add `a <= b`. Raises Contradiction when it cannot hold."""
        difference = self.canon(b - a)
        if self.bounds(difference)[0] < 0:
            with self._transaction():
                self._bound(difference, (0, inf), source)

    def add_condition(self, expression: DimSize, source: Source) -> None:
        """Add `expression >= 0`, the condition of a branch. Raises Contradiction when it cannot hold.

        Each argument of a minimum is at least 0; two that are opposite are an equality. Of a maximum the arguments that
        are negative for certain say nothing. What remains may decide maxima.
        """
        parts = [-part for part in expand_maximum(-self.canon(expression))]
        before = self.conditions
        try:
            with self._transaction():
                for part in parts:
                    if -part in parts:
                        self.add_equal(part, 0, source)
                    else:
                        self._add_part(part, source)
        except Contradiction:
            self.conditions = before
            raise

    def _add_part(self, part: DimSize, source: Source) -> None:
        """Add that one argument of a minimum is at least 0; a remainder that is at most 0 is a congruence."""
        possible = [p for p in expand_maximum(self.canon(part)) if self.bounds(p)[1] >= 0]
        if len(possible) != 1:
            self.add_le(0, part, source)
            return
        form = self.canon(possible[0])
        if form is not part:
            self.add_condition(form, source)
            return
        divisibility = as_divisibility(form)
        if divisibility is not None:
            self.add_divisible(*divisibility, source)
            return
        self.add_le(0, form, source)
        if isinstance(form, Dimension) and not form.is_symbol and self.bounds(form)[0] < 0:
            self.conditions = (*self.conditions, form)
            self.narrowed = True
            self.changed_symbols += form.symbols()
            self.epoch += self.scope.has_maxima
            self._invalidate()

    def add_divisible(self, d: DimSize, divisor: int, source: Source) -> None:
        """Add that `divisor` (1 or more) divides `d`. Raises Contradiction when it cannot."""
        e = self.canon(d)
        known = self.divides(divisor, e)
        if known:
            return
        message = f"{d} must be divisible by {divisor}"
        if known is False:
            raise Contradiction(message, source, conflict_source(self, e, d))
        if not self._pending.has_multiple(divisor, e):
            with self._transaction():
                self._pending.add(Constraint("divisibility", source, e, divisor), e)
                self.version += 1
                self._add_congruence(e, divisor, source, message)

    def set_bounds(self, symbol: Dimension, bounds: Bounds, source: Source) -> None:
        """Set (not narrow) the bounds of the unknown of a node; those of a join may widen until its loop ends."""
        known = self.ranges.get(symbol.atom)
        if known is None or known.bounds != bounds:
            self.ranges[symbol.atom] = Range(bounds, source)
            self.changed_symbols.append(symbol)
            self.epoch += self.scope.has_maxima
            self._invalidate(symbol)

    def add_disjunction(self, template: str, source: Source, *operands: DimSize) -> None:
        """Add a disjunction of the operands `{0}`, `{1}`..., such as `{0} == {1} or {0} == 1`; once for each node."""
        disjunction = Constraint("disjunction", source, template=template, operands=operands)
        if self._pending.has_disjunction(disjunction):
            return
        if disjunction.alternatives is not None and self._add_solutions(
            disjunction.clauses_in(self.canon), disjunction
        ):
            return
        self._pending.add_disjunction(disjunction, map(self.canon, operands))

    def add(self, constraint: Constraint) -> None:
        """Add a constraint of another store over the same scope. Raises Contradiction when it cannot hold."""
        source = constraint.source
        if constraint.kind == "equality":
            self.add_equal(*constraint.sides, source)
        elif constraint.kind == "range":
            within = as_interval(constraint.bounds)
            self.add_range(constraint.symbol, within.lo, within.hi, source)
        elif constraint.kind == "relation":
            self.add_le(0, constraint.expression, source)
        elif constraint.kind == "divisibility":
            self.add_divisible(constraint.expression, constraint.divisor, source)
        else:
            self.add_disjunction(constraint.template, source, *constraint.operands)

    def implies(self, constraint: Constraint) -> bool:
        """Whether a constraint of another store over the same scope holds here for certain."""
        if constraint.kind == "equality":
            return self.prove_eq(*constraint.sides) is True
        if constraint.kind == "range":
            low, high = self.bounds(constraint.symbol)
            return low >= constraint.bounds[0] and high <= constraint.bounds[1]
        if constraint.kind == "divisibility":
            return self.divides(constraint.divisor, constraint.expression) is True
        if constraint.kind == "disjunction":
            text = constraint.template, constraint.operands
            if any((other.template, other.operands) == text for other in self.disjunctions):
                return True
        return any(map(self.proves, constraint.clauses_in(self.canon)))

    def proves(self, clause: Clause) -> bool:
        """Whether a clause holds for certain."""
        e = clause.expression
        return (self.prove_eq(e, 0) if clause.zero else self.prove_le(0, e)) is True

    # -- inside ------------------------------------------------------------------------------------------------------

    def _invalidate(self, symbol: Dimension | None = None) -> None:
        """Clear the caches of dims that depend on a symbol, or of all dims."""
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

    def _at_least_zero(self, d: DimSize) -> bool:
        """Whether a dim is at least 0, by bounds or by a condition that holds here."""
        known = self._known.at_least_zero
        return known(d) or any(known(d - condition) for condition in self.conditions)

    def _transaction(self) -> Transaction:
        """A context whose changes are undone when an error leaves it."""
        return Transaction(self._undo_log, self._invalidate)

    def _restore(self, before: ConstraintStore) -> None:
        """Replace all constraints by those of another store over the same scope."""
        self.solved = Solutions(before.solved)
        self.sources, self.ranges = dict(before.sources), dict(before.ranges)
        self.congruences = Congruences(self.scope, before.congruences)
        self._known = known_bounds(self.ranges, self.congruences)
        self._pending = ConstraintIndex(self._undo_log, before._pending)
        self.narrowed = bool(self.ranges or self.congruences or before.conditions)
        self.conditions = before.conditions
        self.origins = before.origins
        self.epoch += 1
        self.resets += 1

    def _equate(
        self, e: DimSize, source: Source, operands: tuple[DimSize | str, DimSize | str], *about: DimSize
    ) -> None:
        """Add `e == 0` for a canonical `e`."""
        self.scope.work += _WORK_PER_EQUALITY
        e = primitive_part(e, self._is_positive)
        if e == 0 or self.bounds(e) == (0, 0):
            return
        if isinstance(e, int) or self.prove_eq(e, 0) is False:
            raise Contradiction(
                "dimensions must be equal", source, conflict_source(self, *operands, *about), map(str, operands)
            )
        chosen = self.congruences.solution(e)
        if chosen is None:
            if e.has_maximum and self._add_solutions((Clause(e, True),), Constraint("equality", source, e)):
                return
            if not self._pending.has_equality(e):
                text = f"{operands[0]} == {operands[1]}"
                self._pending.add(Constraint("equality", source, e, template=text), e)
                self.version += 1
            return
        symbol, value = chosen
        low, high = self._known.symbol(symbol.atom, symbol.symbol)
        self._solve(symbol, value, source)
        self._bound(self.canon(value), (low, high), source)
        self._recheck(symbol)

    def _add_congruence(self, e: DimSize, divisor: int, source: Source, message: str) -> None:
        """Add the congruence of a single symbol that follows from `divisor` dividing `e`, if any."""
        try:
            congruence = self.congruences.derive(e, divisor, source)
        except NoSolution:
            raise Contradiction(message, source, conflict_source(self, e)) from None
        if congruence is None:
            return
        symbol = congruence.symbol
        low, high = congruence.tighten(self._known.symbol(congruence.atom, symbol.symbol))
        if low > high:
            raise Contradiction(message, source, conflict_source(self, symbol))
        self._undo_log.put(self.congruences, congruence.atom, congruence)
        self.narrowed = True
        self.changed_symbols.append(symbol)
        self.epoch += 1
        self._invalidate(symbol)
        if low == high:
            self._solve(symbol, int(low), source)
        self._recheck(symbol)

    def _is_positive(self, d: DimSize) -> bool:
        return self.bounds(d)[0] >= 1

    def _solve(self, symbol: Dimension, value: DimSize, source: Source) -> None:
        self.solved.solve(symbol, value, self._undo_log)
        self._undo_log.put(self.sources, symbol, source)
        self.changed_symbols.append(symbol)
        self.epoch += 1
        self._invalidate(symbol)

    def _bound(self, e: DimSize, bounds: Bounds, source: Source) -> None:
        """Add bounds of a canonical `e`."""
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
        inner = self.scope.atoms[atom]
        if isinstance(inner, Symbol):
            self._narrow(self.scope.atom_dim(atom), (new_low, new_high), source)
        elif isinstance(inner, Floor) and isinstance(inner.denominator, int):
            q = inner.denominator  # floor(n/q) in low..high is n in q*low..q*high + q - 1
            self._bound(inner.numerator, (q * new_low, q * new_high + q - 1), source)
        else:
            self._relate(e, bounds, source)

    def _relate(self, e: Dimension, bounds: Bounds, source: Source) -> None:
        """Add bounds of a dim that bound no single symbol, as relations."""
        expressions = [e - int(bounds[0])] if bounds[0] > -inf else []
        if bounds[1] < inf:
            expressions.append(int(bounds[1]) - e)
        for expression in expressions:
            if self.prove_le(0, expression) is None:
                relation = Constraint("relation", source, expression)
                if not has_outer_maximum(expression) or not self._add_solutions(relation.clauses, relation):
                    self._pending.add(relation, expression)
                    self.version += 1

    def _add_solutions(self, clauses: Sequence[Clause], constraint: Constraint) -> bool:
        """Add that one of these clauses holds, as bounds, where they are equivalent to bounds of one dim.

        Where its solutions have gaps, as those of `n == 1 or n == 64`, a symbol gets their bounds, but the constraint
        states more, and False is returned.
        """
        solution = solve_clauses(clauses, self.bounds)
        if solution is None:
            return False
        variable, ranges = solution
        if not ranges:
            message = f"{constraint.text or constraint.expression} must hold"
            raise Contradiction(message, constraint.source, conflict_source(self, variable))
        most = ranges[-1][1]
        bounds = ranges[0][0], inf if most is None else most
        gaps = len(ranges) > 1
        with self._transaction():
            if not gaps:
                self._bound(variable, bounds, constraint.source)
            elif variable.is_symbol and not any([has_outer_maximum(clause.expression) for clause in clauses]):
                self._narrow(variable, bounds, constraint.source, implied=True)
        return not gaps

    def _narrow(self, symbol: Dimension, bounds: Bounds, source: Source, implied: bool = False) -> None:
        """Add bounds of a symbol; `implied`: they follow from another constraint, which is added too."""
        atom = symbol.atom
        low, high = self._known.symbol(atom, symbol.symbol)
        new = self.congruences.tighten(atom, (max(low, bounds[0]), min(high, bounds[1])))
        if new[0] > new[1]:
            message = f"{symbol} must lie in {as_interval(bounds)} but lies in {as_interval((low, high))}"
            raise Contradiction(message, source, conflict_source(self, symbol))
        if new == (low, high):
            return
        self._undo_log.put(self.ranges, atom, Range(new, source, self.ranges.get(atom), implied))
        self.narrowed = True
        self.changed_symbols.append(symbol)
        self.epoch += self.scope.has_maxima
        self._invalidate(symbol)
        if new[0] == new[1]:
            self._solve(symbol, int(new[0]), source)
        self._recheck(symbol)

    def _recheck(self, symbol: Dimension) -> None:
        """Recheck the pending constraints on a symbol: they may be decided, contradicted or solvable now."""
        for constraint in self._pending.constraints_with(symbol):
            if constraint.kind == "relation":
                self._recheck_relation(constraint)
            elif constraint.kind == "divisibility":
                self._recheck_divisibility(constraint)
            elif constraint in self._pending.disjunctions:  # an earlier one of these may have decided it
                self._recheck_equality(constraint)
        for disjunction in self._pending.disjunctions_with(symbol):
            self._recheck_disjunction(disjunction, symbol)

    def _recheck_relation(self, relation: Constraint) -> None:
        expression = self.canon(relation.expression)
        if self.bounds(expression)[1] < 0:
            second = conflict_source(self, expression, relation.expression)
            raise Contradiction(f"{relation.expression} must be at least 0", relation.source, second)
        self._pending.follow(relation, expression)
        if has_outer_maximum(expression):
            self._add_solutions((Clause(expression, False),), relation)

    def _recheck_divisibility(self, constraint: Constraint) -> None:
        expression = self.canon(constraint.expression)
        known = self.divides(constraint.divisor, expression)
        message = f"{constraint.expression} must be divisible by {constraint.divisor}"
        if known is False:
            second = conflict_source(self, expression, constraint.expression)
            raise Contradiction(message, constraint.source, second)
        self._pending.follow(constraint, expression)
        if known is None:
            self._add_congruence(expression, constraint.divisor, constraint.source, message)

    def _recheck_equality(self, equality: Constraint) -> None:
        equation = primitive_part(self.canon(equality.expression), self._is_positive)
        self._pending.drop(equality)
        if equation != 0:
            left, _, right = equality.template.partition(" == ")
            self._equate(equation, equality.source, (left, right), equality.expression)

    def _recheck_disjunction(self, disjunction: Constraint, symbol: Dimension) -> None:
        clauses = disjunction.clauses_in(self.canon)
        if all(self.prove_eq(clause.expression, 0) is False for clause in clauses):
            last = conflict_source(self, symbol) or disjunction.source
            raise Contradiction(f"{disjunction.text} must hold", last, disjunction.source)
        self._pending.follow_disjunction(disjunction, map(self.canon, disjunction.operands))
        self._add_solutions(clauses, disjunction)
