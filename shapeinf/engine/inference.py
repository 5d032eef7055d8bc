"""One inference: the state of a run of the rules of a compiled graph. `propagate` runs all nodes.

`session` creates the inferences of whole models, `bodies` those of the graphs inside nodes,
and results read them. What one needs to know:

- A type has a number in the `TypeTable`; the inference has the number of each slot (a value of the graph).
- A call of a rule is memoized by its operation and the numbers of its inputs' types; contents of an input belong to the
  key only where the rule reads them. Constraints are only added, so that an entry stays sound. A call that created
  unknowns is not memoized, since unknowns have the name of their node, and neither is a contradiction.
- A node that may not run (`conditions`) has a memo of its own, and its constraints are undone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol

import attrs

from shapeinf.compilation import attribute_names
from shapeinf.constraints.conditions import try_condition
from shapeinf.diagnostics import Diagnostic, Severity
from shapeinf.engine.compiled import CompiledGraph, NodeStep, Operation
from shapeinf.engine.conditions import truth_of, truths_of_join
from shapeinf.engine.records import Key, OpenCall, Repetition, UnusedSize
from shapeinf.engine.repeated_calls import RepeatableCall, RepeatedCalls, is_repeatable, repeated_outputs
from shapeinf.engine.saved_store import SavedStore, state_of
from shapeinf.engine.type_table import NOTHING, TypeTable, unknown_type
from shapeinf.errors import ModelError, NotKnown, ShapeError, Source, UnknownOperatorError
from shapeinf.graph import MISSING, UNUSED, FunctionKey, Row
from shapeinf.inputs.options import DeclaredMode, Progress
from shapeinf.lattice import Condition, ShapeStore, TensorType, Type, relax_type
from shapeinf.lattice.truths import Truth
from shapeinf.lattice.types import operand_text
from shapeinf.ops import Body, Call, Contents, Outcome, unknown_outputs
from shapeinf.solver.budget import CUT, Budget, bodies_budget

Refine = Callable[["Inference", int, int], int]
"""Compares the inferred type of a slot with its declaration: `refine(inference, number of the type, index of the row)`
returns the number of the refined type."""


class BodyRunner(Protocol):
    """Runs the graphs inside a node; `bodies` implements it, and imports this module."""

    def bind_bodies(self, outer: Inference, step: NodeStep) -> Mapping[str, Body]:
        """The bodies of a node, by the name of the attribute."""

    def expand(self, outer: Inference, step: NodeStep, types: Sequence[Type | None]) -> list[Type] | None:
        """The output types of a node that is defined by a graph; None where none is defined for these inputs."""


_NONE, _TOGETHER = Contents.NONE, Contents.TOGETHER


class Inference:
    """The state of one inference: the number of a type for each slot, the store, the memo, the diagnostics.

    `outer` is the inference whose node runs this graph as a body; both share store, types and, where the body is
    certain to run, the memo. `path` is the prefix of the names of its nodes: empty for a model, else that of the body.
    """

    visited = 0
    """The number of nodes that the last run or update visited."""
    created_unknowns = False
    """Whether a call since the caller last reset this created unknowns."""
    declared_mode: DeclaredMode = "ignore"
    """How the declared types of node outputs are used."""
    infer_again: Callable[[Mapping[str, int]], Inference] | None = None
    """The inference without assumptions, with dims that may be this small; None for a what-if run. See `cases`."""

    # Of a body:
    previous_run: Inference | None = None
    """The run of the same body before this one, where both count: two iterations of a loop."""
    undone: tuple[ShapeStore, ShapeStore] | None = None
    """The store before and after the run, where the constraints of the body were undone since it may not run."""

    _conditional = False
    """Whether the current node may not run."""
    _saved: SavedStore | None = None
    """The last copy of the store before such a node, or before a body that may not run."""

    def __init__(
        self,
        compiled: CompiledGraph,
        store: ShapeStore,
        strict: bool,
        progress: Progress | None = None,
        *,
        body_runner: BodyRunner,
        outer: Inference | None = None,
        path: str = "",
        certain: bool = True,
        budget: Budget | None = None,
    ) -> None:
        """No node has run; the caller sets the types of inputs and constants."""
        self.compiled = compiled
        self.store = store
        self.strict = strict
        self.progress = progress
        self.body_runner = body_runner
        self.path = path
        self.certain = certain
        self.assumptions: tuple[str, ...] = ()
        """What the user specifies besides the dims of inputs: values of inputs, sizes that depend on data."""
        self.repeated = Repetition(1)
        """How many trips this run of a body stands for."""
        self.table: TypeTable = TypeTable(store) if outer is None else outer.table
        self.call_stack: tuple[FunctionKey, ...] = () if outer is None else outer.call_stack
        """The functions whose bodies are running, this one included."""
        self.budget: Budget = (
            outer.budget if outer is not None else budget or bodies_budget(len(compiled.rows), store.scope)
        )
        """For the runs of bodies: nested loops and calls run theirs many times."""
        self.numbers = [0] * (len(compiled.names) + 2)  # the last two for MISSING (-1) and UNUSED (-2)
        self.input_types: dict[str, Type | None] = {}
        """The types of inputs and constants before any node has run, by name."""
        self.node_diagnostics: dict[int, list[Diagnostic]] = {}
        self.reasons: dict[int, str] = {}
        """Why the outputs of a node are unknown."""
        self.rejected: dict[tuple[str, str], str] = {} if outer is None else outer.rejected
        """The first node of each operator without a rule, by domain and operator."""
        self.completed: set[str] = set() if outer is None else outer.completed
        """The values whose inferred types a declaration may have completed."""
        self.children: dict[int, dict[str, Inference]] = {}
        """The last run of each body of a node."""
        self.extra_runs: dict[int, list[Inference]] = {}
        """Runs of bodies for inputs that are certain to occur, such as those of the last iteration of a loop."""
        self.open_calls: list[OpenCall] = []
        """The calls that created unknowns, in order."""
        self.unused_sizes: dict[tuple[str, int], UnusedSize] = {}
        """Declared sizes that would limit the inputs, by value and axis."""
        self.exits: dict[int, int] = {}
        """For slots whose value leaves a loop, the number of its type behind the loop, where that is inferred."""
        self.make_refiners: Callable[[Inference], dict[int, Refine]] | None = (
            None if outer is None else outer.make_refiners
        )
        """Makes the `refiners` of a graph; None where declarations are ignored."""
        self.refiners: dict[int, Refine] = {} if self.make_refiners is None else self.make_refiners(self)
        """For each slot with a declared type, what compares the inferred one with it."""
        self._initial_store: ShapeStore | None = store
        self._initial_version = store.version
        self._memo: dict[Key, Sequence[int]] = {} if outer is None or not certain else outer._memo
        self._conditional_memos: dict[Truth, dict[Key, Sequence[int]]] = {}
        """The memos of nodes that may not run, by what holds where they do: their constraints are undone."""
        self._repeatable: RepeatedCalls = {}

    def save_initial_store(self) -> None:
        """Store the constraints of file and user for `initial_store`; call it before the first node runs."""
        store = self.store
        self._initial_version = store.version
        if store.is_empty:  # mostly: all types are canonical, and the copy is made on first use
            self._initial_store = None
        else:
            self._initial_store = store.copy()

    @property
    def initial_store(self) -> ShapeStore:
        """The constraints of file and user, without those of nodes."""
        if self._initial_store is None:
            self._initial_store = self.store.copy_empty()
        return self._initial_store

    @property
    def nodes_added_constraints(self) -> bool:
        """Whether nodes added constraints, which a run for other inputs must not keep."""
        return self.store.version != self._initial_version

    def set_type(self, name: str, new: Type | None) -> None:
        """Set the type of an input or constant; None where nothing is known of it."""
        self.input_types[name] = new
        self.numbers[self.compiled.slots[name]] = 0 if new is None else self.table.add_any(new)  # a dim may be bound

    def fork(self, compiled: CompiledGraph | None = None) -> Inference:
        """An independent copy to run further, within the same budget; `compiled` may have other nodes on its slots.

        It ignores declarations and reports no progress.
        """
        other = self._copy()
        if compiled is not None:
            other.compiled = compiled
        other.store = self.store.copy()
        other.table = self.table.fork(other.store)
        other.numbers, other.input_types, other.reasons = list(self.numbers), dict(self.input_types), dict(self.reasons)
        other.node_diagnostics = {index: list(notes) for index, notes in self.node_diagnostics.items()}
        other.children = {index: dict(bodies) for index, bodies in self.children.items()}
        other.extra_runs, other.visited, other.progress = {}, 0, None
        other.declared_mode, other.make_refiners, other.refiners, other.infer_again = "ignore", None, {}, None
        other.open_calls, other.unused_sizes = [], {}
        other._memo, other._repeatable = dict(self._memo), dict(self._repeatable)
        other._conditional_memos = {known: dict(memo) for known, memo in self._conditional_memos.items()}
        other._saved = None
        return other

    def _copy(self) -> Inference:
        """An inference whose attributes are those of this one."""
        other = Inference(self.compiled, self.store, self.strict, body_runner=self.body_runner, budget=self.budget)
        for name in attribute_names(self):
            setattr(other, name, getattr(self, name))
        return other

    # -- running -----------------------------------------------------------------------------------------------------

    def require_run(self, rows: int) -> None:
        """Take the steps of a run of a body with this number of nodes. Raises NotKnown past the budget."""
        if not self.budget.take_run(rows):
            raise NotKnown(f"the bodies of this model run too many nodes to be inferred: {CUT}")

    def what_if_copy(self) -> Inference:
        """A copy for a run whose types are not kept; store, types and budget are those of this inference."""
        other = self._copy()
        other.numbers, other.exits, other.progress = list(self.numbers), dict(self.exits), None
        other.node_diagnostics, other.reasons, other.children, other.extra_runs = {}, {}, {}, {}
        other.open_calls, other.unused_sizes = [], {}
        other._memo, other._conditional_memos, other._repeatable, other._saved = {}, {}, {}, None
        return other

    def run_straight(self, start: int = 0) -> None:
        """Run the rows of an acyclic graph once, in order, from the index `start` on."""
        compiled, numbers, refiners, progress = self.compiled, self.numbers, self.refiners, self.progress
        operations, memo, all_run = compiled.operations, self._memo, compiled.conditional is None
        type_only, canonical = self.table.type_only, self.table.canonical
        for index, row in enumerate(compiled.rows[start:] if start else compiled.rows, start):
            row_key, inputs, slots, _ = row
            operation = operations[row_key]
            contents = operation.contents
            numbering = type_only if contents is _NONE else canonical
            if len(inputs) == 2:  # the keys of most nodes, without a call of `_key`: it costs more than the rest
                first, second = numbering[numbers[inputs[0]]], numbering[numbers[inputs[1]]]
                if contents is _TOGETHER and (type_only[first] == first or type_only[second] == second):
                    first, second = type_only[first], type_only[second]
                key: Key = (operation, first, second)
            elif len(inputs) == 1:
                key = (operation, numbering[numbers[inputs[0]]])
            else:
                key = self._key(operation, inputs)
            outputs = memo.get(key) if all_run else self._outputs_if_it_runs(index, row)
            if outputs is None:
                outputs = self._call(index, row, operation, key)
            if len(slots) == 1 and slots[0] not in refiners:
                numbers[slots[0]] = outputs[0]
            else:
                for slot, number in zip(slots, outputs, strict=False):
                    numbers[slot] = refiners[slot](self, number, index) if slot in refiners else number
            if progress is not None:
                progress(index + 1, len(compiled.rows))
        self.visited += len(compiled.rows) - start

    def forget_calls(self) -> None:
        """Clear the memo, after constraints were undone on which calls may depend."""
        self._memo.clear()
        self._conditional_memos.clear()

    def update(self, changed: Iterable[int]) -> None:
        """Visit the nodes that read a changed slot, and in turn those that read a slot that this changes.

        For acyclic graphs: each node is visited once.
        """
        consumers = self.compiled.dependents
        heap = sorted({reader for slot in changed for reader in consumers[slot]})
        queued = set(heap)
        while heap:
            index = heapq.heappop(heap)
            for slot in self.visit(self.compiled.step(index)):
                for reader in consumers[slot]:
                    if reader not in queued:
                        queued.add(reader)
                        heapq.heappush(heap, reader)

    def visit(self, step: NodeStep, relax: bool = False) -> list[int]:
        """Run one node, perhaps again; the slots whose type has changed.

        With `relax` an output becomes the join of its old and its new type.
        """
        self.visited += 1
        for table in (self.node_diagnostics, self.reasons, self.children, self.extra_runs):
            table.pop(step.index, None)
        changed = []
        row = self.compiled.rows[step.index]
        outputs: Sequence[int]
        if self.exits and step.operation.leaves_loop and row[1][0] in self.exits:
            outputs = (self.exits[row[1][0]],)
        else:
            conditional = self.compiled.conditional is not None
            outputs = self._outputs_if_it_runs(step.index, row) if conditional else self.outputs_of(step.index, row)
        for slot, number in zip(step.outputs, outputs, strict=False):
            if slot == UNUSED:
                continue
            if slot in self.refiners:
                number = self.refiners[slot](self, number, step.index)
            old = self.table.canonical[self.numbers[slot]]
            if relax and old:
                number = self._join(old, number, f"{self.path}{step.node_name}:{slot}")
            if old != self.table.canonical[number]:
                self.numbers[slot] = number
                changed.append(slot)
        return changed

    def _join(self, a: int, b: int, label: str) -> int:
        """The join of two types, by number."""
        left, right = self.table.get(a), self.table.get(b)
        assert left is not None and right is not None
        return self.table.add(relax_type(self.store.relaxer, left, right, label))

    def type_of(self, slot: int) -> Type | None:
        """The type of a slot, in canonical form; None for a value that no node has computed."""
        return self.table.get(self.numbers[slot])

    def shared_call_key(self, step: NodeStep) -> Hashable:
        """A key that is equal for nodes that share a memoized call: the first one ran, the others took its outputs."""
        numbers = map(self.numbers.__getitem__, step.inputs)
        return (id(self._memo), step.operation, *map(self.table.canonical.__getitem__, numbers))

    # -- one node ----------------------------------------------------------------------------------------------------

    def outputs_of(self, index: int, row: Row) -> Sequence[int]:
        """The numbers of the output types of a row."""
        operation = self.compiled.operations[row[0]]
        key = self._key(operation, row[1])
        outputs = self._memo.get(key)
        return self._call(index, row, operation, key) if outputs is None else outputs

    def call_key(self, index: int) -> Key:
        """The key of the call of a row, for the types that its inputs have now."""
        row = self.compiled.rows[index]
        return self._key(self.compiled.operations[row[0]], row[1])

    def _key(self, operation: Operation, inputs: Sequence[int]) -> Key:
        """The key of a call in the memo: types without contents where the rule reads none."""
        contents = operation.contents
        numbering = self.table.type_only if contents is _NONE else self.table.canonical
        types = [*map(numbering.__getitem__, map(self.numbers.__getitem__, inputs))]
        if contents is _TOGETHER:
            without = [*map(self.table.type_only.__getitem__, types)]
            if any(map(int.__eq__, types, without)):  # an absent input has no contents to lack
                lacks = any([a == b != NOTHING for a, b in zip(types, without, strict=True)])
                types = without if lacks else types
        return (operation, *types)

    def _outputs_if_it_runs(self, index: int, row: Row) -> Sequence[int]:
        """As `outputs_of`; a node that may not run leaves no constraint and no error behind."""
        conditional, store = self.compiled.conditional, self.store
        if conditional is None or not conditional[index]:
            return self.outputs_of(index, row)
        before = self.save_store()
        state = self._memo, self.certain, store.certain
        self.certain, store.certain, self._conditional = False, False, True
        condition = truth_of(self.compiled.guards.rows.get(index, ()), self.type_of)
        self._memo = self._conditional_memos.setdefault(condition, {})
        try:
            source = Source("", "the condition of the branch")
            if not isinstance(condition, Condition) or not try_condition(store, condition.expression, source):
                return self.outputs_of(index, row)
            types = map(self.table.types.__getitem__, self.outputs_of(index, row))
            return [0 if t is None else self.table.add_any(t) for t in types]
        finally:
            self._memo, self.certain, store.certain = state
            self._conditional = False
            self.restore_store(before)

    def save_store(self) -> SavedStore:
        """A copy of the store; the last one again as long as nothing has changed."""
        if self._saved is None or self._saved.differs_from(self.store):
            self._saved = SavedStore.copy_of(self.store)
        return self._saved

    def restore_store(self, saved: SavedStore) -> None:
        """Undo what was added to the store since it was saved."""
        if saved.differs_from(self.store):
            self.store.reset(saved.store)
            self._saved = SavedStore(saved.store, state_of(self.store))

    def _call(self, index: int, row: Row, operation: Operation, key: Key) -> Sequence[int]:
        """The numbers of the output types of a row whose key is not in the memo; it is added where that is sound."""
        if self._repeatable:
            outputs = repeated_outputs(self._repeatable, index, row[1], operation, key[1:])
            if outputs is not None:
                return outputs
        table = self.table
        known = table.types
        types = [known[key[1]]] if len(key) == 2 else [*map(known.__getitem__, key[1:])]
        created_before = self.created_unknowns
        self.created_unknowns = False
        try:
            if operation.call is None or operation.bodies or self.strict:
                outputs = self._run_step(self.compiled.step(index), types)
            else:
                outputs = self._apply_rule(index, row, operation, operation.call, types)
        except ShapeError as error:
            outputs = self._handle_error(error, self.compiled.step(index), types)
        if not self.created_unknowns and not operation.bodies:  # each node with bodies has runs of its own
            self._memo[key] = outputs
        elif self._leaves_repeatable(index, row, operation):
            self._repeatable[operation.kind.op, row[1]] = RepeatableCall(index, operation, key[1:], outputs)
        if self.created_unknowns:
            self.open_calls.append(OpenCall(index, key, len(self.store.changed_symbols)))
        self.created_unknowns = created_before or self.created_unknowns
        table.keep_up()
        return outputs

    def _leaves_repeatable(self, index: int, row: Row, operation: Operation) -> bool:
        """Whether the outputs of the last call hold for a later node that is equal to this one."""
        silent = index not in self.node_diagnostics and index not in self.reasons
        straight = self.compiled.groups is None and not self._conditional
        return silent and straight and is_repeatable(operation, row[1])

    def _run_step(self, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """The outputs of a row that needs its node: in strict mode, with bodies, or of an operator without a rule."""
        with self.store.relaxer.inside(f"{step.index}/"):  # its name may be that of another node's output
            return self._run_operation(step, types)

    def _run_operation(self, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """The outputs of `_run_step`, while joins are those of this node."""
        operation = step.operation
        if operation.call is None:
            return self._expand(step, types) if operation.known else self._reject_operator(step, types)
        if self.strict and any(isinstance(t, TensorType) and t.dtype is None for t in types):
            raise ShapeError("the element type of an input is not known", code="S104")
        bodies: Mapping[str, Body] | None = None
        if operation.bodies:
            bodies = self.body_runner.bind_bodies(self, step)
            types = types[: len(step.arguments)]
        row = self.compiled.rows[step.index]
        return self._apply_rule(step.index, row, operation, operation.call, types, bodies)

    def _handle_error(self, error: ShapeError, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """The outputs of a node that failed: unknown, with a diagnostic. Raises the error in strict mode."""
        node_name = self.path + step.node_name
        if error.node is None:
            error.node, error.op = node_name, step.operation.kind.op
        may_raise = self.certain or (error.code != "S101" and not self._conditional)
        if self.strict and may_raise:  # a branch with an error may never run
            error.location = error.location or self.compiled.graph.locations.get(step.node.name, "")
            raise error
        note = error.as_diagnostic(node_name, str(step.operation), self.operands(step))
        return self._set_unknown(step, note, types, error.outputs)

    def _apply_rule(
        self,
        index: int,
        row: Row,
        operation: Operation,
        call: Call,
        types: Sequence[Type | None],
        bodies: Mapping[str, Body] | None = None,
    ) -> Sequence[int]:
        """The numbers of the output types of a rule; unknown with a diagnostic (S301) where the rule itself fails."""
        node_name = self.path + (row[3] or self.compiled.step(index).node_name)
        try:
            if operation.changes_conditions:
                outcome = call.run(
                    types, self.store, node_name, conditions=truths_of_join(index, self.compiled.guards, self.type_of)
                )
            else:
                outcome = call.run(types, self.store, node_name, bodies)
            add, outputs = self.table.add, outcome.types
            numbers = [add(outputs[0])] if len(outputs) == 1 else [add(output) for output in outputs]
        except (ShapeError, ModelError):
            raise
        except Exception as error:  # an error of one rule must not stop the inference
            message = f"the rule of this operator failed: {type(error).__name__}: {error}"
            step = self.compiled.step(index)
            note = Diagnostic("error", "S301", message, node_name, str(operation), self.operands(step))
            return self._set_unknown(step, note, types)
        reported = outcome.warnings or outcome.violations
        if outcome.fresh or reported:
            self.created_unknowns = True
        if reported or outcome.unknown is not None:
            self._report_outcome(self.compiled.step(index), outcome, types)
        return numbers

    def _report_outcome(self, step: NodeStep, outcome: Outcome, types: Sequence[Type | None]) -> None:
        """Add the diagnostics of an outcome with warnings, violations or unknown outputs.

        Raises a violation in strict mode.
        """
        if outcome.violations and self.strict:
            raise outcome.violations[0]
        severities: tuple[tuple[Severity, tuple[ShapeError, ...]], ...] = (
            ("warning", outcome.warnings),
            ("error", outcome.violations),
        )
        for severity, errors in severities:
            for error in errors:
                note = error.as_diagnostic(
                    self.path + step.node_name, str(step.operation), self.operands(step), severity
                )
                self.node_diagnostics.setdefault(step.index, []).append(note)
        if outcome.unknown is not None:
            self._note_unknown(step, outcome.unknown, types)

    def _expand(self, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """The outputs of a node that is defined by a graph: a function, or a definition by other operators."""
        try:
            outputs = self.body_runner.expand(self, step, types)
        except NotKnown as unknown:
            self.created_unknowns = True
            self._note_unknown(step, unknown.reason, types)
            return self._unknown_outputs(step, types)
        return self._reject_operator(step, types) if outputs is None else [self.table.add(output) for output in outputs]

    def _reject_operator(self, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """The outputs of an operator without a rule: unknown, with a warning (S201) of its first node only.

        Raises UnknownOperatorError in strict mode.
        """
        operation, node_name = step.operation, self.path + step.node_name
        if self.strict:
            raise UnknownOperatorError(node_name, str(operation))
        cause = "operator is not known" if operation.op_def is None else "operator has no shape rule"
        note = Diagnostic("warning", "S201", f"{cause}: its outputs are unknown", node_name, str(operation))
        if self.rejected.setdefault((operation.kind.domain, operation.kind.op), node_name) != node_name:
            self.created_unknowns = True
            self.reasons[step.index] = note.message
            return self._unknown_outputs(step, types)
        return self._set_unknown(step, note, types)

    def _set_unknown(
        self,
        step: NodeStep,
        diagnostic: Diagnostic,
        types: Sequence[Type | None],
        outputs: Sequence[Type] | None = None,
    ) -> Sequence[int]:
        """The unknown outputs of a node with this diagnostic, which is added; `outputs` if the rule states them."""
        self.created_unknowns = True
        diagnostic = downgrade(diagnostic) if self._conditional else diagnostic
        self.node_diagnostics.setdefault(step.index, []).append(diagnostic)
        self.reasons[step.index] = diagnostic.message
        return self._unknown_outputs(step, types) if outputs is None else [self.table.add(t) for t in outputs]

    def _unknown_outputs(self, step: NodeStep, types: Sequence[Type | None]) -> Sequence[int]:
        """Outputs of unknown shape, with the kinds and element types of the operator's definition."""
        operation = step.operation
        if operation.op_def is None:
            return [self.table.add(unknown_type()) for _ in step.outputs]
        arguments = types[: len(step.arguments)]
        outputs = unknown_outputs(operation.op_def, operation.kind.attrs, len(step.outputs), arguments)
        return [self.table.add(output) for output in outputs]

    def _note_unknown(self, step: NodeStep, reason: str, types: Sequence[Type | None]) -> None:
        """Store why outputs are unknown; with a warning (S202), unless an input is of unknown rank already."""
        self.reasons[step.index] = reason
        if any(getattr(t, "shape", None) is not None and t.shape.dims is None for t in types):  # type: ignore[union-attr]
            return
        message = f"the shape of {', '.join(o for o in step.node.outputs if o)} is unknown: {reason}"
        note = Diagnostic(
            "warning", "S202", message, self.path + step.node_name, str(step.operation), self.operands(step)
        )
        self.node_diagnostics.setdefault(step.index, []).append(note)

    def operands(self, step: NodeStep) -> tuple[str, ...]:
        """The inputs of a node, a line each: name, type, and producer."""
        lines = []
        for name, slot in zip(step.node.inputs, step.inputs, strict=False):
            if slot == MISSING:
                continue
            producer = self.compiled.producers[slot]
            origin = (
                f"from {self.compiled.step(producer).node_name}" if producer is not None else "an input or constant"
            )
            lines.append(f"{name}  {operand_text(self.type_of(slot))}   {origin}")
        return tuple(lines)


def downgrade(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic of a node that may never run: an error is a warning there."""
    return attrs.evolve(diagnostic, severity="warning") if diagnostic.severity == "error" else diagnostic
