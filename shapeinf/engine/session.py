"""Sessions: every inference of a model is set up, updated and run again here, for `api` and `Result`.

A `Session` is a compiled graph with the options of a user; it is immutable. `run` creates the `Inference`: types of
inputs and constants, then the constraints of file and user, then the rules. Two things may make it start over:

- A bound of the user takes precedence over `min_dim`. A symbol cannot be made smaller later, so the inference is set up
  again, with a `SizePolicy` that has the dims in question.
- Where nodes fail under assumptions (see `cases`), the result is that without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import NamedTuple

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.bodies import Bodies
from shapeinf.engine.compiled import CompiledGraph, Operation
from shapeinf.engine.declarations import set_refiners
from shapeinf.engine.diagnostics import violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.engine.propagate import run
from shapeinf.engine.requested_inputs import contradicted_requests, require_stated_sizes
from shapeinf.engine.schema_violations import first_schema_violation
from shapeinf.errors import DimSyntaxError, ShapeError, ShapeInferenceError, UnknownNameError, UnknownOperatorError
from shapeinf.expr import Dimension, Scope, quote_name
from shapeinf.graph import Graph
from shapeinf.inputs.dim_names import DimNames
from shapeinf.inputs.named_dims import HINTS, Dim
from shapeinf.inputs.node_sizes import NodeSizes
from shapeinf.inputs.options import InferenceOptions
from shapeinf.inputs.reader import InputReader, SpecLike, add_ranges
from shapeinf.inputs.spec import keeps_declared, parse_shape_spec
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, SizePolicy, TensorType, Type
from shapeinf.solver.budget import Budget


def _default_policy(session: Session) -> SizePolicy:
    """The policy of the options alone."""
    return SizePolicy(session.options.min_dim)


@attrs.frozen(eq=False)
class Session:
    """A compiled graph and all that the user specifies.

    Args:
        compiled: the graph.
        options: the keywords of `infer_shapes`.
        updates: later shapes of inputs by name, in the order of the calls of `update`.
        policy: the least sizes of dims, and whether rules assume sizes.
    """

    compiled: CompiledGraph
    options: InferenceOptions
    updates: tuple[Mapping[str, SpecLike], ...] = ()
    policy: SizePolicy = attrs.field(default=attrs.Factory(_default_policy, takes_self=True))

    def without_assumptions(self, least: Mapping[str, int]) -> Session:
        """The session in which rules assume no sizes, and these named dims may be this small."""
        return attrs.evolve(self, policy=self.policy.allow(least).without_assumptions())

    def bind(self, sizes: Mapping[str, int]) -> Session:
        """The session in which these dims also have a size."""
        return attrs.evolve(self, options=attrs.evolve(self.options, bind={**self.options.bind, **sizes}))

    def infer_again(self, least: Mapping[str, int]) -> Inference:
        """See `Inference.infer_again`."""
        return self.without_assumptions(least).run().inference

    def run(self) -> Engine:
        """Set up an inference and run it; the result without assumptions where fewer nodes fail then.

        Raises ShapeError in strict mode, for contradictory options, and for bounds of sizes of nodes that cannot hold.
        """
        inference, reader, notes = self._set_up()
        inference.infer_again = self.infer_again
        inference.save_initial_store()
        try:
            run(inference)
        except (ShapeError, UnknownOperatorError):
            if not inference.store.assumed:
                self._raise_schema_violation(inference)
                raise
            return self._run_without_assumptions()
        self._raise_schema_violation(inference)
        self._check_node_sizes(inference)
        remove_consequences(inference)
        notes += contradicted_requests(inference, self.options.inputs_by_name(self.compiled.graph))
        result = Engine(inference, reader, _notes(self.compiled, notes, reader), self)
        failing = _count_violations(inference) if inference.store.assumed else 0
        if not failing:
            return result
        other = self._run_without_assumptions()
        return other if _count_violations(other.inference) < failing else result

    def _raise_schema_violation(self, inference: Inference) -> None:
        """In strict mode, raise the first violation: what a rule reports of a node may follow from it."""
        violation = first_schema_violation(inference) if self.options.mode == "strict" else None
        if violation is not None:
            raise violation

    def _check_node_sizes(self, inference: Inference) -> None:
        """Check what the user specifies of sizes of nodes, when all nodes have run.

        Raises the first Contradiction with it, UnknownNameError for a name that no node has created.
        """
        sizes = inference.store.sizes
        if sizes is None:
            return
        assert isinstance(sizes, NodeSizes)
        if sizes.conflict is not None:
            raise sizes.conflict
        missing = sizes.missing()
        if missing is not None and inference.store.scope.has(missing):
            reason = "it stands for sizes of several iterations or branches, or is a later number of the same size"
            raise ShapeInferenceError(f"bounds of {quote_name(missing)} cannot be specified: {reason}")
        if missing is not None:
            raise self._dim_names(inference).unknown_name(missing, map(quote_name, sizes.created))

    def _run_without_assumptions(self) -> Engine:
        """The result in which rules assume no sizes; an update of it assumes again."""
        return self.without_assumptions({}).run()._replace(session=self)

    def update(self, last: Engine, inputs: Mapping[str, SpecLike]) -> Engine:
        """The result for other shapes of inputs; see `Result.update`. The last result must not be used any more.

        It equals the result of a new run with all shapes so far. Where only types of inputs change, only the nodes that
        depend on them run again.
        """
        inference, reader, notes, _ = last
        session = attrs.evolve(self, updates=(*self.updates, dict(inputs)))
        types = session._replacing_types(inference, reader, inputs)
        if types is None:
            return session.run()
        slots = [inference.compiled.slots[name] for name in types]
        before = list(inference.numbers)
        for name, new in types.items():
            inference.set_type(name, new)
        inference.visited = 0
        inference.infer_again = session.infer_again
        inference.update([slot for slot in slots if inference.numbers[slot] != before[slot]])
        remove_consequences(inference)
        return Engine(inference, reader, notes, session)

    def _replacing_types(
        self, inference: Inference, reader: InputReader, names: Iterable[str]
    ) -> dict[str, Type] | None:
        """The new types of inputs; None where everything must run again, since not only types change.

        Besides types, constraints, least sizes, notes, the use of declarations and the fixpoint of a cycle may change.
        """
        if _uses_declarations_by_inputs(inference) or inference.nodes_added_constraints:
            return None
        policy = inference.store.policy
        if policy.assume != self.policy.assume or inference.compiled.groups is not None:
            return None
        if policy.least or reader.lints or not reader.constraining.isdisjoint(names):
            return None
        version = inference.store.version
        shapes, values = self._shapes(), self._values
        types = {name: self._input_type(name, reader, shapes, values) for name in names}
        if inference.store.version != version or reader.smaller or reader.lints:
            return None
        both = [type_ for name in names for type_ in (types[name], inference.input_types[name])]
        if self.options.limits_dims and any(map(_has_open_axes, both)):  # a limit may name x.shape[0]
            return None
        return types

    def find_dim(self, inference: Inference, name: str) -> str | None:
        """The name of the symbol of a dim of the inputs; None where `name`, which may be quoted, is no such dim.

        Raises UnknownNameError for a name that a later shape has replaced.
        """
        names = self._dim_names(inference)
        known = names.find(name)
        symbol = None if known is None else inference.store.scope.symbol(known)
        return known if symbol is not None and (symbol in names.input_symbols() or not symbol.is_anonymous) else None

    # -- the state before any node has run ---------------------------------------------------------------------------

    def _set_up(self) -> tuple[Inference, InputReader, list[Diagnostic]]:
        """A new inference, the reader of its inputs, and diagnostics of statements of the file that are not used."""
        policy, options = self.policy, self.options
        axes: set[str] = set()
        while True:
            store = ShapeStore(policy=policy)
            reader = InputReader.from_graph(self.compiled.graph, store)
            for name, least in policy.least.items():
                if name not in axes:
                    store.scope.symbol(name, least)
            inference = Inference(
                self.compiled, store, options.mode == "strict", options.progress, body_runner=Bodies()
            )
            notes = self._add_inputs(inference, reader)
            if not reader.smaller:
                return inference, reader, notes
            policy = policy.allow(reader.smaller)
            axes.update(name for name in reader.smaller if store.scope.symbol(name).is_anonymous)

    def _add_assumptions(self, reader: InputReader, names: DimNames, sizes: NodeSizes) -> None:
        """Add the relations of the user; one that names sizes of nodes goes to `sizes`, until these are created."""
        from shapeinf.inputs.assumptions import add_assumptions, assumption_names

        for text in self.options.assume:
            unknown = [name for name in assumption_names(text) if names.find(name) is None]
            if unknown:
                sizes.add_relation(text, unknown)
            elif add_assumptions(reader.store, text):
                reader.redundant.append(f"the assumption '{text}' is redundant: it follows from known constraints")

    def _add_ranges(self, inference: Inference, reader: InputReader, sizes: NodeSizes) -> None:
        """Add the ranges of dims, and declare the dims that the user has replaced; `sizes` gets those of nodes."""
        names = self._dim_names(inference)
        for ranges in (self.options.dims, self.options.bind):
            for dim in add_ranges(reader, ranges, names):
                sizes.add(dim)

    def _add_inputs(self, inference: Inference, reader: InputReader) -> list[Diagnostic]:
        """Set the types of inputs and constants, and add all constraints of file and user.

        Returns diagnostics of statements of the file that are not used.
        """
        store, graph = inference.store, self.compiled.graph
        shapes, values = self._shapes(), self._values
        for name in graph.inputs:
            inference.set_type(name, self._input_type(name, reader, shapes, values))
        for alias, name in graph.dim_aliases.items():
            if store.scope.has(name):
                store.scope.add_name(alias, store.scope.symbol(name))
        _fill_constants(inference)
        sizes = NodeSizes()
        if self.options.limits_dims or self.updates or shapes[0]:  # mostly the user states nothing of dims
            self._add_ranges(inference, reader, sizes)
        if reader.smaller:
            return []  # the inference is set up again
        ignored = _add_file_assumptions(store, graph)
        if self.options.assume:
            self._add_assumptions(reader, self._dim_names(inference), sizes)
        store.sizes = sizes if sizes.names else None
        inference.assumptions = (*self._assumed_values(inference, reader), *sizes.texts)
        unused = set_refiners(inference, reader, self.options.declared_mode(graph))
        return [*(Diagnostic("warning", "S111", text) for text in ignored), *unused]

    def _input_type(
        self, name: str, reader: InputReader, shapes: Sequence[Mapping[str, SpecLike]], values: Mapping[str, object]
    ) -> Type:
        """The type of an input: as declared, then changed by each shape that the user specifies, with its value."""
        version = reader.store.version
        value = self._read_shapes(name, reader, _specs(shapes, name)[1])
        if name in values:
            from shapeinf.inputs.values import read_value

            value = read_value(values[name], value, reader.user_name(name), reader)
        if reader.store.version != version:
            reader.constraining.add(name)
        reader.mark_assumable(value)
        reader.name_axes(name, value)
        return value or PartialTensor(None, reader.shape(None, name), None)

    def _read_shapes(self, name: str, reader: InputReader, specs: Iterable[SpecLike]) -> Type | None:
        """The declared type of an input, changed by these shapes; None where it has neither."""
        declaration = self.compiled.graph.declared.get(name)
        specs = list(specs)
        if declaration is None:
            value: Type | None = None
        elif specs and declaration.kind == "tensor" and _replaces_all_axes(specs[0]):
            value = TensorType(declaration.dtype, Shape.unknown())
        else:
            value = reader.read_declared(declaration, reader.user_name(name))
        for spec in specs:
            value = reader.read_spec(spec, value, name)
        if specs and declaration is not None and self.compiled.graph.strict_inputs:
            require_stated_sizes(reader, declaration, value, name)
        return value

    def _shapes(self) -> list[Mapping[str, SpecLike]]:
        """The user's shapes of inputs by name, in the order in which they apply."""
        return [self.options.inputs_by_name(self.compiled.graph), *self.updates]

    @property
    def _values(self) -> Mapping[str, object]:
        """The user's values of inputs by name."""
        return self.options.values_by_name(self.compiled.graph)

    def _assumed_values(self, inference: Inference, reader: InputReader) -> Iterator[str]:
        """The values as texts: `sr = 16000`."""
        if not self._values:
            return
        from shapeinf.lattice.contents import format_elements

        for name in self._values:
            tensor = inference.input_types[name]
            assert isinstance(tensor, PartialTensor)
            yield f"{reader.user_name(name)} = {format_elements(tensor)}"

    def _dim_names(self, inference: Inference) -> DimNames:
        """The names of dims that the user may refer to; after an update also those that it replaced.

        Before an update a replaced name is an error, with its input. After one it is ignored: the options were written
        for the earlier shapes.
        """
        scope, graph = inference.store.scope, self.compiled.graph
        current = partial(input_symbols, inference)
        replaced = self._replaced_dims()
        if replaced:
            names = {symbol.name for symbol in current()}
            replaced = {dim: name for dim, name in replaced.items() if dim.name not in names}
        for dim in replaced:
            if self.updates or not dim.is_anonymous:  # declarations, or options of the user, may refer to it
                scope.symbol(dim.name, self.options.min_dim, anonymous=dim.is_anonymous)
        inputs = {} if self.updates else {dim.name: name for dim, name in replaced.items()}
        return DimNames(scope, current, inputs, _declared_names(graph))

    def _replaced_dims(self) -> dict[Dimension, str]:
        """The symbols in shapes of inputs that a later shape changes or replaces, each with its input."""
        dims: dict[Dimension, str] = {}
        shapes = self._shapes()
        for name in dict.fromkeys(name for by_name in shapes for name in by_name):
            reader = InputReader.from_graph(self.compiled.graph, ShapeStore(policy=self.policy))
            earlier, later = _specs(shapes, name)
            specs = [*earlier, *later]
            for count in range(len(specs)):
                value = self._read_shapes(name, reader, specs[:count])
                shape = value.shape if isinstance(value, TensorType) else Shape.unknown()
                dims.update(dict.fromkeys(shape.symbols(), reader.user_name(name)))
        return dims


