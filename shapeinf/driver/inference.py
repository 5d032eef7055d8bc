"""Propagation: one straight pass over an acyclic program, a worklist with relaxing inside cycles.

A rule is memoised on (operator, attributes, inputs); contents of an input belong to the key only where the rule asks
for them. A call that made fresh unknowns is not remembered, since unknowns are named by their site. Facts only grow,
so an entry stays sound; contradictions are never remembered and always name the current node.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable

from shapeinf.driver.diagnostics import Diagnostic, from_error
from shapeinf.driver.program import MISSING, Program, Step
from shapeinf.errors import ShapeError, UnknownOperatorError
from shapeinf.lattice import PartialTensor, SequenceType, Shape, ShapeFacts, TensorType, Type, relax_type
from shapeinf.ops import Outcome, run_rule

MAX_VISITS = 64
"""Visits of one node of a cycle after which its outputs are relaxed at its own site."""

Progress = Callable[[int, int], None]


class Inference:
    """The state of one inference: a type a slot, the facts, the memo, the diagnostics."""

    def __init__(self, program: Program, facts: ShapeFacts, strict: bool, progress: Progress | None = None) -> None:
        """Nothing has run; the caller fills the slots of inputs and constants."""
        self.program = program
        self.facts = facts
        self.strict = strict
        self.progress = progress
        self.state: list[Type | None] = [None] * len(program.slots)
        self.found: dict[int, list[Diagnostic]] = {}
        self.reasons: dict[int, str] = {}
        self.declared: dict[int, Callable[[Type, Step], Type]] = {}
        self.visited = 0
        self.setup = facts.copy()
        self._seen: list[int] = [-1] * len(program.slots)
        self._memo: dict[Hashable, Outcome] = {}

    def freeze_setup(self) -> None:
        """Remember the facts told so far: those of inputs and users, before any node has spoken."""
        self.setup = self.facts.copy()

    @property
    def learned(self) -> bool:
        """Whether nodes have told facts that a run for other inputs must not keep."""
        return self.facts.version != self.setup.version

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All findings, in the order of the program."""
        return [d for index in sorted(self.found) for d in self.found[index]]

    def run(self) -> None:
        """Run the whole program."""
        if self.program.groups is None:
            self._run_straight()
        else:
            for group in self.program.groups:
                if len(group) == 1 and not self._reads_itself(group[0]):
                    self.visit(self.program.steps[group[0]])
                else:
                    self._run_cycle(group)

    def _run_straight(self) -> None:
        steps = self.program.steps
        total = len(steps)
        for step in steps:
            self.visit(step)
            if self.progress is not None:
                self.progress(step.index + 1, total)

    def _reads_itself(self, index: int) -> bool:
        step = self.program.steps[index]
        return any(slot in step.outputs for slot in step.inputs if slot != MISSING)

    def _run_cycle(self, group: list[int]) -> None:
        """A worklist in program order; values that no node has made yet are not there (bottom).

        When the bounds of a join site grow, what was proved under the narrower ones may not hold: facts and memo go
        back to where the cycle began, and all of its nodes run again. Widening lets that happen a few times a site.
        """
        before = self.facts.copy()
        growths = self.facts.relaxer.growths
        inside = set(group)
        heap = sorted(group)
        queued = set(group)
        visits = dict.fromkeys(group, 0)
        while heap:
            index = heapq.heappop(heap)
            queued.discard(index)
            step = self.program.steps[index]
            if not self._ready(step):
                continue
            visits[index] += 1
            changed = self.visit(step, relax=visits[index] > MAX_VISITS)
            readers = {reader for slot in changed for reader in self.program.consumers[slot] if reader in inside}
            if self.facts.relaxer.growths != growths:
                growths = self.facts.relaxer.growths
                self.facts.reset(before)
                self._memo.clear()
                readers = inside
            for reader in readers - queued:
                queued.add(reader)
                heapq.heappush(heap, reader)

    def _ready(self, step: Step) -> bool:
        """A joining rule (variadic) runs with what is there; any other waits for all of its inputs."""
        there = [self.state[slot] is not None for slot in step.inputs if slot != MISSING]
        joins = step.op_def is not None and step.op_def.rule is not None and step.op_def.rule.variadic
        return any(there) if joins else all(there)

    def update(self, changed: Iterable[int]) -> None:
        """Run again only what depends on the changed slots; stop where an output is what it was."""
        heap = sorted({reader for slot in changed for reader in self.program.consumers[slot]})
        queued = set(heap)
        while heap:
            index = heapq.heappop(heap)
            for slot in self.visit(self.program.steps[index]):
                for reader in self.program.consumers[slot]:
                    if reader not in queued:
                        queued.add(reader)
                        heapq.heappush(heap, reader)

    def current(self, slot: int) -> Type | None:
        """The type of a slot, canonical under the facts known now."""
        found = self.state[slot]
        if found is not None and self._seen[slot] != self.facts.version:
            found = self.state[slot] = canonical(self.facts, found)
            self._seen[slot] = self.facts.version
        return found

    def visit(self, step: Step, relax: bool = False) -> list[int]:
        """Run one step; the slots whose type has changed."""
        self.visited += 1
        self.found.pop(step.index, None)
        self.reasons.pop(step.index, None)
        inputs = [None if slot == MISSING else self.current(slot) for slot in step.inputs]
        outputs = self._outputs(step, inputs)
        changed = []
        for slot, new in zip(step.outputs, outputs, strict=False):
            if slot == MISSING:
                continue
            refine = self.declared.get(slot)
            if refine is not None:
                new = refine(new, step)
            old = self.state[slot]
            if relax and old is not None:
                new = relax_type(self.facts.relaxer, old, new, f"{step.site}:{slot}")
            if old is None or old != new:
                self.state[slot] = new
                self._seen[slot] = -1
                changed.append(slot)
        return changed

    def _outputs(self, step: Step, inputs: list[Type | None]) -> list[Type]:
        if step.op_def is None or step.op_def.rule is None:
            if self.strict:
                raise UnknownOperatorError(step.site, step.op)
            what = "operator is not known" if step.op_def is None else "operator has no shape rule"
            return self._unknown(
                step, Diagnostic("warning", "S201", f"{what}: its outputs are unknown", step.site, step.op)
            )
        key = (step.key, tuple(map(_key, inputs, step.wants_value)))
        outcome = self._memo.get(key)
        if outcome is None:
            try:
                outcome = self._call(step, inputs)
            except ShapeError as error:
                error.node, error.op = step.site, step.node.op
                if self.strict:
                    raise
                return self._unknown(step, from_error(error, step.site, step.op, self._operands(step)))
            except Exception as error:  # best mode gives a result for every model, whatever a rule does
                message = f"the rule of this operator failed: {type(error).__name__}: {error}"
                return self._unknown(
                    step, Diagnostic("error", "S301", message, step.site, step.op, self._operands(step))
                )
            if not outcome.fresh:
                self._memo[key] = outcome
        if outcome.unknown is not None:
            self._note_unknown(step, outcome.unknown, inputs)
        return outcome.types

    def _call(self, step: Step, inputs: list[Type | None]) -> Outcome:
        assert step.op_def is not None
        return run_rule(
            step.op_def,
            inputs,
            step.node.attrs,
            facts=self.facts,
            site=step.site,
            version=step.version,
            outputs=len(step.outputs),
        )

    def _unknown(self, step: Step, diagnostic: Diagnostic) -> list[Type]:
        self.found.setdefault(step.index, []).append(diagnostic)
        self.reasons[step.index] = diagnostic.message
        return [TensorType(None, Shape.unknown()) for _ in step.outputs]

    def _note_unknown(self, step: Step, reason: str, inputs: list[Type | None]) -> None:
        """Report an unknown only where it starts: not where an input is already of unknown rank."""
        self.reasons[step.index] = reason
        if any(isinstance(t, TensorType) and t.shape.dims is None for t in inputs):
            return
        message = f"the shape of {', '.join(o for o in step.node.outputs if o)} is unknown: {reason}"
        note = Diagnostic("warning", "S202", message, step.site, step.op, self._operands(step))
        self.found.setdefault(step.index, []).append(note)

    def _operands(self, step: Step) -> tuple[str, ...]:
        """The inputs as lines: name, type, and the node that made it."""
        lines = []
        for name, slot in zip(step.node.inputs, step.inputs, strict=True):
            if slot == MISSING:
                continue
            producer = self.program.producers[slot]
            origin = f"from {self.program.steps[producer].site}" if producer is not None else "an input or constant"
            lines.append(f"{name}  {self.current(slot)!r}   {origin}")
        return tuple(lines)


def canonical(facts: ShapeFacts, found: Type) -> Type:
    """A type with canonical dims and elements."""
    if not isinstance(found, TensorType):
        return type(found)(canonical(facts, found.element)) if type(found) is SequenceType else found
    shape = facts.canon_shape(found.shape)
    elements = found.elements
    if elements is not None and facts.solved:
        new = tuple(e if e is None or isinstance(e, (int, float, str, complex)) else facts.canon(e) for e in elements)
        return PartialTensor(found.dtype, shape, new) if new != elements or shape is not found.shape else found
    if shape is found.shape:
        return found
    return TensorType(found.dtype, shape) if elements is None else PartialTensor(found.dtype, shape, elements)


def _key(found: Type | None, wants_value: bool) -> Hashable:
    return found if wants_value or not isinstance(found, TensorType) else (found.dtype, found.shape)
