"""Whether a dim can only grow with one of its symbols."""

from __future__ import annotations

from shapeinf.algebra.atoms import Floor, Symbol
from shapeinf.algebra.dimension import Dim, Dimension
from shapeinf.algebra.dominance import Shift
from shapeinf.algebra.facts import Facts


def grows_with(facts: Facts, d: Dim, symbol: Dimension) -> bool:
    """Whether it is proved that a dim never gets smaller when a symbol gets larger and the others stay.

    >>> from shapeinf.algebra import Scope
    >>> facts = Facts(Scope())
    >>> h, w = facts.scope.symbol("H"), facts.scope.symbol("W")
    >>> grows_with(facts, h * w - h, h), grows_with(facts, 8 * w - h, h), grows_with(facts, (h - 1) // 2 * w, h)
    (True, False, True)
    """
    if isinstance(d, int) or symbol not in d.symbols():
        return True
    for (monomial, _), coefficient in Shift(facts).dim(d).items():
        for atom in dict.fromkeys(monomial):
            if symbol in facts.scope.symbols_of(atom) and (coefficient < 0 or not _atom_grows(facts, atom, symbol)):
                return False
    return True


def _atom_grows(facts: Facts, number: int, symbol: Dimension) -> bool:
    atom = facts.scope.atoms[number]
    if isinstance(atom, Symbol):
        return True
    if isinstance(atom, Floor):
        divisor = atom.denominator
        fixed = isinstance(divisor, int) or symbol not in divisor.symbols()
        return fixed and facts.bounds(divisor)[0] >= 1 and grows_with(facts, atom.numerator, symbol)
    return all(grows_with(facts, a, symbol) for a in atom.args)
