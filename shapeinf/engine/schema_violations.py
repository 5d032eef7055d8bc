"""Schema violations: what a runtime refuses in nodes and names when it loads a model.

A violation (see `shapeinf.ops.conformance`) does not depend on sizes, and runtimes check each body whether it runs or
not: it is an error in any branch. Inference does not stop at a violation, and the shapes that rules infer stay. So the
violations are searched when the diagnostics of a finished inference are read; a node is checked once for each
combination of its operation and the types of its inputs.

A type that follows from a violation (of an output that shares a type variable with a wrong operand) counts as unknown,
so that each cause is reported once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import CompiledGraph, NodeStep, Operation
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import captured_slots
from shapeinf.engine.type_table import TypeTable
from shapeinf.errors import ShapeError, ShapeInferenceError
from shapeinf.graph import MISSING, UNUSED, DeclaredType, Graph
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type, type_text
from shapeinf.ops.conformance import (
    CODES,
    TYPE_NOT_ALLOWED,
    TYPES_DIFFER,
    Operand,
    Use,
    find_schema_violations,
    invalid_type,
)

REPEATED_NAME, CONSTANT_TYPE, DECLARED_TYPE = "S113", "S114", "S115"

Key = tuple[object, ...]

Scope = tuple[CompiledGraph, int]
"""A graph and the index of a node in it."""


@attrs.frozen
class SchemaViolation:
    """A violation with the node (or the constant) that has it, as its diagnostic names them.

    `index` is that of the node's row; -1 for a name of the graph.
    """

    index: int
    error: ShapeError
    subject: str
    op: str = ""
    operands: tuple[str, ...] = ()
    location: str = ""
    tensor: str = ""

    @property
    def diagnostic(self) -> Diagnostic:
        """The diagnostic, an error."""
        note = self.error.as_diagnostic(self.subject if self.op else "", self.op, self.operands)
        return attrs.evolve(note, tensor=self.tensor if self.op else self.subject, location=self.location)


class SchemaViolations:
    """All violations of an inference and of those of its bodies, which have finished or failed."""

    def __init__(self, inference: Inference) -> None:
        """Find them."""
        self.by_run: dict[int, list[SchemaViolation]] = {}
        """The violations of a run of a graph, by the id of its inference."""
        self._doubtful: dict[int, set[int]] = {}
        self._mistyped: dict[int, set[str]] = {}
        self._wrong: set[int] = set()
        """The runs with a violation, in themselves or in a body, by the ids of their inferences."""
        self._clean: set[Key] = set()
        self._copies: dict[int, Inference] = {}
        self._texts: dict[int, list[str | None]] = {}
        """The texts of types by number, for each table of types by its id."""
        dialect = inference.compiled.registry.dialect(inference.compiled.graph.dialect)
        lenient = dialect is None or inference.compiled.graph.lenient
        self._in_file = bool(inference.compiled.graph.format)
        self._compare_declared = inference.declared_mode != "ignore"
        self._history = None if dialect is None or lenient else dialect.history
        self.is_checked = self._history is not None
        if self._history is not None:
            self._check_run(inference, set(), ())

    def of(self, inference: Inference) -> Sequence[SchemaViolation]:
        """The violations of a run, in the order of its nodes, those of names first."""
        return self.by_run.get(id(inference), ())

    def doubtful_slots(self, inference: Inference) -> Collection[int]:
        """The slots of a run whose types follow from a violation."""
        return self._doubtful.get(id(inference), ())

    def mistyped(self, inference: Inference) -> Collection[str]:
        """The values of a run that the file declares with other types than their nodes compute."""
        return self._mistyped.get(id(inference), ())

    def has_any(self, inference: Inference) -> bool:
        """Whether a run or one of its bodies has a violation."""
        return id(inference) in self._wrong

    def __iter__(self) -> Iterator[SchemaViolation]:
        """All violations."""
        return (violation for violations in self.by_run.values() for violation in violations)

    def _check_run(self, inference: Inference, doubtful: set[int], scopes: Sequence[Scope]) -> None:
        """Check a graph and, in its nodes, those of their bodies.

        `doubtful` are the inputs whose types follow from a violation. `scopes` are the nodes of outer graphs around it.
        """
        compiled = inference.compiled
        result = [*_check_names(inference, scopes)]
        self.by_run[id(inference)], self._doubtful[id(inference)] = result, doubtful
        numbers, operations, texts = inference.numbers, compiled.operations, self._texts_of(inference.table)
        for index, (row_key, inputs, _, _) in enumerate(compiled.rows):
            operation = operations[row_key]
            uncertain = bool(doubtful) and not doubtful.isdisjoint(inputs)
            key: Key = (operation, *[MISSING if slot == MISSING else texts[numbers[slot]] for slot in inputs])
            violations: list[SchemaViolation] = []
            if uncertain or key not in self._clean:
                violations = self._check_node(inference, index, operation, doubtful)
                result += violations
                if uncertain or violations:
                    doubtful.update(_doubtful_outputs(compiled.step(index), doubtful, violations))
                elif not _takes_references(operation):  # whether an operand is one is not in the key
                    self._clean.add(key)
            if operation.bodies or index in inference.children or index in inference.node_diagnostics:
                result += self._check_calls(inference, index, doubtful, scopes, violations)
        if self._compare_declared:
            result += self._check_declarations(inference, doubtful)
        if result:
            self._wrong.add(id(inference))

    def _check_calls(
        self,
        inference: Inference,
        index: int,
        doubtful: set[int],
        scopes: Sequence[Scope],
        violations: Sequence[SchemaViolation],
    ) -> list[SchemaViolation]:
        """The violations in the bodies of a node, and those that its rule reports; its outputs are doubtful then.

        `violations` are those of the node itself; what its rule reports follows from these, and from those of bodies.
        """
        step = inference.compiled.step(index)
        is_wrong = any(violation.error.code == TYPE_NOT_ALLOWED for violation in violations)
        result = [*self._check_bodies(inference, index, doubtful, scopes, is_wrong)]
        in_bodies = result or any(map(self.has_any, inference.children.get(index, {}).values()))
        if not violations and not in_bodies:
            for note in inference.node_diagnostics.get(index, ()):
                if note.severity == "error" and note.code in CODES and not _has_unknown_operand(inference, step):
                    error = ShapeError(note.message, code=note.code, help=note.help)
                    result.append(_violation_of(inference, step, error))
        if in_bodies or result:
            self._wrong.add(id(inference))
            doubtful.update(step.outputs)
        return result

    def _check_bodies(
        self, inference: Inference, index: int, doubtful: set[int], scopes: Sequence[Scope], is_wrong: bool
    ) -> Iterator[SchemaViolation]:
        """Check the bodies of a node, or its function; yields the inputs of bodies that have other types.

        `is_wrong`: the node has an operand of a type that it does not allow.
        """
        step = inference.compiled.step(index)
        for child in self._run_others(inference, step):
            known = set(self.by_run)
            self._check_run(child, set(), (*scopes, (inference.compiled, index)))
            for run in [run for run in self.by_run if run not in known]:
                yield from (attrs.evolve(violation, index=index) for violation in self.by_run.pop(run))
        for name, child in inference.children.get(index, {}).items():
            inner = _doubtful_inputs(child, step, doubtful, is_wrong)
            if isinstance(step.operation.bodies.get(name), CompiledGraph):
                errors = [] if inner else [*_compare_inputs(child)]
                inner |= _inputs_of_other_kinds(child) | _differing_inputs(child) | _absent_inputs(child)
                yield from (_violation_of(inference, step, error) for error in errors)
                self._check_run(child, inner, (*scopes, (inference.compiled, index)))
            elif step.operation.bodies or step.operation.body is not None:  # no definition by others of the dialect
                self._check_run(child, inner | _differing_inputs(child), ())

    def _run_others(self, inference: Inference, step: NodeStep) -> list[Inference]:
        """Runs, in a copy of the inference, of the bodies of a node that did not run in it: of branches never taken."""
        ran = inference.children.get(step.index, {})
        others = [n for n, body in step.operation.bodies.items() if n not in ran and isinstance(body, CompiledGraph)]
        if not others:
            return []
        copy = self._copies.get(id(inference))
        if copy is None:
            copy = self._copies[id(inference)] = inference.fork()
            copy.strict = False
        bodies = copy.body_runner.bind_bodies(copy, step)
        for name in others:
            body = step.operation.bodies[name]
            assert isinstance(body, CompiledGraph)
            try:
                bodies[name].run([_declared_type(body.graph, name) for name in body.graph.inputs], certain=False)
            except ShapeInferenceError:  # the limit of nodes in bodies: what has run is checked
                break
        return [child for name, child in copy.children.get(step.index, {}).items() if name in others]

    def _check_node(
        self, inference: Inference, index: int, operation: Operation, doubtful: set[int]
    ) -> list[SchemaViolation]:
        """The violations of a node."""
        kind, compiled = operation.kind, inference.compiled
        version = compiled.graph.opsets.get(kind.domain, 0)
        if (kind.domain, kind.op, kind.overload) in compiled.functions:
            return []
        assert self._history is not None
        definitions = self._history(kind.domain, kind.op, version)
        if not definitions:
            return []
        step = compiled.step(index)
        inputs = [self._operand(inference, slot, slot in doubtful) for slot in step.arguments]
        if _takes_references(operation):
            inputs = [
                operand._replace(is_reference=_is_reference(inference, slot))
                for operand, slot in zip(inputs, step.arguments, strict=True)
            ]
        uncertain = any(slot in doubtful for slot in step.arguments)  # the types of outputs may follow from these
        outputs = [self._operand(inference, slot, uncertain) for slot in step.outputs]
        errors = find_schema_violations(Use(kind, version, definitions, inputs, outputs, self._in_file))
        return [_violation_of(inference, step, error) for error in errors]

    def _check_declarations(self, inference: Inference, doubtful: set[int]) -> Iterator[SchemaViolation]:
        """The outputs of nodes that the file declares with other element types or kinds than the nodes compute.

        One violation for all values with the same two types.
        """
        compiled, types, canonical = inference.compiled, inference.table.types, inference.table.canonical
        differing: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for name, declared in compiled.graph.declared.items():
            slot = compiled.slots.get(name)
            producer = None if slot is None else compiled.producers[slot]
            if slot is None or producer is None or slot in doubtful:
                continue
            value = types[canonical[inference.numbers[slot]]]
            text = None if value is None else _differing_text(declared, value)
            if value is not None and text is not None:
                stated = str(declared.dtype) if declared.kind == value.kind == "tensor" else declared.kind
                differing.setdefault((stated, text), []).append((name, producer))
        for (stated, text), values in differing.items():
            self._mistyped.setdefault(id(inference), set()).update(name for name, _ in values)
            name, producer = min(values, key=lambda value: value[1])
            others = f", and so are {len(values) - 1} other values" if len(values) > 1 else ""
            message = f"{name!r} is declared as {stated}, and the node computes {text}{others}"
            error = ShapeError(message, code=DECLARED_TYPE, help="declare what the graph computes")
            yield attrs.evolve(_violation_of(inference, compiled.step(producer), error), tensor=name)

    def _operand(self, inference: Inference, slot: int, doubtful: bool) -> Operand:
        """The operand in a slot, without its type where that is doubtful."""
        if slot in (MISSING, UNUSED):
            return Operand("")
        text = None if doubtful else self._texts_of(inference.table)[inference.numbers[slot]]
        return Operand(inference.compiled.names[slot], text)

    def _texts_of(self, table: TypeTable) -> list[str | None]:
        """The texts of the types of a table, by number."""
        texts = self._texts.setdefault(id(table), [])
        canonical = table.canonical
        for number in range(len(texts), len(table.types)):
            type_ = table.types[canonical[number]]
            texts.append(None if type_ is None else type_text(type_))
        return texts


def first_schema_violation(inference: Inference) -> ShapeError | None:
    """The first violation as an error with its node; None for a model that conforms."""
    violation = next(iter(SchemaViolations(inference)), None)
    if violation is None:
        return None
    error = violation.error
    error.location = violation.location
    if violation.op:
        error.node, error.op = violation.subject, violation.op.partition(" (")[0]
    return error


def _has_unknown_operand(inference: Inference, step: NodeStep) -> bool:
    """Whether nothing is known of a value that the node has as an input: to its rule the input is missing."""
    return any(slot != MISSING and inference.type_of(slot) is None for slot in step.arguments)


def _violation_of(inference: Inference, step: NodeStep, error: ShapeError) -> SchemaViolation:
    """The violation of a node."""
    location = inference.compiled.graph.locations.get(step.node.name, "")
    subject, operands = inference.path + step.node_name, inference.operands(step)
    return SchemaViolation(step.index, error, subject, str(step.operation), operands, location)


def _takes_references(operation: Operation) -> bool:
    return operation.op_def is not None and any(arg.is_ref for arg in operation.op_def.inputs)


def _is_reference(inference: Inference, slot: int) -> bool | None:
    """Whether a value is the reference of a variable; None for an input of a body, and of unknown operators."""
    compiled = inference.compiled
    producer = None if slot in (MISSING, UNUSED) else compiled.producers[slot]
    if producer is None:
        return None if inference.path or slot in (MISSING, UNUSED) else False
    step = compiled.step(producer)
    op_def, kind = step.operation.op_def, step.operation.kind
    if op_def is None or step.operation.body is not None:
        return None
    output = op_def.flatten(kind.attrs, len(step.arguments), len(step.outputs)).output(step.outputs.index(slot))
    return None if output is None else output.is_ref


def _declared_type(graph: Graph, name: str) -> Type | None:
    """The declared element type of an input of a body, with an unknown shape; None where it is no declared tensor."""
    declared = graph.declared.get(name)
    tensor = declared is not None and declared.kind == "tensor"
    return PartialTensor(declared.dtype, Shape.unknown(), None) if declared is not None and tensor else None


def _differing_inputs(child: Inference) -> set[int]:
    """The slots of the inputs of a function whose values have other element types than it declares: a call fails."""
    graph, slots = child.compiled.graph, child.compiled.slots
    differing = set()
    for name in graph.inputs:
        value, declared = child.input_types.get(name), graph.declared.get(name)
        if value is not None and declared is not None and declared.dtype and name in slots:
            differing.update([slots[name]] if type_text(value) not in (None, declared.dtype) else [])
    return differing


def _absent_inputs(child: Inference) -> set[int]:
    """The slots of the inputs of a body that have no value: the node calls it with too few."""
    slots, types = child.compiled.slots, child.input_types
    return {slots[name] for name in child.compiled.graph.inputs if types.get(name) is None and name in slots}


def _inputs_of_other_kinds(child: Inference) -> set[int]:
    """The inputs of a body whose last values are of another kind than declared: a trip may make an optional a sequence.

    Runtimes check a body by its declarations.
    """
    declared, slots = child.compiled.graph.declared, child.compiled.slots
    return {
        slots[name]
        for name, value in child.input_types.items()
        if value is not None and name in declared and name in slots and value.kind != declared[name].kind
    }


def _compare_inputs(child: Inference) -> Iterator[ShapeError]:
    """The inputs of a body whose values have other types than the body declares."""
    declared = child.compiled.graph.declared
    for name, value in child.input_types.items():
        if value is None or name not in declared:
            continue
        text = _differing_text(declared[name], value)
        if text is not None:
            is_tensor = declared[name].kind == value.kind == "tensor"
            stated = declared[name].dtype if is_tensor else declared[name].kind
            message = f"the body declares its input {name!r} as {stated}, and its value is {text}"
            yield ShapeError(message, code=TYPES_DIFFER, help=f"a Cast to {stated} is missing" if is_tensor else None)


def _differing_text(declared: DeclaredType, value: Type) -> str | None:
    """The element type, or the kind, of a value that is declared with another one.

    A value of an optional may be declared as what it contains: loops that start without a value have both.
    """
    if declared.kind == "tensor" == value.kind:
        text = type_text(value)
        return text if declared.dtype and text not in (None, declared.dtype) else None
    is_unknown = isinstance(value, TensorType) and value.dtype is None and value.shape.dims is None
    if is_unknown or declared.kind == value.kind or "tensor" not in (declared.kind, value.kind):
        return None
    return value.kind if value.kind != "tensor" else type_text(value)


def _doubtful_outputs(step: NodeStep, doubtful: set[int], violations: Sequence[SchemaViolation]) -> set[int]:
    """The outputs of a node whose types follow from a violation, or from a doubtful input of the same type variable."""
    op_def = step.operation.op_def
    if op_def is None or step.operation.bodies or step.operation.body is not None:
        return set(step.outputs)
    flat = op_def.flatten(step.operation.kind.attrs, len(step.arguments), len(step.outputs))
    args = [flat.input(i) for i, slot in enumerate(step.arguments) if slot in doubtful]
    variables = {None, *(arg.type_attr for arg in args if arg is not None)}
    is_wrong = any(violation.error.code in (TYPES_DIFFER, TYPE_NOT_ALLOWED) for violation in violations)
    outputs = [(slot, flat.output(i)) for i, slot in enumerate(step.outputs)]
    return {
        slot for slot, arg in outputs if not (arg and arg.type) and (is_wrong or not arg or arg.type_attr in variables)
    }


def _doubtful_inputs(child: Inference, step: NodeStep, doubtful: set[int], is_wrong: bool) -> set[int]:
    """The slots of a body whose values have doubtful types outside; all inputs where an operand has a wrong type."""
    compiled = child.compiled
    inner = {inner for inner, slot in captured_slots(step, compiled) if slot in doubtful}
    if is_wrong or not doubtful.isdisjoint(step.arguments):
        inner.update(compiled.slots[name] for name in compiled.graph.inputs)
    return inner


# -- names -------------------------------------------------------------------------------------------------------------


def _check_names(inference: Inference, scopes: Sequence[Scope]) -> Iterator[SchemaViolation]:
    """Names that occur twice, and constants whose element type is not that of the input of their name."""
    compiled = inference.compiled
    for name in compiled.graph.repeated_constants:
        message = f"several initializers have the name {name!r}"
        yield SchemaViolation(-1, ShapeError(message, code=REPEATED_NAME), inference.path + name)
    for name in compiled.graph.invalid_types:
        yield SchemaViolation(-1, invalid_type(f"{name!r}"), inference.path + name)
    yield from _check_constants(compiled.graph, inference.path)
    yield from _check_node_names(compiled, inference.path)
    for slot in compiled.output_slots if scopes else ():
        name, producer = compiled.names[slot], compiled.producers[slot]
        if producer is not None and any(_is_visible(name, *scope) for scope in scopes):
            message = f"the output {name!r} has the name of a value of the graph around it"
            yield _violation_of(inference, compiled.step(producer), ShapeError(message, code=REPEATED_NAME))


def _is_visible(name: str, compiled: CompiledGraph, index: int) -> bool:
    """Whether a graph has a value of this name when a node of it runs."""
    slot = compiled.slots.get(name)
    producer = -1 if slot is None else compiled.producers[slot]
    return slot is not None and (producer is None or producer < index)


def _check_constants(graph: Graph, path: str) -> Iterator[SchemaViolation]:
    for name in graph.inputs:
        constant, declared = graph.constants.get(name), graph.declared.get(name)
        if constant is None or declared is None or not declared.dtype or declared.kind != "tensor":
            continue
        if constant.dtype and constant.dtype != declared.dtype:
            message = f"the initializer {name!r} is {constant.dtype}, and the input of this name {declared.dtype}"
            error = ShapeError(message, code=CONSTANT_TYPE, help="declare the input as the initializer is")
            yield SchemaViolation(-1, error, path + name)


def _check_node_names(compiled: CompiledGraph, path: str) -> Iterator[SchemaViolation]:
    names = [row[3] for row in compiled.rows]
    if len(set(names)) == len(names):
        return
    for name, count in Counter(names).items():
        if name and count > 1:
            index = names.index(name, names.index(name) + 1)
            error = ShapeError(f"{count} nodes have the name {name!r}", code=REPEATED_NAME)
            yield SchemaViolation(index, error, path + name, str(compiled.step(index).operation))
