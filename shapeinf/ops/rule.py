"""`Rule`: a shape function with its inputs and attributes, which are read from its signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Any

import attrs

from shapeinf.errors import ShapeError
from shapeinf.graph import DeclaredType, FunctionReference, Graph
from shapeinf.lattice import PartialTensor, SequenceType, TensorType
from shapeinf.ops.arguments import InputUse, Param
from shapeinf.ops.parameters import (
    REQUIRED,
    Kind,
    Parameter,
    annotation_members,
    field_members,
    namespace_of,
    parameters,
)

Ints = tuple[int, ...]
Floats = tuple[float, ...]
_KINDS: dict[object, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    Ints: "ints",
    Floats: "floats",
    tuple[str, ...]: "strings",
    tuple[object, ...]: "list",
    Graph: "graph",
    PartialTensor: "tensor",
    DeclaredType: "type_proto",
    FunctionReference: "func",
    tuple[FunctionReference, ...]: "list(func)",
    tuple[DeclaredType, ...]: "list(shape)",
}
"""The kind of an attribute by its annotation."""

Value = PartialTensor
"""Annotation of an input whose known contents a rule reads."""

Operand = Annotated[PartialTensor, "together"]
"""Annotation of an input whose contents a rule reads only where all such inputs have some (element-wise operators)."""


@attrs.frozen(eq=False)
class Rule:
    """A shape function with its inputs and attributes, read once from its signature.

    - The first parameter is the context.
    - Positional parameters are the inputs: `= None` or `| None` is optional, `*xs` variadic, `*xs: Shape | None` also
      with absent values. The annotation is the part that the rule reads: `Shape`, `Value` (also the contents),
      `Operand` (the contents, if all such inputs have some) or `Type` (any kind of value).
    - Keyword-only parameters are attributes with their defaults. A trailing underscore avoids a keyword of Python. With
      the annotation `object` an unknown attribute is None.
    - A keyword-only parameter of an attrs class has attributes that several operators share as its fields; unknown ones
      are None if the class has `open_to_unknowns = True`.

    A function of the context alone is *raw*: it reads inputs and attributes from the context.
    """

    function: Callable[..., object]
    params: tuple[Param, ...]
    attributes: Mapping[str, object]
    kinds: Mapping[str, str]
    renamed: Mapping[str, str]
    groups: Mapping[str, type]
    raw: bool
    open: frozenset[str]

    @classmethod
    def from_function(cls, function: Callable[..., object]) -> Rule:
        """The rule of a shape function, by the annotations of its parameters."""
        namespace = namespace_of(function)
        listed = parameters(function)
        params: list[Param] = []
        attributes: dict[str, object] = {}
        kinds: dict[str, str] = {}
        renamed: dict[str, str] = {}
        groups: dict[str, type] = {}
        open_to_unknowns: set[str] = set()
        for p in listed:
            members = annotation_members(p.annotation, namespace) if p.annotation else ()
            group = members[0] if members else None
            if p.kind is not Kind.ATTRIBUTE:
                params.append(_param(p, members))
            elif isinstance(group, type) and group not in _KINDS and attrs.has(group):
                groups[p.name] = group
                kinds.update(group_kinds(group))
                open_to_unknowns.update(open_fields(group))
            else:
                name = p.name.removesuffix("_")
                attributes[name] = p.default
                renamed[name] = p.name
                if kind := _kind(members):
                    kinds[name] = kind
                elif group is object:
                    open_to_unknowns.add(name)
        open_names = frozenset(open_to_unknowns)
        return cls(function, tuple(params), attributes, kinds, renamed, groups, not listed, open_names)

    @property
    def variadic(self) -> bool:
        """Whether the last parameter takes any number of inputs."""
        return bool(self.params) and self.params[-1].variadic

    @property
    def attribute_names(self) -> set[str]:
        """The names of the attributes that the rule reads."""
        return {*self.attributes, *(field.name for group in self.groups.values() for field in attrs.fields(group))}

    def param(self, index: int) -> Param | None:
        """The parameter of an input by position; None for a superfluous input."""
        if index < len(self.params):
            return self.params[index]
        return self.params[-1] if self.variadic else None

    def input_use(self, index: int) -> InputUse:
        """The part of an input, by position, that the rule may read."""
        param = self.param(index)
        return InputUse.TYPE if self.raw else InputUse.SHAPE if param is None else param.use

    def keywords(self, attributes: Mapping[str, object]) -> dict[str, object]:
        """The keyword arguments of the function. Raises ShapeError for a missing required attribute."""
        arguments: dict[str, object] = {}
        for name, default in self.attributes.items():
            if name in attributes:
                arguments[self.renamed[name]] = attributes[name]
            elif default is REQUIRED:
                raise ShapeError(f"the required attribute {name!r} is missing", code="S103")
        for name, group in self.groups.items():
            fields = {field.name: field.default for field in attrs.fields(group)}
            missing = [field for field in fields if fields[field] is attrs.NOTHING and field not in attributes]
            if missing:
                raise ShapeError(f"the required attribute {missing[0]!r} is missing", code="S103")
            arguments[name] = group(**{field: attributes[field] for field in fields if field in attributes})
        return arguments


def group_kinds(group: type) -> dict[str, str]:
    """The kinds of the attributes in the fields of an attrs class, by name."""
    return {name: kind for name, members in field_members(group).items() if (kind := _kind(members))}


def open_fields(group: Any) -> list[str]:
    """The names of the fields of an attrs class that are None where the attribute is unknown."""
    return [field.name for field in attrs.fields(group)] if getattr(group, "open_to_unknowns", False) else []


def _kind(members: tuple[object, ...]) -> str:
    """The kind of attribute that an annotation stands for, with or without `| None`; empty where it stands for none."""
    members = tuple(member for member in members if member is not NoneType)
    return _KINDS.get(members[0], "") if len(members) == 1 else ""


def _param(p: Parameter, members: tuple[object, ...]) -> Param:
    use = InputUse.SHAPE
    if SequenceType in members or TensorType in members:
        use = InputUse.TYPE
    elif Operand in members:
        use = InputUse.OPERAND
    elif PartialTensor in members:
        use = InputUse.VALUE
    optional = p.default is None or NoneType in members
    tensor = not any(isinstance(member, type) and issubclass(member, SequenceType) for member in members)
    return Param(p.name, use, optional, p.kind is Kind.VARIADIC, tensor)
