"""Assumed relations: text to comparisons, comparisons to facts, and what of it is contradicted or says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

from shapeinf.errors import Contradiction, Source, UnknownNameError
from shapeinf.expr import Dim, Dimension, DimSyntaxError, Scope, parse_dim
from shapeinf.expr.atoms import Floor
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget

_OPERATOR = re.compile(r"`(?:[^`]|``)*`|(<=|>=|==|!=|≤|≥|<|>|=)|\b(and|or|not)\b|(&&|\|\|)")
_SIGNS = {"≤": "<=", "≥": ">="}


class AssumptionSyntaxError(DimSyntaxError):
    """An assumption that cannot be read or cannot be held; says where, and what to write instead."""

    def __init__(self, text: str, position: int, expected: str) -> None:
        """`position` counts characters from 0."""
        super().__init__(text, position, expected)
        self.args = (f"{text!r} cannot be assumed: expected {expected} at character {position + 1}",)


@attrs.frozen
class Comparison:
    """`left <= right`, `left == right`, or `left % divisor == right` (then right is an int of 0 to divisor - 1)."""

    kind: Literal["<=", "==", "%"]
    left: Dim
    right: Dim
    divisor: int = 0

    def __str__(self) -> str:
        """The canonical text; it reads back as the same comparison."""
        if self.kind != "%":
            return f"{self.left} {self.kind} {self.right}"
        bare = isinstance(self.left, int) or self.left.is_symbol
        return f"{self.left if bare else f'({self.left})'} % {self.divisor} == {self.right}"

    def tell(self, store: ShapeStore, source: Source) -> None:
        """Tell the facts. Raises Contradiction."""
        if self.kind == "%":
            store.add_divisible(self.left - self.right, self.divisor, source)
        elif self.kind == "==":
            store.add_equal(self.left, self.right, source)
        else:
            store.add_le(self.left, self.right, source)

    def decide(self, store: ShapeStore, budget: Budget | None = None) -> bool | None:
        """Whether it holds always, never, or depends, by all that the facts say."""
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
    """Read relations with `<= >= < > ==`, chained or joined by `and`. Raises AssumptionSyntaxError.

    >>> [str(c) for c in parse_assumption("1 <= H < 512 and mod(H, 32) == 0", Scope())]
    ['1 <= H', 'H + 1 <= 512', 'H % 32 == 0']
    """
    found: list[Comparison] = []
    sides: list[Dim] = []
    signs: list[str] = []
    for begin, end, sign in _parts(text):
        sides.append(_side(text, begin, end, scope))
        if sign in ("and", ""):
            if not signs:
                raise AssumptionSyntaxError(text, end, "a relation with <=, >=, <, > or ==")
            found += (_comparison(a, s, b) for a, s, b in zip(sides, signs, sides[1:], strict=False))
            sides, signs = [], []
        else:
            signs.append(sign)
    return tuple(found)


def _parts(text: str) -> Iterator[tuple[int, int, str]]:
    """The sides of relations as (begin, end, what follows)."""
    begin = 0
    for match in _OPERATOR.finditer(text):
        sign = match[1] or match[2] or match[3]
        if sign is None:  # a name in backquotes
            continue
        if sign in _REFUSED:
            raise AssumptionSyntaxError(text, match.start(), _REFUSED[sign])
        yield begin, match.start(), {"&&": "and"}.get(sign, _SIGNS.get(sign, sign))
        begin = match.end()
    yield begin, len(text), ""


_REFUSED = {
    "=": "'==' (bounds are given as ranges of dims, such as 1..512)",
    "!=": "<=, >=, <, > or ==: that two sizes differ is nothing that facts can hold; say which one is larger",
    "or": "one relation: alternatives cannot be held; infer once for each of them",
    "||": "one relation: alternatives cannot be held; infer once for each of them",
    "not": "the opposite relation in place of 'not'",
}


def _side(text: str, begin: int, end: int, scope: Scope) -> Dim:
    try:
        return parse_dim(text[begin:end], scope)
    except DimSyntaxError as error:
        raise AssumptionSyntaxError(text, begin + error.position, error.expected) from None


def _comparison(left: Dim, sign: str, right: Dim) -> Comparison:
    if sign in (">", ">="):
        left, right, sign = right, left, sign.replace(">", "<")
    if sign == "<":
        return Comparison("<=", left + 1, right)
    return _modulo(left - right) or Comparison("==", left, right) if sign == "==" else Comparison("<=", left, right)


def _modulo(e: Dim) -> Comparison | None:
    """`e == 0` as `n % q == r`, where it is `t*(n - q*(n//q)) - t*r` for an int t."""
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


def add_assumptions(store: ShapeStore, assumptions: Iterable[str], who: str = "user") -> list[str]:
    """Tell relations such as `"past + seq <= 4096"`; `who` assumes them. Gives back those that say nothing new.

    Raises AssumptionSyntaxError, UnknownNameError for a name that no input has, Contradiction naming both sides.
    """
    if isinstance(assumptions, str):
        assumptions = (assumptions,)
    useless = []
    budget = Budget()
    for text in assumptions:
        _check_names(store.scope, text)
        source = Source("", f"assumed by the {who}: {text}")
        decided = [_tell(store, one, source, budget) for one in parse_assumption(text, store.scope)]
        if all(decided):
            useless.append(text)
    return useless


def _check_names(scope: Scope, text: str) -> None:
    read = Scope()
    parse_assumption(text, read)
    for name in read.names():
        if not scope.has(name):
            raise UnknownNameError("dim", name, scope.names())


def _tell(store: ShapeStore, one: Comparison, source: Source, budget: Budget) -> bool:
    """Tell one comparison; whether it held already."""
    known = one.decide(store, budget)
    if known is True:
        return True
    try:
        one.tell(store, source)
        if known is False:
            raise Contradiction(str(one), source)
    except Contradiction as error:
        second = _about(store, one, source) or error.second
        raise Contradiction(f"{source} cannot hold", source, second) from None
    return False


def _about(store: ShapeStore, one: Comparison, telling: Source) -> Source | None:
    """Everything that others have said of the symbols of a comparison, as one source; None for only the policy."""
    names = {s for side in (one.left, one.right) if isinstance(side, Dimension) for s in side.symbols()}
    told = [(r.expression, r.source) for r in store.relations]
    told += [(d.expression, d.source) for d in store.divisibilities]
    told += [(store.scope.atom_dim(atom), one.source) for atom, one in store.ranges.items()]
    told += [(symbol - store.solved[symbol], source) for symbol, source in store.sources.items()]
    told += [(symbol, source) for symbol, source in store.sources.items()]
    told = [(e, source) for e, source in told if source is not telling]
    reasons = {str(s): None for e, s in told if isinstance(e, Dimension) and e.symbols() & names}
    return Source("", "; ".join(reasons)) if reasons else None
