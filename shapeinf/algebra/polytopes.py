"""Facts as a set of integer points that polynomials can be bounded over, by isl's Bernstein expansion.

Each symbol is a coordinate, and so is each floor `f = n // q`, with `q*f <= n <= q*f + q - 1`, and each maximum. What
cannot be said in linear constraints (a product of symbols inside a floor, or in a relation) is left out, so that the
set can only be too large, and what is said of it an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, permutations
from math import floor, inf
from typing import Any

import attrs
import islpy as isl

from shapeinf.algebra.dimension import Dim, Dimension, Floor, Maximum, Scope, Symbol
from shapeinf.algebra.facts import Facts

MAX_OPERATIONS = 300_000
"""Limit of isl's own operation count, for one bound: less than a second."""
MAX_COORDINATES = 10
MAX_ALTERNATIVES = 3
"""Maxima that are told exactly, as alternatives; their number doubles with each."""
MAX_CORNERS = 12


@attrs.frozen
class Most:
    """What isl says of a dim over a set: the largest value that it can have, and corners where it may have it.

    `value` is None where there is no bound; `empty` says that the facts cannot hold.
    """

    value: int | None
    corners: tuple[dict[str, int], ...] = ()
    empty: bool = False
    unbounded: tuple[Dimension, ...] = ()


class _TooLarge(Exception):  # noqa: N818  (an answer, as StopIteration is)
    """More coordinates than isl can be asked about in reasonable time."""


def most(facts: Facts, e: Dimension) -> Most | None:
    """The least bound that isl finds for a canonical dim; None where it is too much for isl.

    >>> from shapeinf.errors import Source
    >>> facts = Facts(Scope())
    >>> p, s = facts.scope.symbol("past", 0), facts.scope.symbol("seq")
    >>> facts.tell_le(p + s, 4096, Source("", "assumed"))
    >>> most(facts, 4 * s * (p + s) + 768 * s + 512 * p).value
    70254592
    """
    context = isl.Context()
    context.set_max_operations(MAX_OPERATIONS)
    try:
        writer = _Writer(facts)
        polynomial = writer.polynomial(e)
        domain = writer.domain()
        names = ", ".join(writer.names.values())
        points = isl.Set.read_from_str(context, f"{{ [{names}] : {domain} }}")
        if points.is_empty():
            return Most(None, empty=True)
        fold, _ = isl.PwQPolynomial.read_from_str(context, f"{{ [{names}] -> {polynomial} : {domain} }}").bound(
            isl.fold.max
        )
        value = fold.max()
        if value.is_infty() or value.is_nan():
            return Most(None, unbounded=tuple(writer.unbounded(points, e)))
        return Most(floor(Fraction(str(value))), tuple(islice(writer.corners(points), MAX_CORNERS)))
    except (isl.Error, _TooLarge):
        return None