class Engine(NamedTuple):
    """The internals of a `Result`, which are its `engine`. Any release may change them.

    Work with them inside of `with result.engine.lock:`, where other threads use the result too.

    Args:
        inference: the finished inference.
        reader: the reader of its inputs.
        notes: the diagnostics that belong to no node: of packages, file and user.
        session: the session that updates the inference; None for a what-if run, which cannot be updated.
    """

    inference: Inference
    reader: InputReader
    notes: tuple[Diagnostic, ...] = ()
    session: Session | None = None

    @property
    def store(self) -> ShapeStore:
        """The constraints on the dims, with their sources."""
        return self.inference.store

    @property
    def scope(self) -> Scope:
        """The owner of all symbols."""
        return self.store.scope

    @property
    def lock(self) -> RLock:
        """Held by every query of the result, its contract, memory and program; it is re-entrant."""
        return self.scope.lock

    @property
    def visited(self) -> int:
        """The number of nodes that the run or update visited."""
        return self.inference.visited

    def find_dim(self, name: str) -> str | None:
        """See `Session.find_dim`; the name itself for a what-if run."""
        return name if self.session is None else self.session.find_dim(self.inference, name)


def _uses_declarations_by_inputs(inference: Inference) -> bool:
    """Whether the shapes of inputs decide how declarations are used; see `traced`."""
    return inference.compiled.graph.traced and inference.declared_mode != "ignore"


