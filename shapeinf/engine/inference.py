"""Propagation: one straight pass over an acyclic program; `cycles` handles the rest.

A rule is memoised on (operation, numbers of its inputs' types); known contents of an input belong to the key only where
the rule asks for them. A call that made fresh unknowns is not remembered, since unknowns are named by their site. Facts
only grow, so an entry stays sound; contradictions are never remembered and always name the current node.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

import attrs

from shapeinf.diagnostics import Diagnostic, from_error
from shapeinf.engine.compiled import Program, Step
from shapeinf.engine.type_table import TypeTable, unknown_type
from shapeinf.errors import ModelError, ShapeError, UnknownOperatorError
from shapeinf.graph import MISSING, UNUSED, FunctionKey, Row
from shapeinf.lattice import ShapeStore, TensorType, Type, relax_type
from shapeinf.ops import Body, Contents

Progress = Callable[[int, int], None]
Declaring = Literal["trust", "check", "ignore"]
Refine = Callable[[int, Step], int]
"""What is declared of a slot: takes and gives the number of a type."""


MAX_WORK_IN_BODIES = 300_000
"""Nodes of bodies that one inference runs; a few seconds' worth."""


@attrs.define
class Budget:
    """How many nodes of bodies one inference may still run: loops in loops run theirs many times."""

    left: int = attrs.Factory(lambda: MAX_WORK_IN_BODIES)

    def spend(self, nodes: int) -> bool:
        """Whether a body of so many nodes may run; to start one costs as much as 30 nodes."""
        self.left -= nodes + 30
        return self.left >= 0


class Inner(Protocol):
    """How the graphs inside a node are run; `bodies` does it, which knows this module."""

    def bodies_of(self, outer: Inference, step: Step) -> Mapping[str, Body]:
        """The bodies that a node carries, by the name of their attribute."""

    def expanded(self, outer: Inference, step: Step, types: Sequence[Type | None]) -> list[Type] | None:
        """The output types of a node that stands for a graph; None where there is no such graph for these inputs."""


Key = tuple[Any, ...]
"""An operation and the numbers of its inputs' types."""

_NONE, _TOGETHER = Contents.NONE, Contents.TOGETHER


