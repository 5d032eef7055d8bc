"""Forms of invocations: the parameters of arguments, computed once for all invocations with equal argument names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from shapeinf.formats.nnef.evaluation.values import BadValue, Tensor, Value, as_scalars, primitive_of
from shapeinf.formats.nnef.language.ast import ArrayExpr, Expr, Fragment, Number, Parameter, Text, Truth, TupleExpr
from shapeinf.formats.nnef.language.types import ArrayOf, NnefType, Primitive, PrimitiveName, TensorOf, TupleOf

TENSOR, TENSORS, ATTRIBUTE = range(3)
"""The kinds of parameters: a tensor, an array of tensors, anything else."""

Names = tuple["str | None", ...]
"""The names of the arguments of an invocation, None for positional ones."""


class Slot:
    """A parameter as the destination of an argument; `index` is its position among the tensors."""

    __slots__ = ("generic", "index", "kind", "name", "scalar", "text", "type")

    def __init__(self, parameter: Parameter, index: int) -> None:
        """`index` is the number of tensors among the parameters before."""
        self.name = parameter.name
        self.type = parameter.type
        self.kind = kind_of_parameter(parameter.type)
        self.index = index
        self.generic = contains_primitive(parameter.type, "?")
        self.scalar = contains_primitive(parameter.type, "scalar")
        self.text = contains_primitive(parameter.type, "string")


@attrs.define(eq=False)
class Form:
    """An operation and the names of its arguments.

    `tensors_determine_type`: the tensors among the arguments determine the type argument, if there is one. `loose`: an
    attribute has the type `?`. `blank` has None for each input, `defaults` has the defaults of attributes, None for
    required ones. `shared` has the attributes of earlier invocations by their arguments.
    """

    fragment: Fragment
    slots: tuple[Slot, ...]
    omitted: tuple[Parameter, ...]
    blank: list[Value | None]
    defaults: dict[str, object]
    generic: tuple[int, ...]
    results: tuple[tuple[bool, PrimitiveName | None], ...]
    tensors_determine_type: bool
    loose: bool
    shared: dict[tuple[object, ...], Mapping[str, object]] = attrs.Factory(dict)

    @classmethod
    def from_call(cls, fragment: Fragment, names: Names) -> Form:
        """The form of an invocation with these argument names. Raises BadValue for an argument without a parameter."""
        slots = _slots(fragment)
        by_name = {slot.name: slot for slot in slots}
        passed: list[Slot] = []
        for i, name in enumerate(names):
            slot = by_name.get(name) if name is not None else slots[i] if i < len(slots) else None
            if slot is None or slot in passed:
                raise BadValue(f"{fragment.name} has no parameter for this argument", i, "N402")
            passed.append(slot)
        taken = {slot.name for slot in passed}
        omitted = tuple(p for p in fragment.parameters if p.name not in taken)
        for parameter in omitted:
            if parameter.default is None:
                raise BadValue(f"{fragment.name} needs the argument {parameter.name!r}", code="N403")
        defaults: dict[str, object] = {slot.name: None for slot in slots if slot.kind == ATTRIBUTE}
        for parameter in omitted:
            if parameter.name in defaults and parameter.default is not None:
                defaults[parameter.name] = as_declared(parameter.type, literal(parameter.default))
        return cls(
            fragment,
            tuple(passed),
            omitted,
            [None] * sum(slot.kind == TENSOR for slot in slots),
            defaults,
            tuple(i for i, slot in enumerate(passed) if slot.generic),
            tuple(_result(result.type) for result in fragment.results),
            not fragment.generic or any(slot.generic and slot.kind != ATTRIBUTE for slot in passed),
            any(slot.generic and slot.kind == ATTRIBUTE for slot in passed),
        )

    @property
    def returns_array(self) -> bool:
        """Whether the one result is an array of tensors."""
        return len(self.results) == 1 and self.results[0][0]

    def type_argument(self, values: Sequence[Value]) -> PrimitiveName | None:
        """The type argument, from the arguments or by default."""
        for i in self.generic:
            primitive = primitive_of(values[i])
            if primitive is not None:
                return primitive
        default = self.fragment.generic_default
        return None if default is None else default.name


def _slots(fragment: Fragment) -> list[Slot]:
    slots = []
    tensors = 0
    for parameter in fragment.parameters:
        slots.append(Slot(parameter, tensors))
        tensors += slots[-1].kind == TENSOR
    return slots


def kind_of_parameter(declared: NnefType) -> int:
    """The kind of a parameter: `TENSOR`, `TENSORS` or `ATTRIBUTE`."""
    if isinstance(declared, TensorOf):
        return TENSOR
    return TENSORS if isinstance(declared, ArrayOf) and isinstance(declared.of, TensorOf) else ATTRIBUTE


def contains_primitive(declared: NnefType | None, name: PrimitiveName) -> bool:
    """Whether a type contains a primitive."""
    while isinstance(declared, (ArrayOf, TensorOf)):
        declared = declared.of
    if isinstance(declared, TupleOf):
        return any(contains_primitive(item, name) for item in declared.items)
    return declared is not None and declared.name == name


def _result(declared: NnefType) -> tuple[bool, PrimitiveName | None]:
    array = isinstance(declared, ArrayOf)
    inner = declared.of if isinstance(declared, ArrayOf) else declared
    of = inner.of if isinstance(inner, TensorOf) else inner if isinstance(inner, Primitive) else None
    return array, None if of is None else of.name


def literal(expr: Expr) -> Value:
    """The value of a default. Raises BadValue for anything but a literal."""
    if isinstance(expr, (Number, Text, Truth)):
        return expr.value
    if isinstance(expr, (ArrayExpr, TupleExpr)):
        return tuple([literal(item) for item in expr.items])
    raise BadValue("a default must be a literal", code="N306")


def as_declared(declared: NnefType, value: Value) -> Value:
    """The value with integers converted to scalars where the declaration requires these: some dialects mix both."""
    if isinstance(declared, TupleOf) and isinstance(value, tuple) and len(value) == len(declared.items):
        return tuple([as_declared(t, item) for t, item in zip(declared.items, value, strict=True)])
    if isinstance(declared, ArrayOf) and isinstance(value, tuple) and declared.of is not None:
        return tuple([as_declared(declared.of, item) for item in value])
    return as_scalars(value) if isinstance(declared, Primitive) and declared.name == "scalar" else value


def as_tensors(declared: NnefType, value: Value, bound: PrimitiveName | None, *, keep: bool = False) -> Value:
    """The value with literals for tensors as `Tensor`, for the body of a fragment.

    With `keep`, as in tract, an integer for a tensor of scalars stays an integer.
    """
    if isinstance(declared, TensorOf):
        if isinstance(value, (int, float, str, tuple)):
            of: Any = None if declared.of is None else bound if declared.of.name == "?" else declared.of.name
            if of == "scalar":
                of = primitive_of(value) if keep else of
                value = value if keep else as_scalars(value)
            return Tensor("", of or primitive_of(value), value)
        return value
    if isinstance(declared, ArrayOf) and isinstance(value, tuple) and declared.of is not None:
        return tuple([as_tensors(declared.of, item, bound, keep=keep) for item in value])
    if isinstance(declared, TupleOf) and isinstance(value, tuple) and len(value) == len(declared.items):
        pairs = zip(declared.items, value, strict=True)
        return tuple([as_tensors(of, item, bound, keep=keep) for of, item in pairs])
    return as_declared(declared, value)
