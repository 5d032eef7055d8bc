"""Dimensions with values for their symbols: substitution and evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shapeinf.errors import DivisionByZeroError
from shapeinf.expr.atoms import Floor, Symbol
from shapeinf.expr.dimension import Dimension, DimSize, Scope
from shapeinf.expr.extremum import maximum, maximum_under

Value = Any
"""An int or an int64 array; numpy's own operators decide which comes out."""


def substitute(d: DimSize, values: Mapping[Dimension, DimSize]) -> DimSize:
    """`d` with symbols replaced by dims of the same scope.

    >>> s = Scope()
    >>> x, y = s.symbol("x"), s.symbol("y")
    >>> str(substitute(x * x + 1, {x: y + 1}))
    'y*y + 2*y + 2'
    """
    return d if isinstance(d, int) else Substitution(values).dim(d)


class Substitution:
    """One substitution, with a memo of the dims rebuilt so far."""

    def __init__(self, values: Mapping[Dimension, DimSize]) -> None:
        """`values` are dims by symbol."""
        self.values = values
        self.done: dict[Dimension, DimSize] = {}

    def dim(self, d: DimSize) -> DimSize:
        """A dim, rebuilt where it changes."""
        if isinstance(d, int) or not self.changes(d):
            return d
        result = self.done.get(d)
        if result is None:
            result = self.done[d] = self._rebuild(d)
        return result

    def _rebuild(self, d: Dimension) -> DimSize:
        scope = d.scope
        new = {atom: self.atom(scope, atom) for monomial, _ in d.terms for atom in monomial}
        if all([value is scope.atom_dim(atom) for atom, value in new.items()]):
            return d
        total: DimSize = 0
        for monomial, coefficient in d.terms:
            term: DimSize = coefficient
            for atom in monomial:
                term = term * new[atom]
            total = total + term
        return total

    def changes(self, d: Dimension) -> bool:
        """Whether a dim contains a symbol to replace."""
        for symbol in d.symbols():  # noqa: SIM110  (a generator takes longer than the loop)
            if symbol in self.values:
                return True
        return False

    def floor(self, numerator: DimSize, denominator: DimSize) -> DimSize:
        """The floor of a quotient of rebuilt dims. Raises DivisionByZeroError."""
        try:
            return numerator // denominator
        except ZeroDivisionError:
            raise DivisionByZeroError(f"a size is {numerator} divided by 0") from None

    def maximum(self, args: Sequence[DimSize]) -> DimSize:
        """The maximum of rebuilt arguments."""
        return maximum(*args)

    def atom(self, scope: Scope, number: int) -> DimSize:
        """The replacement of an atom."""
        atom, d = scope.atoms[number], scope.atom_dim(number)
        if isinstance(atom, Symbol):
            return self.values.get(d, d)
        if not self.changes(d):
            return d
        if isinstance(atom, Floor):
            return self.floor(self.dim(atom.numerator), self.dim(atom.denominator))
        return self.maximum([self.dim(a) for a in atom.args])


def simplify_maxima(d: DimSize, at_least_zero: Callable[[DimSize], bool]) -> DimSize:
    """`d` without the arguments of maxima that are never the largest; `at_least_zero(a - b)` decides whether `a >= b`.

    >>> s = Scope()
    >>> x, y = s.symbol("x"), s.symbol("y")
    >>> simplify_maxima(maximum(x, y) * 2, lambda difference: difference is x - y)
    2*x
    """
    return _Resolution(at_least_zero).dim(d) if isinstance(d, Dimension) and d.has_maximum else d


class _Resolution(Substitution):
    """Rebuilds a dimension with fewer arguments to its maxima."""

    def __init__(self, at_least_zero: Callable[[DimSize], bool]) -> None:
        super().__init__({})
        self.at_least_zero = at_least_zero

    def changes(self, d: Dimension) -> bool:
        return d.has_maximum

    def maximum(self, args: Sequence[DimSize]) -> DimSize:
        return maximum_under(args, self.at_least_zero)


def evaluate(d: DimSize, values: Mapping[str, Value]) -> Value:
    """The value of `d` for values of its symbols by name: ints, or numpy arrays of many bindings at once.

    Raises KeyError for a symbol without a value and ZeroDivisionError for a division by zero. Arrays are int64 and
    wrap as numpy does; ints are exact.

    >>> import numpy as np
    >>> h = Scope().symbol("H")
    >>> evaluate((h + 1) // 2, {"H": 9}), evaluate(h % 4, {"H": np.array([4, 6])})
    (5, array([0, 2]))
    """
    return d if isinstance(d, int) else _Evaluation(values).dim(d)


class _Evaluation:
    """One evaluation; an atom that occurs several times is evaluated once."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values
        self.atoms: dict[int, Value] = {}

    def dim(self, d: DimSize) -> Value:
        if isinstance(d, int):
            return d
        total: Value = 0
        for monomial, coefficient in d.terms:
            term: Value = coefficient
            for atom in monomial:
                term = term * self.atom(d.scope, atom)
            total = total + term
        return total

    def atom(self, scope: Scope, number: int) -> Value:
        atom = scope.atoms[number]
        if isinstance(atom, Symbol):
            return self.values[atom.name]
        if number not in self.atoms:
            self.atoms[number] = self.quotient(scope, atom) if isinstance(atom, Floor) else self.largest(atom.args)
        return self.atoms[number]

    def quotient(self, scope: Scope, floor: Floor) -> Value:
        divisor = self.dim(floor.denominator)
        if _has_zero(divisor):
            raise ZeroDivisionError(f"{scope.floor(floor.numerator, floor.denominator)} divides by zero")
        return self.dim(floor.numerator) // divisor

    def largest(self, args: Sequence[DimSize]) -> Value:
        most, *others = [self.dim(a) for a in args]
        for a in others:
            most = _larger(most, a)
        return most


def _has_zero(value: Value) -> bool:
    if isinstance(value, int):
        return value == 0
    import numpy as np  # only arrays need numpy, which takes long to import

    return bool(np.any(np.equal(value, 0)))


def _larger(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    import numpy as np

    return np.maximum(a, b)
