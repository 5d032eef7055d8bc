"""The questions of `integer_sets` as isl answers them; loading it takes tens of milliseconds.

isl runs under an operation limit and on the budget of the query; past these, and for an expression that it cannot
represent, it does not decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Literal

from shapeinf.constraints.records import Constraint
from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Floor, Maximum, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Monomial
from shapeinf.solver.answers import Verdict
from shapeinf.solver.budget import Budget
from shapeinf.solver.isl import IslLimitReached, isl, number, run_isl

MAX_OPERATIONS = 50_000
"""Limit of isl's own operation count for one query."""
MAX_TEXT = 20_000
"""Characters of a dim as text for isl: a tree."""


def decide(store: ConstraintStore, e: DimSize, relation: Literal[">= 0", "!= 0"], budget: Budget) -> Verdict:
    """A relation of `e` to 0: True when the constraints exclude its negation, False when they exclude the relation."""
    writer = _ParameterText(store, budget)
    negation = "< 0" if relation == ">= 0" else "= 0"
    try:
        text = writer.dim(e)
        known = writer.constraints(e)
        for value, excluded in ((True, negation), (False, relation)):
            constraints = [*known, _relation(text, excluded)]
            size = writer.size(constraints)
            if run_isl(budget, MAX_OPERATIONS, size, lambda context: _is_empty(context, writer, constraints)):  # noqa: B023
                return Verdict(value, "isl")
    except IslLimitReached:
        return Verdict(None, "interval")
    return Verdict(None, "isl")


def possible_values(
    store: ConstraintStore, symbol: Dimension, sizes: Sequence[int], budget: Budget
) -> list[int] | None:
    """See `integer_sets.possible_values`."""
    try:
        writer, constraints = _all_constraints(store, symbol, sizes[0], sizes[-1], budget)
        (name, *others) = writer.names.values()
        body = " and ".join(constraints)
        quantified = f"exists ({', '.join(others)}: {body})" if others else body

        def values(context: Any) -> list[int]:
            points: list[Any] = []
            isl.Set.read_from_str(context, f"{{ [{name}] : {quantified} }}").foreach_point(points.append)
            return sorted(set(map(_coordinate, points)).intersection(sizes))

        return run_isl(writer.budget, MAX_OPERATIONS, writer.size(constraints), values)
    except IslLimitReached:
        return None


def _all_constraints(
    store: ConstraintStore, symbol: Dimension, low: int, high: int, budget: Budget
) -> tuple[_ParameterText, list[str]]:
    """All constraints, and the range of a symbol. Raises IslLimitReached where isl cannot represent them exactly."""
    writer = _ParameterText(store, budget)
    queried = writer.dim(symbol)  # named even where it is solved: that is a constraint like the others
    constraints = [f"{queried} = {writer.dim(store.canon(symbol))}", f"{low} <= {queried} <= {high}"]
    constraints += [writer.constraint(c.rewrite(store.canon)) for c in store.pending() if c.kind == "disjunction"]
    constraints += writer.constraints()
    if any(len(monomial) > 1 or not _is_symbol(store, monomial) for monomial in writer.names):
        raise IslLimitReached
    return writer, constraints


def solution_interval(
    store: ConstraintStore, symbol: Dimension, constraint: Constraint, budget: Budget
) -> tuple[int, int | None] | None:
    """See `integer_sets.solution_interval`."""
    writer = _ParameterText(store, budget)
    low, high = store.bounds(symbol)
    try:
        writer.dim(symbol)
        (name,) = writer.names.values()
        known = [f"{name} >= {int(low)}"] if low > -inf else []
        known += [f"{name} <= {int(high)}"] if high < inf else []
        text = writer.constraint(constraint)
        if len(writer.names) != 1:
            return None
        text = f"{{ [{name}] : {' and '.join([*known, text])} }}"
        return run_isl(
            writer.budget, MAX_OPERATIONS, writer.size([text]), lambda context: _exact_interval(context, text, name)
        )
    except IslLimitReached:
        return None


def _exact_interval(context: Any, text: str, name: str) -> tuple[int, int | None] | None:
    """The bounds of a set of sizes that is an interval."""
    legal = isl.Set.read_from_str(context, text)
    least, most = legal.dim_min_val(0), legal.dim_max_val(0)
    if legal.is_empty() or least.is_neginfty():
        return None
    low, high = int(number(least)), None if most.is_infty() else int(number(most))
    upper = "" if high is None else f" <= {high}"
    interval = isl.Set.read_from_str(context, f"{{ [{name}] : {low} <= {name}{upper} }}")
    return (low, high) if legal.is_equal(interval) else None