def _count_violations(inference: Inference) -> int:
    return len(list(violations(inference)))


def _has_open_axes(value: Type | None) -> bool:
    """Whether an axis of a tensor has a size without a name."""
    dims = value.shape.dims if isinstance(value, TensorType) else None
    return any(isinstance(dim, Dimension) and dim.is_symbol and dim.is_anonymous for dim in dims or ())


def rerun(
    inference: Inference,
    store: ShapeStore,
    prepare: Callable[[Inference], None] | None = None,
    budget: Budget | None = None,
    *,
    assume: bool = True,
) -> Inference:
    """A what-if run: the inference of the same graph and inputs with the constraints of `store`, in best mode.

    With `assume` false, rules assume nothing. `prepare` may change the new inference before any node runs; the old one
    is unchanged. Declarations are compared, never trusted. `budget` is that of the command or query, for the runs of
    bodies; by default the run has its own.
    """
    store.policy = store.policy if assume else store.policy.without_assumptions()
    fresh = Inference(inference.compiled, store, strict=False, body_runner=inference.body_runner, budget=budget)
    fresh.assumptions = inference.assumptions
    slots, types, numbers = inference.compiled.slots, inference.table.types, inference.numbers
    for name, value in inference.input_types.items():
        fresh.set_type(name, value)
    for name in inference.compiled.graph.constants:  # also of inputs: their default values hold
        constant = types[numbers[slots[name]]]
        fresh.numbers[slots[name]] = 0 if constant is None else fresh.table.add(constant)
    set_refiners(fresh, InputReader(store), "ignore" if inference.declared_mode == "ignore" else "check")
    if prepare is not None:
        prepare(fresh)
    fresh.save_initial_store()
    run(fresh)
    return fresh