class Inference:
    """The state of one inference: the number of a type for each slot, the facts, the memo, the diagnostics.

    `outer` is the inference whose node runs this program as a body; they share facts, types and, where the body is
    certain to run, the memo. `inner` runs the bodies of this one.
    """

    def __init__(
        self,
        program: Program,
        store: ShapeStore,
        strict: bool,
        progress: Progress | None = None,
        *,
        inner: Inner,
        outer: Inference | None = None,
        path: str = "",
        certain: bool = True,
    ) -> None:
        """Nothing has run; the caller fills the slots of inputs and constants."""
        self.program = program
        self.store = store
        self.strict = strict
        self.progress = progress
        self.inner = inner
        self.path = path
        self.certain = certain
        self.table: TypeTable = TypeTable(store) if outer is None else outer.table
        self.calling: tuple[FunctionKey, ...] = () if outer is None else outer.calling
        self.budget: Budget = Budget() if outer is None else outer.budget
        self.numbers = [0] * (len(program.names) + 2)
        self.asked: dict[str, Type | None] = {}
        """What inputs were before any node has spoken, by name."""
        self.found: dict[int, list[Diagnostic]] = {}
        self.reasons: dict[int, str] = {}
        self.children: dict[int, dict[str, Inference]] = {}
        self.beside: Inference | None = None
        """The run of the same body before this one, where both count: two trips of a loop."""
        self.trials: dict[int, list[Inference]] = {}
        """Runs of bodies for inputs that are sure to come up, such as in the last trip of a loop: what breaks there."""
        self.declaring: Declaring = "ignore"
        self.again: Callable[[Mapping[str, int]], Inference] | None = None
        """Makes the same inference with named dims that may be as small as this; None for what was updated since."""
        self.declare: Callable[[Inference], dict[int, Refine]] | None = None if outer is None else outer.declare
        self.declared: dict[int, Refine] = {} if self.declare is None else self.declare(self)
        self.visited = 0
        self.created_unknowns = False
        self.setup = store
        self.told: tuple[ShapeStore, ShapeStore] | None = None
        """Of a body that may not run, and has told facts that were taken back: the facts before and after it."""
        self._memo: dict[Key, Sequence[int]] = {} if outer is None or not certain else outer._memo
        self._made: dict[tuple[str, tuple[int, ...]], tuple[Step, Key, Sequence[int]]] = {}
        """By operator and slots of its inputs: the last step whose outputs have unknowns of its own, and these."""

    def freeze_setup(self) -> None:
        """Remember the facts told so far: those of inputs and users, before any node has spoken."""
        self.setup = self.store.copy()
        self.table.refresh()

    @property
    def learned(self) -> bool:
        """Whether nodes have told facts that a run for other inputs must not keep."""
        return self.store.version != self.setup.version

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All findings, in the order of the program; those of bodies after those of their node."""
        found: list[Diagnostic] = []
        locations = self.program.graph.locations
        for index in sorted({*self.found, *self.children}):
            notes = self.found.get(index, [])
            at = locations.get(self.program.step(index).node.name, "") if locations else ""
            found += [attrs.evolve(note, location=at) for note in notes] if at else notes
            seen = set()
            for one in (one for trial in self.trials.get(index, ()) for one in trial.diagnostics):
                if one.severity == "error" and (one.node, one.code) not in seen:
                    seen.add((one.node, one.code))
                    found.append(one)
            for child in self.children.get(index, {}).values():
                inside = child.diagnostics if child.certain else map(_softened, child.diagnostics)
                found += (one for one in inside if (one.node, one.code) not in seen)
        return found

    # -- running -----------------------------------------------------------------------------------------------------

    def set(self, name: str, found: Type | None) -> None:
        """Put the type of an input or constant into its slot."""
        self.asked[name] = found
        self.numbers[self.program.slots[name]] = 0 if found is None else self.table.add(found)

    def branched(self, program: Program | None = None) -> Inference:
        """A copy that can go on apart from this one, perhaps with other nodes on the same slots; compares nothing."""
        store = self.store.copy()
        other = Inference(program or self.program, store, self.strict, inner=self.inner)
        other.table = self.table.branched(store)
        other.budget = attrs.evolve(self.budget)
        other.numbers, other.asked, other.reasons = list(self.numbers), dict(self.asked), dict(self.reasons)
        other.found = {place: list(notes) for place, notes in self.found.items()}
        other.children = {place: dict(bodies) for place, bodies in self.children.items()}
        other.created_unknowns, other.setup, other._memo = self.created_unknowns, self.setup, dict(self._memo)
        other._made = dict(self._made)
        return other

    def run_straight(self, start: int = 0) -> None:
        """Run every node once, in order, from a place on."""
        program, numbers, declared = self.program, self.numbers, self.declared
        outputs_of, progress = self.outputs_of, self.progress
        for place, row in enumerate(program.rows[start:] if start else program.rows, start):
            found = outputs_of(place, row)
            slots = row[2]
            if len(slots) == 1 and slots[0] not in declared:
                numbers[slots[0]] = found[0]
            else:
                for slot, number in zip(slots, found, strict=False):
                    numbers[slot] = declared[slot](number, program.step(place)) if slot in declared else number
            if progress is not None:
                progress(place + 1, len(program.rows))
        self.visited += len(program.rows) - start

    def update(self, changed: Iterable[int]) -> None:
        """Run again only what depends on the changed slots; stop where an output is what it was."""
        consumers = self.program.consumers
        heap = sorted({reader for slot in changed for reader in consumers[slot]})
        queued = set(heap)
        while heap:
            index = heapq.heappop(heap)
            for slot in self.visit(self.program.step(index)):
                for reader in consumers[slot]:
                    if reader not in queued:
                        queued.add(reader)
                        heapq.heappush(heap, reader)

    def visit(self, step: Step, relax: bool = False) -> list[int]:
        """Run one step again; the slots whose type has changed."""
        self.visited += 1
        for table in (self.found, self.reasons, self.children, self.trials):
            table.pop(step.place, None)
        changed = []
        for slot, number in zip(step.outputs, self.outputs_of(step.place, self.program.rows[step.place]), strict=False):
            if slot == UNUSED:
                continue
            if slot in self.declared:
                number = self.declared[slot](number, step)
            old = self.table.whole[self.numbers[slot]]
            if relax and old:
                number = self.relaxed(old, number, f"{step.site}:{slot}")
            if old != self.table.whole[number]:
                self.numbers[slot] = number
                changed.append(slot)
        return changed

    def relaxed(self, a: int, b: int, site: str) -> int:
        """The join of two types at a site, by number."""
        left, right = self.table.get(a), self.table.get(b)
        assert left is not None and right is not None
        return self.table.add(relax_type(self.store.relaxer, left, right, site))

    def current(self, slot: int) -> Type | None:
        """The type of a slot, canonical under the facts known now."""
        if self.table.epoch != self.store.epoch:
            self.table.refresh()
        return self.table.get(self.numbers[slot])

    def same_call(self, step: Step) -> Hashable:
        """Equal for nodes of one outcome: the first of them was run, and the others had its answer from the memo."""
        if self.table.epoch != self.store.epoch:
            self.table.refresh()
        return (id(self._memo), step.operation, *(self.table.whole[self.numbers[slot]] for slot in step.inputs))

    def forget(self) -> None:
        """Drop the memo: what was proved under facts that were taken back may not hold."""
        self._memo.clear()

    # -- one step ----------------------------------------------------------------------------------------------------

    def outputs_of(self, place: int, row: Row) -> Sequence[int]:
        """The numbers of the output types of a row of the program."""
        operation, inputs = self.program.operations[row[0]], row[1]
        numbers, contents = self.numbers, operation.contents
        seen = self.table.bare if contents is _NONE else self.table.whole
        if len(inputs) == 2:  # most nodes; a comprehension costs as much as all the rest
            a, b = inputs
            first, second = seen[numbers[a]], seen[numbers[b]]
            if contents is _TOGETHER:
                bare = self.table.bare
                if bare[first] == first or bare[second] == second:
                    first, second = bare[first], bare[second]
            key: Key = (operation, first, second)
        elif len(inputs) == 1:
            key = (operation, seen[numbers[inputs[0]]])
        else:
            given = [seen[numbers[slot]] for slot in inputs]
            if contents is _TOGETHER:
                without = [self.table.bare[number] for number in given]
                given = without if any(map(int.__eq__, given, without)) else given
            key = (operation, *given)
        found = self._memo.get(key)
        return self._called(self.program.step(place), key) if found is None else found

    def _called(self, step: Step, key: Key) -> Sequence[int]:
        """Call what the step does, and remember the answer where that is sound."""
        operation, table = step.operation, self.table
        first = self._made.get((operation.kind.op, step.inputs))
        if first is not None and _does_the_same(first[0], step) and first[1][1:] == key[1:]:
            return first[2]
        fresh = self.created_unknowns
        self.created_unknowns = False
        types = [table.types[number] for number in key[1:]]
        try:
            if operation.call is not None:
                found = self._ruled(step, types)
            elif operation.known:
                found = self._expanded(step, types)
            else:
                found = self._without_rule(step)
        except ShapeError as error:
            site = self.path + step.site
            if error.node is None:
                error.node, error.op = site, step.operation.kind.op
            if self.strict and (self.certain or error.code != "S101"):  # a branch may break a law and never run
                error.location = error.location or self.program.graph.locations.get(step.node.name, "")
                raise
            found = self._unknown(step, from_error(error, site, str(operation), self.operands(step)))
        if not self.created_unknowns and not operation.bodies:  # each node with bodies has runs of its own
            self._memo[key] = found
        elif self._is_repeatable(step):
            self._made[operation.kind.op, step.inputs] = step, key, found
        self.created_unknowns = fresh or self.created_unknowns
        if self.store.epoch != table.epoch:
            table.refresh()
        return found

    def _is_repeatable(self, step: Step) -> bool:
        """Whether another node that does the same to the same values makes the same, unknowns too."""
        operation, place = step.operation, step.place
        silent = place not in self.found and place not in self.reasons
        plain = operation.call is not None and not operation.call.op_def.stateful and not operation.bodies
        return plain and silent and bool(step.inputs) and self.program.groups is None

    def _ruled(self, step: Step, types: Sequence[Type | None]) -> Sequence[int]:
        operation = step.operation
        assert operation.call is not None
        bodies: Mapping[str, Body] | None = None
        if self.strict and any(isinstance(t, TensorType) and t.dtype is None for t in types):
            raise ShapeError("the element type of an input is not known", code="S104")
        if operation.bodies:
            bodies = self.inner.bodies_of(self, step)
            types = types[: len(step.arguments)]
        try:
            outcome = operation.call.run(types, self.store, self.path + step.site, bodies)
            numbers = [self.table.add(one) for one in outcome.types]
        except (ShapeError, ModelError):
            raise
        except Exception as error:  # best mode gives a result for every model, whatever a rule does
            message = f"the rule of this operator failed: {type(error).__name__}: {error}"
            site = self.path + step.site
            note = Diagnostic("error", "S301", message, site, str(operation), self.operands(step))
            return self._unknown(step, note)
        self.created_unknowns |= outcome.fresh or bool(outcome.warnings)
        for broken in outcome.warnings:
            note = from_error(broken, self.path + step.site, str(operation), self.operands(step), "warning")
            self.found.setdefault(step.place, []).append(note)
        if outcome.unknown is not None:
            self._note_unknown(step, outcome.unknown, types)
        return numbers

    def _expanded(self, step: Step, types: Sequence[Type | None]) -> Sequence[int]:
        found = self.inner.expanded(self, step, types)
        return self._without_rule(step) if found is None else [self.table.add(one) for one in found]

    def _without_rule(self, step: Step) -> Sequence[int]:
        operation, site = step.operation, self.path + step.site
        if self.strict:
            raise UnknownOperatorError(site, str(operation))
        what = "operator is not known" if operation.op_def is None else "operator has no shape rule"
        note = Diagnostic("warning", "S201", f"{what}: its outputs are unknown", site, str(operation))
        return self._unknown(step, note)

    def _unknown(self, step: Step, diagnostic: Diagnostic) -> Sequence[int]:
        self.created_unknowns = True
        self.found.setdefault(step.place, []).append(diagnostic)
        self.reasons[step.place] = diagnostic.message
        return [self.table.add(unknown_type()) for _ in step.outputs]

    def _note_unknown(self, step: Step, reason: str, types: Sequence[Type | None]) -> None:
        """Report an unknown only where it starts: not where an input is already of unknown rank."""
        self.reasons[step.place] = reason
        if any(getattr(t, "shape", None) is not None and t.shape.dims is None for t in types):  # type: ignore[union-attr]
            return
        message = f"the shape of {', '.join(o for o in step.node.outputs if o)} is unknown: {reason}"
        note = Diagnostic("warning", "S202", message, self.path + step.site, str(step.operation), self.operands(step))
        self.found.setdefault(step.place, []).append(note)

    def operands(self, step: Step) -> tuple[str, ...]:
        """The inputs as lines: name, type, and the node that made it."""
        lines = []
        for name, slot in zip(step.node.inputs, step.inputs, strict=False):
            if slot == MISSING:
                continue
            producer = self.program.producers[slot]
            origin = f"from {self.program.step(producer).site}" if producer is not None else "an input or constant"
            lines.append(f"{name}  {self.current(slot)!r}   {origin}")
        return tuple(lines)


def _does_the_same(first: Step, step: Step) -> bool:
    """Whether a step does what an earlier one has done; readers need not share one operation among equal nodes."""
    a, b = first.operation, step.operation
    if first.place >= step.place or a.call is None or b.call is None:
        return False
    return a is b or (a.op_def is b.op_def and a.call.wanted == b.call.wanted and a.kind.attrs == b.kind.attrs)


def _softened(found: Diagnostic) -> Diagnostic:
    """A finding in a body that may never run is no error."""
    return attrs.evolve(found, severity="warning") if found.severity == "error" else found
