"""Calling a rule: bind inputs and attributes, fill element types, turn "not known" into unknown outputs."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shapeinf.errors import NotKnown, ShapeError
from shapeinf.graph import DeclaredType, Graph
from shapeinf.lattice import (
    OptionalType,
    PartialTensor,
    RankNotKnown,
    SequenceType,
    Shape,
    ShapeStore,
    TensorType,
    Type,
)
from shapeinf.ops.bodies import Body
from shapeinf.ops.context import InferenceContext
from shapeinf.ops.opdef import ArgDef, OpDef
from shapeinf.ops.rule import Wants
from shapeinf.ops.structure import INT64_MAX


class Outcome(NamedTuple):
    """The output types of one call.

    `unknown` is the reason when the rule could not know; `fresh` says that the call made new unknowns, which belong
    to its site, so it must not be reused for another node; `warnings` are broken laws that the types do not depend on.
    """

    types: Sequence[Type]
    unknown: str | None
    fresh: bool
    warnings: tuple[ShapeError, ...] = ()


class Contents(enum.Enum):
    """Which inputs' contents a call depends on: none, any that it asks for, or all operands' together."""

    NONE = enum.auto()
    ANY = enum.auto()
    TOGETHER = enum.auto()


class Call:
    """An operator with its attributes, ready to be called on inputs; made once for all equal nodes of a program.

    Everything that does not depend on the inputs is worked out here, since a call takes a few microseconds in all.
    """

    def __init__(
        self,
        op_def: OpDef,
        attributes: Mapping[str, object],
        version: int = 0,
        wanted: tuple[bool, ...] = (True,),
        written: Mapping[str, object] | None = None,
    ) -> None:
        """For an operator that has a rule.

        `wanted` says of each output that a node lists whether it has a name; `written` has the attributes as they were
        before the contents of inputs took their places in them.
        """
        assert op_def.rule is not None
        self.op_def = op_def
        self.rule = op_def.rule
        self.attributes = attributes
        self.version = version
        self.wanted = wanted
        self.outputs = len(wanted)
        self.contents = _contents(op_def)
        self._least = sum(arg.least for arg in op_def.inputs if arg.variadic)
        self._keywords: dict[str, object] | None = None
        self._constant: Outcome | None = None
        self._fixed = [_fixed_dtype(op_def.output(i), attributes) for i in range(self.outputs)]
        self._variables = [_variable(op_def.output(i)) for i in range(self.outputs)]
        self._places: dict[str | None, list[int]] = {}
        self._context = {
            "op_def": op_def,
            "attributes": attributes,
            "version": version,
            "num_outputs": self.outputs,
            "wanted": wanted,
        }
        self._literals = attributes
        if written is not None:
            self._context["written"] = written
            self._literals = {name: value for name, value in attributes.items() if written.get(name) == value}

    def reads(self, position: int) -> bool:
        """Whether the contents of an input matter, not only its shape."""
        return self.rule.wants(position) is not Wants.SHAPE

    def run(
        self,
        inputs: Sequence[Type | None],
        store: ShapeStore,
        site: str,
        bodies: Mapping[str, Body] | None = None,
    ) -> Outcome:
        """Call the rule.

        Raises ShapeError when a law of the operator is broken. NotKnown in the rule gives outputs of unknown shape.
        """
        if not inputs and self._constant is not None:
            return self._constant
        if len(inputs) < self._least:
            least = f"{self._least} input{'s' * (self._least != 1)}"
            raise ShapeError(f"takes at least {least}, got {len(inputs)}", code="S103")
        c = InferenceContext.__new__(InferenceContext)
        c.__dict__.update(self._context)
        c.types, c.store, c.site = inputs, store, site
        if bodies is not None:
            c.bodies = bodies
        rule = self.rule
        try:
            if self._keywords is None:
                _check_attributes(self.op_def, self._literals)
                self._keywords = rule.keywords(self.attributes)
            if rule.raw:
                rule.function(c)
                found: object = tuple(c.output(i) for i in range(self.outputs))
            else:
                found = rule.function(c, *rule.arguments(inputs), **self._keywords)
        except NotKnown as unknown:
            return Outcome(self._unknown(unknown, inputs), unknown.reason, True, c.warnings)
        if self.outputs == 1 and not isinstance(found, tuple):
            outcome = Outcome((self.filled(found, 0, inputs),), None, c.created_unknowns, c.warnings)
            if not inputs and not c.created_unknowns:
                self._constant = outcome
            return outcome
        given = found if isinstance(found, tuple) else (found,)
        types = [self.filled(given[i] if i < len(given) else None, i, inputs) for i in range(self.outputs)]
        return Outcome(types, None, c.created_unknowns, c.warnings)

    def _unknown(self, why: NotKnown, inputs: Sequence[Type | None]) -> list[Type]:
        """The output types of a call that does not know."""
        if isinstance(why, RankNotKnown):
            return [self.filled(why.shape, 0, inputs)]
        nothing = None if why.dtype is None else PartialTensor(why.dtype, Shape.unknown(), None)
        return [self.filled(nothing, i, inputs) for i in range(self.outputs)]

    def filled(self, found: object, index: int, inputs: Sequence[Type | None]) -> Type:
        """An output as a Type: a Shape gets the element type of its definition, a dtype of None is filled in."""
        if isinstance(found, TensorType):
            _check_sizes(found.shape)
            if found.dtype is not None:
                return found
            return PartialTensor(self._dtype(index, inputs), found.shape, found.elements)
        if found is None:
            found = Shape.unknown()
        if isinstance(found, Shape):
            _check_sizes(found)
            arg = self.op_def.output(index)
            tensor = PartialTensor(self._dtype(index, inputs), found, None)
            return _KINDS[arg.kind](tensor) if arg is not None and arg.kind in _KINDS else tensor
        if isinstance(found, SequenceType):
            return found
        raise TypeError(f"a rule returned {found!r}; it must return Shapes or types")

    def _dtype(self, index: int, inputs: Sequence[Type | None]) -> str | None:
        """The element type of an output: its own, or that of the first input that shares its type variable."""
        fixed = self._fixed[index]
        if fixed is not None:
            return fixed
        variable = self._variables[index]
        if variable is None:
            return None
        places = self._places.get(variable)
        if places is None or (places and places[-1] < len(inputs) - 1):
            places = self._places[variable] = [
                i for i in range(len(inputs)) if _variable(self.op_def.input(i)) == variable
            ]
        for place in places:
            found = inputs[place] if place < len(inputs) else None
            while isinstance(found, SequenceType):
                found = found.element
            if found is not None and found.dtype:
                return found.dtype
        return None


_ATTRIBUTE_TYPES: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": (int, float),
    "string": str,
    "ints": tuple,
    "floats": tuple,
    "strings": tuple,
    "tensor": TensorType,
    "graph": Graph,
    "graphs": tuple,
    "type_proto": DeclaredType,
    "bool": bool,
    "list": tuple,
}
_MEMBER_TYPES: dict[str, type | tuple[type, ...]] = {
    "ints": int,
    "floats": (int, float),
    "strings": str,
    "graphs": Graph,
}


def _check_attributes(op_def: OpDef, attributes: Mapping[str, object]) -> None:
    """Raise ShapeError for an attribute that is not of the kind that its definition says, or else the rule.

    Contents of inputs in the place of an attribute are not the file's to write: the rule looks at them.
    """
    kinds = {} if op_def.rule is None else op_def.rule.kinds
    for name, value in attributes.items():
        defined = op_def.attributes.get(name)
        kind = kinds.get(name) if defined is None or defined.type not in _ATTRIBUTE_TYPES else defined.type
        if kind is None:
            continue
        fits = isinstance(value, _ATTRIBUTE_TYPES[kind])
        if fits and isinstance(value, tuple) and kind in _MEMBER_TYPES:
            fits = all(isinstance(one, _MEMBER_TYPES[kind]) for one in value)
        if not fits:
            message = f"the attribute {name!r} must be of the kind {kind}"
            raise ShapeError(message, code="S103", operands=(str(value),))


def _variable(arg: ArgDef | None) -> str | None:
    return None if arg is None else arg.type_attr


def _check_sizes(shape: Shape) -> None:
    for d in shape.dims or ():
        if type(d) is int and not 0 <= d <= INT64_MAX:
            raise ShapeError("a size must lie in 0..2**63 - 1", code="S105", operands=(str(shape),))


_KINDS = {"sequence": SequenceType, "optional": OptionalType}


def _contents(op_def: OpDef) -> Contents:
    rule = op_def.rule
    assert rule is not None
    wanted = {p.wants for p in rule.params}
    if rule.raw or Wants.VALUE in wanted or Wants.TYPE in wanted:
        return Contents.ANY
    return Contents.TOGETHER if Wants.OPERAND in wanted else Contents.NONE


def _fixed_dtype(arg: ArgDef | None, attributes: Mapping[str, object]) -> str | None:
    """The element type that an output has whatever the inputs are."""
    if arg is None:
        return None
    named = attributes.get(arg.type_attr or "")
    return arg.type or (named if isinstance(named, str) else None)
