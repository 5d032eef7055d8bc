"""Assumptions of users and files: relations such as `past + seq <= 4096`, parsed and added as constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from shapeinf.errors import AssumptionSyntaxError, Contradiction, DimSyntaxError, Source, UnknownNameError
from shapeinf.expr import Dimension, DimSize, Scope, parse_dim
from shapeinf.expr.atoms import Floor
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget

_OPERATOR = re.compile(r"`(?:[^`]|``)*`|(<=|>=|==|!=|≤|≥|<|>|=)|\b(and|or|not)\b|(&&|\|\|)")
_SIGNS = {"≤": "<=", "≥": ">="}


class Comparison(NamedTuple):
    """`left <= right`, `left == right`, or `left % divisor == right` (then right is an int of 0 to divisor - 1)."""

    kind: Literal["<=", "==", "%"]
    left: DimSize
    right: DimSize
    divisor: int = 0

    def __str__(self) -> str:
        """The canonical text, which parses to an equal comparison."""
        if self.kind != "%":
            return f"{self.left} {self.kind} {self.right}"
        atomic = isinstance(self.left, int) or self.left.is_symbol
        return f"{self.left if atomic else f'({self.left})'} % {self.divisor} == {self.right}"

    def add_to(self, store: ShapeStore, source: Source) -> None:
        """Add the comparison as a constraint. Raises Contradiction."""
        if self.kind == "%":
            store.add_divisible(self.left - self.right, self.divisor, source)
        elif self.kind == "==":
            store.add_equal(self.left, self.right, source)
        else:
            store.add_le(self.left, self.right, source)

    def decide(self, store: ShapeStore, budget: Budget | None = None) -> bool | None:
        """Whether it holds under the constraints: always (True), never (False) or undecided (None)."""
        from shapeinf.solver.integer_sets import decide_le, decide_ne

        left = self.left % self.divisor if self.kind == "%" else self.left
        if self.kind == "<=":
            return decide_le(store, left, self.right, budget).value
        if self.kind == "%":
            known = store.divides(self.divisor, self.left - self.right)
            if known is not None:
                return known
        unequal = decide_ne(store, left, self.right, budget).value
        return None if unequal is None else not unequal


def parse_assumption(text: str, scope: Scope) -> tuple[Comparison, ...]:
    """The comparisons in a text: relations with `<= >= < > ==`, chained or joined by `and`.

    Raises AssumptionSyntaxError.

    >>> [str(c) for c in parse_assumption("1 <= H < 512 and mod(H, 32) == 0", Scope())]
    ['1 <= H', 'H + 1 <= 512', 'H % 32 == 0']
    """
    comparisons: list[Comparison] = []
    sides: list[DimSize] = []
    signs: list[str] = []
    for begin, end, sign in _parts(text):
        sides.append(_side(text, begin, end, scope))
        if sign in ("and", ""):
            if not signs:
                raise AssumptionSyntaxError(text, end, "a relation with <=, >=, <, > or ==")
            comparisons += (_comparison(a, s, b) for a, s, b in zip(sides, signs, sides[1:], strict=False))
            sides, signs = [], []
        else:
            signs.append(sign)
    return tuple(comparisons)


def _parts(text: str) -> Iterator[tuple[int, int, str]]:
    """The sides of relations as (begin, end, the operator that follows); empty after the last one."""
    begin = 0
    for match in _OPERATOR.finditer(text):
        sign = match[1] or match[2] or match[3]
        if sign is None:  # a name in backquotes
            continue
        if sign in _UNSUPPORTED:
            raise AssumptionSyntaxError(text, match.start(), _UNSUPPORTED[sign])
        yield begin, match.start(), {"&&": "and"}.get(sign, _SIGNS.get(sign, sign))
        begin = match.end()
    yield begin, len(text), ""


_UNSUPPORTED = {
    "=": "'==' (bounds are written as ranges of dims, such as 1..512)",
    "!=": "<=, >=, <, > or ==: constraints cannot express that two sizes differ; state which one is larger",
    "or": "one relation: constraints cannot express alternatives; infer once for each of them",
    "||": "one relation: constraints cannot express alternatives; infer once for each of them",
    "not": "the opposite relation instead of 'not'",
}


def _side(text: str, begin: int, end: int, scope: Scope) -> DimSize:
    try:
        return parse_dim(text[begin:end], scope)
    except DimSyntaxError as error:
        raise AssumptionSyntaxError(text, begin + error.position, error.expected) from None


def _comparison(left: DimSize, sign: str, right: DimSize) -> Comparison:
    if sign in (">", ">="):
        left, right, sign = right, left, sign.replace(">", "<")
    if sign == "<":
        return Comparison("<=", left + 1, right)
    return _modulo(left - right) or Comparison("==", left, right) if sign == "==" else Comparison("<=", left, right)


def _modulo(e: DimSize) -> Comparison | None:
    """`e == 0` as `n % q == r`, if `e` is `t*(n - q*(n//q)) - t*r` for an int t; else None."""
    if isinstance(e, int):
        return None
    for monomial, coefficient in e.terms:
        atom = e.scope.only_atom(monomial)
        if not isinstance(atom, Floor) or not isinstance(atom.denominator, int) or coefficient % atom.denominator:
            continue
        times = -coefficient // atom.denominator
        rest = e.without(monomial) - atom.numerator * times
        if isinstance(rest, int) and rest % times == 0 and 0 <= -rest // times < atom.denominator:
            return Comparison("%", atom.numerator, -rest // times, atom.denominator)
    return None


def add_assumptions(store: ShapeStore, assumptions: Iterable[str], assumed_by: str = "user") -> list[str]:
    """Add relations as constraints; returns the redundant ones, which follow from other constraints.

    Raises AssumptionSyntaxError, UnknownNameError for a name that no dim has, and Contradiction with both sources.
    """
    if isinstance(assumptions, str):
        assumptions = (assumptions,)
    redundant = []
    budget = Budget()
    for text in assumptions:
        _check_names(store.scope, text)
        source = Source("", f"assumed by the {assumed_by}: {text}")
        held = [_add(store, comparison, source, budget) for comparison in parse_assumption(text, store.scope)]
        if all(held):
            redundant.append(text)
    return redundant


def assumption_names(text: str) -> list[str]:
    """The names of dims in an assumption.

    >>> assumption_names("past + seq <= 4096")
    ['past', 'seq']
    """
    scratch = Scope()
    parse_assumption(text, scratch)
    return list(scratch.names())


def _check_names(scope: Scope, text: str) -> None:
    for name in assumption_names(text):
        if not scope.has(name):
            raise UnknownNameError("dim", name, scope.names())


def _add(store: ShapeStore, comparison: Comparison, source: Source, budget: Budget) -> bool:
    """Add a comparison as a constraint; returns whether it is redundant."""
    known = comparison.decide(store, budget)
    if known is True:
        return True
    try:
        comparison.add_to(store, source)
        if known is False:
            raise Contradiction(str(comparison), source)
    except Contradiction as error:
        second = _other_sources(store, comparison, source) or error.second
        raise Contradiction(f"{source} cannot hold", source, second) from None
    return False


def _other_sources(store: ShapeStore, comparison: Comparison, own: Source) -> Source | None:
    """The sources of all other constraints on the symbols of a comparison, as one; None where there are none."""
    names = {s for side in (comparison.left, comparison.right) if isinstance(side, Dimension) for s in side.symbols()}
    constraints = [(relation.expression, relation.source) for relation in store.relations]
    constraints += [(divisibility.expression, divisibility.source) for divisibility in store.divisibilities]
    constraints += [(store.scope.atom_dim(atom), bounds.source) for atom, bounds in store.ranges.items()]
    constraints += [(symbol - store.solved[symbol], source) for symbol, source in store.sources.items()]
    constraints += [(symbol, source) for symbol, source in store.sources.items()]
    constraints = [(e, source) for e, source in constraints if source is not own]
    reasons = {str(s): None for e, s in constraints if isinstance(e, Dimension) and e.symbols() & names}
    return Source("", "; ".join(reasons)) if reasons else None
