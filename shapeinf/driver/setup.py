"""What the user and the file say before any node has spoken; it can be said again for smaller dims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import attrs

from shapeinf.algebra import DimSyntaxError
from shapeinf.driver.assumptions import tell_assumptions
from shapeinf.driver.bodies import Bodies
from shapeinf.driver.breaking import broken_laws
from shapeinf.driver.execution import execute
from shapeinf.driver.inference import Declaring, Inference, Progress
from shapeinf.driver.inputs import InputReader, RangeLike, SpecLike, by_name, input_names, tell_ranges
from shapeinf.driver.named import NamedDim
from shapeinf.driver.outputs import declare
from shapeinf.driver.program import Operation, Program
from shapeinf.errors import ShapeError, UnknownNameError
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor, ShapeFacts, Type

Dims = Mapping[str, RangeLike] | Iterable[NamedDim]


def _kept(dims: Dims) -> Mapping[str, RangeLike] | tuple[NamedDim, ...]:
    return dims if isinstance(dims, Mapping) else tuple(dims)


def _listed(texts: Iterable[str] | str) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


@attrs.frozen(eq=False)
class Setup:
    """A compiled graph and all that the user says of it; the fields are the arguments of `infer_shapes`."""

    program: Program
    dims: Mapping[str, RangeLike] | tuple[NamedDim, ...] = attrs.field(converter=_kept)
    bind: Mapping[str, int]
    inputs: Mapping[str, SpecLike] | Sequence[SpecLike] | str
    assume: tuple[str, ...] = attrs.field(converter=_listed)
    strict: bool
    min_dim: int
    declared: Declaring
    progress: Progress | None

    def run(self, lowered: Mapping[str, int] | None = None) -> tuple[Inference, InputReader, list[str]]:
        """The finished inference, what has read its inputs, and what is doubtful in the file's assumptions.

        `lowered` has dims that may be smaller than `min_dim`, with their least sizes; where it is given, even empty,
        nodes assume nothing of sizes. What the user says of single dims goes before `min_dim` too: where some of it
        turns out to be smaller, all is said again with symbols that may be.

        Where a law is broken under what nodes assume, and not without it, the inference is the one without it.
        """
        lowest = dict(lowered or {})
        while True:
            facts = ShapeFacts()
            facts.assuming = lowered is None
            for name, low in lowest.items():
                facts.scope.symbol(name, low)
            reader = InputReader(facts, self.min_dim)
            inference = Inference(self.program, facts, self.strict, self.progress, inner=Bodies())
            doubts = self._tell(inference, reader)
            if not reader.lowered:
                break
            lowest.update(reader.lowered)
        reader.lowered.update(lowest)
        inference.again = lambda lower: self.run({**lowest, **lower})[0]
        inference.freeze_setup()
        try:
            execute(inference)
        except ShapeError:
            if not facts.assumed:
                raise
            return self.run(lowest)
        return self._without_doubtful(inference, lowest) or (inference, reader, doubts)

    def _without_doubtful(
        self, inference: Inference, lowest: Mapping[str, int]
    ) -> tuple[Inference, InputReader, list[str]] | None:
        """The same where nodes assume nothing, if less is broken then."""
        broken = len(list(broken_laws(inference))) if inference.facts.assumed else 0
        other = self.run(lowest) if broken else None
        return other if other is not None and len(list(broken_laws(other[0]))) < broken else None

    def _tell(self, inference: Inference, reader: InputReader) -> list[str]:
        facts, graph = inference.facts, self.program.graph
        _fill(inference, reader, self.inputs)
        names = _declared_names(graph)
        tell_ranges(reader, self.dims, names)
        tell_ranges(reader, self.bind, names)
        if reader.lowered:
            return []  # all of this is said again
        doubts = _assumed_by_the_file(facts, graph)
        for text in tell_assumptions(facts, self.assume):
            reader.useless.append(f"the assumption '{text}' says nothing new: it follows from what is known")
        declare(inference, reader, self.declared)
        return doubts


def _declared_names(graph: Graph) -> Callable[[], set[str]]:
    """The names of dims that the file declares anywhere."""
    return lambda: {d for one in graph.declared.values() for d in one.dims or () if isinstance(d, str)}


def _assumed_by_the_file(facts: ShapeFacts, graph: Graph) -> list[str]:
    """Tell what the file assumes; what cannot be told is given back as text."""
    doubts = []
    for text in graph.assumptions:
        try:
            tell_assumptions(facts, [text], "file")
        except (DimSyntaxError, UnknownNameError) as error:
            doubts.append(f"the file's assumption {text!r} is not used: {error}")
    return doubts


def _fill(inference: Inference, reader: InputReader, given: Mapping[str, SpecLike] | Sequence[SpecLike] | str) -> None:
    """Put the types of inputs and constants into their slots."""
    program: Program = inference.program
    graph = program.graph
    names = input_names(graph)
    given = by_name(given, names)
    for name in graph.inputs:
        declaration = graph.declared.get(name)
        found: Type | None = reader.declared(declaration, name) if declaration is not None else None
        if name in given:
            found = reader.given(given[name], found, name)
        reader.presume(found)
        inference.set(name, found or PartialTensor(None, reader.shape(None, name), None))
    numbers: dict[int, int] = {}  # readers share one object among constants of equal shape
    for name, constant in graph.constants.items():
        number = numbers.get(id(constant))
        if number is None:
            number = numbers[id(constant)] = inference.table.add(constant)
        inference.numbers[program.slots[name]] = number
    for name in _wanted(program, graph.unread):
        inference.set(name, graph.unread[name]())


def _wanted(program: Program, names: Collection[str]) -> set[str]:
    """The values that some rule, or a body, wants the contents of."""
    found: set[str] = set()
    slots = {program.slots[name]: name for name in names}
    if slots:
        for key, inputs, _, _ in program.rows:
            found.update(
                slots[slot] for i, slot in enumerate(inputs) if slot in slots and _reads(program.operations[key], i)
            )
    return found


def _reads(operation: Operation, position: int) -> bool:
    call = operation.call
    return call is None or bool(operation.bodies) or call.reads(position)
