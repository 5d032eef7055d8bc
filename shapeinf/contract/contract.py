"""The contract itself: its conditions, and the questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import RLock

import attrs

from shapeinf.constraints.labels import find_symbol
from shapeinf.contract.bodies import demands_of_bodies
from shapeinf.contract.merging import merged
from shapeinf.contract.preconditions import Precondition, Reader
from shapeinf.contract.sizes import LegalSizes, in_range
from shapeinf.contract.undeclared import hidden_by_declarations
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.inference import Inference
from shapeinf.engine.rerun import rerun
from shapeinf.engine.violations import surely_broken, violations
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension
from shapeinf.inputs.reader import as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK, Budget, cut_text
from shapeinf.solver.witnesses import STEPS_PER_CONSTRAINT
from shapeinf.texts import escape_lines

STEPS_A_NODE = 200
"""What it takes to infer a node once more, in the steps of a budget."""

STEPS_A_TERM = 2
"""What it takes to look at a term of a dim that was in no table."""

_AS_TOLD = f"{cut_text('contract.with_work(...)')}: some of these are listed as they were told, not simplified"

MAX_PROBES = 24
"""Sizes at the ends of the solved pieces that are tried, so that a law which only shows with numbers is not missed."""


@attrs.frozen
class Answer:
    """Whether the graph runs with some sizes.

    Args:
        verdict: True, False, or None for "can't tell": it depends on data, or on dims without a value.
        reasons: what it breaks, or what is left to hold; of a legal graph, why some runtimes refuse it nevertheless.
        cut: the budget of work was reached: with more, some of what is left may turn out to hold anyway.
    """

    verdict: bool | None
    reasons: tuple[str, ...] = ()
    cut: bool = False

    def __str__(self) -> str:
        """The verdict in words, and the reasons."""
        word = {True: "yes", False: "no", None: "can't tell"}[self.verdict]
        return word + (": " + "; ".join(self.reasons) if self.reasons else "")


@synchronized
class Contract:
    """What a graph demands of the sizes of its inputs."""

    def __init__(self, inference: Inference, work: int = WORK) -> None:
        """The contract of a finished inference; `work` is the budget of its conditions, and of those of each check."""
        self.work = work
        self._inference = inference
        self._budget = Budget(work)
        self._reader = Reader(inference, self._budget)

    def with_work(self, work: int) -> Contract:
        """The same contract with another budget, in steps that are the same on every machine."""
        return Contract(self._inference, work)

    @property
    def lock(self) -> RLock:
        """The lock that all questions take: see `Result.lock`."""
        return self._inference.store.scope.lock

    @cached_property
    def preconditions(self) -> tuple[Precondition, ...]:
        """What nodes demand beyond what user and file say; those that come to one divisibility are that one.

        Last those of bodies that may not run; they say `where`.
        """
        return (*self.always, *demands_of_bodies(self._inference, self._budget))

    @cached_property
    def always(self) -> tuple[Precondition, ...]:
        """Those of the conditions that hold whenever the graph runs, whatever bodies of it do.

        They are what nodes require, also where a declaration of the file that is trusted says the same.
        """
        found = self._without_assuming(tuple(merged(self._reader)))
        return (*found, *hidden_by_declarations(self._inference, found, self._budget))

    def _without_assuming(self, found: tuple[Precondition, ...]) -> tuple[Precondition, ...]:
        """The conditions, where demands among them may follow from what is assumed.

        What is demanded there may not be demanded without the assumption: then demands are read from an inference that
        assumes nothing. An assumption that follows from these is none.
        """
        if not _reaches_assumptions(found):
            return found
        store = self._inference.setup.copy()
        store.assuming = False
        terms = {_demand(one): one.terms for one in found}
        rest = rerun(self._inference, store)
        exact = merged(Reader(rest, self._budget))
        demands = [attrs.evolve(one, terms=terms.get(_demand(one), one.terms)) for one in exact]
        assumed = (one for one in found if one.kind == "assumption" and not one.follows(rest.store))
        return (*map(_without_demands, assumed), *demands)

    def __iter__(self) -> Iterator[Precondition]:
        """The conditions."""
        return iter(self.preconditions)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.preconditions)

    @property
    def cut(self) -> bool:
        """Whether the budget of work was reached: then some conditions are listed as they were told, not simplified."""
        return bool(self.preconditions) and self._budget.cut

    def __str__(self) -> str:
        """One condition a line."""
        lines = escape_lines(map(str, self.preconditions)) or "nothing is demanded of the inputs"
        return f"{lines}\n({_AS_TOLD})" if self.cut else lines

    def check(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> Answer:
        """Whether the graph runs with these sizes; names that are no identifiers go into the mapping.

        The graph is inferred with the sizes put in, so that every law of every operator has its say. Raises
        UnknownNameError for a dim that no input has.
        """
        asked = as_sizes({**(sizes or {}), **more})
        return self._for(asked)._checked(asked)

    def _for(self, sizes: Mapping[str, int]) -> Contract:
        """The contract to ask about these sizes: another one where the inference took it that there are none such.

        They are below `min_dim`, or a node assumes that they are larger.
        """
        symbols = {self._symbol(name): size for name, size in sizes.items()}
        lower = {s.name: n for s, n in symbols.items() if 0 <= n < (s.symbol.lo or 0) and not s.symbol.anonymous}
        again, ranges = self._inference.again, {s.name: (n, n) for s, n in symbols.items()}
        if again is None or not (lower or self._inference.store.breaks_assumption(ranges)):
            return self
        return Contract(again(lower), self.work)

    def _checked(self, sizes: Mapping[str, int]) -> Answer:
        found = self._with_sizes(sizes)
        if isinstance(found, Answer):
            return found
        if any(not step.operation.known for step in found.program.steps):
            return Answer(None, ("an operator without a rule may demand anything",))
        reached = Contract(found, self.work)
        reasons = tuple(map(str, (*reached.preconditions, *reached._reader.unheeded())))
        if reached.cut:
            return Answer(None, (*reasons, _AS_TOLD), cut=True)
        return Answer(None if reached.preconditions else True, reasons)

    def _with_sizes(self, sizes: Mapping[str, int]) -> Inference | Answer:
        """The inference with these sizes put in; where it breaks a law, or may break one, the answer."""
        store = self._inference.setup.copy()
        try:
            for name, size in sizes.items():
                store.add_equal(self._symbol(name), size, Source("", f"{name} is asked to be {size}"))
        except ShapeError as error:
            return Answer(False, (str(error),))
        found = self._rerun(store)
        broken = list(violations(found))
        errors = tuple(_told(message) for message, certain in broken if certain)
        if errors:
            return Answer(False, errors)
        if broken:
            return Answer(None, tuple(_told(message) for message, _ in broken))
        return found

    def _rerun(self, store: ShapeStore) -> Inference:
        """The inference from these facts; what breaks only under what nodes assume of sizes does not break."""
        before = store.copy()
        found = rerun(self._inference, store)
        if not found.store.assumed or not any(violations(found)):
            return found
        before.assuming = False
        return rerun(self._inference, before)

    def solve(self, name: str, values: Iterable[int], *, work: int = WORK) -> LegalSizes:
        """The sizes of a dim, of those given, with which the graph can run (for some sizes of the other dims).

        Solved for by isl where it can hold all facts; else each size is tried, one after the other. `work` is the
        budget, in steps that are the same on every machine: sizes that it is not enough for are `untried`. Raises
        UnknownNameError.
        """
        asked = in_range(values)
        wide = self._for({name: asked[0]} if asked else {})
        return wide._solved(name, asked, Budget(work))

    def _solved(self, name: str, asked: list[int], budget: Budget) -> LegalSizes:
        from shapeinf.solver.integer_sets import possible_values

        symbol = self._symbol(name)
        if not asked or self._failed(self._inference):
            return LegalSizes(name, (), "evaluation")
        found = possible_values(self._inference.store, symbol, asked[0], asked[-1], budget)
        trials = _Trials(self, name, budget)
        if found is not None:
            solved = LegalSizes(name, tuple(sorted(set(found).intersection(asked))), "isl")
            if all(trials.runs(v) is (v in solved.values) for v in _probes(solved, asked)):
                return solved
        answers = [(v, trials.runs(v)) for v in asked]
        legal, untried = (tuple(v for v, runs in answers if runs is answer) for answer in (True, None))
        return LegalSizes(name, legal, "evaluation", untried)

    def _runs(self, name: str, size: int) -> bool:
        """Whether the graph can run; what is left to hold does not matter."""
        found = self._with_sizes({name: size})
        return not isinstance(found, Answer) or found.verdict is not False

    @staticmethod
    def _failed(inference: Inference) -> bool:
        return bool(surely_broken(inference))

    def _symbol(self, name: str) -> Dimension:
        return find_symbol(self._reader.labels, name)


class _Trials:
    """Sizes of one dim that are tried, each once, as long as the budget is enough."""

    def __init__(self, contract: Contract, name: str, budget: Budget) -> None:
        inference = contract._inference
        self._runs = contract._runs
        self._name = name
        self._budget = budget
        self._scope = inference.store.scope
        self._steps = STEPS_A_NODE * len(inference.program.rows) + 2 * STEPS_PER_CONSTRAINT * inference.store.count
        self._known: dict[int, bool] = {}

    def runs(self, size: int) -> bool | None:
        """Whether the graph runs with a size; None past the budget. What a trial has cost is known when it is over."""
        if size not in self._known and self._budget.take(self._steps):
            before = self._scope.work
            self._known[size] = self._runs(self._name, size)
            self._budget.spend(STEPS_A_TERM * (self._scope.work - before))
        return self._known.get(size)


def _demand(condition: Precondition) -> tuple[object, ...]:
    """What is the same in an inference that assumes nothing, where the dims that it is about may be other ones."""
    return condition.node, condition.message, condition.kind, condition.terms[:1], condition.least is None


def _without_demands(condition: Precondition) -> Precondition:
    return attrs.evolve(condition, weaker=tuple(one for one in condition.weaker if one.kind == "assumption"))


def _reaches_assumptions(preconditions: Sequence[Precondition]) -> bool:
    """Whether demands may follow from what is assumed.

    They are a least size that is no more than what is assumed, and equations of what is assumed to be larger than 1:
    operands that broadcast need not be equal where it is 1.
    """
    assumed = {symbol for one in preconditions if one.kind == "assumption" for symbol in one.free}
    least = {one.terms[0]: one.least for one in preconditions if one.kind == "assumption" and one.least is not None}
    for one in preconditions if assumed else ():
        if one.kind == "range":
            known = least.get(one.terms[0])
            if known is not None and one.least is not None and one.least <= known:
                return True
        elif one.kind != "assumption" and not assumed.isdisjoint(one.free):
            return True
    return False


def _told(found: Diagnostic) -> str:
    return f"{found.op.partition(' (')[0]} '{found.node}': {found.message}"


def _probes(solved: LegalSizes, asked: list[int]) -> list[int]:
    """The ends of the pieces and what is beside them, a few of each."""
    ends = {
        v
        for piece in solved.pieces[:4] + solved.pieces[-2:]
        for end in (piece[0], piece[-1])
        for v in (end - 1, end, end + 1)
    }
    return sorted(ends.union((asked[0], asked[-1])).intersection(asked))[:MAX_PROBES]
