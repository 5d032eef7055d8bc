"""Small changes of one node with which nothing is found any more: they show which node is wrong.

Where nothing is declared, a wrong node is first seen where something behind it does not fit. So every node that leads
there is tried with a number of it changed: an attribute, or one size of what it makes. A change that leaves no finding
is a repair; when all repairs are of one node, that node is the likely cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal

import attrs

from shapeinf.checks.changes import (
    INPUT,
    NUMBERS,
    WRITTEN,
    Change,
    attributes,
    hands_on,
    has_sizes_of_its_own,
    longer,
    numbers_in,
    opened,
    operands,
    other_outlines,
    outline,
)
from shapeinf.checks.subject import CheckedModel
from shapeinf.checks.what_if import MOST_VISITS, Look, Trials
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dim, Dimension
from shapeinf.graph import MISSING, UNUSED, Node
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

Tried = Literal["all", "inputs", "sizes"]
"""What may be changed: nodes and inputs, inputs only, nodes that make sizes for the first finding."""
_MOST_PLACES = 300
_MOST_KEPT = 1_000_000
"""How many numbers the states before all tried places may hold."""
_FEW_NAMES = 4
"""So many names of inputs are tried as a size that is missing."""
CAUSE = register_code(
    "C114", "warning", "a node or input that is likely wrong", "With a small change of it no other diagnostic remains."
)


@attrs.frozen
class Repair:
    """A change of a node with which nothing is found any more, as text: `perm (0, 2, 1) in place of (0, 1, 2)`.

    `left` is how much is still found, `weight` how well it explains (the less the better).
    """

    node: str
    op: str
    change: str
    left: int
    weight: int


def repairs(
    subject: CheckedModel, found: list[Diagnostic], look: Look, tried: Tried = "all"
) -> tuple[list[Repair], bool]:
    """The repairs of what is found first, and whether every node that could be the cause was tried.

    `tried` is what may be changed.
    Those come first that leave least, of these what is written in a node before what it makes, then the nearest.
    """
    inference = subject.result.inference
    if found[0].code in ("C101", "C102") and _has_numbers(subject, found[0].node):
        return [], True  # the constant that holds the size is right there
    places = _leading(inference, _place(subject, found[0]), tried == "sizes")
    if not places:
        return [], True
    near = _near(inference, places[0])
    trials = Trials(subject, found, look, () if tried == "inputs" else places)
    search = _Search(subject, trials, found[0].severity == "error")
    for name in () if tried == "sizes" else subject.asked:
        asked = inference.input_types[name]
        if isinstance(asked, TensorType):
            search.try_input(name, asked)
    steps = [] if tried == "inputs" else [inference.compiled.step(place) for place in places]
    for candidates in (attributes, search.operands, search.opened):
        for step in steps:
            search.try_all(step, candidates(step))
    for step in steps if found[0].severity == "error" or found[0].code in ("C101", "C105") else ():
        if step.index in near:
            search.try_all(step, other_outlines(inference, step))
    whole = search.whole and trials.affordable and len(places) < _MOST_PLACES
    return sorted(search.found, key=lambda one: (one.left, one.weight)), whole


def likely_cause(
    subject: CheckedModel, found: list[Diagnostic], look: Look, tried: Tried = "all"
) -> tuple[Diagnostic, bool] | None:
    """The input or node of which a change repairs what is found, and whether it alone does; None if found there.

    Where one node is sure to fail for what constants and its attributes say, only what is written elsewhere is an
    explanation, not sizes or an order of axes that would suit it.
    """
    shown, whole = repairs(subject, found, look, tried)
    if tried == "sizes":
        shown = [one for one in shown if one.left == 0]
    if _fails_by_itself(subject, found):
        shown = [one for one in shown if one.weight in (WRITTEN, NUMBERS)]
    nodes = [one.node for one in shown]
    if not nodes or nodes[0] == found[0].node:
        return None
    one, others = shown[0], nodes[1:]
    also_does = f"; so does a change of {', '.join(others)}" if others else ""
    message = f"{one.node} is likely wrong: with {one.change} the rest holds{also_does}"
    which = "the only change" if whole and not others else "a change"
    because = (
        f"this is {which} of one node, among those tried, that leaves nothing of what is found at {found[0].subject}"
    )
    node, tensor = (one.node, "") if one.op else ("", one.node)
    finding = Diagnostic(
        "warning", CAUSE, message, node, one.op, tensor=tensor, because=because, location=subject.location(node)
    )
    return finding, not others


def _fails_by_itself(subject: CheckedModel, found: list[Diagnostic]) -> bool:
    """Whether all that is found is an error at one node that reads one value beside constants."""
    node = subject.nodes.get(found[0].node)
    if node is None or any(one.severity != "error" or one.node != found[0].node for one in found):
        return False
    return len({name for name in node.inputs if name and name not in subject.graph.constants}) <= 1


def _has_numbers(subject: CheckedModel, name: str) -> bool:
    """Whether a node reads a constant of ints: sizes, axes, ends."""
    node, inference = subject.nodes.get(name), subject.result.inference
    names = [] if node is None else [one for one in node.inputs if one in subject.graph.constants]
    types = [inference.table.types[inference.numbers[inference.compiled.slots[one]]] for one in names]
    return any(numbers_in(one) is not None for one in types)


def _place(subject: CheckedModel, first: Diagnostic) -> int | None:
    node = subject.nodes.get(first.node) or _with_body(subject, first.node)
    if node is None:
        return None
    output = next((name for name in node.outputs if name), None)
    program = subject.result.inference.compiled
    return None if output is None else program.producers[program.slots[output]]


def _with_body(subject: CheckedModel, inner: str) -> Node | None:
    """The node of the graph in whose body a node is: `loop` of `loop/add`."""
    around = [name for name in subject.nodes if name and inner.startswith(f"{name}/")]
    return subject.nodes[max(around, key=len)] if around else None


def _inputs(inference: Inference, place: int) -> list[int]:
    return [slot for slot in inference.compiled.step(place).inputs if slot != MISSING]


def _near(inference: Inference, place: int) -> set[int]:
    """The places of what makes the inputs of a node, seen through nodes that only hand on a shape."""
    seen: set[int] = set()
    stack = [place]
    while stack:
        for slot in _inputs(inference, stack.pop()):
            maker = inference.compiled.producers[slot]
            if maker is not None and maker not in seen:
                seen.add(maker)
                stack += [maker] if hands_on(inference, inference.compiled.step(maker)) else []
    return seen


def _leading(inference: Inference, place: int | None, by_sizes: bool) -> list[int]:
    """The places of a node and of all nodes that lead to it (only `by_sizes`: integers), nearest (latest) first."""
    if place is None or inference.compiled.groups is not None:
        return []
    seen, stack = {place}, [place]
    while stack:
        for slot in _inputs(inference, stack.pop()):
            maker = inference.compiled.producers[slot]
            if by_sizes and numbers_in(inference.table.types[inference.numbers[slot]]) is None:
                continue
            if maker is not None and maker not in seen:
                seen.add(maker)
                stack.append(maker)
    return sorted(seen, reverse=True)[: min(_MOST_PLACES, _MOST_KEPT // len(inference.numbers))]


class _Search:
    """Tries changes of nodes and inputs, and keeps those that are repairs."""

    def __init__(self, subject: CheckedModel, trials: Trials, breaks: bool) -> None:
        """`breaks` says that a node is sure to break, for which weights may be to blame."""
        self.subject = subject
        self.breaks = breaks
        self.trials = trials
        self.found: list[Repair] = []
        self.whole = True
        """Whether all pairs of axes were tried."""
        program = subject.result.inference.compiled
        self.constants = {program.slots[name] for name in subject.graph.constants}

    def operands(self, step: NodeStep) -> Iterator[Change]:
        """Other operands of a node."""
        return operands(self.subject.result.inference, step)

    def opened(self, step: NodeStep) -> Iterator[Change]:
        """What a node makes left open."""
        inference = self.subject.result.inference
        own = has_sizes_of_its_own(inference, step, self.constants)
        yield from opened(inference, step, own, self.constants if self.breaks else set())
        sizes: list[Dim] = [*sorted(self.subject.named, key=str)[:_FEW_NAMES], -1]
        yield from longer(inference, step, sizes) if own else ()

    def try_all(self, step: NodeStep, changes: Iterable[Change]) -> None:
        """Every change of one node, up to the first that leaves nothing; none of a node that has one."""
        if self.trials.affordable and all(one.node != step.site or one.left for one in self.found):
            any(self._makes_another(step, change) and self._try(step, change) for change in changes)

    def _try(self, step: NodeStep, change: Change) -> bool:
        repaired = self.trials.repaired(step, change)
        if repaired is None:
            return False
        left, text = repaired
        if all(one.node != step.site or one.left > left for one in self.found):
            self.found = [one for one in self.found if one.node != step.site]
            self.found.append(Repair(step.site, step.operation.kind.op, text, left, change.weight))
        return left == 0

    def try_input(self, name: str, found: TensorType) -> None:
        """Two axes of an input exchanged."""
        dims = list(found.shape.dims or ())
        for a, b in itertools.combinations(range(len(dims)), 2):
            other = list(dims)
            if other[a] == other[b]:
                continue
            if self.trials.spent > MOST_VISITS // 2:  # the other half is for the nodes
                self.whole = False
                return
            other[a], other[b] = other[b], other[a]
            swapped = PartialTensor(found.dtype, Shape(other), None)
            left = self.trials.left_with(name, swapped)
            if left is not None:
                self.found.append(Repair(name, "", f"{swapped.shape} in place of {found.shape}", left, INPUT))
                return

    def _makes_another(self, step: NodeStep, change: Change) -> bool:
        """Whether the change alone makes the node give something else, of the same element type and no less known."""
        if change.prepare is not None:
            return True
        inference = self.subject.result.inference
        table = inference.table
        self.trials.visits += 1 + len(inference.compiled.rows) // 100
        slots = [slot for slot in (change.inputs or step.arguments)]
        types = [table.types[inference.numbers[slot]] for slot in slots]
        if change.constant is not None:
            types = [
                change.constant[1] if slot == change.constant[0] else t for slot, t in zip(slots, types, strict=True)
            ]
        call = step.operation.call
        if change.kind is not None:
            call = inference.compiled.replace_node(step.index, change.kind).step(step.index).operation.call
        if call is None or step.operation.bodies:
            return False
        try:
            found = call.run(types, inference.initial_store.copy(), step.site, None)
        except (ShapeInferenceError, ArithmeticError, LookupError, TypeError, ValueError):
            return False  # an attribute that the rule cannot take
        if found.unknown is not None or len(found.types) < len(step.outputs):
            return False
        made = ((slot, new) for slot, new in zip(step.outputs, found.types, strict=False) if slot != UNUSED)
        pairs = [(_contents(table.types[inference.numbers[slot]]), _contents(new)) for slot, new in made]
        changed = any(old != new for old, new in pairs)
        return changed and all(_as_known(old, new) and not _emptied(old, new) for old, new in pairs)


def _as_known(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    """Whether a change leaves what is made of the same element type, and its numbers known where they were."""
    return old[0] in (None, new[0]) and all(_unknown(b) <= _unknown(a) for a, b in zip(old[1:], new[1:], strict=True))


def _emptied(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    """Whether a change leaves no elements where there were some."""
    dims, sizes = old[1], new[1]
    return isinstance(sizes, tuple) and 0 in sizes and isinstance(dims, tuple) and 0 not in dims


def _unknown(sizes: object) -> float:
    """How many of these sizes are not known; more than any number where none is."""
    if not isinstance(sizes, tuple):
        return inf
    return sum(one is None or (isinstance(one, Dimension) and one.is_anonymous) for one in sizes)


def _contents(found: Type | None) -> tuple[object, ...]:
    """What may change by a change: of integers what they are, too."""
    numbers = numbers_in(found)
    return (*outline(found), None if numbers is None else numbers.elements)