def _coordinate(point: Any) -> int:
    return int(number(point.get_coordinate_val(isl.dim_type.set, 0)))


def _is_symbol(store: ConstraintStore, monomial: Monomial) -> bool:
    return isinstance(store.scope.atoms[monomial[0]], Symbol)


def _relation(text: str, relation: str) -> str:
    return f"({text} < 0 or {text} > 0)" if relation == "!= 0" else f"{text} {relation}"


def _is_empty(context: Any, writer: _ParameterText, constraints: list[str]) -> bool:
    names = ", ".join(writer.names.values())
    return bool(isl.Set.read_from_str(context, f"[{names}] -> {{ : {' and '.join(constraints)} }}").is_empty())


class _ParameterText:
    """Dims as text for isl; every monomial of degree 2 or more becomes a parameter."""

    def __init__(self, store: ConstraintStore, budget: Budget) -> None:
        self._store = store
        self.budget = budget
        self.names: dict[Monomial, str] = {}
        self._texts: dict[Dimension, str] = {}

    def size(self, constraints: Iterable[str]) -> int:
        """The number of variables that isl needs: the parameters, and one for each division."""
        return len(self.names) + sum(text.count("floor") + text.count(" mod ") for text in constraints)

    def constraints(self, about: DimSize | None = None) -> list[str]:
        """All constraints except disjunctions (only those related to `about`, if any), and the bounds of parameters."""
        related = None if about is None else self._store.related_ids(about)
        pending = [c for c in self._store.pending() if c.kind != "disjunction"]
        pending.sort(key=lambda c: c.kind == "divisibility")  # they come last
        constraints = [
            self.constraint(c.rewrite(self._store.canon)) for c in pending if related is None or id(c) in related
        ]
        for monomial, name in self.names.items():
            low, high = self._store.bounds(self._store.scope.monomial_dim(monomial))
            constraints += [f"{name} >= {int(low)}"] if low > -inf else []
            constraints += [f"{name} <= {int(high)}"] if high < inf else []
            congruence = self._store.congruences.get(monomial[0]) if len(monomial) == 1 else None
            constraints += [] if congruence is None else [f"({name} - {congruence.rest}) mod {congruence.modulus} = 0"]
        return constraints or ["1 = 1"]

    def constraint(self, constraint: Constraint) -> str:
        """A constraint over its dims as they are; raises IslLimitReached for a condition in words."""
        if constraint.kind == "divisibility":
            return f"{self.dim(constraint.expression)} mod {constraint.divisor} = 0"
        if constraint.kind == "disjunction" and constraint.operands:
            return "(" + constraint.template.replace("==", "=").format(*map(self.dim, constraint.operands)) + ")"
        clauses = [_relation(self.dim(c.expression), "= 0" if c.zero else ">= 0") for c in constraint.clauses]
        if not clauses:
            raise IslLimitReached
        return clauses[0] if len(clauses) == 1 else f"({' or '.join(clauses)})"

    def dim(self, d: DimSize) -> str:
        """One dim as a quasi-affine expression; raises IslLimitReached for a text that is too long."""
        if isinstance(d, int):
            return f"({d})"
        if d not in self._texts:
            text = "(" + " + ".join(f"{c}*{self._monomial(d, m)}" if m else str(c) for m, c in d.terms) + ")"
            if len(text) > MAX_TEXT or not self.budget.take(len(text) // 16):
                raise IslLimitReached
            self._texts[d] = text
        return self._texts[d]

    def _monomial(self, d: Dimension, monomial: Monomial) -> str:
        atom = d.scope.atoms[monomial[0]]
        if len(monomial) == 1 and isinstance(atom, Floor) and isinstance(atom.denominator, int):
            return f"floor({self.dim(atom.numerator)}/{atom.denominator})"
        if len(monomial) == 1 and isinstance(atom, Maximum):
            return self._maximum(atom)
        hint = "s" if len(monomial) == 1 and isinstance(atom, Symbol) else "p"
        return self.names.setdefault(monomial, f"{hint}{len(self.names)}")

    def _maximum(self, atom: Maximum) -> str:
        text = self.dim(atom.args[0])
        for arg in atom.args[1:]:
            text = f"max({text}, {self.dim(arg)})"
        return text
