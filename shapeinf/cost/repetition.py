"""The cost of all trips of a loop, from that of one trip."""

from __future__ import annotations

from shapeinf.engine.records import Repetition
from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.dimension import Monomial
from shapeinf.lattice import ShapeStore
from shapeinf.solver.long_dims import product_of, sum_dims


def repeat(store: ShapeStore, amount: DimSize, repetition: Repetition) -> DimSize:
    """The sum of an amount over all trips.

    It is exact for a polynomial in the trip number. Any other amount is multiplied by the number of trips and keeps the
    trip number as a symbol that depends on data: an upper bound of that product is one of the sum.

    >>> store = ShapeStore()
    >>> n, i = store.scope.symbol("N"), store.scope.fresh("i", 0)
    >>> repeat(store, 3 * i + 2, Repetition(n, i))
    3*((N*N + N)//2) - N
    """
    trips, number = store.canon(repetition.trips), repetition.number
    if amount == 0 or trips == 1:
        return amount
    powers = None if number is None else _coefficients(amount, number)
    if powers is None:
        return _product(store, trips, amount)
    return sum_dims(
        store.scope, [_product(store, _sum_of_powers(store, trips, power), part) for power, part in powers.items()]
    )


def _product(store: ShapeStore, *factors: DimSize) -> DimSize:
    total = product_of(store, factors)
    if total is None:
        raise NotKnown("the formula is too long")
    return total


def _coefficients(amount: DimSize, number: Dimension) -> dict[int, DimSize] | None:
    """The coefficients of the powers of a symbol; None where it occurs other than as a factor, or to a high power."""
    if isinstance(amount, int) or number not in amount.symbols():
        return None
    terms: dict[int, dict[Monomial, int]] = {}
    for monomial, coefficient in amount.terms:
        rest = tuple(atom for atom in monomial if atom != number.atom)
        factor = amount.scope.make({rest: 1})
        power = len(monomial) - len(rest)
        if power > MAX_POWER or (isinstance(factor, Dimension) and number in factor.symbols()):
            return None
        terms.setdefault(power, {})[rest] = coefficient
    return {power: amount.scope.make(part) for power, part in terms.items()}


MAX_POWER = 3


def _sum_of_powers(store: ShapeStore, trips: DimSize, power: int) -> DimSize:
    """The sum of `i**power` for `i` in `range(trips)`."""
    if power == 0:
        return trips
    if power == 2:
        return _product(store, trips, trips - 1, 2 * trips - 1) // 6
    half = _product(store, trips, trips - 1) // 2
    return half if power == 1 else _product(store, half, half)
