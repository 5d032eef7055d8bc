"""Emits operations: inputs, attributes and outputs, with names for tensors that have none in the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Union

from shapeinf.formats.nnef.evaluation.forms import ATTRIBUTE, TENSOR, Form, Slot, as_declared
from shapeinf.formats.nnef.evaluation.operation import AXIS, EXTENT, PRIMITIVES, Operation
from shapeinf.formats.nnef.evaluation.values import (
    RUNTIME,
    AxisOf,
    BadValue,
    Symbol,
    Tensor,
    Value,
    as_scalars,
    is_known,
    literal_shape,
    primitive_of,
    size_of,
)
from shapeinf.formats.nnef.language.types import ArrayOf, PrimitiveName
from shapeinf.formats.nnef.versions import DialectName
from shapeinf.graph import InputContents

Target = Union[str, "tuple[Target, ...]", None]
"""The names on the left side of an assignment, for the results of an expression; None for no name."""

OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "^": "pow",
    "<": "lt",
    ">": "gt",
    "<=": "le",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
    "&&": "and",
    "||": "or",
}
"""The operations of operators on tensors (3.3.5)."""

OUTSIDE = frozenset(["external", "tract_core_external", "variable", "constant"])
"""The operations whose result shapes are declared."""

_UNARY = {"-": "neg", "!": "not"}
_ARITHMETIC = frozenset("+-*/^")
_NOTHING: Mapping[str, object] = {}
_FIRST_AXIS: Mapping[str, object] = {"axis": 0}
_TRACT_TYPES: dict[str, PrimitiveName] = {"f": "scalar", "i": "integer", "u": "integer", "t": "integer", "b": "logical"}


class Emitter:
    """The operations so far. `calls` has the offsets of the invocations around the next one."""

    def __init__(self, dialect: DialectName) -> None:
        """Start without operations."""
        self.dialect = dialect
        self.operations: list[Operation] = []
        self.copy = "idn" if dialect == "provisional" else "copy"
        self.calls: tuple[int, ...] = ()
        self.reserved: set[str] = set()
        """The names of tensors in the document, which are names of outputs without a number."""
        self._counts: dict[str, int] = {}
        self._extents: dict[object, Tensor] = {}

    # -- names -------------------------------------------------------------------------------------------------------

    def fresh_name(self, base: str) -> str:
        """An unused name: `base`, with a number if it is taken."""
        count = self._counts.get(base, 0) + 1
        name = base if count == 1 else f"{base}.{count}"
        while count > 1 and name in self._counts:
            count += 1
            name = f"{base}.{count}"
        self._counts[base] = count
        if name != base:
            self._counts[name] = 1
        return name

    def reserve(self, names: Sequence[str]) -> None:
        """Reserve names of the document."""
        self.reserved.update(names)
        self._counts.update(dict.fromkeys(names, 1))

    def _output_name(self, target: Target, base: str) -> str:
        if type(target) is not str:
            return self.fresh_name(base)
        return target if target in self.reserved else self.fresh_name(target)

    def add(
        self,
        op: str,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        outputs: tuple[str, ...],
        type_argument: PrimitiveName | None,
        at: int,
    ) -> None:
        """Append an operation."""
        primitive = None if type_argument is None else PRIMITIVES[type_argument]
        self.operations.append(Operation(op, inputs, attributes, outputs, primitive, at, self.calls))

    def add_single(
        self,
        form: Form,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        of: PrimitiveName | None,
        output: str,
        at: int,
    ) -> Tensor:
        """Append an operation that returns one tensor."""
        primitive = form.results[0][1]
        if primitive == "?":
            primitive = of
        elif self.dialect == "tract":
            primitive = _tract_result(primitive, inputs, attributes)
        self.add(form.fragment.name, inputs, attributes, (output,), None if form.tensors_determine_type else of, at)
        return Tensor(output, primitive)

    # -- operands ----------------------------------------------------------------------------------------------------

    def operand(self, value: Value, at: int) -> Value:
        """A value as an input of an operation: a tensor with a name, or a literal."""
        if isinstance(value, Tensor):
            return value if value.literal is None else value.literal
        if isinstance(value, (AxisOf, Symbol)):
            return self._extent(value, at)
        if isinstance(value, tuple) and size_of(value) and not is_known(value):
            if self.dialect != "tract":
                raise BadValue("an array of tensors cannot stand for a tensor")
            items = tuple([self.operand(item, at) for item in value])
            return self.add_simple("stack", items, _FIRST_AXIS, primitive_of(items[0]), None, "array", at)
        literal_shape(value)
        return value

    def _extent(self, value: AxisOf | Symbol, at: int) -> Tensor:
        key = (value.tensor, value.axis) if isinstance(value, AxisOf) else value
        tensor = self._extents.get(key)
        if tensor is None:
            if isinstance(value, AxisOf):
                name = self.fresh_name(f"{value.tensor}.shape.{value.axis}")
                source = Tensor(value.tensor)
                self.add(AXIS, (source,), {"axis": value.axis}, (name,), None, at)
            else:
                name = self.fresh_name(value.text)
                self.add(EXTENT, (value.text,), _NOTHING, (name,), None, at)
            tensor = self._extents[key] = Tensor(name, "integer")
        return tensor

    def require_extents(self, tensor: Value, shape: Sequence[Value], axes: Iterable[Value], at: int) -> None:
        """Record that the graph is valid only for these extents of a tensor."""
        if not isinstance(tensor, Tensor) or not tensor.name:
            return
        for axis in axes:
            key = (tensor.name, axis)
            if isinstance(axis, int) and isinstance(shape[axis], int) and key not in self._extents:
                name = self.fresh_name(f"{tensor.name}.shape.{axis}")
                self.add(AXIS, (tensor,), {"axis": axis, "known": shape[axis]}, (name,), None, at)
                self._extents[key] = Tensor(name, "integer")

    def _operands(self, values: Sequence[Value], at: int) -> list[Value]:
        """The operands of an operator; literal integers are converted to the type of the tensors."""
        operands = [self.operand(value, at) for value in values]
        if not self._keeps_integers(operands):
            return [as_scalars(operand) if not isinstance(operand, Tensor) else operand for operand in operands]
        return operands

    def _keeps_integers(self, operands: Iterable[Value | None]) -> bool:
        """Whether literal integers stay integers: with integer tensors, in tract also without tensors."""
        present = [operand for operand in operands if operand is not None]
        tensors = [operand for operand in present if isinstance(operand, Tensor)]
        if tensors or self.dialect != "tract":
            return any(operand.of == "integer" for operand in tensors)
        return all(primitive_of(operand) != "scalar" for operand in present)

    # -- operators ---------------------------------------------------------------------------------------------------

    def add_operator(self, op: str, values: Sequence[Value], target: Target, base: str, at: int) -> Tensor:
        """Append the operation of an operator on tensors."""
        if len(values) == 2 and op not in OPERATORS:
            raise BadValue(f"operator {op} is not defined for tensors")
        name = OPERATORS[op] if len(values) == 2 else self.copy if op == "+" else _UNARY[op]
        inputs = self._operands(values, at)
        of: PrimitiveName | None = "logical"
        if len(values) == 1:
            of = primitive_of(inputs[0])
        elif op in _ARITHMETIC:
            of = "integer" if all(primitive_of(operand) == "integer" for operand in inputs) else "scalar"
        return self.add_simple(name, tuple(inputs), _NOTHING, of, target, base, at)

    def add_simple(
        self,
        op: str,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        of: PrimitiveName | None,
        target: Target,
        base: str,
        at: int,
    ) -> Tensor:
        """Append an operation with one result; `base` is the name of its statement."""
        output = self._output_name(target, f"{base}.{op}")
        self.add(op, inputs, attributes, (output,), None, at)
        return Tensor(output, of)

    def copy_to(self, value: Value, target: str, at: int) -> Tensor:
        """Append a copy of a tensor or a literal under the name `target`."""
        return self.add_simple(self.copy, (self.operand(value, at),), _NOTHING, primitive_of(value), target, target, at)

    # -- invocations -------------------------------------------------------------------------------------------------

    def invoke(
        self,
        form: Form,
        values: Sequence[Value],
        type_argument: PrimitiveName | None,
        target: Target,
        base: str,
        at: int,
        length: int | None = None,
    ) -> Value:
        """Append an operation without a body, and return its results. `length` is that of an array without a target."""
        inputs = form.blank.copy()
        rest: list[Value] = []
        arguments: list[Value] = []
        literals = False
        for slot, value in zip(form.slots, values, strict=True):
            kind = slot.kind
            if kind == ATTRIBUTE:
                if type(value) is int and self.dialect == "tract" and isinstance(slot.type, ArrayOf):
                    value = (value,)  # tract accepts an item as an array of one item
                arguments.append(as_declared(slot.type, value) if slot.scalar else value)
            elif kind == TENSOR:
                if type(value) is not Tensor or not value.name:
                    value = self.operand(value, at)
                    literals = True
                inputs[slot.index] = value
            elif type(value) is tuple or self.dialect == "tract":
                value = value if isinstance(value, tuple) else (value,)
                rest += [self.operand(item, at) for item in value]
            else:
                raise BadValue(f"{slot.name!r} takes an array of tensors")
        if literals:
            self._convert_literals(form, inputs)
        key: tuple[object, ...] = tuple(arguments)
        if form.loose:
            key = (key, *map(primitive_of, arguments))  # 1, 1.0 and true are equal in Python
        attributes = form.shared.get(key)
        if attributes is None:
            attributes = self._attributes(form, arguments, key, inputs, rest, at)
        of = None
        if form.fragment.generic:
            of = type_argument or form.type_argument(values)
        return self._add_results(
            form, (*inputs, *rest) if rest else tuple(inputs), attributes, of, target, base, at, length
        )

    def _convert_literals(self, form: Form, inputs: list[Value | None]) -> None:
        """Convert literal integers to declared scalars, unless the tensors among the inputs are integers."""
        if self._keeps_integers(inputs):
            return
        for slot in form.slots:
            if slot.kind == TENSOR and slot.scalar and not isinstance(inputs[slot.index], Tensor):
                inputs[slot.index] = as_scalars(inputs[slot.index])  # type: ignore[arg-type]

    def _attributes(
        self,
        form: Form,
        arguments: list[Value],
        key: tuple[object, ...],
        inputs: list[Value | None],
        rest: list[Value],
        at: int,
    ) -> Mapping[str, object]:
        attributes = dict(form.defaults)
        slots = [slot for slot in form.slots if slot.kind == ATTRIBUTE]
        known = True
        for slot, value in zip(slots, arguments, strict=True):
            size_of(value)  # raises past the limit
            known = known and is_known(value)
            attributes[slot.name] = value if is_known(value) else self._defer(form, slot, value, inputs, rest, at)
        if known:
            form.shared[key] = attributes
        return attributes

    def _defer(
        self, form: Form, slot: Slot, value: Value, inputs: list[Value | None], rest: list[Value], at: int
    ) -> object:
        """An attribute whose unknown values become further inputs and are replaced by `InputContents`."""
        if type(value) is tuple:
            return tuple([self._defer(form, slot, item, inputs, rest, at) for item in value])
        if not isinstance(value, RUNTIME):
            return value
        if isinstance(value, Tensor) and value.literal is not None:
            return value.literal
        if isinstance(value, Symbol) and slot.text:
            return value.text
        if form.fragment.name in OUTSIDE:
            if isinstance(value, Symbol):
                return value
            if self.dialect == "tract":
                return None  # an extent from a resource
            message = f"{slot.name!r} of {form.fragment.name} must be known when the graph is built"
            raise BadValue(message, code="N502")
        rest.append(self.operand(value, at))
        return InputContents(len(inputs) + len(rest) - 1)

    def _add_results(
        self,
        form: Form,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        of: PrimitiveName | None,
        target: Target,
        base: str,
        at: int,
        length: int | None,
    ) -> Value:
        op = form.fragment.name
        results = form.results
        if len(results) == 1 and not results[0][0]:
            return self.add_single(form, inputs, attributes, of, self._output_name(target, f"{base}.{op}"), at)
        values: list[Value] = []
        outputs: list[str] = []
        for i, (array, primitive) in enumerate(results):
            primitive = of if primitive == "?" else primitive
            result_target = (
                target if len(results) == 1 else target[i] if isinstance(target, tuple) and i < len(target) else None
            )
            if not array:
                outputs.append(self._output_name(result_target, f"{base}.{form.fragment.results[i].name}"))
                values.append(Tensor(outputs[-1], primitive))
                continue
            names = self._array(form, result_target, base, length)
            outputs += names
            values.append(tuple([Tensor(name, primitive) for name in names]))
        self.add(op, inputs, attributes, tuple(outputs), None if form.tensors_determine_type else of, at)
        return values[0] if len(results) == 1 else tuple(values)

    def _array(self, form: Form, target: Target, base: str, length: int | None) -> list[str]:
        """The names of the items of an array of tensors."""
        op = form.fragment.name
        if length is None and isinstance(target, tuple):
            length = len(target)
        if length is None:
            raise BadValue(
                f"the number of tensors of {op} is unknown here: the left side must be an array", code="N502"
            )
        if isinstance(target, tuple):
            if len(target) != length:
                raise BadValue(f"{op} has {length} tensors, but the left side has {len(target)}", code="N503")
            return [self._output_name(item, f"{base}.{op}") for item in target]
        first = target if isinstance(target, str) else f"{base}.{op}"
        return [self.fresh_name(f"{first}.{i}") for i in range(length)]


def _tract_result(
    declared: PrimitiveName | None, inputs: Sequence[Value | None], attributes: Mapping[str, object]
) -> PrimitiveName | None:
    """The element type of a result in tract's dialect, where scalars may be integers and attributes name types."""
    named = attributes.get("datum_type", attributes.get("to"))
    if isinstance(named, str):
        return _TRACT_TYPES.get(named[:1].lower())
    if declared != "scalar":
        return declared
    present = [operand for operand in inputs if operand is not None]
    typed = [operand for operand in present if isinstance(operand, Tensor)] or present
    return "integer" if typed and all(primitive_of(operand) == "integer" for operand in typed) else declared
