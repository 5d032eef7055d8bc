"""Which items of constants mean the size of an axis: found by trying, proved by inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from shapeinf.api import infer
from shapeinf.edit.rebatch.flows import constants_above, is_list, only_sizes
from shapeinf.edit.rebatch.items import mixing_node
from shapeinf.engine.inference import certain_violations
from shapeinf.expr import Dim, Dimension, substitute
from shapeinf.graph import Graph
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import PartialTensor
from shapeinf.result import Result

MAX_OTHERS = 16
COPY, REST = 0, -1
"""What an item may become: the size of the same axis of the input, or what is left of the elements."""


@attrs.frozen
class Rewrite:
    """One item of a constant, what it was and what it is now."""

    constant: str
    index: int
    before: int
    after: int

    def __str__(self) -> str:
        """`shape[0]: 1 -> 0`."""
        return f"{self.constant}[{self.index}]: {self.before} -> {self.after}"


@attrs.frozen
class Trouble:
    """What keeps the axis from being dynamic; `place` is that of the node in the program."""

    place: int
    text: str


_Found = tuple[tuple[Rewrite, ...], dict[str, PartialTensor], Result, Trouble | None]
"""Items to rewrite, all constants then, the shapes with them, and what is still in the way."""


@attrs.define
class Search:
    """The state of one search: the graph with what has been rewritten so far."""

    graph: Graph
    old: int
    axis: int
    name: str
    inputs: tuple[str, ...]
    options: InferenceOptions
    base: Result
    constants: dict[str, PartialTensor] = attrs.Factory(dict)
    rewrites: list[Rewrite] = attrs.Factory(list)

    def infer(self, size: int | str, constants: Mapping[str, PartialTensor] | None = None) -> Result:
        """The shapes with another size of the axis and other constants."""
        graph = attrs.evolve(self.graph, constants={**self.graph.constants, **(constants or self.constants)})
        return self._infer(graph, size)

    def _infer(self, graph: Graph, size: int | str) -> Result:
        inputs = {**self.options.inputs_by_name(graph), **{name: {self.axis: size} for name in self.inputs}}
        return infer(graph, attrs.evolve(self.options, inputs=inputs))

    def trouble(self, result: Result) -> Trouble | None:
        """What comes first of all that keeps the axis from being dynamic."""
        known = {(found.code, found.node) for found in certain_violations(self.base.inference)}
        found = [
            Trouble(self._place(result, one.node), f"{one.message} ({one.op.partition(' ')[0]} {one.node})")
            for one in certain_violations(result.inference)
            if (one.code, one.node) not in known
        ]
        symbol = result.scope.symbol(self.name)
        for condition in result.contract.preconditions:
            if any(isinstance(d, Dimension) and symbol in d.symbols() for d in condition.terms):
                found.append(Trouble(self._place(result, condition.node), str(condition)))
        found += self._outputs(result, symbol)
        first = min(found, key=lambda one: one.place, default=None)
        return self._mixing(result, first) or first

    def _mixing(self, result: Result, first: Trouble | None) -> Trouble | None:
        """The first node before that trouble after which items may be mixed; there the symbol is still free."""
        if first is not None:
            steps = result.inference.compiled.steps[: first.place]
            graph = attrs.evolve(result.graph, nodes=[step.node for step in steps], outputs=[])
            result = self._infer(graph, self.name)
        step = mixing_node(result.inference, result.scope.symbol(self.name))
        if step is None:
            return None
        text = f"{step.operation.kind.op} {step.site} may mix what belongs to different items"
        return Trouble(step.index, text)

    def _outputs(self, result: Result, symbol: Dimension) -> Iterator[Trouble]:
        """Outputs that keep the old size in the axis and have the new one in another."""
        program = result.inference.compiled
        for name in self.graph.outputs:
            dims = result.tensors[name].shape.dims or ()
            mixed = any(isinstance(d, Dimension) and symbol in d.symbols() for d in dims)
            if mixed and len(dims) > self.axis and dims[self.axis] == self.old:
                place = program.producers[program.slots[name]]
                shown = result.tensors[name].shape
                yield Trouble(0 if place is None else place, f"the output {name} becomes {shown}")

    @staticmethod
    def _place(result: Result, site: str) -> int:
        """The place of a node by the name that facts carry; of the node around it for one in a body."""
        steps = result.inference.compiled.steps
        exact = next((step.index for step in steps if step.site == site), None)
        if exact is not None:
            return exact
        return next((step.index for step in steps if site.startswith(f"{step.site}/")), 0)

    def solve(self) -> tuple[Result, Trouble | None]:
        """Rewrite items until nothing is in the way; the last result, and what is still in the way."""
        result = self.infer(self.name)
        trouble = self.trouble(result)
        while trouble is not None:
            found = self._next(result, trouble)
            if found is None:
                return result, trouble
            rewrites, self.constants, result, trouble = found
            self.rewrites += rewrites
        return result, None

    def _next(self, result: Result, trouble: Trouble) -> _Found | None:
        """The rewrite that takes a trouble away and leaves all shapes as they were; None where there is not just one.

        An item that copies an axis is better than one that takes what is left: it can mean nothing else. Where another
        item takes what is left already, that one becomes the number that it stands for.
        """
        for name in constants_above(result.inference, trouble.place):
            constant = result.graph.constants[name]
            for after in (COPY, REST):
                fitting = []
                for index, before in enumerate(constant.elements or ()):
                    if not self._may_mean(before, index, after) or not only_sizes(result.inference, name, index):
                        continue
                    assert isinstance(before, int)
                    freed = self._freed(result, name, index) if after == REST else ()
                    if freed is None:
                        continue
                    tried = self._tried((Rewrite(name, index, before, after), *freed), constant, trouble)
                    fitting += [] if tried is None else [tried]
                if fitting and self._unambiguous(fitting[0][0][0], len(fitting)):
                    return fitting[0]
        return None

    def _freed(self, result: Result, name: str, index: int) -> tuple[Rewrite, ...] | None:
        """What makes room for an item that takes what is left: only one item may. None where that cannot be.

        The number that another such item stands for is the size of that axis in what a reader of the constant makes;
        whether it is that number everywhere is seen when it is tried.
        """
        taken = [i for i, e in enumerate(result.graph.constants[name].elements or ()) if e == REST and i != index]
        if not taken:
            return ()
        program, (other, *more) = result.inference.compiled, taken
        if more or not only_sizes(result.inference, name, other):
            return None
        for place in program.consumers[program.slots[name]]:
            for output in program.step(place).node.outputs:
                dims = self.base.tensors[output].shape.dims or () if output else ()
                size = dims[other] if other < len(dims) else None
                if isinstance(size, int):
                    return (Rewrite(name, other, REST, size),)
        return None

    def others(self, result: Result, trouble: Trouble) -> list[str]:
        """The items that hold the old size and that nothing proves to mean the axis.

        Those above the trouble come first, the nearest first; then those of the rest of the graph that go into shapes.
        """
        inference = result.inference
        above = list(constants_above(inference, trouble.place))
        rest = [name for name, found in result.graph.constants.items() if name not in above and is_list(found)]
        found = [
            f"{name}[{index}] = {item}"
            for names, everywhere in ((above, True), (rest, False))
            for name in names
            for index, item in enumerate(result.graph.constants[name].elements or ())
            if item == self.old and (everywhere or only_sizes(inference, name, index))
        ]
        more = [f"and {len(found) - MAX_OTHERS} more"] if len(found) > MAX_OTHERS else []
        return found[:MAX_OTHERS] + more

    def _may_mean(self, before: object, index: int, after: int) -> bool:
        """Whether an item may hold the old size: it is that size, or, in front of all others, a multiple of it."""
        if not isinstance(before, int) or before < 1:
            return False
        return before == self.old or (after == REST and index == 0 == self.axis and before % self.old == 0)

    def _unambiguous(self, first: Rewrite, count: int) -> bool:
        """Whether only one item can be meant: the axis in front stays in front, whatever else would fit."""
        return count == 1 or (self.axis == 0 and first.index == 0)

    def _tried(self, rewrites: tuple[Rewrite, ...], constant: PartialTensor, trouble: Trouble) -> _Found | None:
        """What is left when items of one constant are rewritten; None where that does not help."""
        elements = list(constant.elements or ())
        for rewrite in rewrites:
            elements[rewrite.index] = rewrite.after
        changed = PartialTensor(constant.dtype, constant.shape, elements)
        constants = {**self.constants, rewrites[0].constant: changed}
        result = self.infer(self.name, constants)
        left = self.trouble(result)
        if (left is not None and left.place <= trouble.place) or not self.same(self.base, result, self.old):
            return None
        return rewrites, constants, result, left

    def same(self, numbers: Result, symbolic: Result, size: int) -> bool:
        """Whether all shapes of one result are those of another with the size put in."""
        values: dict[Dimension, Dim] = {symbolic.scope.symbol(self.name): size}
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

    def holds_at(self, symbolic: Result, size: int) -> bool:
        """Whether the graph runs with another size, and makes the shapes that the symbol says."""
        result = self.infer(size)
        known = {(found.code, found.node) for found in certain_violations(self.base.inference)}
        new = [found for found in certain_violations(result.inference) if (found.code, found.node) not in known]
        return not new and self.same(result, symbolic, size)