def remove_consequences(inference: Inference) -> None:
    """Remove what nodes behind an error report only since declarations are trusted in place of its outputs."""
    notes = inference.node_diagnostics
    if len(notes) < 2 or not inference.completed or inference.compiled.groups is not None:
        return
    behind = nodes_behind(inference.compiled, rows_with_errors(inference)).intersection(notes)
    if not behind:
        return
    alone = rerun(inference, inference.initial_store.copy()).node_diagnostics
    for index in behind:
        known = {(note.code, note.severity == "error" or note.message) for note in alone.get(index, ())}
        remaining = [
            n for n in notes[index] if n.code.startswith("S2") or (n.code, n.severity == "error" or n.message) in known
        ]
        if remaining:
            notes[index] = remaining
        else:
            del notes[index]


def rows_with_errors(inference: Inference) -> list[int]:
    """The rows of nodes that failed."""
    return [index for index, notes in inference.node_diagnostics.items() if any(n.severity == "error" for n in notes)]


def nodes_behind(compiled: CompiledGraph, rows: Iterable[int]) -> set[int]:
    """The rows that depend on an output of any of these rows."""
    behind: set[int] = set()
    stack = list(rows)
    while stack:
        slots = (slot for slot in compiled.rows[stack.pop()][2] if slot >= 0)
        new = {reader for slot in slots for reader in compiled.consumers[slot]} - behind
        behind |= new
        stack += new
    return behind


