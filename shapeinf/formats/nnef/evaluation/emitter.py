"""Operations as they are asked for: their inputs, attributes, outputs, and the names of tensors that have none."""

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
from shapeinf.formats.nnef.language.ast import DialectName
from shapeinf.formats.nnef.language.types import ArrayOf, PrimitiveName
from shapeinf.graph import InputContents

MAX_OPERATIONS = 1_000_000

Target = Union[str, "tuple[Target, ...]", None]
"""Names that the results of an expression shall have: those of the left side of an assignment; None for no name."""

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
"""The operations that operators on tensors stand for (3.3.5)."""

OUTSIDE = frozenset(["external", "tract_core_external", "variable", "constant"])
"""The operations whose results are no results of calculations: their shapes are declared."""

_UNARY = {"-": "neg", "!": "not"}
_ARITHMETIC = frozenset("+-*/^")
_NOTHING: Mapping[str, object] = {}
_FIRST_AXIS: Mapping[str, object] = {"axis": 0}
_TRACT_TYPES: dict[str, PrimitiveName] = {"f": "scalar", "i": "integer", "u": "integer", "t": "integer", "b": "logical"}


class Emitter:
    """The operations so far. `calls` are the offsets of the invocations around the next one."""

    def __init__(self, dialect: DialectName) -> None:
        """No operations."""
        self.dialect = dialect
        self.operations: list[Operation] = []
        self.copy = "idn" if dialect == "provisional" else "copy"
        self.calls: tuple[int, ...] = ()
        self.own: set[str] = set()
        """Names of the graph's own tensors that may be given to the next operation."""
        self._counts: dict[str, int] = {}
        self._extents: dict[object, Tensor] = {}

    # -- names -------------------------------------------------------------------------------------------------------

    def fresh(self, base: str) -> str:
        """The name itself, with a number if it is taken."""
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
        """Keep names of the document from being made up."""
        self.own.update(names)
        self._counts.update(dict.fromkeys(names, 1))

    def _named(self, target: Target, base: str) -> str:
        if type(target) is not str:
            return self.fresh(base)
        return target if target in self.own else self.fresh(target)

    def add(
        self,
        op: str,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        outputs: tuple[str, ...],
        type_argument: PrimitiveName | None,
        at: int,
    ) -> None:
        """Append an operation. Raises BadValue when there are too many."""
        operations = self.operations
        if len(operations) >= MAX_OPERATIONS:
            raise BadValue(f"the graph has more than {MAX_OPERATIONS:,} operations", code="N905")
        primitive = None if type_argument is None else PRIMITIVES[type_argument]
        operations.append(Operation(op, inputs, attributes, outputs, primitive, at, self.calls))

    def single(
        self,
        form: Form,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        of: PrimitiveName | None,
        output: str,
        at: int,
    ) -> Tensor:
        """An operation whose one result is one tensor."""
        primitive = form.results[0][1]
        if primitive == "?":
            primitive = of
        elif self.dialect == "tract":
            primitive = _tract_result(primitive, inputs, attributes)
        self.add(form.fragment.name, inputs, attributes, (output,), None if form.told else of, at)
        return Tensor(output, primitive)

    # -- operands ----------------------------------------------------------------------------------------------------

    def operand(self, value: Value, at: int) -> Value:
        """A value as an input: a tensor with a name, or a literal."""
        if isinstance(value, Tensor):
            return value if value.literal is None else value.literal
        if isinstance(value, (AxisOf, Symbol)):
            return self._extent(value, at)
        if isinstance(value, tuple) and size_of(value) and not is_known(value):
            if self.dialect != "tract":
                raise BadValue("an array of tensors cannot stand for a tensor")
            items = tuple([self.operand(item, at) for item in value])
            return self.simple("stack", items, _FIRST_AXIS, primitive_of(items[0]), None, "array", at)
        literal_shape(value)
        return value

    def _extent(self, value: AxisOf | Symbol, at: int) -> Tensor:
        key = (value.tensor, value.axis) if isinstance(value, AxisOf) else value
        found = self._extents.get(key)
        if found is None:
            if isinstance(value, AxisOf):
                name = self.fresh(f"{value.tensor}.shape.{value.axis}")
                source = Tensor(value.tensor)
                self.add(AXIS, (source,), {"axis": value.axis}, (name,), None, at)
            else:
                name = self.fresh(value.text)
                self.add(EXTENT, (value.text,), _NOTHING, (name,), None, at)
            found = self._extents[key] = Tensor(name, "integer")
        return found

    def rely_on(self, tensor: Value, shape: Sequence[Value], axes: Iterable[Value], at: int) -> None:
        """Note that the graph is built for these extents, which other shapes of inputs may not change unseen."""
        if not isinstance(tensor, Tensor) or not tensor.name:
            return
        for axis in axes:
            key = (tensor.name, axis)
            if isinstance(axis, int) and isinstance(shape[axis], int) and key not in self._extents:
                name = self.fresh(f"{tensor.name}.shape.{axis}")
                self.add(AXIS, (tensor,), {"axis": axis, "known": shape[axis]}, (name,), None, at)
                self._extents[key] = Tensor(name, "integer")

    def _operands(self, values: Sequence[Value], at: int) -> list[Value]:
        """Operands of an operator or an operation on scalars: literal integers follow the tensors beside them."""
        found = [self.operand(value, at) for value in values]
        if not self._keeps_integers(found):
            return [as_scalars(one) if not isinstance(one, Tensor) else one for one in found]
        return found

    def _keeps_integers(self, operands: Iterable[Value | None]) -> bool:
        """Whether literal integers among the operands stay integers: beside integers, in tract also beside none."""
        there = [one for one in operands if one is not None]
        tensors = [one for one in there if isinstance(one, Tensor)]
        if tensors or self.dialect != "tract":
            return any(one.of == "integer" for one in tensors)
        return all(primitive_of(one) != "scalar" for one in there)

    # -- operators ---------------------------------------------------------------------------------------------------

    def operator(self, op: str, values: Sequence[Value], target: Target, base: str, at: int) -> Tensor:
        """The operation that an operator on tensors stands for."""
        if len(values) == 2 and op not in OPERATORS:
            raise BadValue(f"the operator {op} has no meaning for tensors")
        name = OPERATORS[op] if len(values) == 2 else self.copy if op == "+" else _UNARY[op]
        inputs = self._operands(values, at)
        of: PrimitiveName | None = "logical"
        if len(values) == 1:
            of = primitive_of(inputs[0])
        elif op in _ARITHMETIC:
            of = "integer" if all(primitive_of(one) == "integer" for one in inputs) else "scalar"
        return self.simple(name, tuple(inputs), _NOTHING, of, target, base, at)

    def simple(
        self,
        op: str,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, object],
        of: PrimitiveName | None,
        target: Target,
        base: str,
        at: int,
    ) -> Tensor:
        """An operation with one result; `base` is the name of the statement that it is in."""
        output = self._named(target, f"{base}.{op}")
        self.add(op, inputs, attributes, (output,), None, at)
        return Tensor(output, of)

    def copied(self, value: Value, target: str, at: int) -> Tensor:
        """A tensor of another name, or a literal, under the name of a tensor of the graph."""
        return self.simple(self.copy, (self.operand(value, at),), _NOTHING, primitive_of(value), target, target, at)

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
        """An atomic operation. `length` is that of an array that it gives, where the target does not say."""
        inputs = form.blank.copy()
        rest: list[Value] = []
        given: list[Value] = []
        literals = False
        for slot, value in zip(form.slots, values, strict=True):
            kind = slot.kind
            if kind == ATTRIBUTE:
                if type(value) is int and self.dialect == "tract" and isinstance(slot.type, ArrayOf):
                    value = (value,)  # tract takes an item for an array of one
                given.append(as_declared(slot.type, value) if slot.scalar else value)
            elif kind == TENSOR:
                if type(value) is not Tensor or not value.name:
                    value = self.operand(value, at)
                    literals = True
                inputs[slot.place] = value
            elif type(value) is tuple or self.dialect == "tract":
                value = value if isinstance(value, tuple) else (value,)
                rest += [self.operand(item, at) for item in value]
            else:
                raise BadValue(f"{slot.name!r} takes an array of tensors")
        if literals:
            self._follow(form, inputs)
        key: tuple[object, ...] = tuple(given)
        if form.loose:
            key = (key, *map(primitive_of, given))  # 1, 1.0 and true are equal in Python
        found = form.shared.get(key)
        if found is None:
            found = self._attributes(form, given, key, inputs, rest, at)
        of = None
        if form.fragment.generic:
            of = type_argument or form.deduced(values)
        return self._results(form, (*inputs, *rest) if rest else tuple(inputs), found, of, target, base, at, length)

    def _follow(self, form: Form, inputs: list[Value | None]) -> None:
        """Literal integers in the place of scalars are scalars, unless the tensors beside them are integers."""
        if self._keeps_integers(inputs):
            return
        for slot in form.slots:
            if slot.kind == TENSOR and slot.scalar and not isinstance(inputs[slot.place], Tensor):
                inputs[slot.place] = as_scalars(inputs[slot.place])  # type: ignore[arg-type]

    def _attributes(
        self,
        form: Form,
        given: list[Value],
        key: tuple[object, ...],
        inputs: list[Value | None],
        rest: list[Value],
        at: int,
    ) -> Mapping[str, object]:
        attributes = dict(form.defaults)
        slots = [slot for slot in form.slots if slot.kind == ATTRIBUTE]
        known = True
        for slot, value in zip(slots, given, strict=True):
            size_of(value)  # the limit
            known = known and is_known(value)
            attributes[slot.name] = value if is_known(value) else self._deferred(form, slot, value, inputs, rest, at)
        if known:
            form.shared[key] = attributes
        return attributes

    def _deferred(
        self, form: Form, slot: Slot, value: Value, inputs: list[Value | None], rest: list[Value], at: int
    ) -> object:
        """An attribute with `InputContents` further inputs for what is not known yet."""
        if type(value) is tuple:
            return tuple([self._deferred(form, slot, item, inputs, rest, at) for item in value])
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
                return None  # an extent that comes from elsewhere, such as a resource
            message = f"{slot.name!r} of {form.fragment.name} must be known when the graph is built"
            raise BadValue(message, code="N502")
        rest.append(self.operand(value, at))
        return InputContents(len(inputs) + len(rest) - 1)

    def _results(
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
            output = target if type(target) is str and target in self.own else self._named(target, f"{base}.{op}")
            return self.single(form, inputs, attributes, of, output, at)
        values: list[Value] = []
        outputs: list[str] = []
        for i, (array, primitive) in enumerate(results):
            primitive = of if primitive == "?" else primitive
            wanted = (
                target if len(results) == 1 else target[i] if isinstance(target, tuple) and i < len(target) else None
            )
            if not array:
                outputs.append(self._named(wanted, f"{base}.{form.fragment.results[i].name}"))
                values.append(Tensor(outputs[-1], primitive))
                continue
            names = self._array(form, wanted, base, length)
            outputs += names
            values.append(tuple([Tensor(name, primitive) for name in names]))
        self.add(op, inputs, attributes, tuple(outputs), None if form.told else of, at)
        return values[0] if len(results) == 1 else tuple(values)

    def _array(self, form: Form, target: Target, base: str, length: int | None) -> list[str]:
        """The names of the items of an array of tensors."""
        op = form.fragment.name
        if length is None and isinstance(target, tuple):
            length = len(target)
        if length is None:
            raise BadValue(
                f"how many tensors {op} gives is not known here: the left side must be an array", code="N502"
            )
        if isinstance(target, tuple):
            if len(target) != length:
                raise BadValue(f"{op} gives {length} tensors, but the left side has {len(target)}", code="N503")
            return [self._named(one, f"{base}.{op}") for one in target]
        first = target if isinstance(target, str) else f"{base}.{op}"
        return [self.fresh(f"{first}.{i}") for i in range(length)]


def _tract_result(
    declared: PrimitiveName | None, inputs: Sequence[Value | None], attributes: Mapping[str, object]
) -> PrimitiveName | None:
    """In tract's dialect operations on scalars take integers too, and attributes name element types."""
    named = attributes.get("datum_type", attributes.get("to"))
    if isinstance(named, str):
        return _TRACT_TYPES.get(named[:1].lower())
    if declared != "scalar":
        return declared
    there = [one for one in inputs if one is not None]
    given = [one for one in there if isinstance(one, Tensor)] or there
    return "integer" if given and all(primitive_of(one) == "integer" for one in given) else declared
