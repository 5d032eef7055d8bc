"""The contract itself: its conditions, and the questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from shapeinf.algebra import Dimension
from shapeinf.algebra.budget import WORK, Budget
from shapeinf.algebra.feasible import STEPS_A_FACT
from shapeinf.algebra.labels import symbol_called
from shapeinf.contract.bodies import demands_of_bodies
from shapeinf.contract.conditions import Condition, Reader
from shapeinf.contract.merging import merged
from shapeinf.contract.sizes import LegalSizes, in_range
from shapeinf.driver.breaking import broken_laws, surely_broken
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.inference import Inference
from shapeinf.driver.inputs import as_sizes
from shapeinf.driver.update import rerun
from shapeinf.errors import ShapeError, Source

STEPS_A_NODE = 200
"""What it takes to infer a node once more, in the steps of a budget."""

MAX_PROBES = 24
"""Sizes at the ends of the solved pieces that are tried, so that a law which only shows with numbers is not missed."""


@attrs.frozen
class Answer:
    """Whether the graph runs with some sizes.

    Args:
        verdict: True, False, or None for "can't tell": it depends on data, or on dims without a value.
        reasons: what it breaks, or what is left to hold.
    """

    verdict: bool | None
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The verdict in words, and the reasons."""
        word = {True: "yes", False: "no", None: "can't tell"}[self.verdict]
        return word + (": " + "; ".join(self.reasons) if self.reasons else "")


class Contract:
    """What a graph demands of the sizes of its inputs."""

    def __init__(self, inference: Inference) -> None:
        """The contract of a finished inference."""
        self._inference = inference
        self._reader = Reader(inference)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What nodes demand beyond what user and file say; those that come to one divisibility are that one.

        Last those of bodies that may not run; they say `where`.
        """
        return (*self.always, *demands_of_bodies(self._inference))

    @cached_property
    def always(self) -> tuple[Condition, ...]:
        """Those of the conditions that hold whenever the graph runs, whatever bodies of it do."""
        return tuple(merged(self._reader))

    def __iter__(self) -> Iterator[Condition]:
        """The conditions."""
        return iter(self.conditions)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.conditions)

    def __str__(self) -> str:
        """One condition a line."""
        return "\n".join(map(str, self.conditions)) or "nothing is demanded of the inputs"

    def check(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> Answer:
        """Whether the graph runs with these sizes; names that are no identifiers go into the mapping.

        The graph is inferred with the sizes put in, so that every law of every operator has its say. Raises
        UnknownNameError for a dim that no input has.
        """
        asked = as_sizes({**(sizes or {}), **more})
        return self._for(asked)._tried(asked)[0]

    def _for(self, sizes: Mapping[str, int]) -> Contract:
        """The contract where these sizes are looked at: those below `min_dim` need dims that may be so small."""
        symbols = {self._symbol(name): size for name, size in sizes.items()}
        lower = {s.name: n for s, n in symbols.items() if 0 <= n < (s.symbol.lo or 0) and not s.symbol.anonymous}
        again = self._inference.again
        return Contract(again(lower)) if lower and again is not None else self

    def _tried(self, sizes: Mapping[str, int]) -> tuple[Answer, Inference | None]:
        facts = self._inference.setup.copy()
        try:
            for name, size in sizes.items():
                facts.tell_equal(self._symbol(name), size, Source("", f"{name} is asked to be {size}"))
        except ShapeError as error:
            return Answer(False, (str(error),)), None
        found = rerun(self._inference, facts)
        broken = list(broken_laws(found))
        errors = tuple(_told(law) for law, certain in broken if certain)
        if errors:
            return Answer(False, errors), found
        if broken:
            return Answer(None, tuple(_told(law) for law, _ in broken)), found
        if any(not step.operation.known for step in found.program.steps):
            return Answer(None, ("an operator without a rule may demand anything",)), found
        left = Contract(found).conditions
        return Answer(None if left else True, tuple(map(str, left))), found

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
        from shapeinf.algebra.integer_sets import values_of  # loading isl takes a while

        symbol = self._symbol(name)
        if not asked or self._failed(self._inference):
            return LegalSizes(name, (), "evaluation")
        found = values_of(self._inference.facts, symbol, asked[0], asked[-1], budget)
        if found is not None:
            solved = LegalSizes(name, tuple(sorted(set(found).intersection(asked))), "isl")
            if all(self._runs(name, v) == (v in solved.values) for v in _probes(solved, asked)):
                return solved
        facts = self._inference.facts.count
        steps = STEPS_A_NODE * len(self._inference.program.rows) + 2 * STEPS_A_FACT * facts
        tried = [v for v in asked if budget.take(steps)]
        legal = tuple(v for v in tried if self._runs(name, v))
        return LegalSizes(name, legal, "evaluation", tuple(asked[len(tried) :]))

    def _runs(self, name: str, size: int) -> bool:
        return self._tried({name: size})[0].verdict is not False

    @staticmethod
    def _failed(inference: Inference) -> bool:
        return bool(surely_broken(inference))

    def _symbol(self, name: str) -> Dimension:
        return symbol_called(self._reader.labels, name)


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
