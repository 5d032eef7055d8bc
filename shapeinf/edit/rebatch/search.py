"""The search for items of constants that stand for the size of an axis: each candidate is proved by what-if runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from shapeinf.api import infer
from shapeinf.contract import Precondition
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.rebatch.flows import is_integer_list, is_only_size, upstream_constants
from shapeinf.edit.rebatch.items import find_mixing, is_view_of_items
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.expr import Dimension, DimSize, substitute
from shapeinf.graph import Graph
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import PartialTensor
from shapeinf.result import Result

MAX_OTHERS = 16
"""The most items that are listed where the search fails."""
PERIODS, MARGIN = 4, 64
"""Another legal size of a spatial axis is searched up to so many times the old size, and the margin."""
COPY, REST = 0, -1
"""The new values of items: the size of the same axis of the input, and the size that the other elements leave."""


@attrs.frozen
class Rewrite:
    """One item of a constant with its old and its new value."""

    constant: str
    index: int
    before: int
    after: int

    def __str__(self) -> str:
        """`shape[0]: 1 -> 0`."""
        return f"{self.constant}[{self.index}]: {self.before} -> {self.after}"


@attrs.frozen
class Obstacle:
    """A reason why the axis cannot be dynamic; `index` is that of the node in execution order.

    `spatial`: windows move over the axis, so that it is no batch.
    """

    index: int
    text: str
    spatial: bool = False


_Attempt = tuple[tuple[Rewrite, ...], dict[str, PartialTensor], Result, Obstacle | None]
"""Items to rewrite, the rewritten constants, the inference with these, and the next obstacle."""


@attrs.define
class Search:
    """A search: the graph and the rewrites so far.

    `spatial`: the axis is no batch. Its items may be combined, and preconditions may leave some sizes illegal.
    """

    graph: Graph
    old: int
    axes: Mapping[str, int]
    name: str
    options: InferenceOptions
    base: Result
    spatial: bool = False
    constants: dict[str, PartialTensor] = attrs.Factory(dict)
    rewrites: list[Rewrite] = attrs.Factory(list)

    def infer(self, size: int | str, constants: Mapping[str, PartialTensor] | None = None) -> Result:
        """The inference with another size of the axis, or a name for it, and other constants."""
        graph = attrs.evolve(self.graph, constants={**self.graph.constants, **(constants or self.constants)})
        return self._infer(graph, size)

    def _infer(self, graph: Graph, size: int | str) -> Result:
        return infer(graph, self.options, ({name: {axis: size} for name, axis in self.axes.items()},))

    def first_obstacle(self, result: Result) -> Obstacle | None:
        """The first obstacle in the order of the nodes."""
        obstacles = [
            Obstacle(_index_of(result, v.node), f"{v.message} ({v.op.partition(' ')[0]} {v.node})")
            for v in self._new_violations(result)
        ]
        symbol = result.engine.scope.symbol(self.name)
        for precondition in result.contract.preconditions:
            if self._fixes(precondition, symbol):
                obstacles.append(Obstacle(_index_of(result, precondition.node), str(precondition)))
        if not self.spatial:
            obstacles += self._output_obstacles(result, symbol)
        first = min(obstacles, key=lambda obstacle: obstacle.index, default=None)
        return (None if self.spatial else self._mixing_obstacle(result, first)) or first

    def _fixes(self, precondition: Precondition, symbol: Dimension) -> bool:
        """Whether a precondition is one on the axis: of a batch any, else one that leaves no size but the old one.

        An assumption is none: the graph runs where it does not hold.
        """
        if precondition.kind == "assumption" or symbol not in precondition.free_symbols:
            return False
        if not self.spatial:
            return True
        larger = range(self.old + 1, self.limit + 1)
        alone = len(precondition.free_symbols) == 1 and len(precondition.symbols) == 1
        return alone and all(precondition.holds({precondition.symbols[0]: size}) is False for size in larger)

    def _new_violations(self, result: Result) -> list[Diagnostic]:
        """The violations that do not occur with the old size."""
        known = {(violation.code, violation.node) for violation in certain_violations(self.base.engine.inference)}
        return [v for v in certain_violations(result.engine.inference) if (v.code, v.node) not in known]

    def _mixing_obstacle(self, result: Result, first: Obstacle | None) -> Obstacle | None:
        """The first node before an obstacle that may mix items: up to there, the symbol is not fixed."""
        if first is not None:
            steps = result.engine.inference.compiled.steps[: first.index]
            graph = attrs.evolve(result.graph, nodes=[step.node for step in steps], outputs=[])
            result = self._infer(graph, self.name)
        mixing = find_mixing(result.engine.inference, result.engine.scope.symbol(self.name))
        return None if mixing is None else Obstacle(mixing.index, str(mixing), mixing.spatial)

    def _output_obstacles(self, result: Result, symbol: Dimension) -> Iterator[Obstacle]:
        """Outputs that have the old size on the changed axis, and the symbol on another."""
        compiled, axes = result.engine.inference.compiled, set(self.axes.values())
        for name in self.graph.outputs:
            dims = result.tensors[name].shape.dims or ()
            mixed = {k for k, d in enumerate(dims) if isinstance(d, Dimension) and symbol in d.symbols()}
            if mixed and not mixed & axes and any(dims[k] == self.old for k in axes if k < len(dims)):
                producer = compiled.producers[compiled.slots[name]]
                text = f"the output {name} becomes {result.tensors[name].shape}"
                yield Obstacle(0 if producer is None else producer, text)

    def solve(self) -> tuple[Result, Obstacle | None]:
        """Rewrite items until no obstacle remains or can be removed: the last inference, and the remaining obstacle."""
        result = self.infer(self.name)
        obstacle = self.first_obstacle(result)
        while obstacle is not None:
            attempt = self._next_attempt(result, obstacle)
            if attempt is None:
                return result, obstacle
            rewrites, self.constants, result, obstacle = attempt
            self.rewrites += rewrites
        return result, None

    def _next_attempt(self, result: Result, obstacle: Obstacle) -> _Attempt | None:
        """The only rewrite that removes an obstacle and preserves all shapes; None where none or several do.

        A copy of an axis (0) is preferred to the remaining elements (-1): it is unambiguous. Where another item is
        already -1, that one becomes the number that it stands for.
        """
        inference = result.engine.inference
        for name in upstream_constants(inference, obstacle.index):
            constant = result.graph.constants[name]
            for after in (COPY, REST):
                fitting = []
                for index, before in enumerate(constant.elements or ()):
                    if not self._may_be_batch(before, index, after) or not is_only_size(inference, name, index):
                        continue
                    assert isinstance(before, int)
                    freed = self._free_rest(result, name, index) if after == REST else ()
                    if freed is None:
                        continue
                    attempt = self._attempt((Rewrite(name, index, before, after), *freed), constant, obstacle)
                    fitting += [] if attempt is None else [attempt]
                if fitting and self._is_unambiguous(fitting[0][0][0], len(fitting)):
                    return fitting[0]
        return None

    def _free_rest(self, result: Result, name: str, index: int) -> tuple[Rewrite, ...] | None:
        """The rewrite of another item that is -1, since only one may be; empty for none, None where that is impossible.

        It becomes the size of its axis in the output of a node that reads the constant; the attempt proves whether that
        number is right everywhere.
        """
        taken = [i for i, e in enumerate(result.graph.constants[name].elements or ()) if e == REST and i != index]
        if not taken:
            return ()
        compiled, (other, *more) = result.engine.inference.compiled, taken
        if more or not is_only_size(result.engine.inference, name, other):
            return None
        for consumer in compiled.consumers[compiled.slots[name]]:
            for output in compiled.step(consumer).node.outputs:
                dims = self.base.tensors[output].shape.dims or () if output else ()
                size = dims[other] if other < len(dims) else None
                if isinstance(size, int):
                    return (Rewrite(name, other, REST, size),)
        return None

    def unproved_items(self, result: Result, obstacle: Obstacle) -> list[str]:
        """The items with the old size that are not proved to stand for the axis.

        Those upstream of the obstacle come first, the nearest first; then those of the rest of the graph that are used
        in shapes.
        """
        inference = result.engine.inference
        upstream = list(upstream_constants(inference, obstacle.index))
        others = ((name, value) for name, value in result.graph.constants.items() if name not in upstream)
        rest = [name for name, value in others if is_integer_list(value)]
        items = [
            f"{name}[{index}] = {item}"
            for names, everywhere in ((upstream, True), (rest, False))
            for name in names
            for index, item in enumerate(result.graph.constants[name].elements or ())
            if item == self.old and (everywhere or is_only_size(inference, name, index))
        ]
        more = [f"and {len(items) - MAX_OTHERS} more"] if len(items) > MAX_OTHERS else []
        return items[:MAX_OTHERS] + more

    def _may_be_batch(self, before: object, index: int, after: int) -> bool:
        """Whether an item may stand for the old size: it equals it or, if first and rewritten to -1, is a multiple."""
        if not isinstance(before, int) or before < 1:
            return False
        is_first = index == 0 and 0 in self.axes.values()
        return before == self.old or (after == REST and is_first and before % self.old == 0)

    def _is_unambiguous(self, first: Rewrite, count: int) -> bool:
        """Whether a rewrite is the only one that fits, or that of the first axis, which stays the first."""
        return count == 1 or (set(self.axes.values()) == {0} and first.index == 0)

    def _attempt(self, rewrites: tuple[Rewrite, ...], constant: PartialTensor, obstacle: Obstacle) -> _Attempt | None:
        """The attempt to rewrite items of one constant; None where it does not help."""
        elements = list(constant.elements or ())
        for rewrite in rewrites:
            elements[rewrite.index] = rewrite.after
        changed = PartialTensor(constant.dtype, constant.shape, elements)
        constants = {**self.constants, rewrites[0].constant: changed}
        result = self.infer(self.name, constants)
        next_obstacle = self.first_obstacle(result)
        helps = next_obstacle is None or next_obstacle.index > obstacle.index
        if self.spatial and not self._keeps_views(result, rewrites[0].constant):
            return None  # of a batch, the search for mixed items decides
        if not helps or not self.are_shapes_equal(self.base, result, self.old):
            return None
        return rewrites, constants, result, next_obstacle

    def _keeps_views(self, result: Result, constant: str) -> bool:
        """Whether the nodes that read a rewritten constant have the axis where their input has it."""
        compiled, symbol = result.engine.inference.compiled, result.engine.scope.symbol(self.name)
        readers = (compiled.step(index) for index in compiled.consumers[compiled.slots[constant]])
        return all(is_view_of_items(result.engine.inference, step, symbol) for step in readers)

    def are_shapes_equal(self, numbers: Result, symbolic: Result, size: int) -> bool:
        """Whether all numeric sizes of a result are those of the symbolic result at this size of the axis."""
        values: dict[Dimension, DimSize] = {symbolic.engine.scope.symbol(self.name): size}
        for name, info in numbers.tensors.items():
            other = symbolic.tensors[name].shape.dims
            if name in self.constants or info.shape.dims is None or other is None:
                continue
            if len(other) != len(info.shape.dims):
                return False
            for a, b in zip(info.shape.dims, other, strict=True):
                if isinstance(a, int) and substitute(b, values) != a:
                    return False
        return True

    @property
    def limit(self) -> int:
        """The largest size that is tried for a spatial axis."""
        return PERIODS * self.old + MARGIN

    def other_sizes(self, result: Result) -> list[int]:
        """At most two other sizes: of a batch any, else the next legal ones."""
        if not self.spatial:
            return [self.old + 1, 2 * self.old + 3]
        larger = range(self.old + 1, self.limit + 1)
        return list(result.contract.solve(self.name, larger))[:2]

    def holds_at(self, symbolic: Result, size: int) -> bool:
        """Whether the graph runs with another size of the axis, and has the shapes of the symbolic result there."""
        result = self.infer(size)
        return not self._new_violations(result) and self.are_shapes_equal(result, symbolic, size)


def _index_of(result: Result, node_name: str) -> int:
    """The index of a node by its name in diagnostics; for a node in a body, that of the node with the body."""
    steps = result.engine.inference.compiled.steps
    exact = next((step.index for step in steps if step.node_name == node_name), None)
    if exact is not None:
        return exact
    return next((step.index for step in steps if node_name.startswith(f"{step.node_name}/")), 0)
