"""Conditions that come to one: all equations and divisibilities of one dim together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from shapeinf.constraints.records import Clause
from shapeinf.contract.preconditions import Precondition, Reader
from shapeinf.contract.sizes import congruence
from shapeinf.expr import Dimension


def merged(reader: Reader) -> Iterator[Precondition]:
    """The conditions, with all equations and divisibilities of one symbol as one where they come to one."""
    preconditions = reader.preconditions()
    groups: dict[Dimension, list[Precondition]] = {}
    for condition in preconditions:
        if _is_zero(condition) and len(condition.free_symbols) == 1 and condition.kind != "assumption":
            groups.setdefault(next(iter(condition.free_symbols)), []).append(condition)
    found: dict[int, Precondition | None] = {}
    least: dict[Dimension, int] = {}
    for symbol, group in groups.items():
        zero = [clause.expression for condition in group for clause in condition.clauses]
        low = max(0, int(max(-1, reader.before.bounds(symbol)[0])))
        together = congruence(symbol, zero, low, reader.budget)
        if together is None:
            continue
        modulus, rest = together
        text = f"{reader.shown(symbol)} % {modulus} == {rest}"
        found.update({id(c): None for c in group})
        clauses = (Clause((symbol - rest) % modulus, True),)
        found[id(group[0])] = attrs.evolve(group[0], kind="divisibility", text=text, terms=(symbol,), clauses=clauses)
        least[symbol] = low + (rest - low) % modulus
    for condition in preconditions:
        one = found.get(id(condition), condition)
        if one is not None and not _implied(one, least):
            yield one


def _is_zero(condition: Precondition) -> bool:
    return len(condition.clauses) == 1 and condition.clauses[0].zero


def _implied(condition: Precondition, least: Mapping[Dimension, int]) -> bool:
    """Whether a lower bound says no more than the first size that a divisibility leaves."""
    symbol = condition.terms[0] if condition.terms else 0
    known = least.get(symbol) if isinstance(symbol, Dimension) else None
    return condition.least is not None and known is not None and known >= condition.least
