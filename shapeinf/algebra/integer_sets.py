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

from shapeinf.algebra.atoms import Floor, Maximum, Symbol
from shapeinf.algebra.dimension import Dim, Dimension, Monomial
from shapeinf.algebra.facts import Facts
from shapeinf.algebra.told import Guard

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


def values_of(facts: Facts, symbol: Dimension, low: int, high: int) -> list[int] | None:
    """The values of a symbol in `low..high` for which the other symbols can be chosen so that all facts hold.

    None where isl cannot hold all facts exactly (a product of symbols, a guard that is only a text), or takes too long.

    >>> from shapeinf.algebra import Scope
    >>> from shapeinf.errors import Source
    >>> facts = Facts(Scope())
    >>> h = facts.scope.symbol("H")
    >>> _ = facts.tell_equal(32 * (h // 32), h, Source("concat", "sizes must meet"))
    >>> values_of(facts, h, 1, 128)
    [32, 64, 96, 128]
    """
    context = isl.Context()
    context.set_max_operations(MAX_OPERATIONS)
    writer = _Writer(facts)
    asked = writer.dim(symbol)  # named even where it is solved: that is a constraint like the others
    constraints = [f"{asked} = {writer.dim(facts.canon(symbol))}", f"{low} <= {asked} <= {high}"]
    for guard in facts.guards:
        if guard.equation is None:
            alternatives = _alternatives(writer, attrs.evolve(guard, operands=tuple(map(facts.canon, guard.operands))))
            if alternatives is None:
                return None
            constraints.append(alternatives)
    constraints += writer.facts()
    if any(len(monomial) > 1 or not _is_symbol(facts, monomial) for monomial in writer.names):
        return None
    (name, *others) = writer.names.values()
    body = " and ".join(constraints)
    quantified = f"exists ({', '.join(others)}: {body})" if others else body
    try:
        found = isl.Set.read_from_str(context, f"{{ [{name}] : {quantified} }}")
        values: list[int] = []
        found.foreach_point(lambda point: values.append(_coordinate(point)))
    except isl.Error:
        return None
    return sorted(values)


def interval_of(facts: Facts, symbol: Dimension, guard: Guard) -> tuple[int, int | None] | None:
    """The bounds of a symbol for which a guard about it alone holds; None where that is no interval, or not known.

    `facts` are those that hold without the guard.

    >>> from shapeinf.algebra import Scope
    >>> from shapeinf.errors import Source
    >>> facts = Facts(Scope())
    >>> s = facts.scope.symbol("seq")
    >>> from shapeinf.algebra import minimum
    >>> interval_of(facts, s, Guard("{0} == {1}", Source("add", "equal"), None, (s, minimum(s, 64))))
    (1, 64)
    """
    context = isl.Context()
    context.set_max_operations(MAX_OPERATIONS)
    writer = _Writer(facts)
    writer.dim(symbol)
    (name,) = writer.names.values()
    low, high = facts.bounds(symbol)
    known = [f"{name} >= {int(low)}"] if low > -inf else []
    known += [f"{name} <= {int(high)}"] if high < inf else []
    constraint = f"{writer.dim(guard.equation)} = 0" if guard.equation is not None else _alternatives(writer, guard)
    if constraint is None or len(writer.names) != 1:
        return None
    try:
        legal = isl.Set.read_from_str(context, f"{{ [{name}] : {' and '.join([*known, constraint])} }}")
        least, most = legal.dim_min_val(0), legal.dim_max_val(0)
        if legal.is_empty() or least.is_neginfty():
            return None
        upper = "" if most.is_infty() else f" <= {most}"
        whole = isl.Set.read_from_str(context, f"{{ [{name}] : {least} <= {name}{upper} }}")
        if not legal.is_equal(whole):
            return None
    except isl.Error:
        return None
    return int(least.to_python()), None if most.is_infty() else int(most.to_python())


def _alternatives(writer: _Writer, guard: Guard) -> str | None:
    """A condition about operands as isl's text; None for one that is words."""
    if not guard.operands:
        return None
    return "(" + guard.template.replace("==", "=").format(*map(writer.dim, guard.operands)) + ")"


def _coordinate(point: Any) -> int:
    return int(point.get_coordinate_val(isl.dim_type.set, 0).to_python())


def _is_symbol(facts: Facts, monomial: Monomial) -> bool:
    return isinstance(facts.scope.atoms[monomial[0]], Symbol)


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
