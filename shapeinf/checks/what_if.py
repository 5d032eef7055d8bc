"""What-if runs: inferences of a graph with one change, to see whether the change is a repair.

The nodes before the change run once for all what-if runs. A run ends at the first new error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from shapeinf.checks.changes import Change
from shapeinf.checks.checked_model import CheckedModel, violations_at
from shapeinf.checks.numeric_runs import generic_bindings
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import CompiledGraph, NodeStep
from shapeinf.engine.diagnostics import collect_diagnostics
from shapeinf.engine.inference import Inference
from shapeinf.engine.session import Engine, rerun
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.options import Progress
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import TensorType
from shapeinf.result import Result
from shapeinf.solver.sampling import Binding

MAX_STEPS = 3_000_000
"""The most steps of one search, of the budget of the check: about a second of work."""
_CHECKS_COST = 4
"""The cost of the checks after a what-if run, in visits of each of its nodes."""
_START_COST = 10
"""The cost of a run from the first node on, in visits, apart from that of the axes of inputs."""
_STEPS_PER_VISIT = 50
"""The steps of a visit of a node, with the comparison of its diagnostics."""
_STEPS_PER_CONSTRAINT = 150
"""The steps to add and to check a constraint."""
_NUMERIC_RUNS = 2
"""The number of bindings at which a repaired graph must run."""

RunChecks = Callable[[CheckedModel], Iterable[Diagnostic]]
"""All diagnostics of a model."""


class _NoRepairError(Exception):
    """A what-if run shows that its change is no repair. Internal: caught in `checks.what_if`."""


class _InputRequirements:
    """What nodes require of the inputs before a change: a what-if run that requires more is no repair."""

    def __init__(self, model: CheckedModel, diagnostics: list[Diagnostic]) -> None:
        first = diagnostics[0]
        self.symbols, self.named_symbols = set(model.axes), model.named_symbols
        self.subjects = {diagnostic.subject for diagnostic in diagnostics}
        self.first = first.subject if first.code in ("C101", "C102") else ""
        self.disjunctions = {d for d in model.store.disjunctions if d.source.node == self.first}
        self.version = -1

    def are_exceeded(self, run: Inference, except_node: str) -> bool:
        """Whether new constraints of nodes but `except_node` are a new C101 or C102, or repeat the first one."""
        store = run.store
        if store.version == self.version:
            return False
        self.version = store.version
        solved = ((symbol, store.solved[symbol], source.node) for symbol, source in store.sources.items())
        required: list[tuple[Sequence[DimSize], str]] = [
            ((symbol, value), node) for symbol, value, node in solved if symbol in self.symbols
        ]
        required += [(d.operands, d.source.node) for d in store.disjunctions if d.equation is None]
        return not self.disjunctions.isdisjoint(store.disjunctions) or any(
            node != except_node and self._would_be_reported(dims, node) for dims, node in required
        )

    def _would_be_reported(self, dims: Sequence[DimSize], node: str) -> bool:
        """Whether a node fixes a dim or merges two names, and had no diagnostic before the change, or had the first."""
        numbers = [dim for dim in dims if isinstance(dim, int)]
        names = {dim for dim in dims if isinstance(dim, Dimension) and dim in self.named_symbols}
        if not node or len(names) + len(numbers) < len(dims) or len(names) + bool(numbers) != 2:
            return False
        return node == self.first or node not in self.subjects


class WhatIfRuns:
    """Runs changes of a graph within the budget of the check, and compares the diagnostics with those before."""

    def __init__(
        self, model: CheckedModel, diagnostics: list[Diagnostic], run_checks: RunChecks, nodes: Collection[int]
    ) -> None:
        """`diagnostics` are those without a change, `nodes` the indices of the nodes that may be changed."""
        self.model = model
        self.reported = {(d.code, d.subject) for d in diagnostics}
        self.inferred = {(d.code, d.node) for d in collect_diagnostics(model.result.engine.inference)}
        self.first = (diagnostics[0].code, diagnostics[0].subject)
        self.run_checks = run_checks
        self._requirements = _InputRequirements(model, diagnostics)
        self._relations = _relations(model)
        self.starts = _states_before(model, nodes)
        self._spent_before = model.budget.spent
        input_types = model.result.engine.inference.input_types.values()
        ranks = [len(t.shape.dims or ()) for t in input_types if isinstance(t, TensorType)]
        self._start_cost = _START_COST + sum(ranks) // 4

    @property
    def affordable(self) -> bool:
        """Whether the budget allows another run."""
        return self.spent < MAX_STEPS and self.model.budget.remaining > 0

    @property
    def spent(self) -> int:
        """The steps of all runs so far."""
        return self.model.budget.spent - self._spent_before

    def count_visits(self, visits: int) -> None:
        """Count visits of nodes as steps."""
        self.model.budget.spend(_STEPS_PER_VISIT * visits)

    def remaining_with_change(self, step: NodeStep, change: Change) -> tuple[int, str] | None:
        """The number of failures that remain with a change, and its text; None where it is no repair.

        A repair removes the first diagnostic, loses no known shape, and the graph runs with it at sizes that it then
        allows. With a change that makes the output of a node unknown, failures of the node itself do not count.
        """
        if not self.affordable:
            return None
        run = self.starts[step.index].fork(_apply_change(self.model.result.engine.inference.compiled, step, change))
        finish_node = _begin_at(run, step, change)
        except_node = "" if change.prepare is None else step.node_name
        run.progress = self._stop_at_new_errors(run, finish_node, except_node)
        try:
            run.run_straight(step.index)
        except (_NoRepairError, ShapeInferenceError):
            return None
        changed = self._as_model(run)
        remaining = self._count_remaining(changed, except_node)
        if remaining is None:
            return None
        text = change.text if change.solution is None else change.solution()
        return (remaining, text) if text is not None and self._runs_with_change(changed, step, change) else None

    def remaining_with_input(self, name: str, input_type: TensorType) -> int | None:
        """The number of failures that remain with another type of an input; None where it is no repair."""
        inference = self.model.result.engine.inference
        self.count_visits(self._start_cost)
        runs: list[Inference] = []

        def begin(fresh: Inference) -> None:
            runs.append(fresh)
            fresh.set_type(name, input_type)
            InputReader(fresh.store).mark_assumable(input_type)
            fresh.progress = self._stop_at_new_errors(fresh, lambda _: None)

        try:
            rerun(inference, inference.initial_store.copy(), begin, self.model.budget)
        except (_NoRepairError, ShapeInferenceError):
            return None
        changed = self._as_model(runs[0])
        remaining = self._count_remaining(changed)
        return remaining if remaining is not None and self._runs_at_numbers(changed, lambda _: None) else None

    def _stop_at_new_errors(
        self, run: Inference, finish_node: Callable[[int], None], except_node: str = ""
    ) -> Progress:
        """A progress callback that ends a run at the first new error, and where the first diagnostic recurs."""

        def progress(done: int, _: int) -> None:
            self.count_visits(1)
            finish_node(done)
            if self._requirements.are_exceeded(run, except_node):
                raise _NoRepairError
            for diagnostic in run.node_diagnostics.get(done - 1, ()):
                key = (diagnostic.code, diagnostic.node)
                lost = diagnostic.code.startswith("S2") and key not in self.inferred
                if lost or (diagnostic.severity == "error" and (key == self.first or key not in self.reported)):
                    raise _NoRepairError

        return progress

    def _as_model(self, run: Inference) -> CheckedModel:
        result = Result(Engine(run, InputReader(run.store)))
        return CheckedModel(result, self.model.ranges, what_if=True, budget=self.model.budget)

    def _count_remaining(self, changed: CheckedModel, except_node: str = "") -> int | None:
        """The number of failures at other nodes; None where one is new or is the first diagnostic.

        One name for two is a smaller change than a node whose change relates other sizes of inputs.
        """
        self.count_visits(_CHECKS_COST * len(changed.order))
        self.model.budget.spend(_STEPS_PER_CONSTRAINT * changed.store.count)
        remaining = 0
        for diagnostic in self.run_checks(changed):
            key = (diagnostic.code, diagnostic.subject)
            if diagnostic.fails and diagnostic.subject != except_node:
                if key == self.first or key not in self.reported:
                    return None
                remaining += 1
        if self.first[0] == "C102" and not _relations(changed) <= self._relations:
            return None
        return remaining

    def _runs_with_change(self, changed: CheckedModel, step: NodeStep, change: Change) -> bool:
        """Whether the changed graph runs at generic sizes that it allows."""

        def prepare(fresh: Inference) -> None:
            replace, restore = _constant_swap(fresh, change)

            def progress(done: int, _: int) -> None:
                if done == step.index:
                    replace()
                elif done == step.index + 1:
                    restore()

            fresh.progress = progress
            if step.index == 0:
                replace()

        return self._runs_at_numbers(changed, prepare)

    def _runs_at_numbers(self, changed: CheckedModel, prepare: Callable[[Inference], None]) -> bool:
        runs = 0
        for binding in generic_bindings(changed, _NUMERIC_RUNS):
            runs += 1
            self.count_visits(len(changed.order))
            violations = violations_at(changed, binding, prepare)
            if violations is None or self._has_new_violations(violations, binding):
                return False
        return runs > 0

    def _has_new_violations(self, violations: list[Diagnostic], binding: Binding) -> bool:
        """Whether a node fails at these sizes that does not fail without the change, or the first one still fails."""
        new = {(v.code, v.node) for v in violations} - self.reported
        if not new:
            return False
        without = violations_at(self.model, binding) or []
        return bool(new - {(v.code, v.node) for v in without if v.node != self.first[1]})


def _relations(model: CheckedModel) -> set[str]:
    """The equations of sizes of inputs that nodes require."""
    return {p.text for p in model.preconditions if p.kind in ("equality", "alternative") and len(p.free_symbols) > 1}


def _apply_change(compiled: CompiledGraph, step: NodeStep, change: Change) -> CompiledGraph:
    """The graph with the attributes or the inputs of a node changed."""
    if change.kind is not None:
        return compiled.replace_node(step.index, change.kind)
    if change.inputs is None:
        return compiled
    edited = compiled.replace_node(step.index, step.operation.kind)
    key, _, outputs, name = edited.rows[step.index]
    rows = list(edited.rows)
    rows[step.index] = (key, change.inputs, outputs, name)
    edited.rows = rows
    return edited


def _constant_swap(fresh: Inference, change: Change) -> tuple[Callable[[], None], Callable[[], None]]:
    """Prepares a run; returns functions to call before and after the changed node, which replace a constant for it."""
    if change.prepare is not None:
        change.prepare(fresh)
    if change.constant is None:
        return (lambda: None), (lambda: None)
    slot, new = change.constant
    old: list[int] = []

    def replace() -> None:
        old.append(fresh.numbers[slot])
        fresh.numbers[slot] = fresh.table.add(new)

    def restore() -> None:
        fresh.numbers[slot] = old.pop()

    return replace, restore


def _begin_at(run: Inference, step: NodeStep, change: Change) -> Callable[[int], None]:
    """Prepares a run that begins at the changed node; returns a function to call with the index after each node."""
    replace, restore = _constant_swap(run, change)
    replace()

    def finish_node(done: int) -> None:
        if done == step.index + 1:
            restore()

    return finish_node


def _states_before(model: CheckedModel, nodes: Collection[int]) -> dict[int, Inference]:
    """The states of the inference before each of these nodes runs."""
    inference = model.result.engine.inference
    states: dict[int, Inference] = {}
    wanted = set(nodes)

    def begin(fresh: Inference) -> None:
        def progress(done: int, _: int) -> None:
            if done in wanted:
                states[done] = fresh.fork()

        fresh.progress = progress
        if 0 in wanted:
            fresh.save_initial_store()  # a copy that later nodes do not change
            states[0] = fresh.fork()

    rerun(inference, inference.initial_store.copy(), begin, model.budget)
    return states
