"""Dimensions with values for their symbols: substitution and evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from shapeinf.algebra.dimension import Dim, Dimension, Floor, Maximum, Scope, Symbol
from shapeinf.algebra.extremum import maximum

Array = npt.NDArray[np.int64]
Number = TypeVar("Number", int, Array)


def substitute(d: Dim, values: Mapping[Dimension, Dim]) -> Dim:
    """`d` with symbols replaced by dims of the same scope.

    >>> s = Scope()
    >>> x, y = s.symbol("x"), s.symbol("y")
    >>> str(substitute(x * x + 1, {x: y + 1}))
    'y*y + 2*y + 2'
    """
    return d if isinstance(d, int) else _Substitution(values).dim(d)


class _Substitution:
    """One substitution; remembers what it has rebuilt."""

    def __init__(self, values: Mapping[Dimension, Dim]) -> None:
        self.values = values
        self.done: dict[Dimension, Dim] = {}

    def dim(self, d: Dim) -> Dim:
        if isinstance(d, int) or not any(s in self.values for s in d.symbols()):
            return d
        if d not in self.done:
            total: Dim = 0
            for monomial, coefficient in d.terms:
                term: Dim = coefficient
                for atom in monomial:
                    term = term * self.atom(d.scope, atom)
                total = total + term
            self.done[d] = total
        return self.done[d]

    def atom(self, scope: Scope, number: int) -> Dim:
        found = scope.atoms[number]
        whole = scope.atom_dim(number)
        if isinstance(found, Symbol):
            return self.values.get(whole, whole)
        if not any(s in self.values for s in whole.symbols()):
            return whole
        if isinstance(found, Floor):
            return self.dim(found.numerator) // self.dim(found.denominator)
        return maximum(*(self.dim(a) for a in found.args))


def evaluate(d: Dim, values: Mapping[str, Number]) -> Number | int:
    """The value of `d` for values of its symbols by name: ints, or numpy arrays of many bindings at once.

    Raises KeyError for a symbol without a value and ZeroDivisionError for a division by zero. Arrays are int64 and
    wrap as numpy does; ints are exact.

    >>> h = Scope().symbol("H")
    >>> evaluate((h + 1) // 2, {"H": 9}), evaluate(h % 4, {"H": np.array([4, 6])})
    (5, array([0, 2]))
    """
    if isinstance(d, int):
        return d
    scope = d.scope
    total: Number | int = 0
    for monomial, coefficient in d.terms:
        term: Number | int = coefficient
        for atom in monomial:
            term = cast("Number | int", term * _atom(scope, atom, values))
        total = cast("Number | int", total + term)
    return total


def _atom(scope: Scope, number: int, values: Mapping[str, Number]) -> Number | int:
    found = scope.atoms[number]
    if isinstance(found, Symbol):
        return values[found.name]
    if isinstance(found, Floor):
        divisor = evaluate(found.denominator, values)
        if np.any(np.equal(divisor, 0)):
            raise ZeroDivisionError(f"{scope.atom_dim(number)} divides by zero")
        return cast("Number | int", evaluate(found.numerator, values) // divisor)
    assert isinstance(found, Maximum)
    args = [evaluate(a, values) for a in found.args]
    if all(isinstance(a, int) for a in args):
        return max(cast("list[int]", args))
    result = args[0]
    for a in args[1:]:
        result = cast("Number | int", np.maximum(result, a))
    return result
