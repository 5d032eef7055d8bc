"""Small changes of one node with which nothing is found any more: they show which node is wrong.

Where nothing is declared, a wrong node is first seen where something behind it does not fit. So every node that leads
there is tried with a number of it changed: an attribute, or one size of what it makes. A change that leaves no finding
is a repair; when all repairs are of one node, that node is the likely cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import attrs

from shapeinf.algebra import Dim
from shapeinf.checks.finding import Finding
from shapeinf.checks.registry import also
from shapeinf.checks.subject import Subject
from shapeinf.checks.variants import other_values, text_of
from shapeinf.checks.what_if import Look, Trials
from shapeinf.driver.inference import Inference
from shapeinf.driver.program import Step
from shapeinf.errors import ShapeInferenceError
from shapeinf.graph import MISSING, UNUSED, NodeKind
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type

_HIGHEST = 6
"""The highest rank of which an axis more or less is tried."""
_MOST_PLACES = 300
_MOST_KEPT = 1_000_000
"""How many numbers the states before all tried places may hold."""
CAUSE = also("C114", "a node that is likely wrong: with a small change of it nothing else is found")


@attrs.frozen
class Repair:
    """A change of a node with which nothing is found any more, as text: `perm (0, 2, 1) in place of (0, 1, 2)`."""

    node: str
    op: str
    change: str


def repairs(subject: Subject, found: list[Finding], look: Look, inputs_only: bool = False) -> tuple[list[Repair], bool]:
    """The repairs of what is found first, and whether every node that could be the cause was tried; inputs first."""
    inference = subject.result.inference
    if found[0].code in ("C101", "C102") and _has_numbers(subject, found[0].node):
        return [], True  # the constant that holds the size is right there
    places = _leading(inference, _place(subject, found[0]))
    if not places:
        return [], True
    near = {inference.program.producers[slot] for slot in _inputs(inference, places[0])}
    trials = Trials(subject, found, look, () if inputs_only else places)
    search = _Search(subject, trials)
    for name in subject.asked:
        asked = inference.asked[name]
        if isinstance(asked, TensorType) and trials.affordable:
            search.try_input(name, asked)
    for place in () if inputs_only else places:
        if not trials.affordable:
            return search.found, False
        search.try_all(inference.program.step(place))
        if place in near and found[0].severity == "error":
            search.try_ranks(inference.program.step(place))
    return search.found, trials.affordable and len(places) < _MOST_PLACES


def likely_cause(
    subject: Subject, found: list[Finding], look: Look, inputs_only: bool = False
) -> tuple[Finding, bool] | None:
    """The input or node of which a change repairs what is found, and whether it alone does; None if found there."""
    shown, whole = repairs(subject, found, look, inputs_only)
    nodes = [one.node for one in shown]
    if not nodes or nodes[0] == found[0].node:
        return None
    one, others = shown[0], nodes[1:]
    also_does = f"; so does a change of {', '.join(others)}" if others else ""
    message = f"{one.node} is likely wrong: with {one.change} the rest holds{also_does}"
    tried = "the only change" if whole and not others else "a change"
    because = (
        f"this is {tried} of one node, among those tried, that leaves nothing of what is found at {found[0].place}"
    )
    node, tensor = (one.node, "") if one.op else ("", one.node)
    finding = Finding("warning", CAUSE, message, node, one.op, tensor, because, location=subject.location(node))
    return finding, not others


def _has_numbers(subject: Subject, name: str) -> bool:
    """Whether a node reads a constant of ints: sizes, axes, ends."""
    node, inference = subject.nodes.get(name), subject.result.inference
    names = [] if node is None else [one for one in node.inputs if one in subject.graph.constants]
    return any(_is_numbers(inference.table.types[inference.numbers[inference.program.slots[one]]]) for one in names)


def _place(subject: Subject, first: Finding) -> int | None:
    node = subject.nodes.get(first.node)
    if node is None:
        return None
    output = next((name for name in node.outputs if name), None)
    program = subject.result.inference.program
    return None if output is None else program.producers[program.slots[output]]


def _inputs(inference: Inference, place: int) -> list[int]:
    return [slot for slot in inference.program.step(place).inputs if slot != MISSING]


def _given(step: Step) -> list[int]:
    return [slot for slot in step.arguments if slot != MISSING]


def _leading(inference: Inference, place: int | None) -> list[int]:
    """The places of a node and of all nodes that lead to it, nearest (latest) first."""
    if place is None or inference.program.groups is not None:
        return []
    seen, stack = {place}, [place]
    while stack:
        for slot in _inputs(inference, stack.pop()):
            maker = inference.program.producers[slot]
            if maker is not None and maker not in seen:
                seen.add(maker)
                stack.append(maker)
    return sorted(seen, reverse=True)[: min(_MOST_PLACES, _MOST_KEPT // len(inference.numbers))]


class _Search:
    """Tries changes of nodes and inputs, and keeps those that are repairs."""

    def __init__(self, subject: Subject, trials: Trials) -> None:
        self.subject = subject
        self.trials = trials
        self.found: list[Repair] = []
        program = subject.result.inference.program
        self.constants = {program.slots[name] for name in subject.graph.constants}

    def try_all(self, step: Step) -> None:
        """Every change of one node, up to the first repair."""
        for name, value in step.operation.kind.attrs.items():
            for other in other_values(value):
                kind = step.operation.kind
                edited = attrs.evolve(kind, attrs={**kind.attrs, name: other})
                if self._makes_another_shape(step, edited) and self.trials.holds(step.place, edited):
                    change = f"{name} {text_of(other)} in place of {text_of(value)}"
                    self.found.append(Repair(step.site, step.operation.kind.op, change))
                    return
        for axes in self._open_axes(step):
            sizes = self._with_other_sizes(step, axes)
            if sizes is not None:
                self.found.append(Repair(step.site, step.operation.kind.op, sizes))
                return

    def try_ranks(self, step: Step) -> None:
        """An axis of 1 more or less in what a node makes."""
        outputs = [slot for slot in step.outputs if slot != UNUSED]
        inference = self.subject.result.inference
        if len(outputs) != 1 or any(one.node == step.site for one in self.found):
            return
        dims = _outline(inference.table.types[inference.numbers[outputs[0]]])[1]
        if dims is None or len(dims) > _HIGHEST:
            return
        others = [(*dims[:i], 1, *dims[i:]) for i in range(len(dims) + 1)]
        others += [(*dims[:i], *dims[i + 1 :]) for i, dim in enumerate(dims) if dim == 1]
        for other in dict.fromkeys(others):

            def prepare(fresh: Inference, new: tuple[Dim, ...] = other) -> None:
                fresh.declared[outputs[0]] = lambda number, _: _reshaped(fresh, number, dims, new)

            if self.trials.holds(step.place, prepare=prepare):
                self.found.append(
                    Repair(step.site, step.operation.kind.op, f"{Shape(other)} in place of {Shape(dims)}")
                )
                return

    def try_input(self, name: str, found: TensorType) -> None:
        """Two axes of an input exchanged."""
        dims = list(found.shape.dims or ())
        for a, b in itertools.combinations(range(len(dims)), 2):
            other = list(dims)
            other[a], other[b] = other[b], other[a]
            swapped = PartialTensor(found.dtype, Shape(other), None)
            if other != dims and self.trials.holds_with(name, swapped):
                self.found.append(Repair(name, "", f"{swapped.shape} in place of {found.shape}"))
                return

    def _makes_another_shape(self, step: Step, kind: NodeKind) -> bool:
        """Whether the change alone makes the node give another shape, of the same element type and no less known."""
        inference = self.subject.result.inference
        table = inference.table
        self.trials.visits += 1 + len(inference.program.rows) // 100
        types = [table.types[inference.numbers[slot]] for slot in step.arguments]
        made = [table.types[inference.numbers[slot]] for slot in step.outputs if slot != UNUSED]
        call = inference.program.edited(step.place, kind).step(step.place).operation.call
        if call is None or step.operation.bodies:
            return False
        try:
            found = call.run(types, inference.setup.copy(), step.site, None)
        except (ShapeInferenceError, ArithmeticError, LookupError, TypeError, ValueError):
            return False  # an attribute that the rule cannot take
        if found.unknown is not None:
            return False
        old, new = ([_outline(one) for one in side] for side in (made, found.types))
        return [dtype for dtype, _ in old] == [dtype for dtype, _ in new] and old != new

    def _open_axes(self, step: Step) -> Iterator[tuple[int, ...]]:
        """The axes of the output of a node that numbers of its own decide: each, then all if none has a name."""
        inference = self.subject.result.inference
        types = [inference.table.types[inference.numbers[slot]] for slot in step.arguments if slot in self.constants]
        outputs = [slot for slot in step.outputs if slot != UNUSED]
        if len(outputs) != 1 or not any(_is_numbers(one) for one in types):
            return
        dims = _outline(inference.table.types[inference.numbers[outputs[0]]])[1] or ()
        if any(_but_ones(_outline(one)[1]) == _but_ones(dims) for one in map(inference.current, _given(step))):
            return  # it only hands on what it reads, with axes of 1 more or less
        yield from ((axis,) for axis in range(len(dims)))
        if len(dims) > 1 and all(isinstance(dim, int) for dim in dims):
            yield tuple(range(len(dims)))

    def _with_other_sizes(self, step: Step, axes: tuple[int, ...]) -> str | None:
        """The change of the sizes of these axes of what a node makes that is a repair, as text."""
        opened: list[tuple[Inference, list[Dim], list[Dim]]] = []

        def prepare(fresh: Inference) -> None:
            def opener(number: int, at: Step) -> int:
                made = fresh.table.get(number)
                if not isinstance(made, TensorType) or made.shape.dims is None or max(axes) >= len(made.shape.dims):
                    return number
                dims = list(made.shape.dims)
                for axis in axes:
                    dims[axis] = fresh.facts.presumed_size(f"{at.site}.{axis}")
                opened.append((fresh, dims, list(made.shape.dims)))
                return fresh.table.add(PartialTensor(made.dtype, Shape(dims), None))

            fresh.declared[step.outputs[0]] = opener

        if not self.trials.holds(step.place, prepare=prepare, apart_from=step.site) or not opened:
            return None
        fresh, dims, was = opened[-1]
        if len(axes) > 1:
            return f"other sizes in place of {Shape(was)}"
        return _solved(fresh, axes[0], dims[axes[0]], was[axes[0]])


def _solved(fresh: Inference, axis: int, opened: Dim, was: Dim) -> str | None:
    """The size that the rest of the graph needs of an opened axis, as text, if it needs a certain other one."""
    size = fresh.facts.canon(opened)
    known = isinstance(size, int) or not any(s.is_anonymous for s in size.symbols())
    if not known or fresh.facts.prove_eq(size, was) is True:
        return None
    return f"{size} in place of {was} on axis {axis} of what it makes"


def _but_ones(dims: tuple[Dim, ...] | None) -> list[Dim] | None:
    return None if dims is None else [dim for dim in dims if dim != 1]


def _reshaped(fresh: Inference, number: int, old: tuple[Dim, ...], new: tuple[Dim, ...]) -> int:
    """A type with other dims, if it still is what it was."""
    made = fresh.table.get(number)
    if not isinstance(made, TensorType) or made.shape.dims != old:
        return number
    return fresh.table.add(PartialTensor(made.dtype, Shape(new), made.elements))


def _is_numbers(found: Type | None) -> bool:
    return isinstance(found, PartialTensor) and found.elements is not None and found.dtype in ("int32", "int64")


def _outline(found: Type | None) -> tuple[str | None, tuple[Dim, ...] | None]:
    return (found.dtype, found.shape.dims) if isinstance(found, TensorType) else (None, None)
