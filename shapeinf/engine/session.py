"""What the user and the file say before any node has spoken; it can be said again for smaller dims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.bodies import Bodies
from shapeinf.engine.compiled import CompiledGraph, Operation
from shapeinf.engine.declarations import declare
from shapeinf.engine.inference import Inference, execute, violations
from shapeinf.errors import ShapeError, UnknownNameError
from shapeinf.expr import DimSyntaxError, Scope
from shapeinf.graph import Graph
from shapeinf.inputs.assumptions import add_assumptions
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.reader import InputReader, SpecLike, add_ranges
from shapeinf.inputs.spec import parse_shape_spec
from shapeinf.lattice import PartialTensor, ShapeStore, Type


class Made(NamedTuple):
    """A finished inference with what has read its inputs, what there is to say of both, and what it was made from."""

    inference: Inference
    reader: InputReader
    notes: tuple[Diagnostic, ...]
    setup: Session


@attrs.frozen(eq=False)
class Session:
    """A compiled graph and all that the user says of it.

    `updates` are shapes of inputs that were given since, the last ones last. `lowest` has dims that may be smaller than
    `min_dim`, with their least sizes. Without `assuming` nodes assume nothing of sizes that nobody gave.
    """

    program: CompiledGraph
    options: InferenceOptions
    updates: tuple[Mapping[str, SpecLike], ...] = ()
    lowest: Mapping[str, int] = attrs.field(factory=dict)
    assuming: bool = True

    def updated(self, inputs: Mapping[str, SpecLike]) -> Session:
        """The same with other shapes of some inputs."""
        return attrs.evolve(self, updates=(*self.updates, dict(inputs)))

    def allow_smaller(self, least: Mapping[str, int]) -> Session:
        """The same where named dims may be as small as this, and nodes assume nothing of sizes."""
        return attrs.evolve(self, lowest={**self.lowest, **least}, assuming=False)

    def again(self, least: Mapping[str, int]) -> Inference:
        """The inference where named dims may be as small as this."""
        return self.allow_smaller(least).run().inference

    def run(self) -> Made:
        """The finished inference.

        What the user says of single dims goes before `min_dim`: where some of it turns out to be smaller, all is said
        again with symbols that may be. Where a law is broken under what nodes assume, and not without it, the inference
        is the one without it.
        """
        lowest, options = dict(self.lowest), self.options
        while True:
            store = ShapeStore()
            store.assuming = self.assuming
            for name, low in lowest.items():
                store.scope.symbol(name, low)
            reader = InputReader(store, options.min_dim)
            inference = Inference(self.program, store, options.mode == "strict", options.progress, inner=Bodies())
            doubts = self._tell(inference, reader)
            if not reader.lowered:
                break
            lowest.update(reader.lowered)
        reader.lowered.update(lowest)
        inference.infer_smaller = self.again
        inference.save_initial_store()
        try:
            execute(inference)
        except ShapeError:
            if not store.assumed:
                raise
            return self.allow_smaller({}).run()
        made = Made(inference, reader, _notes(self.program, doubts, reader), self)
        return self._without_assumptions(made) or made

    def _without_assumptions(self, made: Made) -> Made | None:
        """The same where nodes assume nothing, if less is broken then."""
        broken = len(list(violations(made.inference))) if made.inference.store.assumed else 0
        other = self.allow_smaller({}).run() if broken else None
        return other if other is not None and len(list(violations(other.inference))) < broken else None

    def type_of(self, name: str, reader: InputReader) -> Type:
        """The type of an input: as declared, then as each of its given shapes says."""
        version = reader.store.version
        found = self._read(name, reader, self._specs(name)[1])
        if reader.store.version != version:
            reader.telling.add(name)
        reader.presume(found)
        return found or PartialTensor(None, reader.shape(None, name), None)

    def _read(self, name: str, reader: InputReader, specs: Iterable[SpecLike]) -> Type | None:
        declaration = self.program.graph.declared.get(name)
        found = reader.read_declared(declaration, name) if declaration is not None else None
        for spec in specs:
            found = reader.read_spec(spec, found, name)
        return found

    def _specs(self, name: str) -> tuple[list[SpecLike], list[SpecLike]]:
        """What was given for an input before the last whole shape, which takes its place, and from it on."""
        specs = [one[name] for one in (self._first, *self.updates) if name in one]
        last = max((i for i, spec in enumerate(specs) if _is_whole(spec)), default=0)
        return specs[:last], specs[last:]

    def _name_replaced(self, scope: Scope) -> None:
        """Make the symbols that only replaced shapes name: ranges and assumptions may still be about them."""
        for name in self.program.graph.inputs if self.updates else ():
            other = InputReader(ShapeStore(), self.options.min_dim)
            self._read(name, other, self._specs(name)[0])
            for dim in other.store.scope.names():
                scope.symbol(dim, self.options.min_dim)

    @property
    def _first(self) -> Mapping[str, SpecLike]:
        return self.options.inputs_by_name(self.program.graph)

    def _tell(self, inference: Inference, reader: InputReader) -> list[str]:
        store, graph = inference.store, self.program.graph
        for name in graph.inputs:
            inference.set(name, self.type_of(name, reader))
        _fill_constants(inference)
        self._name_replaced(store.scope)
        names = _declared_names(graph)
        add_ranges(reader, self.options.dims, names)
        add_ranges(reader, self.options.bind, names)
        if reader.lowered:
            return []  # all of this is said again
        doubts = _assumed_by_the_file(store, graph)
        for text in add_assumptions(store, self.options.assume):
            reader.useless.append(f"the assumption '{text}' says nothing new: it follows from what is known")
        declare(inference, reader, self.options.declared)
        return doubts


def _is_whole(spec: SpecLike) -> bool:
    """Whether what is given for an input is a whole shape, and no change of single axes."""
    if isinstance(spec, str):
        return parse_shape_spec(spec, Scope()).dims is not None
    return spec is not None and not isinstance(spec, Mapping)


def _notes(program: CompiledGraph, doubts: Iterable[str], reader: InputReader) -> tuple[Diagnostic, ...]:
    """What there is to say of packages, of the file and of what the user says of it, before any node."""
    return (
        *_notes_of_packages(program),
        *program.graph.diagnostics,
        *(Diagnostic("warning", "S111", doubt) for doubt in doubts),
        *(Diagnostic("note", "S112", text) for text in reader.useless),
        *(Diagnostic("note", "S110", lint) for lint in reader.lints),
    )


def _notes_of_packages(program: CompiledGraph) -> list[Diagnostic]:
    """What is wrong with installed packages of operators; which are not in use, where operators are missing."""
    registry, dialect = program.registry, program.graph.dialect
    notes = [Diagnostic("warning", "S401", problem) for problem in registry.problems(dialect)]
    if any(not operation.known for operation in program.operations.values()):
        hint = f"an entry point that adds to the dialect {dialect!r} is named '{dialect}.NAME'"
        notes += [Diagnostic("note", "S402", f"{one} is not in use: {hint}") for one in registry.not_loaded(dialect)]
    return notes


def _declared_names(graph: Graph) -> Callable[[], set[str]]:
    """The names of dims that the file declares anywhere."""
    return lambda: {d for one in graph.declared.values() for d in one.dims or () if isinstance(d, str)}


def _assumed_by_the_file(store: ShapeStore, graph: Graph) -> list[str]:
    """Tell what the file assumes; what cannot be told is given back as text."""
    doubts = []
    for text in graph.assumptions:
        try:
            add_assumptions(store, [text], "file")
        except (DimSyntaxError, UnknownNameError) as error:
            doubts.append(f"the file's assumption {text!r} is not used: {error}")
    return doubts


def _fill_constants(inference: Inference) -> None:
    """Put the types of constants into their slots."""
    program: CompiledGraph = inference.compiled
    graph = program.graph
    numbers: dict[int, int] = {}  # readers share one object among constants of equal shape
    for name, constant in graph.constants.items():
        number = numbers.get(id(constant))
        if number is None:
            number = numbers[id(constant)] = inference.table.add(constant)
        inference.numbers[program.slots[name]] = number
    for name in _wanted(program, graph.unread):
        inference.set(name, graph.unread[name]())


def _wanted(program: CompiledGraph, names: Collection[str]) -> set[str]:
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
