"""Trials: the inference of a graph with one thing in it changed, as far as it takes to see whether that helps.

Nodes before the change are run once for all trials; a trial ends at the first error that was not there before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from shapeinf.checks.changes import Change
from shapeinf.checks.concrete import generic, violated_at
from shapeinf.checks.sampling import Binding
from shapeinf.checks.subject import CheckedModel
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import CompiledGraph, NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import rerun
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dim, Dimension
from shapeinf.inputs.options import Progress
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import TensorType
from shapeinf.result import Result

MOST_VISITS = 60_000
"""Nodes that all trials of one search may run; a second's worth."""
_LOOK = 4
"""To look at all findings of a trial costs as much as to run its nodes so many times."""
_BEGIN = 10
"""To begin a trial anew costs as much as to run so many nodes, and more for each axis of an input."""
_TERMS_A_VISIT = 50
"""To look at so many terms of dims that are in no table costs as much as to run a node."""
_SHOWN_AT = 2
"""So many sets of sizes a repair is shown at."""
Look = Callable[[CheckedModel], Iterable[Diagnostic]]


class _HopelessError(Exception):
    """A trial has found an error that was not there before."""


class _Required:
    """What nodes require of the inputs: a trial in which they come to more, or to the first finding, need not go on."""

    def __init__(self, subject: CheckedModel, found: list[Diagnostic]) -> None:
        self.symbols, self.named = set(subject.axes), subject.named
        self.known = {one.subject for one in found}
        self.first = found[0].subject if found[0].code in ("C101", "C102") else ""
        self.disjunctions = {
            disjunction for disjunction in subject.store.disjunctions if disjunction.source.node == self.first
        }
        self.version = -1

    def too_much(self, trial: Inference, apart_from: str) -> bool:
        """Whether a node (but for one) that has told facts requires what would be found at once."""
        store = trial.store
        if store.version == self.version:
            return False
        self.version = store.version
        solved = ((symbol, store.solved[symbol], source.node) for symbol, source in store.sources.items())
        told: list[tuple[Sequence[Dim], str]] = [
            ((symbol, value), node) for symbol, value, node in solved if symbol in self.symbols
        ]
        told += [
            (disjunction.operands, disjunction.source.node)
            for disjunction in store.disjunctions
            if disjunction.equation is None
        ]
        return not self.disjunctions.isdisjoint(store.disjunctions) or any(
            node != apart_from and self._is_found(dims, node) for dims, node in told
        )

    def _is_found(self, dims: Sequence[Dim], node: str) -> bool:
        """Whether a node requires a number of a dim, or that two names are one size, and was not found to."""
        numbers = [dim for dim in dims if isinstance(dim, int)]
        names = {dim for dim in dims if isinstance(dim, Dimension) and dim in self.named}
        if not node or len(names) + len(numbers) < len(dims) or len(names) + bool(numbers) != 2:
            return False
        return node == self.first or node not in self.known


