"""The input of every check: an inferred model, with declarations and user bounds apart from what nodes require."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from math import inf

from shapeinf.checks.changes import integers_in
from shapeinf.constraints.records import try_evaluate
from shapeinf.contract import Precondition
from shapeinf.contract.conditions import DimCondition, read_guards
from shapeinf.diagnostics import Diagnostic, Severity
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.engine.schema_violations import SchemaViolations
from shapeinf.engine.session import rerun
from shapeinf.engine.traced import includes_traced_sizes
from shapeinf.errors import ShapeError, Source
from shapeinf.expr import Dimension, DimSize, Scope
from shapeinf.formats import FORMATS
from shapeinf.formats.annotation import GENERATED
from shapeinf.graph import UNUSED, DeclaredType, Graph, Node
from shapeinf.guards import GuardReport, examine_guards
from shapeinf.lattice import ShapeStore, TensorType
from shapeinf.result import Result
from shapeinf.sharing import cached_property
from shapeinf.solver.budget import Budget
from shapeinf.solver.sampling import Binding, typical_bindings

STEPS_PER_SIZE = 100
"""The steps of a budget for a size of one dim, and for a constraint: the types that change with it."""

SHARE_OF_GUARDS = 4
"""The part of the remaining budget that the examination of guards may take, as a divisor."""

MAX_EXAMPLES = 64
"""The most bindings of symbols that a check tests."""


class CheckedModel:
    """An inferred model as checks read it; they do not change the result.

    Args:
        result: of an inference with `declared="check"`.
        ranges: the dims with bounds of the user, by name.
        what_if: whether this is a what-if run, an inference of a changed model.
        later: the constraints of the run without the change: no size outside of the bounds in it is an example.
        budget: the budget of the whole check, which what-if runs share.
    """

    def __init__(
        self,
        result: Result,
        ranges: Mapping[str, object] | None = None,
        what_if: bool = False,
        later: ShapeStore | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Nothing is computed yet."""
        self.budget = budget or Budget.for_graph(len(result.engine.inference.compiled.rows), result.engine.store.scope)
        self.later = later
        self.result = result
        self.what_if = what_if
        self.ranges = dict(ranges or {})
        self._examples: dict[tuple[frozenset[Dimension], int], list[Binding]] = {}
        self._runs: dict[frozenset[tuple[str, int]], bool] = {}

    @property
    def graph(self) -> Graph:
        """The inferred graph."""
        return self.result.graph

    @property
    def store(self) -> ShapeStore:
        """All constraints of the inference."""
        return self.result.engine.store

    @property
    def initial_store(self) -> ShapeStore:
        """The constraints of the user and the file, before those of any node."""
        return self.result.engine.inference.initial_store

    @cached_property
    def input_dims(self) -> dict[str, tuple[DimSize, ...]]:
        """The dims of each input before any node runs: as declared, or as the user requested."""
        return {
            name: input_type.shape.dims
            for name, input_type in self.result.engine.inference.input_types.items()
            if isinstance(input_type, TensorType) and input_type.shape.dims is not None and name in self.graph.inputs
        }

    @cached_property
    def axes(self) -> dict[Dimension, list[tuple[str, int]]]:
        """The symbols of the inputs, each with the (input, axis) pairs that mention it.

        The sizes of an input with a default are those of the default.
        """
        axes: dict[Dimension, list[tuple[str, int]]] = {}
        for name, dims in self.input_dims.items():
            for axis, dim in enumerate(() if name in self.graph.constants else dims):
                for symbol in sorted(dim.symbols(), key=str) if isinstance(dim, Dimension) else ():
                    axes.setdefault(symbol, []).append((name, axis))
        return axes

    @cached_property
    def named_symbols(self) -> set[Dimension]:
        """The symbols of the inputs that have a name of the file or the user."""
        return {s for s in self.axes if not s.symbol.anonymous and not GENERATED.fullmatch(s.name)}

    def upper_bound(self, symbol: Dimension) -> int | None:
        """The largest size of a symbol of the inputs, as far as user, file and nodes require it; not an assumed one."""
        high, known = self.store.interval(symbol).hi, self.store.ranges.get(symbol.atom)
        if high is None or known is None or symbol in self.store.solved:
            return high
        least = before = inf if symbol.symbol.hi is None else symbol.symbol.hi
        for step in known.steps():
            if step.bounds[1] < before and not step.source.assumed:
                least = step.bounds[1]
            before = step.bounds[1]
        return None if least == inf else int(least)

    def are_independent(self, symbols: Iterable[Dimension]) -> bool:
        """Whether these symbols are independent sizes: axes of the same inputs, or of a batch.

        The axes of a mask [seq, total] and of tokens [seq] are related; the axes of one image are not.
        """
        inputs = {symbol: {name for name, _ in self.axes.get(symbol, ())} for symbol in symbols}
        batch = {symbol for symbol in inputs if all(axis == 0 for _, axis in self.axes.get(symbol, ()))}
        rest = {frozenset(names) for symbol, names in inputs.items() if symbol not in batch}
        return len(rest) <= 1 and bool(inputs) and bool(set.intersection(*inputs.values()))

    @cached_property
    def doubtful(self) -> set[str]:
        """The tensors whose element types follow from a violation: a difference of these is not reported again."""
        inference = self.result.engine.inference
        names = inference.compiled.names
        return {names[slot] for slot in self._schema.doubtful_slots(inference) if slot != UNUSED}

    @property
    def loads_only_right_types(self) -> bool:
        """Whether runtimes refuse a declaration of another element type or kind than its node computes."""
        return self._schema.is_checked

    @cached_property
    def _schema(self) -> SchemaViolations:
        return SchemaViolations(self.result.engine.inference)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by their names in diagnostics: the own name, else the first output."""
        nodes: dict[str, Node] = {}
        for node in self.graph.nodes:
            nodes.setdefault(node.name or next((o for o in node.outputs if o), node.op), node)
        return nodes

    @cached_property
    def order(self) -> dict[str, int]:
        """The position of each node in the graph."""
        return {name: position for position, name in enumerate(self.nodes)}

    @cached_property
    def producers(self) -> dict[str, str]:
        """The name of the node that produces each value."""
        return {output: name for name, node in self.nodes.items() for output in node.outputs if output}

    @cached_property
    def declared(self) -> dict[str, DeclaredType]:
        """The declared types of values that nodes produce; none where the sizes of a traced run may not hold."""
        if not includes_traced_sizes(self.result.engine.inference):
            return {}
        return {name: declared for name, declared in self.graph.declared.items() if name in self.producers}

    def examples(self, symbols: Iterable[Dimension]) -> list[Binding]:
        """Up to `MAX_EXAMPLES` bindings of symbols that satisfy all constraints on them; see `typical_bindings`."""
        key = frozenset(symbols), self.store.version
        if key not in self._examples:
            self._examples[key] = list(itertools.islice(typical_bindings(self.store, key[0], self.later), MAX_EXAMPLES))
        return self._examples[key]

    def runs_at(self, binding: Binding) -> bool:
        """Whether the graph runs at these sizes, but for the nodes that fail anyway; not tested in a what-if run.

        An exported program does not run where its guards do not hold: what it declares holds where they do.
        """
        if self.what_if:
            return True
        if not self._guards_accept(binding):
            return False
        key = frozenset(binding.items())
        if key not in self._runs:
            violations = violations_at(self, binding)
            self._runs[key] = violations is not None and self._violated.issuperset((v.code, v.node) for v in violations)
        return self._runs[key]

    @cached_property
    def guard_report(self) -> GuardReport | None:
        """The verdicts on the guards of an exported program; None for a model without guards."""
        session = self.result.engine.session
        if session is None or FORMATS.input_guards(self.graph) is None:
            return None
        return examine_guards(session, work=self.budget.remaining // SHARE_OF_GUARDS)

    def _guards_accept(self, binding: Binding) -> bool:
        """Whether no guard of an exported program is known to refuse these sizes."""
        axes, guards = self._guards
        evaluated = {name: try_evaluate(d, binding) for name, d in axes.items()}
        sizes = {name: size for name, size in evaluated.items() if size is not None}
        return all(guard.holds(sizes) is not False for guard in guards)

    @cached_property
    def _guards(self) -> tuple[dict[str, DimSize], list[DimCondition]]:
        """The sizes of the axes that guards name, and the guards; nothing for a model without guards."""
        inputs = FORMATS.input_guards(self.graph)
        if inputs is None:
            return {}, []
        shapes = {name: self.result.tensors[name].shape.dims or () for name in inputs.axes}
        axes = {label: d for name, dims in shapes.items() for label, d in zip(inputs.axes[name], dims, strict=False)}
        return axes, [guard for guard in read_guards(inputs, Scope()) if guard is not None]

    @cached_property
    def _violated(self) -> set[tuple[str, str]]:
        """The codes and nodes of the violations at all sizes."""
        return {(violation.code, violation.node) for violation in certain_violations(self.result.engine.inference)}

    @cached_property
    def preconditions(self) -> list[Precondition]:
        """The unconditional requirements of each node on the dims of the inputs."""
        always = (each for precondition in self.result.contract.always for each in (precondition, *precondition.weaker))
        return [each for each in always if each.free_symbols and each.kind not in ("guard", "assumption")]

    def op(self, node: str) -> str:
        """The operator of a node; empty for a name that is no node of this graph."""
        return self.nodes[node].op if node in self.nodes else ""

    def reads_sizes(self, node: str) -> bool:
        """Whether a node reads a constant of integers: sizes, axes, ends."""
        inference, inputs = self.result.engine.inference, self.nodes[node].inputs if node in self.nodes else ()
        slots = [inference.compiled.slots[source] for source in inputs if source in self.graph.constants]
        return any(integers_in(inference.table.types[inference.numbers[slot]]) is not None for slot in slots)

    def location(self, node: str) -> str:
        """The location of a node in the source text, for formats that have one."""
        return self.graph.locations.get(node, "")

    def axes_text(self, symbol: Dimension) -> str:
        """The axes of the inputs with this symbol: `tokens.shape[0]`."""
        return ", ".join(f"{name}.shape[{axis}]" for name, axis in self.axes.get(symbol, ()))

    def symbol_text(self, symbol: Dimension) -> str:
        """The name of a symbol, else its axes."""
        return self.axes_text(symbol) if symbol.symbol.anonymous else str(symbol)

    def binding_text(self, binding: Binding) -> str:
        """A binding as text: `batch = 2, x.shape[1] = 3`."""
        scope = self.store.scope
        return ", ".join(f"{self.symbol_text(scope.symbol(name))} = {size}" for name, size in binding.items())

    def has_only_input_symbols(self, dim: DimSize) -> bool:
        """Whether a dim depends on symbols of the inputs only."""
        return isinstance(dim, int) or all(s in self.axes for s in dim.symbols())


def dim_spec(dim: DimSize) -> int | str | None:
    """A dim as a spec for another inference: a number, a text, or None for an unknown size."""
    return dim if isinstance(dim, int) else None if dim.is_anonymous else str(dim)


def violations_at(
    model: CheckedModel, binding: Binding, prepare: Callable[[Inference], None] | None = None
) -> list[Diagnostic] | None:
    """The certain violations at these sizes of the dims of the inputs.

    None where the constraints exclude the sizes, and where the budget of the check is exhausted.
    """
    inference, budget = model.result.engine.inference, model.budget
    steps = STEPS_PER_SIZE * (len(binding) + inference.store.count)
    if not budget.take(steps) or not budget.take_run(len(inference.compiled.rows)):
        return None
    store = inference.initial_store.copy()
    try:
        for name, size in binding.items():
            store.add_equal(store.scope.symbol(name), size, Source("", f"the what-if run has {name} = {size}"))
    except ShapeError:
        return None
    run = rerun(inference, store, prepare, budget)
    return None if budget.cut else certain_violations(run)


def precondition_diagnostic(
    severity: Severity, code: str, message: str, precondition: Precondition, help: str | None = None
) -> Diagnostic:
    """A diagnostic at the node that requires a precondition, with its reason."""
    node, op, because = precondition.node, precondition.op, precondition.message
    return Diagnostic(severity, code, message, node, op, because=because, location=precondition.location, help=help)
