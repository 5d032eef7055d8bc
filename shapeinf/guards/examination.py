"""`Examination`: the guards of a program compared with what the operators of a model need.

The operators of a program state a contract of their own on the sizes of its inputs, in which each axis has a symbol. A
guard is compared with it: where the contract proves the guard, the operators need it; else sizes that the guard refuses
are tried. The other way round, a precondition of the contract that no guard implies is tried with sizes that all guards
accept.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import attrs

from shapeinf.contract import Contract
from shapeinf.contract.conditions import MOST_WAYS, DimCondition, read_guards
from shapeinf.contract.contract import STEPS_PER_NODE, STEPS_PER_RUN
from shapeinf.contract.preconditions import Precondition
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Session, rerun
from shapeinf.errors import Contradiction, DimSyntaxError, Source
from shapeinf.expr import Dimension, DimSize, parse_dim
from shapeinf.graph.guards import Guard, InputGuards
from shapeinf.guards.report import GuardReport, GuardVerdict, MissingGuard, Verdict
from shapeinf.guards.sizes import SizeChoices, Sizes
from shapeinf.guards.suggestion import dynamic_shapes
from shapeinf.inputs.assumptions import Comparison
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import ShapeStore
from shapeinf.solver.budget import Budget

MOST_CHOICES = 600
"""Sizes that are compared with the guards, for one guard."""
MOST_OTHERS = 24
"""Guards, the shortest ones, that may imply another one."""
MOST_CHECKS = 6
"""Sizes of each kind at which the contract is checked, for one guard."""


def open_axes(session: Session, shapes: Mapping[str, tuple[str, ...]], assume: Sequence[str] = ()) -> Inference:
    """The inference in which each axis of an input has a symbol of its own.

    No declaration of the file is used, and no rule assumes a size: what an assumption implies is no requirement.
    """
    options = InferenceOptions(inputs=shapes, declared="ignore", registry=session.options.registry, assume=assume)
    return Session(session.compiled, options).without_assumptions({}).run().inference


class GuardCondition(NamedTuple):
    """A guard with its condition on dims."""

    guard: Guard
    condition: DimCondition


class _Tried(NamedTuple):
    """Sizes that a guard refuses: those that the operators accept, and those that they refuse.

    The reason is why they refuse them; where they refuse none, why they may.
    """

    accepted: Sizes | None
    refused: Sizes | None
    reason: str


class Examination:
    """The comparison of the guards of a program with the contract of its operators."""

    def __init__(self, inputs: InputGuards, inference: Inference, work: int) -> None:
        self.inputs = inputs
        self.budget = Budget(work, inference.store.scope)
        self.contract = Contract(inference, work)
        self.steps = STEPS_PER_RUN + STEPS_PER_NODE * len(inference.compiled.rows)
        self.inference = inference
        self.store = inference.store
        self.initial = inference.initial_store
        self.scope = self.store.scope
        self.conditions = list(self._distinct_conditions())
        self.preconditions = [p for p in self.contract.always if p.clauses and p.kind not in ("guard", "assumption")]
        declared = {axis: self._declared_dim(axis, size) for axis, size in inputs.sizes.items()}
        self.choices = SizeChoices(declared, inputs.example, _constants(self.conditions, self.preconditions))
        self.answers: dict[tuple[tuple[str, int], ...], tuple[bool | None, str]] = {}

    def _distinct_conditions(self) -> Iterator[GuardCondition]:
        """The guards that are conditions on sizes, of equal ones the first."""
        seen = set()
        for guard, condition in zip(self.inputs.guards, read_guards(self.inputs, self.scope), strict=True):
            if condition is not None and condition.key() not in seen:
                seen.add(condition.key())
                yield GuardCondition(guard, condition)

    def _declared_dim(self, axis: str, size: int | str) -> DimSize:
        if isinstance(size, int):
            return size
        try:
            return parse_dim(size or f"`{axis}`", self.scope)
        except DimSyntaxError:
            return self.scope.symbol(axis)

    def report(self) -> GuardReport:
        """The report."""
        by_guard = {id(c.guard): self.examine(c) for c in self.conditions}
        listed = tuple(
            [
                by_guard.get(id(guard)) or GuardVerdict(guard.text, "", guard.kind, guard.checked, "unknown")
                for guard in self.listed()
            ]
        )
        written = dynamic_shapes(self.inputs, self.store, self.preconditions)
        missing, budget = tuple(self.missing()), self.budget
        return GuardReport(listed, missing, written, self.inputs.example, budget.cut, needs_isl=budget.needs_isl)

    def listed(self) -> Iterator[Guard]:
        """The guards of the report: of equal ones the first, and those that are no condition on sizes."""
        distinct = {id(c.guard) for c in self.conditions}
        return (guard for guard in self.inputs.guards if guard.condition is None or id(guard) in distinct)

    # -- guards --------------------------------------------------------------------------------------------------------

    def examine(self, examined: GuardCondition) -> GuardVerdict:
        """The verdict on a guard."""
        guard, condition = examined
        record = GuardVerdict(guard.text, str(guard.condition), guard.kind, guard.checked, "unknown")
        if not self.budget.take(1):
            return record
        if condition.decide(self.initial, self.budget):
            return attrs.evolve(record, verdict="implied")
        if condition.decide(self.store, self.budget):
            return attrs.evolve(record, verdict="needed", reasons=self._requirements(condition))
        violated = self._violations(condition)
        if violated is not None:
            return attrs.evolve(record, verdict="needed", reasons=violated)
        alone, joint = self._try(examined)
        accepted = alone.accepted or joint.accepted
        if accepted is not None:
            verdict: Verdict = "artifact" if alone.refused is None else "too strong"
            reasons = (alone.reason,) if alone.refused is not None else ()
            return attrs.evolve(record, verdict=verdict, reasons=reasons, accepted=accepted, refused=alone.refused)
        if alone.refused is None and self._is_implied(examined):
            return attrs.evolve(record, verdict="implied")
        tried = alone if alone.refused is not None else joint
        return attrs.evolve(record, refused=tried.refused, reasons=(tried.reason,) if tried.reason else ())

    def _requirements(self, condition: DimCondition) -> tuple[str, ...]:
        """The precondition that implies a condition by itself; else all that share a symbol with it."""
        symbols = condition.symbols()
        related = [p for p in self.contract.preconditions if not symbols.isdisjoint(p.free_symbols)]
        for precondition in related:
            store = _with_clauses(self.initial, precondition)
            if store is not None and condition.decide(store, self.budget):
                return (str(precondition),)
        return tuple(map(str, related[:3]))

    def _violations(self, condition: DimCondition) -> tuple[str, ...] | None:
        """What the operators report where a condition does not hold; None where it may hold without a violation."""
        ways = condition.negations()
        if len(ways) > MOST_WAYS:
            return None
        messages = [self._violation(way) for way in ways]
        return None if None in messages else tuple(dict.fromkeys(text for text in messages if text))

    def _violation(self, way: Sequence[Comparison]) -> str | None:
        """The first violation where these relations hold; empty where they contradict, None where there is none."""
        store = self.initial.copy()
        try:
            for comparison in way:
                comparison.add_to(store, Source("", str(comparison)))
        except Contradiction:
            return ""
        if not self.budget.take(self.steps):
            return None
        violated = certain_violations(rerun(self.inference, store, assume=False))
        return next((str(diagnostic) for diagnostic in violated), None)

    def _try(self, examined: GuardCondition) -> tuple[_Tried, _Tried]:
        """What the operators do at sizes that a guard refuses alone, and at those that others refuse too."""
        alone: list[Sizes] = []
        joint: list[Sizes] = []
        others = [c.condition for c in self.conditions if c.guard is not examined.guard and c.guard.checked]
        for sizes in islice(self._choices(examined.condition), MOST_CHOICES):
            if examined.condition.holds(sizes) is False:
                (alone if all(other.holds(sizes) for other in others) else joint).append(sizes)
        symbols = examined.condition.symbols()
        return self._check_all(alone, symbols), self._check_all(joint, symbols)

    def _choices(self, condition: DimCondition) -> Iterator[Sizes]:
        axes = [s.name for s in condition.symbols() if s.name in self.inputs.sizes]
        declared = [self.choices.declared[axis] for axis in axes]
        symbols = sorted({s.name for d in declared if not isinstance(d, int) for s in d.symbols()})
        yield from self.choices.of_symbols(symbols)
        yield from self.choices.of_axes(sorted(axes))

    def _check_all(self, tried: Sequence[Sizes], symbols: Container[Dimension]) -> _Tried:
        """What the operators do at some of these sizes: those that no precondition refuses are the first.

        That a precondition refuses sizes counts only if it is about one of the symbols.
        """
        possible: list[Sizes] = []
        refused: tuple[Sizes | None, str] = (None, "")
        for sizes in tried:
            violated = next((p for p in self.preconditions if p.holds(sizes) is False), None)
            if violated is None:
                possible.append(sizes)
            elif refused[0] is None and any(symbol in symbols for symbol in violated.free_symbols):
                refused = sizes, str(violated)
        undecided = ""
        for sizes in possible[:: max(1, len(possible) // MOST_CHECKS)][:MOST_CHECKS]:
            verdict, text = self.check(sizes)
            if verdict is True:
                return _Tried(sizes, *refused)
            if verdict is False and refused[0] is None:
                refused = sizes, text
            undecided = undecided or text
        return _Tried(None, refused[0], refused[1] or undecided)

    def check(self, sizes: Sizes) -> tuple[bool | None, str]:
        """Whether the operators accept sizes of all axes, and why not."""
        key = tuple(sorted(sizes.items()))
        if key not in self.answers:
            self.answers[key] = self._answer(sizes)
        return self.answers[key]

    def _answer(self, sizes: Sizes) -> tuple[bool | None, str]:
        if not self.budget.take(self.steps):
            return None, ""
        answer = self.contract.check_program({name: size for name, size in sizes.items() if self.scope.has(name)})
        return answer.verdict, "; ".join(answer.reasons)

    def _is_implied(self, examined: GuardCondition) -> bool:
        """Whether the other guards imply a guard; not where they contradict, which would imply any."""
        others = [c for c in self.conditions if c.guard is not examined.guard and c.guard.checked]
        store = self._guarded(sorted(others, key=lambda c: len(c.guard.text))[:MOST_OTHERS])
        return store is not None and examined.condition.decide(store, self.budget) is True

    def _guarded(self, guards: Sequence[GuardCondition]) -> ShapeStore | None:
        """The constraints of guards, without those that constraints cannot express; None where they contradict."""
        store = self.initial.copy()
        try:
            for guard, condition in guards:
                for comparison in condition.comparisons():
                    comparison.add_to(store, Source("", guard.text))
        except Contradiction:
            return None
        return store

    # -- missing guards ------------------------------------------------------------------------------------------------

    def missing(self) -> Iterator[MissingGuard]:
        """The preconditions that guards and declared ranges do not imply, with sizes that show it."""
        store = self._guarded(self.conditions)
        for precondition in self.preconditions:
            if store is None or precondition.is_implied_by(store):
                continue
            symbols = sorted(self.choices.symbols)
            for sizes in islice(self.choices.of_symbols(symbols), MOST_CHOICES):
                if precondition.holds(sizes) is False and all(c.condition.holds(sizes) for c in self.conditions):
                    yield MissingGuard(str(precondition), sizes)
                    break


def _with_clauses(store: ShapeStore, precondition: Precondition) -> ShapeStore | None:
    """The constraints with a precondition; None for one of alternatives."""
    if len(precondition.clauses) != 1:
        return None
    clause, result = precondition.clauses[0], store.copy()
    source = Source("", precondition.text)
    try:
        if clause.zero:
            result.add_equal(clause.expression, 0, source)
        else:
            result.add_le(0, clause.expression, source)
    except Contradiction:
        return None
    return result


def _constants(conditions: Sequence[GuardCondition], preconditions: Sequence[Precondition]) -> Iterator[int]:
    """The numbers in guards and preconditions."""
    sides = [side for c in conditions for side in _sides(c.condition)]
    sides += [term for p in preconditions for term in p.terms]
    sides += [clause.expression for p in preconditions for clause in p.clauses]
    for d in sides:
        yield abs(d if isinstance(d, int) else d.constant)


def _sides(condition: DimCondition) -> Iterator[DimSize]:
    for part in condition.parts:
        if isinstance(part, DimCondition):
            yield from _sides(part)
        else:
            yield from (part.left, part.right)
