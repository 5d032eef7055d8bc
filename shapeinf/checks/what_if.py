"""Trials: the inference of a graph with one thing in it changed, as far as it takes to see whether that helps.

Nodes before the change are run once for all trials; a trial ends at the first error that was not there before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from shapeinf.checks.changes import Change
from shapeinf.checks.concrete import broken_at, generic
from shapeinf.checks.finding import Finding
from shapeinf.checks.subject import Subject
from shapeinf.driver import Result
from shapeinf.driver.inference import Inference, Progress
from shapeinf.driver.inputs import InputReader
from shapeinf.driver.program import Program, Step
from shapeinf.driver.update import rerun
from shapeinf.errors import ShapeInferenceError
from shapeinf.lattice import TensorType

MOST_VISITS = 40_000
"""Nodes that all trials of one search may run; a second's worth."""
_LOOK = 4
"""To look at all findings of a trial costs as much as to run its nodes so many times."""
_SHOWN_AT = 2
"""So many sets of sizes a repair is shown at."""
Look = Callable[[Subject], Iterable[Finding]]


class _HopelessError(Exception):
    """A trial has found an error that was not there before."""


class _Required:
    """What the node of a finding requires of the inputs: a trial in which it still does need not go on."""

    def __init__(self, subject: Subject, first: Finding) -> None:
        node = subject.nodes.get(first.node) if first.code in ("C101", "C102") else None
        output = next((name for name in node.outputs if name), None) if node is not None else None
        program = subject.result.inference.program
        self.place = None if output is None else program.producers[program.slots[output]]
        self.node = first.node
        self.symbols = set(subject.axes)
        self.guards = {guard for guard in subject.facts.guards if guard.source.node == first.node}

    def still(self, trial: Inference) -> bool:
        """Whether the node that has just run has told the same, or what a dim is, again."""
        told = trial.facts.sources.items()
        solved = any(source.node == self.node and symbol in self.symbols for symbol, source in told)
        return solved or not self.guards.isdisjoint(trial.facts.guards)


