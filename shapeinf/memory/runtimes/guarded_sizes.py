"""Sizes with formulas, for planners that compare sizes: which comparisons a plan depends on.

A planner that runs with such sizes computes the plan at one binding. Offsets are formulas too, and hold at all bindings
at which every comparison has the same result.
"""

from __future__ import annotations

from typing import overload

from shapeinf.expr import DimSize


class Guards:
    """The comparisons of a plan: dims that are at most 0 wherever all of them have the same result."""

    def __init__(self) -> None:
        self._dims: dict[DimSize, None] = {}

    def require_at_most_zero(self, dim: DimSize) -> None:
        """Add a condition; one without symbols holds."""
        if not isinstance(dim, int):
            self._dims[dim] = None

    @property
    def dims(self) -> list[DimSize]:
        """The distinct conditions."""
        return list(self._dims)


class GuardedSize:
    """A number with a formula. A comparison has the result of the numbers, and is recorded as a guard.

    >>> from shapeinf.expr import Scope
    >>> n, guards = Scope().symbol("n"), Guards()
    >>> small, large = GuardedSize(12, 4 * n, guards), GuardedSize(24, 8 * n, guards)
    >>> small < large, (small + large).formula, list(map(str, guards.dims))
    (True, 12*n, ['1 - 4*n'])
    """

    __slots__ = ("formula", "guards", "value")

    def __init__(self, value: int, formula: DimSize, guards: Guards) -> None:
        self.value = value
        self.formula = formula
        self.guards = guards

    def _with(self, value: int, formula: DimSize) -> GuardedSize:
        return GuardedSize(value, formula, self.guards)

    def __add__(self, other: Bytes) -> GuardedSize:
        """The sum."""
        return self._with(self.value + value_of(other), self.formula + formula_of(other))

    __radd__ = __add__

    def __sub__(self, other: Bytes) -> GuardedSize:
        """The difference."""
        return self._with(self.value - value_of(other), self.formula - formula_of(other))

    def __rsub__(self, other: int) -> GuardedSize:
        """The difference."""
        return self._with(other - self.value, other - self.formula)

    def __neg__(self) -> GuardedSize:
        """The negative number."""
        return self._with(-self.value, -self.formula)

    def __mul__(self, other: int) -> GuardedSize:
        """The product."""
        return self._with(self.value * other, self.formula * other)

    def __floordiv__(self, other: int) -> GuardedSize:
        """The quotient, rounded down."""
        return self._with(self.value // other, self.formula // other)

    def __lt__(self, other: Bytes) -> bool:
        """Whether it is smaller; a guard."""
        difference = self.formula - formula_of(other)
        is_less = self.value < value_of(other)
        self.guards.require_at_most_zero(difference + 1 if is_less else -difference)
        return is_less

    def __gt__(self, other: Bytes) -> bool:
        """Whether it is larger; a guard."""
        difference = self.formula - formula_of(other)
        is_larger = self.value > value_of(other)
        self.guards.require_at_most_zero(1 - difference if is_larger else difference)
        return is_larger

    def __le__(self, other: Bytes) -> bool:
        """Whether it is not larger; a guard."""
        return not self > other

    def __ge__(self, other: Bytes) -> bool:
        """Whether it is not smaller; a guard."""
        return not self < other

    def __eq__(self, other: object) -> bool:
        """Whether both numbers are equal; a guard, for two different numbers that of their order."""
        if not isinstance(other, (int, GuardedSize)):
            return NotImplemented
        if self.value != value_of(other):
            _ = self < other
            return False
        difference = self.formula - formula_of(other)
        self.guards.require_at_most_zero(difference)
        self.guards.require_at_most_zero(-difference)
        return True

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        """Whether it is not 0; a guard."""
        return self != 0


Bytes = int | GuardedSize
"""A number of bytes, with a formula where one is wanted."""


def value_of(size: Bytes) -> int:
    """The number."""
    return size if isinstance(size, int) else size.value


def formula_of(size: Bytes) -> DimSize:
    """The formula; a number has itself."""
    return size if isinstance(size, int) else size.formula


@overload
def round_up(size: int, multiple: int) -> int: ...


@overload
def round_up(size: Bytes, multiple: int) -> Bytes: ...


def round_up(size: Bytes, multiple: int) -> Bytes:
    """The next multiple of a number."""
    return (size + multiple - 1) // multiple * multiple