class _Writer:
    """The coordinates, and isl's text of dims and facts in them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.scope: Scope = facts.scope
        self.names: dict[object, str] = {}
        self.symbols: dict[Dimension, str] = {}
        """Each symbol as an expression of coordinates."""
        self.constraints: list[str] = []
        self.alternatives = 0

    def _coordinate(self, key: object) -> str:
        if len(self.names) >= MAX_COORDINATES:
            raise _TooLarge
        return self.names.setdefault(key, f"x{len(self.names)}")

    def _within(self, name: str, d: Dim) -> None:
        low, high = self.facts.bounds(d)
        self.constraints += [f"{int(low)} <= {name}"] if low > -inf else []
        self.constraints += [f"{int(high)} >= {name}"] if high < inf else []

    def polynomial(self, d: Dim) -> str:
        """Any dim."""
        if isinstance(d, int):
            return str(d)
        terms = ["*".join([str(c), *(self._atom(a) for a in m)]) for m, c in d.terms]
        return " + ".join(terms)

    def affine(self, d: Dim) -> str | None:
        """A dim that is linear in coordinates; None for others."""
        if isinstance(d, Dimension) and any(len(m) > 1 for m, _ in d.terms):
            return None
        return self.polynomial(d)

    def _atom(self, number: int) -> str:
        atom, whole = self.scope.atoms[number], self.scope.atom_dim(number)
        if isinstance(atom, Symbol):
            return self._symbol(whole)
        if number not in self.names:
            name = self._coordinate(number)
            self._within(name, whole)
            if isinstance(atom, Floor):
                self._floor(name, atom)
            else:
                self._maximum(name, atom)
        return self.names[number]

    def _symbol(self, symbol: Dimension) -> str:
        if symbol not in self.symbols:
            residue = self.facts.residues.by_symbol(symbol)
            name = self._coordinate(symbol)
            text = name if residue is None else f"({residue.modulus}*{name} + {residue.rest})"
            self.symbols[symbol] = text
            self._within(text, symbol)
        return self.symbols[symbol]

    def _floor(self, name: str, atom: Floor) -> None:
        numerator = self.affine(atom.numerator)
        if numerator is not None and isinstance(atom.denominator, int):
            q = atom.denominator
            self.constraints.append(f"{q}*{name} <= {numerator} and {q}*{name} + {q - 1} >= {numerator}")

    def _maximum(self, name: str, atom: Maximum) -> None:
        args = [text for text in map(self.affine, atom.args) if text is not None]
        self.constraints += [f"{name} >= {text}" for text in args]
        if len(args) == len(atom.args) and self.alternatives < MAX_ALTERNATIVES:
            self.alternatives += 1
            self.constraints.append("(" + " or ".join(f"{name} = {text}" for text in args) + ")")

    def domain(self) -> str:
        """All linear facts that the coordinates have to do with, directly or through another fact."""
        left = list(self._facts())
        known = 0
        while known != len(self.symbols) + len(left):
            known = len(self.symbols) + len(left)
            for fact in tuple(left):
                e, relation = fact
                if e.symbols() & set(self.symbols):
                    left.remove(fact)
                    self._constrain(e, relation)
        return " and ".join(self.constraints) or "1 = 1"

    def _constrain(self, e: Dimension, relation: str) -> None:
        names, symbols, told = dict(self.names), dict(self.symbols), list(self.constraints)
        try:
            text = self.affine(e)
            if text is not None and relation.startswith("mod"):
                divisor = int(relation[3:])
                self.constraints.append(f"{divisor}*{self._coordinate((e, divisor))} = {text}")
            elif text is not None:
                self.constraints.append(f"0 {relation} {text}")
        except _TooLarge:  # one fact less
            self.names, self.symbols, self.constraints = names, symbols, told

    def _facts(self) -> Iterator[tuple[Dimension, str]]:
        facts = self.facts
        found = [(r.expression, "<=") for r in facts.relations]
        found += [(g.equation, "=") for g in facts.guards if g.equation is not None]
        found += [(d.expression, f"mod{d.divisor}") for d in facts.divisibilities]
        for expression, relation in found:
            e = facts.canon(expression)
            if isinstance(e, Dimension):
                yield e, relation

    def unbounded(self, points: Any, e: Dimension) -> Iterator[Dimension]:
        """The symbols of a dim that have no upper bound."""
        order = list(self.names)
        for symbol in sorted(e.symbols(), key=str):
            if symbol in self.names and points.dim_max_val(order.index(symbol)).is_infty():
                yield symbol

    def corners(self, points: Any) -> Iterator[dict[str, int]]:
        """Points at which one symbol after the other is as large as it can be."""
        order = list(self.names)
        symbols = [s for s in self.symbols if s in self.names]
        for arranged in permutations(symbols):
            left = points
            values: dict[str, int] = {}
            for symbol in arranged:
                place = order.index(symbol)
                largest = left.dim_max_val(place)
                if largest.is_infty() or largest.is_nan():
                    break
                left = left.fix_val(isl.dim_type.set, place, largest)
                residue = self.facts.residues.by_symbol(symbol)
                value = int(largest.to_python())
                values[symbol.name] = value if residue is None else residue.modulus * value + residue.rest
            else:
                yield values
