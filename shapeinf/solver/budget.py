"""The limit on the work of a command or query, in steps, so that the answer is the same on every machine.

A step takes a microsecond or less: a visited coefficient, or one operation of isl on a small set. Past the budget a
caller takes a coarser answer that is correct too, and reports that it was cut.

A budget is made where a command or query begins, and is passed to all its parts: an inference has one for the bodies
that it runs, `check` one for all its runs, a query one for its answer. The straight run of a graph takes nothing: it is
linear in the size of the file. A budget of a whole graph grows with the graph (`for_graph`).

A command has several queries and inferences. Within `total_budget`, each budget takes its steps from the total too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shapeinf.expr import Scope

WORK = 5_000_000
"""Steps of one query by default: a few seconds in the worst case."""

WORK_OF_COMMAND = 3_000_000
"""Steps of all queries of one command together, without those for each node.

No command on an ordinary model takes as many: `report` of 26 models takes 1.5 million at most, `check` of 108 damaged
ones more than 3 million for two of them, whose diagnostics are the same with 2.5 million.
"""

WORK_IN_BODIES = 1_000_000
"""Steps of one inference for the bodies of nodes: a command infers a model several times.

Of 2,068 files of the conformance suite 8 take more than 1,000, hostile ones 250,000, and other models 18,000 at most.
"""

STEPS_PER_ROW = 500
"""Further steps for each node of a large graph: some runs of the node."""

STEPS_PER_VISIT = 15
"""The steps of one visit of a node, without the work on its dims."""

STEPS_PER_START = 100
"""The steps of the start of a run of a graph: the set-up of its inputs and constants."""

CUT = "the work budget was reached"
"""The note on answers that more work might improve."""


NEEDS_ISL = "isl may decide more: pip install 'shapeinf[proofs]'"
"""The note on answers that isl might improve, where it is not installed."""


def cut_text(remedy: str) -> str:
    """The note `CUT` with the option that raises the budget.

    >>> cut_text("memory(work=...)")
    'the work budget was reached; memory(work=...) sets a larger one'
    """
    return f"{CUT}; {remedy} sets a larger one"


class Budget:
    """The remaining steps of a command or query, shared by all its parts.

    >>> budget = Budget(10)
    >>> budget.take(8), budget.take(8), budget.take(1), budget.cut
    (True, False, False, True)
    """

    def __init__(self, steps: int = WORK, scope: Scope | None = None) -> None:
        """A budget of this number of steps; the work on the dims of `scope` from now on is taken from it."""
        self.steps = steps
        self.cut = False
        """Whether a request was refused: from then on every request is."""
        self.needs_isl = False
        """Whether a question stayed open since isl is not installed."""
        self._taken = 0
        self._scope = scope
        self._work_before = 0 if scope is None else scope.work
        self._total = _TOTAL.get()
        """The budget from which this one takes its steps as well, if any."""

    @classmethod
    def for_graph(cls, rows: int, scope: Scope | None = None, work: int = WORK) -> Budget:
        """The budget of a command on a graph with this number of nodes."""
        budget = cls(work + STEPS_PER_ROW * rows, scope)
        if budget._total is not None and scope is not None:
            budget._total.include(rows, scope)
        return budget

    @property
    def spent(self) -> int:
        """The steps that were taken."""
        return self._taken if self._scope is None else self._taken + self._scope.work - self._work_before

    @property
    def remaining(self) -> int:
        """The remaining steps; none after a refused request."""
        own = 0 if self.cut else max(0, self.steps - self.spent)
        return own if self._total is None else min(own, self._total.remaining)

    def take(self, steps: int) -> bool:
        """Take steps before they are done; False where too few remain."""
        if self.cut or self.spent + steps > self.steps or not (self._total is None or self._total.take(steps)):
            self.cut = True
            return False
        self._taken += steps
        return True

    def take_run(self, rows: int) -> bool:
        """Take the steps of one run of a graph with this number of nodes; False where too few remain."""
        return self.take(STEPS_PER_START + STEPS_PER_VISIT * rows)

    def spend(self, steps: int, *, on_dims: bool = False) -> None:
        """Take steps that are already done, of work whose cost is known only afterwards.

        Those `on_dims` are taken from the total by the dims themselves.
        """
        self._taken += steps
        if self._total is not None and not on_dims:
            self._total.spend(steps)


class TotalBudget(Budget):
    """The budget of all queries of a command; the work on the dims of each of its models is taken from it."""

    def __init__(self, steps: int = WORK_OF_COMMAND) -> None:
        """A budget of this number of steps, and further ones for each model."""
        super().__init__(steps)
        self._total = None
        self._scopes: dict[Scope, int] = {}
        """The work on the dims of each model before the command."""

    @property
    def spent(self) -> int:
        """The steps that were taken."""
        return self._taken + sum(scope.work - before for scope, before in self._scopes.items())

    def include(self, rows: int, scope: Scope) -> None:
        """Take the work on the dims of a model with this number of nodes from now on."""
        if scope not in self._scopes:
            self._scopes[scope] = scope.work
            self.steps += STEPS_PER_ROW * rows


_TOTAL: ContextVar[TotalBudget | None] = ContextVar("total", default=None)


@contextmanager
def total_budget(steps: int = WORK_OF_COMMAND) -> Iterator[TotalBudget]:
    """A total from which each budget made inside takes its steps: many queries take no longer than a few.

    >>> with total_budget(10):
    ...     first, second = Budget(8), Budget(8)
    ...     first.take(7), second.take(7), second.cut
    (True, False, True)
    """
    total = TotalBudget(steps)
    token = _TOTAL.set(total)
    try:
        yield total
    finally:
        _TOTAL.reset(token)


def raise_total(steps: int) -> None:
    """Let all queries of the command together take this number of steps, where one takes fewer by default."""
    total = _TOTAL.get()
    if total is not None and steps > WORK:
        total.steps += steps - WORK_OF_COMMAND


def bodies_budget(rows: int, scope: Scope) -> Budget:
    """The budget of an inference for the bodies of its nodes."""
    return Budget.for_graph(rows, scope, WORK_IN_BODIES)
