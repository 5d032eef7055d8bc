"""Conditions with alternatives: they stay as they were told until what is learned later leaves none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapeinf.constraints.provenance import blamed
from shapeinf.errors import Contradiction

if TYPE_CHECKING:
    from shapeinf.constraints.index import Kept
    from shapeinf.constraints.store import Facts
    from shapeinf.expr.dimension import Dimension


def recheck_choices(facts: Facts, kept: Kept, symbol: Dimension) -> None:
    """Look again at the conditions that a symbol has to do with. Raises Contradiction."""
    for guard in kept.choices(symbol):
        clauses = guard.clauses(facts.canon)
        if all(facts.prove_eq(clause.expression, 0) is False for clause in clauses):
            told_last = blamed(facts, symbol) or guard.source
            raise Contradiction(f"{guard.text} must hold", told_last, guard.source)
        kept.follow_choice(guard, map(facts.canon, guard.operands))
