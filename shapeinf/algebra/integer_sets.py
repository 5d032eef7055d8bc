"""Proofs by isl, the integer set library of the polyhedral compilers, where intervals do not decide.

The facts become a set of integer points; a question is the emptiness of that set cut by the question's negation. A
product of symbols is a parameter of its own (what is known of its factors is lost, so an answer may be missed, never
wrong). isl runs under an operation limit; past it, or for what it cannot hold, the interval answer stands, and every
answer says which engine gave it. Import this on the first question: loading isl takes tens of milliseconds.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import attrs
import islpy as isl

from shapeinf.algebra.dimension import Dim, Dimension, Floor, Maximum, Monomial, Symbol
from shapeinf.algebra.facts import Facts

MAX_OPERATIONS = 50_000
"""Limit of isl's own operation count, for one question."""

Engine = Literal["interval", "isl"]


@attrs.frozen
class Verdict:
    """True (always), False (never) or None (not decided), and the engine that says so."""

    value: bool | None
    engine: Engine


def decide_le(facts: Facts, a: Dim, b: Dim) -> Verdict:
    """Whether `a <= b` under all facts.

    >>> from shapeinf.algebra import Scope
    >>> from shapeinf.errors import Source
    >>> facts = Facts(Scope())
    >>> h = facts.scope.symbol("H")
    >>> _ = facts.tell_equal(2 * ((h + 1) // 2), h, Source("concat", "halves must meet"))
    >>> decide_le(facts, h % 2, 0)
    Verdict(value=True, engine='isl')
    """
    known = facts.prove_le(a, b)
    if known is not None:
        return Verdict(known, "interval")
    return _decide(facts, facts.canon(b - a), ">= 0", "< 0")


def decide_ne(facts: Facts, a: Dim, b: Dim) -> Verdict:
    """Whether `a != b` under all facts."""
    known = facts.prove_ne(a, b)
    if known is not None:
        return Verdict(known, "interval")
    return _decide(facts, facts.canon(a - b), "!= 0", "= 0")


def _decide(facts: Facts, e: Dim, holds: str, fails: str) -> Verdict:
    """A relation of `e` to 0: always when the facts and its negation are empty, never when the facts and it are."""
    context = isl.Context()
    context.set_max_operations(MAX_OPERATIONS)
    writer = _Writer(facts)
    text = writer.dim(e)
    known = writer.facts()
    try:
        if _empty(context, writer, [*known, _compared(text, fails)]):
            return Verdict(True, "isl")
        if _empty(context, writer, [*known, _compared(text, holds)]):
            return Verdict(False, "isl")
    except isl.Error:
        return Verdict(None, "interval")
    return Verdict(None, "isl")


def _compared(text: str, relation: str) -> str:
    return f"({text} < 0 or {text} > 0)" if relation == "!= 0" else f"{text} {relation}"


def _empty(context: Any, writer: _Writer, constraints: list[str]) -> bool:
    names = ", ".join(writer.names.values())
    return bool(isl.Set.read_from_str(context, f"[{names}] -> {{ : {' and '.join(constraints)} }}").is_empty())


class _Writer:
    """Dims as isl's text; every monomial of degree 2 or more becomes a parameter."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.names: dict[Monomial, str] = {}

    def facts(self) -> list[str]:
        """All facts about the parameters named so far (and those that these facts name)."""
        found = [f"{self.dim(self._facts.canon(r.expression))} >= 0" for r in self._facts.relations]
        found += [
            f"{self.dim(self._facts.canon(g.equation))} = 0" for g in self._facts.guards if g.equation is not None
        ]
        for fact in self._facts.divisibilities:
            found.append(f"({self.dim(self._facts.canon(fact.expression))}) mod {fact.divisor} = 0")
        for monomial, name in self.names.items():
            low, high = self._facts.bounds(self._facts.scope.make({monomial: 1}))
            found += [f"{name} >= {int(low)}"] if low > -inf else []
            found += [f"{name} <= {int(high)}"] if high < inf else []
        return found or ["1 = 1"]

    def dim(self, d: Dim) -> str:
        """One dim as a quasi-affine expression."""
        if isinstance(d, int):
            return f"({d})"
        return "(" + " + ".join(f"{c}*{self._monomial(d, m)}" if m else str(c) for m, c in d.terms) + ")"

    def _monomial(self, d: Dimension, monomial: Monomial) -> str:
        atom = d.scope.atoms[monomial[0]]
        if len(monomial) == 1 and isinstance(atom, Floor) and isinstance(atom.denominator, int):
            return f"floor({self.dim(atom.numerator)}/{atom.denominator})"
        if len(monomial) == 1 and isinstance(atom, Maximum):
            return self._maximum(atom)
        hint = "s" if len(monomial) == 1 and isinstance(atom, Symbol) else "p"
        return self.names.setdefault(monomial, f"{hint}{len(self.names)}")

    def _maximum(self, atom: Maximum) -> str:
        text = self.dim(atom.args[0])
        for arg in atom.args[1:]:
            text = f"max({text}, {self.dim(arg)})"
        return text