class Trials:
    """Tries changes of a graph against what was found in it; counts what they cost."""

    def __init__(self, subject: CheckedModel, found: list[Diagnostic], look: Look, places: Collection[int]) -> None:
        """`places` are those of the nodes that may be changed, `look` gives all findings."""
        self.subject = subject
        self.before = {(one.code, one.subject) for one in found}
        self.unknown = {(d.code, d.node) for d in subject.result.inference.diagnostics}
        self.first = (found[0].code, found[0].subject)
        self.look = look
        self._required = _Required(subject, found)
        self.starts = _starts(subject.result.inference, places)
        self.visits = 0
        self._before = subject.store.scope.work
        asked = subject.result.inference.input_types.values()
        ranks = [len(one.shape.dims or ()) for one in asked if isinstance(one, TensorType)]
        self._begin = _BEGIN + sum(ranks) // 4

    @property
    def affordable(self) -> bool:
        """Whether another trial may run."""
        return self.spent < MOST_VISITS

    @property
    def spent(self) -> int:
        """What all trials have cost so far, in nodes that are run."""
        return self.visits + (self.subject.store.scope.work - self._before) // _TERMS_A_VISIT

    def repaired(self, step: NodeStep, change: Change) -> tuple[int, str] | None:
        """How much is still found with a change, and what it is; None where it is no repair.

        What was found first must be gone. What leaves open what a node makes does not mind what the node itself
        requires. A change by which something is no longer known, or with which the graph still breaks at sizes that
        it allows then, is no repair.
        """
        if not self.affordable:
            return None
        trial = self.starts[step.index].fork(_changed(self.subject.result.inference.compiled, step, change))
        end = _begin(trial, step, change)
        apart_from = "" if change.prepare is None else step.site
        trial.progress = self._watch(trial, end, apart_from)
        try:
            trial.run_straight(step.index)
        except (_HopelessError, ShapeInferenceError):
            return None
        other = self._subject(trial)
        left = self._left(other, apart_from)
        text = None if left is None else change.text if change.needed is None else change.needed()
        return (left, text) if left is not None and text is not None and self._runs(other, step, change) else None

    def _watch(self, trial: Inference, end: Callable[[int], None], apart_from: str = "") -> Progress:
        """Gives up at the first error that was not there before, and where what was found first is found again."""

        def progress(done: int, _: int) -> None:
            self.visits += 1
            end(done)
            if self._required.too_much(trial, apart_from):
                raise _HopelessError
            for note in trial.node_diagnostics.get(done - 1, ()):
                key = (note.code, note.node)
                lost = note.code.startswith("S2") and key not in self.unknown
                if lost or (note.severity == "error" and (key == self.first or key not in self.before)):
                    raise _HopelessError

        return progress

    def _subject(self, trial: Inference) -> CheckedModel:
        return CheckedModel(Result(trial, InputReader(trial.store)), self.subject.ranges, trial=True)

    def _left(self, other: CheckedModel, apart_from: str = "") -> int | None:
        self.visits += _LOOK * len(other.order)
        left = 0
        for one in self.look(other):
            key = (one.code, one.subject)
            if one.fails and one.subject != apart_from:
                if key == self.first or key not in self.before:
                    return None
                left += 1
        return left

    def _runs(self, other: CheckedModel, step: NodeStep, change: Change) -> bool:
        """Whether the changed graph runs at sizes that are alike in nothing, as far as it allows them."""

        def prepare(fresh: Inference) -> None:
            before, after = _around(fresh, step, change)

            def progress(done: int, _: int) -> None:
                if done == step.index:
                    before()
                elif done == step.index + 1:
                    after()

            fresh.progress = progress
            if step.index == 0:
                before()

        return self._all_run(other, prepare)

    def _all_run(self, other: CheckedModel, prepare: Callable[[Inference], None]) -> bool:
        tried = 0
        for binding in generic(other, _SHOWN_AT):
            tried += 1
            self.visits += len(other.order)
            broken = violated_at(other.result.inference, binding, prepare)
            if broken is None or self._breaks_more(broken, binding):
                return False
        return tried > 0

    def _breaks_more(self, broken: list[Diagnostic], binding: Binding) -> bool:
        """Whether more breaks at these sizes than does without the change, or what was found first does."""
        new = {(one.code, one.node) for one in broken} - self.before
        if not new:
            return False
        without = violated_at(self.subject.result.inference, binding) or []
        return bool(new - {(one.code, one.node) for one in without if one.node != self.first[1]})

    def left_with(self, name: str, asked: TensorType) -> int | None:
        """The same with another type of an input."""
        inference = self.subject.result.inference
        self.visits += self._begin
        trial: list[Inference] = []

        def begin(fresh: Inference) -> None:
            trial.append(fresh)
            fresh.set(name, asked)
            InputReader(fresh.store).presume(asked)
            fresh.progress = self._watch(fresh, lambda _: None)

        try:
            rerun(inference, inference.initial_store.copy(), begin)
        except (_HopelessError, ShapeInferenceError):
            return None
        other = self._subject(trial[0])
        left = self._left(other)
        return left if left is not None and self._all_run(other, lambda _: None) else None


def _changed(program: CompiledGraph, step: NodeStep, change: Change) -> CompiledGraph:
    """The program with another kind of node in a place, or with other inputs of it."""
    if change.kind is not None:
        return program.replace_node(step.index, change.kind)
    if change.inputs is None:
        return program
    found = program.replace_node(step.index, step.operation.kind)
    key, _, outputs, name = found.rows[step.index]
    rows = list(found.rows)
    rows[step.index] = (key, change.inputs, outputs, name)
    found.rows = rows
    return found


def _around(fresh: Inference, step: NodeStep, change: Change) -> tuple[Callable[[], None], Callable[[], None]]:
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


def _begin(trial: Inference, step: NodeStep, change: Change) -> Callable[[int], None]:
    """Prepares a trial that begins at the changed node; what is to be called after each node."""
    before, after = _around(trial, step, change)
    before()

    def end(done: int) -> None:
        if done == step.index + 1:
            after()

    return end


def _starts(inference: Inference, places: Collection[int]) -> dict[int, Inference]:
    """The inference as it is before each of these places."""
    found: dict[int, Inference] = {}
    wanted = set(places)

    def begin(fresh: Inference) -> None:
        def progress(done: int, _: int) -> None:
            if done in wanted:
                found[done] = fresh.fork()

        fresh.progress = progress
        if 0 in wanted:
            fresh.save_initial_store()  # a copy, of which later nodes know nothing
            found[0] = fresh.fork()

    rerun(inference, inference.initial_store.copy(), begin)
    return found
