"""Three-valued queries on sizes that may be symbolic: True, False, or None where it is not decided."""

from __future__ import annotations

from collections.abc import Iterable

from shapeinf.constraints import ConstraintStore
from shapeinf.expr import Dimension, DimSize, exact_quotient
from shapeinf.expr.dimension import scope_of


class Proofs:
    """Answers from the constraints of a store; without one, from the declared bounds of the symbols."""

    def __init__(self, store: ConstraintStore | None, dims: Iterable[DimSize | None]) -> None:
        """`dims` are the dims of the queries; they determine the scope."""
        scope = scope_of(d for d in dims if d is not None)
        self.store = store if store is not None or scope is None else ConstraintStore(scope)

    def equal(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a == b` always (True), never (False), or not decided (None)."""
        if not isinstance(a, Dimension) and not isinstance(b, Dimension):
            return a == b
        assert self.store is not None
        answer = self.store.prove_eq(a, b)
        return True if answer is None and self.store.bounds(a - b) == (0, 0) else answer

    def less_equal(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a <= b` always, never, or not decided."""
        if not isinstance(a, Dimension) and not isinstance(b, Dimension):
            return a <= b
        assert self.store is not None
        return self.store.prove_le(a, b)

    def quotient(self, dividend: DimSize, divisor: int) -> DimSize | None:
        """`dividend / divisor` where that is always an integer, else None."""
        quotient = exact_quotient(dividend, divisor)
        if quotient is None and self.store is not None and self.store.divides(divisor, dividend):
            return dividend // divisor
        return quotient

    def differ(self, a: DimSize, b: DimSize) -> bool | None:
        """Whether `a != b` always, never, or not decided."""
        return negate(self.equal(a, b))


def negate(answer: bool | None) -> bool | None:
    """Three-valued `not`."""
    return None if answer is None else not answer


def every(answers: Iterable[bool | None]) -> bool | None:
    """Three-valued `all`: False where an answer is False, True where all are True.

    >>> every([True, None]), every([None, False]), every([])
    (None, False, True)
    """
    decided = True
    for answer in answers:
        if answer is False:
            return False
        decided = decided and answer is True
    return True if decided else None


def some(answers: Iterable[bool | None]) -> bool | None:
    """Three-valued `any`: True where an answer is True, False where all are False.

    >>> some([None, True]), some([False, None]), some([])
    (True, None, False)
    """
    return negate(every(map(negate, answers)))
