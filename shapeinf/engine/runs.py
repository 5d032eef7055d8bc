"""The tree of runs of an inference: the bodies of nodes and the functions that nodes call, each with its trips.

A node has a last run of each body (`Inference.children`), with the trips before it that count as well, and *further*
runs, for inputs that are certain to occur. Of equal calls of a function only the first one ran. Values and nodes of a
body are named by a path (`body_path`).

Contract, explanations and diagnostics iterate over it (`walk_runs`, `walk_nodes`). Memory, cost and the checks of
schemas pass what they know of values into each body and back out of it, so each is a recursion of its own over nodes,
with the functions at the end of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

import attrs

from shapeinf.engine.compiled import CompiledGraph, NodeStep, Operation
from shapeinf.engine.inference import Inference
from shapeinf.engine.type_table import canonicalize
from shapeinf.errors import LimitError
from shapeinf.graph import MISSING, FunctionKey, FunctionReference
from shapeinf.lattice import Type

MAX_NODES_IN_BODIES = 150_000
"""Limit on the nodes of bodies: functions that call others twice double them at every level."""

ItemT = TypeVar("ItemT")


@attrs.frozen(eq=False)
class Run:
    """A run of a graph: of the model, or of a body of a node (`step`) of the graph `outer`.

    `name` is the attribute that the body is, or the operator of a function; `further` is as above.
    """

    inference: Inference
    outer: Run | None = None
    step: NodeStep | None = None
    name: str = ""
    further: bool = False

    @property
    def node(self) -> tuple[Run, int] | None:
        """The node whose body runs: the run of its graph, and its index; None for the run of the model."""
        return None if self.outer is None or self.step is None else (self.outer, self.step.index)

    @property
    def source(self) -> CompiledGraph | FunctionReference | None:
        """The compiled body, or the reference to a function; None for the model, and for an operator's definition."""
        return None if self.step is None else self.step.operation.bodies.get(self.name)

    @property
    def function(self) -> FunctionKey | None:
        """The function of the model that runs; None for any other graph."""
        source = self.source
        if isinstance(source, FunctionReference):
            return source.function
        return None if self.step is None else self.step.operation.body

    def inner(self, index: int, *, further: bool = False) -> Iterator[Run]:
        """The last run of each body of a node, on request after its further runs."""
        inference = self.inference
        children, others = inference.children.get(index, {}), inference.extra_runs.get(index, ()) if further else ()
        if children or others:
            step = inference.compiled.step(index)
            yield from (Run(run, self, step, further=True) for run in others)
            yield from (Run(run, self, step, name) for name, run in children.items())


def walk(items: Iterable[ItemT], inner: Callable[[ItemT], Iterable[ItemT]]) -> Iterator[ItemT]:
    """All items of a tree, each followed by those inside of it; a loop, so that no depth is too deep."""
    stack = [iter(items)]
    while stack:
        for item in stack[-1]:
            yield item
            stack.append(iter(inner(item)))
            break
        else:
            stack.pop()


def walk_runs(inference: Inference, enter: Callable[[Run], bool] = lambda run: True) -> Iterator[Run]:
    """The run of a graph, then the last runs of all bodies inside, in the order of nodes; `enter` may exclude some."""
    return walk([Run(inference)], lambda run: filter(enter, _inner_runs(run)))


def _inner_runs(run: Run) -> Iterator[Run]:
    return (inner for index in sorted(run.inference.children) for inner in run.inner(index))


def walk_nodes(
    inference: Inference, indices: Callable[[Inference], Iterable[int]], enter: Callable[[Run], bool] = lambda run: True
) -> Iterator[tuple[Run, int]]:
    """Nodes by run and index, each followed by those in its bodies, of further runs too; `enter` may exclude some runs.

    `indices` are those of the nodes of a run that are of interest, besides those with bodies.
    """

    def nodes(run: Run) -> list[tuple[Run, int]]:
        inside = run.inference
        return [(run, index) for index in sorted({*indices(inside), *inside.children, *inside.extra_runs})]

    def inner(node: tuple[Run, int]) -> Iterator[tuple[Run, int]]:
        run, index = node
        return (item for body in filter(enter, run.inner(index, further=True)) for item in nodes(body))

    return walk(nodes(Run(inference)), inner)


def trips(last: Inference) -> Iterator[Inference]:
    """A run of a body, and the previous ones that count as well: the iterations of a loop, the last one first."""
    run: Inference | None = last
    while run is not None:
        yield run
        run = run.previous_run


def captured_slots(step: NodeStep, body: CompiledGraph) -> Iterator[tuple[int, int]]:
    """For each outer value that a body of a node reads its slot in the body and outside."""
    for name, slot in zip(step.operation.captures, step.captures, strict=True):
        if name in body.slots:
            yield body.slots[name], slot


def argument_slots(step: NodeStep, function: CompiledGraph) -> Iterator[tuple[int, int]]:
    """For each argument of a call its slot in the function and outside."""
    for name, slot in zip(function.graph.inputs, step.arguments, strict=False):
        if slot != MISSING:
            yield function.slots[name], slot


def type_in(run: Inference, number: int) -> Type | None:
    """A type, by number, under the constraints of a run, which hold where the body runs."""
    value = run.table.get(number)
    return value if value is None or run.undone is None else canonicalize(run.undone[1], value)


def body_path(path: str, step: NodeStep, body: str) -> str:
    """The prefix of the names of the values in a body (the attribute `body`) of a node: `loop/body/`."""
    operation = step.operation
    label = "" if operation.op_def is None else operation.op_def.label(body)
    label = label or (body if len(operation.bodies) > 1 else "")
    return f"{path}{step.node_name}/{label}/" if label else f"{path}{step.node_name}/"


def callee(operation: Operation) -> str:
    """The name of the function that an operation calls, among the bodies of its node; empty where it calls none."""
    if operation.body is not None:
        return operation.kind.op
    return "" if operation.op_def is None else operation.op_def.calls or ""


def check_expansion(count: int, node: str) -> None:
    """Raise LimitError at a node where the bodies and functions up to it have too many nodes."""
    if count > MAX_NODES_IN_BODIES:
        message = f"bodies and functions expand to more than {MAX_NODES_IN_BODIES} nodes, too many to count"
        raise LimitError(message, node=node)


class Calls:
    """The bodies of nodes, those of the first of equal calls included; each run of a graph is entered first."""

    def __init__(self) -> None:
        """No run is entered."""
        self._known: dict[Hashable, Mapping[str, Inference]] = {}

    def enter(self, run: Inference) -> None:
        """Add the calls of a graph."""
        step = run.compiled.step
        self._known.update((run.shared_call_key(step(index)), bodies) for index, bodies in run.children.items())

    def bodies(self, run: Inference, step: NodeStep) -> Mapping[str, Inference]:
        """The last run of each body of a node; where the node itself did not run, that of an equal call."""
        return run.children.get(step.index) or self._known.get(run.shared_call_key(step), {})
