"""Conditions with alternatives: they stay as they were told until what is learned later leaves none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapeinf.constraints.provenance import conflict_source
from shapeinf.errors import Contradiction

if TYPE_CHECKING:
    from shapeinf.constraints.index import ConstraintIndex
    from shapeinf.constraints.store import ConstraintStore
    from shapeinf.expr.dimension import Dimension


def recheck_choices(store: ConstraintStore, kept: ConstraintIndex, symbol: Dimension) -> None:
    """Look again at the conditions that a symbol has to do with. Raises Contradiction."""
    for disjunction in kept.choices(symbol):
        clauses = disjunction.clauses(store.canon)
        if all(store.prove_eq(clause.expression, 0) is False for clause in clauses):
            told_last = conflict_source(store, symbol) or disjunction.source
            raise Contradiction(f"{disjunction.text} must hold", told_last, disjunction.source)
        kept.follow_choice(disjunction, map(store.canon, disjunction.operands))
