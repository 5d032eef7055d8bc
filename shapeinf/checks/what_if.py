"""Trials: the inference of a graph with one thing in it changed, as far as it takes to see whether that helps.

Nodes before the change are run once for all trials; a trial ends at the first error that was not there before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from shapeinf.checks.finding import Finding
from shapeinf.checks.subject import Subject
from shapeinf.driver import Result
from shapeinf.driver.inference import Inference, Progress
from shapeinf.driver.inputs import InputReader
from shapeinf.driver.update import rerun
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import NodeKind
from shapeinf.lattice import TensorType

MOST_VISITS = 40_000
"""Nodes that all trials of one search may run; a second's worth."""
_LOOK = 4
"""To look at all findings of a trial costs as much as to run its nodes so many times."""
Look = Callable[[Subject], Iterable[Finding]]


class _HopelessError(Exception):
    """A trial has found an error that was not there before."""


class Trials:
    """Tries changes of a graph against what was found in it; counts what they cost."""

    def __init__(self, subject: Subject, found: list[Finding], look: Look, places: Collection[int]) -> None:
        """`places` are those of the nodes that may be changed, `look` gives all findings."""
        self.subject = subject
        self.before = {(one.code, one.place) for one in found}
        self.first = (found[0].code, found[0].place)
        self.look = look
        self.starts = _starts(subject.result.inference, places)
        self.visits = 0

    @property
    def affordable(self) -> bool:
        """Whether another trial may run."""
        return self.visits < MOST_VISITS

    def holds(
        self,
        place: int,
        kind: NodeKind | None = None,
        prepare: Callable[[Inference], None] | None = None,
        apart_from: str = "",
    ) -> bool:
        """Whether nothing (or less than before, and not the first of it) is found with a change in a place.

        `apart_from` is a node that still says what its own numbers demand though these are what is changed.
        """
        if not self.affordable:
            return False
        start = self.starts[place]
        trial = start.branched(None if kind is None else start.program.edited(place, kind))
        if prepare is not None:
            prepare(trial)
        trial.progress = self._watch(trial)
        try:
            trial.run_straight(place)
        except (_HopelessError, ShapeInferenceError):
            return False
        return self._nothing_left(trial, apart_from)

    def _watch(self, trial: Inference) -> Progress:
        """Gives up at the first error that was not there before."""

        def progress(done: int, _: int) -> None:
            self.visits += 1
            notes = trial.found.get(done - 1, ())
            if any(n.severity == "error" and (n.code, n.node) not in self.before for n in notes):
                raise _HopelessError

        return progress

    def _nothing_left(self, trial: Inference, apart_from: str = "") -> bool:
        self.visits += _LOOK * len(trial.program.rows)
        other = Subject(Result(trial, InputReader(trial.facts)), self.subject.ranges)
        for one in self.look(other):
            key = (one.code, one.place)
            if one.fails and one.place != apart_from and (key == self.first or key not in self.before):
                return False
        return True

    def holds_with(self, name: str, asked: TensorType) -> bool:
        """The same with another type of an input."""
        inference = self.subject.result.inference
        trial: list[Inference] = []

        def begin(fresh: Inference) -> None:
            trial.append(fresh)
            fresh.set(name, asked)
            InputReader(fresh.facts).presume(asked)
            fresh.progress = self._watch(fresh)

        try:
            rerun(inference, inference.setup.copy(), begin)
        except (_HopelessError, ShapeInferenceError):
            return False
        return self._nothing_left(trial[0])


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
            found[0] = fresh.branched()

    rerun(inference, inference.setup.copy(), begin)
    return found