class Trials:
    """Tries changes of a graph against what was found in it; counts what they cost."""

    def __init__(self, subject: Subject, found: list[Finding], look: Look, places: Collection[int]) -> None:
        """`places` are those of the nodes that may be changed, `look` gives all findings."""
        self.subject = subject
        self.before = {(one.code, one.place) for one in found}
        self.unknown = {(d.code, d.node) for d in subject.result.inference.diagnostics}
        self.first = (found[0].code, found[0].place)
        self.look = look
        self._required = _Required(subject, found[0])
        self.starts = _starts(subject.result.inference, places)
        self.visits = 0

    @property
    def affordable(self) -> bool:
        """Whether another trial may run."""
        return self.visits < MOST_VISITS

    def repaired(self, step: Step, change: Change) -> tuple[int, str] | None:
        """How much is still found with a change, and what it is; None where it is no repair.

        What was found first must be gone. What leaves open what a node makes does not mind what the node itself
        requires. A change by which something is no longer known, or with which the graph still breaks at sizes that
        it allows then, is no repair.
        """
        if not self.affordable:
            return None
        trial = self.starts[step.place].branched(_changed(self.subject.result.inference.program, step, change))
        end = _begin(trial, step, change)
        trial.progress = self._watch(trial, end)
        try:
            trial.run_straight(step.place)
        except (_HopelessError, ShapeInferenceError):
            return None
        other = self._subject(trial)
        left = self._left(other, "" if change.prepare is None else step.site)
        text = None if left is None else change.text if change.needed is None else change.needed()
        return (left, text) if left is not None and text is not None and self._runs(other, step, change) else None

    def _watch(self, trial: Inference, end: Callable[[int], None]) -> Progress:
        """Gives up at the first error that was not there before, and where what was found first is found again."""

        def progress(done: int, _: int) -> None:
            self.visits += 1
            end(done)
            if done - 1 == self._required.place and self._required.still(trial):
                raise _HopelessError
            for note in trial.found.get(done - 1, ()):
                key = (note.code, note.node)
                lost = note.code.startswith("S2") and key not in self.unknown
                if lost or (note.severity == "error" and (key == self.first or key not in self.before)):
                    raise _HopelessError

        return progress

    def _subject(self, trial: Inference) -> Subject:
        return Subject(Result(trial, InputReader(trial.facts)), self.subject.ranges, trial=True)

    def _left(self, other: Subject, apart_from: str = "") -> int | None:
        self.visits += _LOOK * len(other.order)
        left = 0
        for one in self.look(other):
            key = (one.code, one.place)
            if one.fails and one.place != apart_from:
                if key == self.first or key not in self.before:
                    return None
                left += 1
        return left

    def _runs(self, other: Subject, step: Step, change: Change) -> bool:
        """Whether the changed graph runs at sizes that are alike in nothing, as far as it allows them."""

        def prepare(fresh: Inference) -> None:
            before, after = _around(fresh, step, change)

            def progress(done: int, _: int) -> None:
                if done == step.place:
                    before()
                elif done == step.place + 1:
                    after()

            fresh.progress = progress
            if step.place == 0:
                before()

        return self._all_run(other, prepare)

    def _all_run(self, other: Subject, prepare: Callable[[Inference], None]) -> bool:
        tried = 0
        for binding in generic(other, _SHOWN_AT):
            tried += 1
            self.visits += len(other.order)
            broken = broken_at(other.result.inference, binding, prepare)
            if broken is None or {(one.code, one.node) for one in broken} - self.before:
                return False
        return tried > 0

    def left_with(self, name: str, asked: TensorType) -> int | None:
        """The same with another type of an input."""
        inference = self.subject.result.inference
        trial: list[Inference] = []

        def begin(fresh: Inference) -> None:
            trial.append(fresh)
            fresh.set(name, asked)
            InputReader(fresh.facts).presume(asked)
            fresh.progress = self._watch(fresh, lambda _: None)

        try:
            rerun(inference, inference.setup.copy(), begin)
        except (_HopelessError, ShapeInferenceError):
            return None
        other = self._subject(trial[0])
        left = self._left(other)
        return left if left is not None and self._all_run(other, lambda _: None) else None


def _changed(program: Program, step: Step, change: Change) -> Program:
    """The program with another kind of node in a place, or with other inputs of it."""
    if change.kind is not None:
        return program.edited(step.place, change.kind)
    if change.inputs is None:
        return program
    found = program.edited(step.place, step.operation.kind)
    key, _, outputs, name = found.rows[step.place]
    rows = list(found.rows)
    rows[step.place] = (key, change.inputs, outputs, name)
    found.rows = rows
    return found


def _around(fresh: Inference, step: Step, change: Change) -> tuple[Callable[[], None], Callable[[], None]]:
    """What is to be done before and after the changed node runs: a constant is another one for it alone."""
    if change.prepare is not None:
        change.prepare(fresh)
    if change.constant is None:
        return (lambda: None), (lambda: None)
    slot, new = change.constant
    was: list[int] = []

    def before() -> None:
        was.append(fresh.numbers[slot])
        fresh.numbers[slot] = fresh.table.add(new)

    def after() -> None:
        fresh.numbers[slot] = was.pop()

    return before, after


def _begin(trial: Inference, step: Step, change: Change) -> Callable[[int], None]:
    """Prepares a trial that begins at the changed node; what is to be called after each node."""
    before, after = _around(trial, step, change)
    before()

    def end(done: int) -> None:
        if done == step.place + 1:
            after()

    return end


def _starts(inference: Inference, places: Collection[int]) -> dict[int, Inference]:
    """The inference as it is before each of these places."""
    found: dict[int, Inference] = {}
    wanted = set(places)

    def begin(fresh: Inference) -> None:
        def progress(done: int, _: int) -> None:
            if done in wanted:
                found[done] = fresh.branched()

        fresh.progress = progress
        if 0 in wanted:
            fresh.freeze_setup()  # a copy, of which later nodes know nothing
            found[0] = fresh.branched()

    rerun(inference, inference.setup.copy(), begin)
    return found
