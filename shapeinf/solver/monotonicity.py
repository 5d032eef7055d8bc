"""Monotonicity of a dim in a symbol."""

from __future__ import annotations

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Atom, Floor, Symbol
from shapeinf.expr.dimension import Dimension, DimSize
from shapeinf.solver.shifted import Shift, atoms_in


def is_monotone_in(store: ConstraintStore, d: DimSize, symbol: Dimension) -> bool:
    """Whether a dim is proved not to decrease when a symbol increases and the others stay.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> h, w = store.scope.symbol("H"), store.scope.symbol("W")
    >>> [is_monotone_in(store, d, h) for d in (h * w - h, 8 * w - h, (h - 1) // 2 * w)]
    [True, False, True]
    """
    return _Monotonicity(store, symbol).holds(d)


class _Monotonicity:
    """Monotonicity in one symbol, with a memo of atoms."""

    def __init__(self, store: ConstraintStore, symbol: Dimension) -> None:
        self.store = store
        self.symbol = symbol
        self.shift = Shift(store)
        self.atoms: dict[int, bool] = {}

    def holds(self, d: DimSize) -> bool:
        if isinstance(d, int) or self.symbol not in d.symbols():
            return True
        for (monomial, _), coefficient in self.shift.dim(d).items():
            for atom in dict.fromkeys(atoms_in(monomial)):
                inside = self.symbol in self.store.scope.symbols_of(atom)
                if inside and (coefficient < 0 or not self._atom(atom)):
                    return False
        return True

    def _atom(self, number: int) -> bool:
        if number not in self.atoms:
            self.atoms[number] = self._holds_for(self.store.scope.atoms[number])
        return self.atoms[number]

    def _holds_for(self, atom: Atom) -> bool:
        if isinstance(atom, Symbol):
            return True
        if isinstance(atom, Floor):
            divisor = atom.denominator
            fixed = isinstance(divisor, int) or self.symbol not in divisor.symbols()
            return fixed and self.store.bounds(divisor)[0] >= 1 and self.holds(atom.numerator)
        return all(map(self.holds, atom.args))
