"""Breaches: what a runtime refuses when it loads a model, of the nodes and names of a graph and of the graphs in it.

A breach (see `shapeinf.ops.conformance`) does not depend on sizes, and runtimes check each body whether it runs or not:
it is an error in any branch. Inference does not stop at one, and shapes that rules infer stay. So breaches are looked
for when the diagnostics of a finished inference are read; a node is checked once for each combination of its operation
and the types of its inputs.

A type that follows from a breach (of an output that shares a type variable with a wrong operand) is taken as unknown, so
that each cause is reported once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.compiled import CompiledGraph, NodeStep, Operation
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeError
from shapeinf.graph import MISSING, UNUSED, Graph
from shapeinf.lattice import type_text
from shapeinf.ops.conformance import Operand, Use, find_breaches

REPEATED_NAME, CONSTANT_TYPE = "S113", "S114"

Key = tuple[object, ...]


@attrs.frozen
class Breach:
    """A breach with the node (or the constant) that has it, as its diagnostic names them.

    `index` is that of the node's row; -1 for a name of the graph.
    """

    index: int
    error: ShapeError
    site: str
    op: str = ""
    operands: tuple[str, ...] = ()
    location: str = ""

    @property
    def diagnostic(self) -> Diagnostic:
        """The diagnostic, an error."""
        note = self.error.as_diagnostic(self.site if self.op else "", self.op, self.operands)
        return attrs.evolve(note, tensor="" if self.op else self.site, location=self.location)


class Breaches:
    """All breaches of an inference and of those of its bodies, which have finished or failed."""

    def __init__(self, inference: Inference) -> None:
        """Find them."""
        self.by_run: dict[int, list[Breach]] = {}
        """The breaches of a run of a graph, by the id of its inference."""
        self.doubtful: dict[int, set[int]] = {}
        """For each run the slots whose types follow from a breach."""
        self._clean: set[Key] = set()
        self._texts: dict[int, str | None] = {0: None}
        dialect = inference.compiled.registry.dialect(inference.compiled.graph.dialect)
        self._history = None if dialect is None else dialect.history
        if self._history is not None:
            self._check_run(inference, set())

    def of(self, inference: Inference) -> Sequence[Breach]:
        """The breaches of a run, in the order of its nodes, those of names first."""
        return self.by_run.get(id(inference), ())

    def __iter__(self) -> Iterator[Breach]:
        """All breaches."""
        return (breach for breaches in self.by_run.values() for breach in breaches)

    def _check_run(self, inference: Inference, doubtful: set[int]) -> None:
        """Check a graph and, in its nodes, those of their bodies; `doubtful` are inputs whose types are not."""
        compiled = inference.compiled
        found = [*_check_names(inference)]
        self.by_run[id(inference)], self.doubtful[id(inference)] = found, doubtful
        numbers, operations = inference.numbers, compiled.operations
        for index, (row_key, inputs, _, _) in enumerate(compiled.rows):
            operation = operations[row_key]
            uncertain = bool(doubtful) and not doubtful.isdisjoint(inputs)
            key: Key = (operation, *[-1 if slot == MISSING else numbers[slot] for slot in inputs])
            if uncertain or key not in self._clean:
                breaches = self._check_node(inference, index, operation, doubtful)
                found += breaches
                if uncertain or breaches:
                    doubtful.update(_doubtful_outputs(compiled.step(index), doubtful, breaches))
                else:
                    self._clean.add(key)
            for child in inference.children.get(index, {}).values() if index in inference.children else ():
                if operation.bodies or operation.body is not None:  # not a definition by others of the dialect
                    self._check_run(child, _doubtful_inputs(child, compiled.step(index), doubtful))

    def _check_node(
        self, inference: Inference, index: int, operation: Operation, doubtful: set[int]
    ) -> list[Breach]:
        """The breaches of a node."""
        kind, compiled = operation.kind, inference.compiled
        version = compiled.graph.opsets.get(kind.domain, 0)
        if version <= 0 or (kind.domain, kind.op, kind.overload) in compiled.functions:
            return []
        assert self._history is not None
        definitions = self._history(kind.domain, kind.op, version)
        if not definitions:
            return []
        step = compiled.step(index)
        node = step.node
        inputs = [
            Operand(name, None if slot in doubtful or slot == MISSING else self._text(inference, slot))
            for name, slot in zip(node.inputs, step.arguments, strict=True)
        ]
        outputs = [
            Operand(name, None if slot == UNUSED else self._text(inference, slot))
            for name, slot in zip(node.outputs, step.outputs, strict=True)
        ]
        if any(slot in doubtful for slot in step.arguments):  # the types of outputs may follow from these
            outputs = [Operand(output.name) for output in outputs]
        errors = find_breaches(Use(kind, version, definitions, inputs, outputs))
        if not errors:
            return []
        site, operands = inference.path + step.site, inference.operands(step)
        location = compiled.graph.locations.get(node.name, "")
        return [Breach(index, error, site, str(operation), operands, location) for error in errors]

    def _text(self, inference: Inference, slot: int) -> str | None:
        """The text of the type of a slot."""
        number = inference.numbers[slot]
        if number not in self._texts:
            type_ = inference.table.get(number)
            self._texts[number] = None if type_ is None else type_text(type_)
        return self._texts[number]


def first_breach(inference: Inference) -> ShapeError | None:
    """The first breach as an error with its node; None for a model that conforms."""
    breach = next(iter(Breaches(inference)), None)
    if breach is None:
        return None
    error = breach.error
    error.location = breach.location
    if breach.op:
        error.node, error.op = breach.site, breach.op.partition(" (")[0]
    return error


def _doubtful_outputs(step: NodeStep, doubtful: set[int], breaches: Sequence[Breach]) -> set[int]:
    """The outputs of a node whose types follow from a breach, or from a doubtful input of the same type variable."""
    op_def = step.operation.op_def
    if op_def is None or step.operation.bodies or step.operation.body is not None:
        return set(step.outputs)
    flat = op_def.flatten(step.operation.kind.attrs, len(step.arguments), len(step.outputs))
    args = [flat.input(i) for i, slot in enumerate(step.arguments) if slot in doubtful or breaches]
    variables = {arg.type_attr for arg in args if arg is not None}
    outputs = [(slot, flat.output(i)) for i, slot in enumerate(step.outputs)]
    return {slot for slot, arg in outputs if arg is None or (arg.type is None and (arg.type_attr in variables or not arg.type_attr))}


def _doubtful_inputs(child: Inference, step: NodeStep, doubtful: set[int]) -> set[int]:
    """The slots of a body whose values have doubtful types outside."""
    slots = child.compiled.slots
    captured = zip(step.operation.captures, step.captures, strict=True)
    names = [name for name, slot in captured if slot in doubtful]
    if not doubtful.isdisjoint(step.arguments):
        names += child.compiled.graph.inputs
    return {slots[name] for name in names if name in slots}


# -- names -------------------------------------------------------------------------------------------------------------


def _check_names(inference: Inference) -> Iterator[Breach]:
    """Names that occur twice, and constants whose element type is not that of the input of their name."""
    compiled = inference.compiled
    for name in compiled.graph.repeated_constants:
        message = f"several initializers have the name {name!r}"
        yield Breach(-1, ShapeError(message, code=REPEATED_NAME), inference.path + name)
    yield from _check_constants(compiled.graph, inference.path)
    yield from _check_node_names(compiled, inference.path)


def _check_constants(graph: Graph, path: str) -> Iterator[Breach]:
    for name in graph.inputs:
        constant, declared = graph.constants.get(name), graph.declared.get(name)
        if constant is None or declared is None or not declared.dtype or declared.kind != "tensor":
            continue
        if constant.dtype and constant.dtype != declared.dtype:
            message = f"the initializer {name!r} is {constant.dtype}, and the input {name!r} is declared {declared.dtype}"
            yield Breach(-1, ShapeError(message, code=CONSTANT_TYPE, help="declare the input as the initializer is"), path + name)


def _check_node_names(compiled: CompiledGraph, path: str) -> Iterator[Breach]:
    names = [row[3] for row in compiled.rows]
    if len(set(names)) == len(names):
        return
    for name, count in Counter(names).items():
        if name and count > 1:
            index = names.index(name, names.index(name) + 1)
            message = f"{count} nodes have the name {name!r}"
            yield Breach(index, ShapeError(message, code=REPEATED_NAME), path + name, str(compiled.step(index).operation))
