"""Whether a dim can only grow with one of its symbols."""

from __future__ import annotations

from shapeinf.constraints.store import ConstraintStore
from shapeinf.expr.atoms import Atom, Floor, Symbol
from shapeinf.expr.dimension import Dim, Dimension
from shapeinf.solver.dominance import Shift, atoms_in


def is_monotone_in(store: ConstraintStore, d: Dim, symbol: Dimension) -> bool:
    """Whether it is proved that a dim never gets smaller when a symbol gets larger and the others stay.

    >>> from shapeinf.expr import Scope
    >>> store = ConstraintStore(Scope())
    >>> h, w = store.scope.symbol("H"), store.scope.symbol("W")
    >>> [is_monotone_in(store, d, h) for d in (h * w - h, 8 * w - h, (h - 1) // 2 * w)]
    [True, False, True]
    """
    return _Growth(store, symbol).of(d)


class _Growth:
    """What is known of the parts of a dim; each is looked at once."""

    def __init__(self, store: ConstraintStore, symbol: Dimension) -> None:
        self.store = store
        self.symbol = symbol
        self.shift = Shift(store)
        self.atoms: dict[int, bool] = {}

    def of(self, d: Dim) -> bool:
        if isinstance(d, int) or self.symbol not in d.symbols():
            return True
        for (monomial, _), coefficient in self.shift.dim(d).items():
            for atom in dict.fromkeys(atoms_in(monomial)):
                inside = self.symbol in self.store.scope.symbols_of(atom)
                if inside and (coefficient < 0 or not self.of_atom(atom)):
                    return False
        return True

    def of_atom(self, number: int) -> bool:
        if number not in self.atoms:
            self.atoms[number] = self._atom(self.store.scope.atoms[number])
        return self.atoms[number]

    def _atom(self, atom: Atom) -> bool:
        if isinstance(atom, Symbol):
            return True
        if isinstance(atom, Floor):
            divisor = atom.denominator
            fixed = isinstance(divisor, int) or self.symbol not in divisor.symbols()
            return fixed and self.store.bounds(divisor)[0] >= 1 and self.of(atom.numerator)
        return all(map(self.of, atom.args))
