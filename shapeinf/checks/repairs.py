"""Repairs: small changes of one node with which failures vanish. They indicate the node that is wrong.

Where the file declares nothing, the first failure is at a node downstream of the wrong one. So each node upstream of it
is changed in a what-if run: an attribute, a constant, or a size that it computes. A change that removes the first
failure and adds none is a repair; where all repairs are of one node, that node is the likely cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal

import attrs

from shapeinf.checks.changes import (
    ATTRIBUTE,
    INPUT,
    NUMBERS,
    SOLVED,
    Change,
    attribute_changes,
    has_own_sizes,
    integers_in,
    list_changes,
    operand_changes,
    outline,
    outline_changes,
    preserves_shape,
    size_changes,
)
from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.what_if import MAX_STEPS, RunChecks, WhatIfRuns
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, DimSize
from shapeinf.graph import MISSING, UNUSED, Node
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

Candidates = Literal["all", "inputs", "sizes"]
"""What is changed: nodes and inputs, only inputs, or only nodes that compute sizes for that of the first failure."""
_MAX_NODES = 300
"""The most nodes that are changed."""
_MAX_NUMBERS_IN_STATES = 1_000_000
"""The most type numbers that the states before all candidate nodes may hold."""
_MAX_NAMES = 4
"""The number of names of inputs that are candidates for a missing size."""

C114 = register_code(
    "C114", "warning", "a node or input that is likely wrong", "With a small change of it no other diagnostic remains."
)


@attrs.frozen
class Repair:
    """A change of a node (or of an input, then without an operator) that removes the first failure.

    Args:
        node: the node or input.
        op: the operator.
        change: the change as text: `perm (0, 2, 1) instead of (0, 1, 2)`.
        remaining: the number of failures that remain.
        weight: the kind of the change; a lower one is more likely.
    """

    node: str
    op: str
    change: str
    remaining: int
    weight: int


def likely_cause(
    model: CheckedModel, failures: list[Diagnostic], run_checks: RunChecks, candidates: Candidates = "all"
) -> tuple[Diagnostic, bool] | None:
    """C114: the input or node whose change repairs the model, and whether it is the only one.

    None where there is no repair, or the best one is of the node of the first failure. Where a single node fails, and
    reads one value besides constants, only repairs of attributes and numbers count.
    """
    repairs, is_complete = find_repairs(model, failures, run_checks, candidates)
    if candidates == "sizes":
        repairs = [repair for repair in repairs if repair.remaining == 0]
    if _is_local_failure(model, failures):
        repairs = [repair for repair in repairs if repair.weight in (ATTRIBUTE, NUMBERS)]
    if _equates_inputs(model, failures[0]):  # any size that has one of the names may then have the other
        repairs = [repair for repair in repairs if repair.weight != SOLVED]
    nodes = [repair.node for repair in repairs]
    if not nodes or nodes[0] == failures[0].node:
        return None
    repair, others = repairs[0], nodes[1:]
    alternatives = f"; it also vanishes with a change of {', '.join(others)}" if others else ""
    message = f"{repair.node} is likely wrong: with {repair.change} the failure vanishes{alternatives}"
    only = "the only tested change" if is_complete and not others else "a change"
    because = f"this is {only} of one node that removes the failure at {failures[0].subject}"
    node, tensor = (repair.node, "") if repair.op else ("", repair.node)
    location = model.location(node)
    cause = Diagnostic("warning", C114, message, node, repair.op, tensor=tensor, because=because, location=location)
    return cause, not others


def find_repairs(
    model: CheckedModel, failures: list[Diagnostic], run_checks: RunChecks, candidates: Candidates = "all"
) -> tuple[list[Repair], bool]:
    """The repairs of the first failure, and whether every candidate was tested.

    Those with the fewest remaining failures come first; of these, those of a lower weight, then the nearest.
    """
    first, inference = failures[0], model.result.engine.inference
    if first.code in ("C101", "C102") and model.reads_sizes(first.node):
        return [], True  # the node itself reads the constant with the size
    indices = _upstream_nodes(inference, _node_index(model, first), candidates == "sizes")
    if not indices:
        return [], True
    runs = WhatIfRuns(model, failures, run_checks, () if candidates == "inputs" else indices)
    search = _RepairSearch(model, runs, first.severity == "error")
    for name in () if candidates == "sizes" else model.input_dims:
        input_type = inference.input_types[name]
        if isinstance(input_type, TensorType) and name not in model.graph.constants:
            search.test_input(name, input_type)
    steps = [] if candidates == "inputs" else [inference.compiled.step(index) for index in indices]
    for changes_of in (attribute_changes, search.operand_changes, search.size_changes):
        for step in steps:
            search.test_changes(step, changes_of(step))
    nearby = _nearby_nodes(inference, indices[0])
    for step in steps if first.severity == "error" or first.code in ("C101", "C105") else ():
        if step.index in nearby:
            search.test_changes(step, outline_changes(inference, step))
    is_complete = search.is_complete and runs.affordable and len(indices) < _MAX_NODES
    return sorted(search.repairs, key=lambda repair: (repair.remaining, repair.weight)), is_complete


def _is_local_failure(model: CheckedModel, failures: list[Diagnostic]) -> bool:
    """Whether all failures are errors at one node that reads one value besides constants."""
    node = model.nodes.get(failures[0].node)
    if node is None or any(f.severity != "error" or f.node != failures[0].node for f in failures):
        return False
    return len({name for name in node.inputs if name and name not in model.graph.constants}) <= 1


def _equates_inputs(model: CheckedModel, first: Diagnostic) -> bool:
    """Whether a failure is that two names of different inputs must be one size."""
    pairs = (p.free_symbols for p in model.preconditions if first.code == "C102" and p.node == first.node)
    inputs = [[{name for name, _ in model.axes.get(symbol, ())} for symbol in pair] for pair in pairs]
    return bool(inputs) and all(len(names) == 2 and names[0].isdisjoint(names[1]) for names in inputs)


# -- the graph upstream of the first failure -------------------------------------------------------------------------


def _node_index(model: CheckedModel, first: Diagnostic) -> int | None:
    """The index of the node of a failure, or of the node whose body contains it; None for no node of the graph."""
    node = model.nodes.get(first.node) or _enclosing_node(model, first.node)
    if node is None:
        return None
    output = next((name for name in node.outputs if name), None)
    compiled = model.result.engine.inference.compiled
    return None if output is None else compiled.producers[compiled.slots[output]]


def _enclosing_node(model: CheckedModel, inner: str) -> Node | None:
    """The node whose body contains a node: `loop` for `loop/add`; None for a node outside of bodies."""
    around = [name for name in model.nodes if name and inner.startswith(f"{name}/")]
    return model.nodes[max(around, key=len)] if around else None


def _input_slots(inference: Inference, index: int) -> list[int]:
    return [slot for slot in inference.compiled.step(index).inputs if slot != MISSING]


def _nearby_nodes(inference: Inference, index: int) -> set[int]:
    """The producers of the inputs of a node, through nodes that preserve the shape."""
    nearby: set[int] = set()
    stack = [index]
    while stack:
        for slot in _input_slots(inference, stack.pop()):
            producer = inference.compiled.producers[slot]
            if producer is not None and producer not in nearby:
                nearby.add(producer)
                stack += [producer] if preserves_shape(inference, inference.compiled.step(producer)) else []
    return nearby


def _upstream_nodes(inference: Inference, index: int | None, by_sizes: bool) -> list[int]:
    """A node and those upstream of it (`by_sizes`: through integers only), the latest first; none in cyclic graphs."""
    if index is None or inference.compiled.groups is not None:
        return []
    upstream, stack = {index}, [index]
    while stack:
        for slot in _input_slots(inference, stack.pop()):
            producer = inference.compiled.producers[slot]
            if by_sizes and integers_in(inference.table.types[inference.numbers[slot]]) is None:
                continue
            if producer is not None and producer not in upstream:
                upstream.add(producer)
                stack.append(producer)
    return sorted(upstream, reverse=True)[: min(_MAX_NODES, _MAX_NUMBERS_IN_STATES // len(inference.numbers))]


# -- the search ------------------------------------------------------------------------------------------------------


class _RepairSearch:
    """Tests changes of nodes and inputs, and collects the repairs."""

    def __init__(self, model: CheckedModel, runs: WhatIfRuns, is_error: bool) -> None:
        """`is_error`: a node certainly fails, so that a weight may be wrong."""
        self.model = model
        self.runs = runs
        self.repairs: list[Repair] = []
        self.is_complete = True
        """Whether all pairs of axes of inputs were tested."""
        compiled = model.result.engine.inference.compiled
        self.constants = {compiled.slots[name] for name in model.graph.constants}
        self.weights = self.constants if is_error else set()

    def operand_changes(self, step: NodeStep) -> Iterator[Change]:
        """Changes of the operands of a node."""
        return operand_changes(self.model.result.engine.inference, step)

    def size_changes(self, step: NodeStep) -> Iterator[Change]:
        """Changes of the sizes that a node computes."""
        inference = self.model.result.engine.inference
        own_sizes = has_own_sizes(inference, step, self.constants)
        yield from size_changes(inference, step, own_sizes, self.weights)
        sizes: list[DimSize] = [*sorted(self.model.named_symbols, key=str)[:_MAX_NAMES], -1]
        yield from list_changes(inference, step, sizes) if own_sizes else ()

    def test_changes(self, step: NodeStep, changes: Iterable[Change]) -> None:
        """Test the changes of one node up to the first that leaves no failure; none where there was one already."""
        if self.runs.affordable and all(r.node != step.node_name or r.remaining for r in self.repairs):
            any(self._changes_outputs(step, change) and self._test(step, change) for change in changes)

    def _test(self, step: NodeStep, change: Change) -> bool:
        outcome = self.runs.remaining_with_change(step, change)
        if outcome is None:
            return False
        remaining, text = outcome
        if all(repair.node != step.node_name or repair.remaining > remaining for repair in self.repairs):
            self.repairs = [repair for repair in self.repairs if repair.node != step.node_name]
            self.repairs.append(Repair(step.node_name, step.operation.kind.op, text, remaining, change.weight))
        return remaining == 0

    def test_input(self, name: str, input_type: TensorType) -> None:
        """Test exchanges of two axes of an input, up to the first repair."""
        dims = list(input_type.shape.dims or ())
        for a, b in itertools.combinations(range(len(dims)), 2):
            if dims[a] == dims[b]:
                continue
            if self.runs.spent > MAX_STEPS // 2 or not self.runs.affordable:  # the other half is for the nodes
                self.is_complete = False
                return
            other = list(dims)
            other[a], other[b] = other[b], other[a]
            exchanged = PartialTensor(input_type.dtype, Shape(other), None)
            remaining = self.runs.remaining_with_input(name, exchanged)
            if remaining is not None:
                text = f"{exchanged.shape} instead of {input_type.shape}"
                self.repairs.append(Repair(name, "", text, remaining, INPUT))
                return

    def _changes_outputs(self, step: NodeStep, change: Change) -> bool:
        """Whether a change gives the outputs of its node other shapes or contents, and none that is less known."""
        if not self.runs.affordable:
            return False
        if change.prepare is not None:
            return True
        inference = self.model.result.engine.inference
        table = inference.table
        self.runs.count_visits(1 + len(inference.compiled.rows) // 100 + len(step.inputs) // 2)
        slots = change.inputs or step.arguments
        types = [table.types[inference.numbers[slot]] for slot in slots]
        if change.constant is not None:
            constant, contents = change.constant
            types = [contents if slot == constant else t for slot, t in zip(slots, types, strict=True)]
        call = step.operation.call
        if change.kind is not None:
            call = inference.compiled.replace_node(step.index, change.kind).step(step.index).operation.call
        if call is None or step.operation.bodies:
            return False
        try:
            outcome = call.run(types, inference.initial_store.copy(), step.node_name, None)
        except (ShapeInferenceError, ArithmeticError, LookupError, TypeError, ValueError):
            return False  # an attribute that the rule rejects
        if outcome.unknown is not None or len(outcome.types) < len(step.outputs):
            return False
        outputs = ((slot, new) for slot, new in zip(step.outputs, outcome.types, strict=False) if slot != UNUSED)
        pairs = [(_contents(table.types[inference.numbers[slot]]), _contents(new)) for slot, new in outputs]
        changed = any(old != new for old, new in pairs)
        return changed and all(_is_as_known(old, new) and not _is_emptied(old, new) for old, new in pairs)


def _is_as_known(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    """Whether a new type has the element type of the old one, and no more unknown sizes and integers."""
    same_type = old[0] in (None, new[0])
    return same_type and all(_count_unknown(b) <= _count_unknown(a) for a, b in zip(old[1:], new[1:], strict=True))


def _is_emptied(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    """Whether only the new tensor has no elements."""
    dims, sizes = old[1], new[1]
    return isinstance(sizes, tuple) and 0 in sizes and isinstance(dims, tuple) and 0 not in dims


def _count_unknown(sizes: object) -> float:
    """The number of unknown sizes; infinite where the list itself is unknown."""
    if not isinstance(sizes, tuple):
        return inf
    return sum(size is None or (isinstance(size, Dimension) and size.is_anonymous) for size in sizes)


def _contents(type_: Type | None) -> tuple[object, ...]:
    """The element type, dims and known integers of a tensor; None for each that is unknown."""
    integers = integers_in(type_)
    return (*outline(type_), None if integers is None else integers.elements)