def _specs(shapes: Sequence[Mapping[str, SpecLike]], name: str) -> tuple[list[SpecLike], list[SpecLike]]:
    """The user's shapes of an input: those that the last full shape replaces, and those from it on."""
    specs = [by_name[name] for by_name in shapes if name in by_name]
    last = max((i for i, spec in enumerate(specs) if _is_full_shape(spec)), default=0)
    return specs[:last], specs[last:]


def _is_full_shape(spec: SpecLike) -> bool:
    """Whether a spec is a full shape, not a change of single axes."""
    if isinstance(spec, str):
        return parse_shape_spec(spec, Scope()).is_full
    if isinstance(spec, (list, tuple)) and any(map(keeps_declared, spec)):
        return False
    return spec is not None and not isinstance(spec, Mapping)


def _replaces_all_axes(spec: SpecLike) -> bool:
    """Whether a spec is a full shape that needs nothing of the declared one."""
    if isinstance(spec, str):
        return _is_full_shape(spec)
    plain = isinstance(spec, (list, tuple)) and all(d is None or type(d) in (int, str, Dim) for d in spec)
    return plain and not any(keeps_declared(d) or _is_hint(d) for d in spec or ())


def _is_hint(dim: object) -> bool:
    """Whether an element of a shape is a hint of torch, which depends on the declared size."""
    return isinstance(dim, str) and dim.strip().removeprefix("Dim.") in HINTS


