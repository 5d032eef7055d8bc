"""Evaluates a document to operations: all values that are known when the graph is built are computed here.

Source: NNEF 1.0.5, 3.3 "Semantics". A statement of the flat syntax (names and literals as arguments) takes a fast path
here. All others run on the machine of `machine`, which has a stack of its own, so that calls may nest up to `MAX_CALLS`
levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from shapeinf.errors import NnefError
from shapeinf.formats.nnef.evaluation.emitter import Emitter, Target
from shapeinf.formats.nnef.evaluation.forms import ATTRIBUTE, TENSOR, Form
from shapeinf.formats.nnef.evaluation.frames import Frame, names_of
from shapeinf.formats.nnef.evaluation.machine import Machine
from shapeinf.formats.nnef.evaluation.operation import Operation
from shapeinf.formats.nnef.evaluation.runtime import ShapeOf
from shapeinf.formats.nnef.evaluation.values import BadValue, Tensor, Value
from shapeinf.formats.nnef.language.ast import (
    ArrayExpr,
    Assignment,
    Document,
    Expr,
    Fragment,
    Invocation,
    Name,
    Number,
    Text,
    Truth,
    TupleExpr,
    items_of,
    names_in,
)
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.nnef.options import Expand


def evaluate(
    document: Document,
    source: SourceText,
    library: Mapping[str, Fragment],
    expand: Expand = (),
    shape_of: ShapeOf | None = None,
) -> list[Operation]:
    """The operations of a checked document, in order, with the document's own fragments replaced by their bodies.

    Args:
        document: the document.
        source: its text, for messages.
        library: the operations that it may use besides its own fragments.
        expand: operations of the library that are replaced by their bodies too; those with variables always are.
        shape_of: returns the extents of a tensor after the operations so far, for the function `shape_of` of the
            language; by default they are inferred with the rules of the operations.

    Raises:
        NnefError: an expression has no value, or a limit is reached.
    """
    try:
        return _Evaluation(document, source, library, expand, shape_of).run()
    except RecursionError:
        error = source.error("N903", "arrays are nested too deep", document.graph.at)
        raise NnefError([error], source.render) from None


class _Evaluation:
    """Evaluates the statements of the graph; `values` has the values of its identifiers so far."""

    def __init__(
        self,
        document: Document,
        source: SourceText,
        library: Mapping[str, Fragment],
        expand: Expand,
        shape_of: ShapeOf | None,
    ) -> None:
        self.graph = document.graph
        self.results = {result.name for result in document.graph.results}
        self.emitter = Emitter(document.dialect)
        self.machine = Machine(document, source, library, expand, self.emitter, shape_of)
        self.frame = Frame(None, "", "")
        self.values: dict[str, Value] = self.frame.values
        self.forms: dict[str, dict[tuple[str | None, ...], Form]] = {}
        self.quick: dict[tuple[str, int, int], tuple[Form, Mapping[str, object]]] = {}
        self.renamed = _rename_reassigned(document) if document.dialect == "tract" else {}

    def run(self) -> list[Operation]:
        """All operations."""
        graph, emitter, renamed = self.graph, self.emitter, self.renamed
        reserved = False
        for statement in graph.body:
            target, value = statement.target, statement.value
            if type(target) is Name and type(value) is Invocation and target.at not in renamed:
                try:
                    if self._run_again(value, target.name) or self._run_flat(value, target.name):
                        continue
                except (_NotFlat, BadValue):
                    pass  # the machine reports positions of operands
            if not reserved:
                names = (name for assignment in graph.body for name in names_in(assignment.target))
                emitter.reserve([renamed.get(name.at, name.name) for name in names])
                reserved = True
            self._run_machine(statement)
        return emitter.operations

    def _run_flat(self, call: Invocation, target: str) -> bool:
        """Run a statement with one operation of names and literals and one result; return False for any other."""
        arguments = call.arguments
        names = tuple([argument.name for argument in arguments])
        forms = self.forms.get(call.name)
        form = None if forms is None else forms.get(names)
        if form is None:
            lookup = self.machine.lookup
            fragment = lookup.fragment(call)
            form = lookup.form(fragment, arguments)
            if lookup.is_expanded(fragment) or len(form.results) != 1 or form.returns_array:
                return False
            self.forms.setdefault(call.name, {})[names] = form
        known = self.values
        values = [_value_of(argument.value, known) for argument in arguments]
        type_argument = None if call.type_argument is None else call.type_argument.name
        emitter = self.emitter
        emitter.calls = ()
        emitter.reserved.add(target)
        known[target] = emitter.invoke(form, values, type_argument, target, target, call.at)
        kinds = [slot.kind for slot in form.slots]
        lead = len(kinds) - len(call.shared)
        if kinds == [TENSOR] * lead + [ATTRIBUTE] * len(call.shared) and type_argument is None:
            self.quick[call.name, id(call.shared), len(kinds)] = form, emitter.operations[-1].attributes
        return True

    def _run_again(self, call: Invocation, target: str) -> bool:
        """Run a flat statement that differs from an earlier one only in its tensors; return False for any other."""
        arguments, shared = call.arguments, call.shared
        known_call = self.quick.get((call.name, id(shared), len(arguments)))
        if known_call is None or call.type_argument is not None:
            return False
        form, attributes = known_call
        inputs: list[Value | None] = []
        known = self.values
        for argument in arguments[: len(arguments) - len(shared)] if shared else arguments:
            name = argument.value
            if type(name) is not Name or argument.name is not None:
                return False
            tensor = known.get(name.name)
            if type(tensor) is not Tensor:
                return False
            inputs.append(tensor)
        of = form.type_argument(inputs) if form.fragment.generic else None  # type: ignore[arg-type]
        inputs += form.blank[len(inputs) :]
        emitter = self.emitter
        emitter.calls = ()
        known[target] = emitter.add_single(form, tuple(inputs), attributes, of, target, call.at)
        return True

    def _run_machine(self, statement: Assignment) -> None:
        """Run any statement."""
        frame, machine = self.frame, self.machine
        target = self._target(statement.target)
        frame.base = frame.prefix = machine.root = next(names_of(target), "")
        value = machine.run(statement.value, frame, target)
        self._assign(statement.target, value, statement.at)

    def _target(self, expr: Expr) -> Target:
        if isinstance(expr, Name):
            return self.renamed.get(expr.at, expr.name)
        return tuple([self._target(item) for item in items_of(expr)])

    def _assign(self, target: Expr, value: Value, at: int) -> None:
        """Assign a value to names of the graph; a tensor with another name is copied."""
        if not isinstance(target, Name):
            for item, item_value in zip(
                items_of(target), self.machine.unpack_items(target, value, self.frame), strict=True
            ):
                self._assign(item, item_value, at)
            return
        name = self.renamed.get(target.at, target.name)
        other = isinstance(value, Tensor) and value.name != name
        is_result = target.name in self.results and not isinstance(value, Tensor)
        if other or is_result:
            try:
                value = self.emitter.copy_to(value, name, at)
            except BadValue as bad:
                raise self.machine.error(bad.code, bad.message, at, self.frame) from None
        self.values[target.name] = value


class _NotFlat(Exception):  # noqa: N818  (internal, no error)
    """An expression that is not of the flat syntax. Internal: caught in `formats.nnef.evaluation.evaluator`."""


def _value_of(expr: Expr, known: Mapping[str, Value]) -> Value:
    """The value of an argument. Raises _NotFlat for anything but literals, names of tensors, and arrays of these."""
    kind = type(expr)
    if kind is Name:
        value = known.get(expr.name)  # type: ignore[union-attr]
        if value is None or type(value) is tuple:  # only the machine counts the items of shared arrays
            raise _NotFlat
        return value
    if kind is Number or kind is Text or kind is Truth:
        return expr.value  # type: ignore[union-attr,return-value]
    if kind is ArrayExpr or kind is TupleExpr:
        return tuple(
            [item.value if type(item) is Number else _value_of(item, known) for item in expr.items]  # type: ignore[union-attr]
        )
    raise _NotFlat


def _rename_reassigned(document: Document) -> dict[int, str]:
    """New names for all but the last tensor of reassigned identifiers, which tract allows, by their offsets."""
    offsets_of: dict[str, list[int]] = {}
    for statement in document.graph.body:
        for name in names_in(statement.target):
            offsets_of.setdefault(name.name, []).append(name.at)
    renamed: dict[int, str] = {}
    for base, offsets in offsets_of.items():
        free = (f"{base}.{i}" for i in count(1) if f"{base}.{i}" not in offsets_of)
        renamed.update(zip(offsets[:-1], free, strict=False))
    return renamed