def _notes(compiled: CompiledGraph, notes: Iterable[Diagnostic], reader: InputReader) -> tuple[Diagnostic, ...]:
    """All diagnostics that belong to no node: of packages, of the file, of the user's options."""
    return (
        *_package_notes(compiled),
        *compiled.graph.diagnostics,
        *notes,
        *(Diagnostic("note", "S112", text) for text in reader.redundant),
        *(Diagnostic("note", "S110", lint) for lint in reader.lints),
    )


def _package_notes(compiled: CompiledGraph) -> list[Diagnostic]:
    """Errors in packages of operators (S401); where an operator has no rule, also the unused packages (S402)."""
    registry, dialect = compiled.registry, compiled.graph.dialect
    notes = [Diagnostic("warning", "S401", problem) for problem in registry.problems(dialect)]
    if any(not operation.known for operation in compiled.operations.values()):
        hint = f"an entry point that adds to the dialect {dialect!r} is named '{dialect}.NAME'"
        unused = registry.unused_packages(dialect)
        notes += [Diagnostic("note", "S402", f"{package} is not in use: {hint}") for package in unused]
    return notes


def _declared_names(graph: Graph) -> Callable[[], set[str]]:
    """A function of the names of dims that the file declares anywhere."""
    return lambda: {d for declared in graph.declared.values() for d in declared.dims or () if isinstance(d, str)}


def _add_file_assumptions(store: ShapeStore, graph: Graph) -> list[str]:
    """Add the assumptions of the file; messages about those that cannot be used."""
    if not graph.assumptions:
        return []
    from shapeinf.inputs.assumptions import add_assumptions

    ignored = []
    for text in graph.assumptions:
        try:
            add_assumptions(store, [text], "file")
        except (DimSyntaxError, UnknownNameError) as error:
            ignored.append(f"the file's assumption {text!r} is not used: {error}")
    return ignored


def _fill_constants(inference: Inference) -> None:
    """Set the types of constants; the contents of large ones are read from the file only where a rule needs them."""
    compiled = inference.compiled
    graph = compiled.graph
    numbers: dict[int, int] = {}  # readers share one object among constants of equal shape
    for name, constant in graph.constants.items():
        number = numbers.get(id(constant))
        if number is None:
            number = numbers[id(constant)] = inference.table.add_constant(constant)
        inference.numbers[compiled.slots[name]] = number
    for name in _read_by_rules(compiled, graph.unread):
        inference.set_type(name, graph.unread[name]())


def _read_by_rules(compiled: CompiledGraph, names: Collection[str]) -> set[str]:
    """The constants among `names` whose contents a rule or a body reads."""
    values: set[str] = set()
    slots = {compiled.slots[name]: name for name in names}
    if slots:
        for key, inputs, _, _ in compiled.rows:
            operation = compiled.operations[key]
            values.update(slots[slot] for i, slot in enumerate(inputs) if slot in slots and _reads(operation, i))
    return values


def _reads(operation: Operation, position: int) -> bool:
    """Whether an operation may read the contents of an input."""
    call = operation.call
    return call is None or bool(operation.bodies) or call.reads(position)
