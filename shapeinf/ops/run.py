"""Calling a rule: bind inputs and attributes, fill element types, turn "not known" into unknown outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.errors import NotKnown
from shapeinf.lattice import OptionalType, PartialTensor, SequenceType, Shape, ShapeFacts, TensorType, Type
from shapeinf.ops.context import InferenceContext
from shapeinf.ops.opdef import ArgDef, OpDef


@attrs.frozen
class Outcome:
    """The output types of one call.

    `unknown` is the reason when the rule could not know; `fresh` says that the call made new unknowns, which belong
    to its site, so it must not be reused for another node.
    """

    types: list[Type]
    unknown: str | None
    fresh: bool


def run_rule(
    op_def: OpDef,
    inputs: Sequence[Type | None],
    attributes: Mapping[str, object],
    *,
    facts: ShapeFacts,
    site: str,
    version: int = 0,
    outputs: int = 1,
) -> Outcome:
    """Call the rule of an operator that has one.

    Raises ShapeError when a law of the operator is broken. NotKnown inside the rule gives outputs of unknown shape.
    """
    rule = op_def.rule
    assert rule is not None
    c = InferenceContext(op_def, inputs, attributes, facts, site, version, outputs)
    variables = TypeVariables(op_def, inputs, attributes)
    try:
        if rule.raw:
            rule.function(c)
            found: object = tuple(c.output(i) for i in range(outputs))
        else:
            found = rule.function(c, *rule.arguments(inputs), **rule.keywords(attributes))
    except NotKnown as unknown:
        types = [variables.fill(TensorType(None, Shape.unknown()), i) for i in range(outputs)]
        return Outcome(types, unknown.reason, True)
    given = found if isinstance(found, tuple) else (found,)
    types = [variables.fill(given[i] if i < len(given) else None, i) for i in range(outputs)]
    return Outcome(types, None, c.made_fresh)


class TypeVariables:
    """The element types of one call, solved from its inputs and attributes."""

    def __init__(self, op_def: OpDef, inputs: Sequence[Type | None], attributes: Mapping[str, object]) -> None:
        """Reads each input's type against the definition of that input."""
        self.op_def = op_def
        self.attributes = attributes
        self.known: dict[str, str] = {}
        for index, found in enumerate(inputs):
            arg = op_def.input(index)
            while isinstance(found, SequenceType):
                found = found.element
            if arg is not None and arg.type_attr is not None and isinstance(found, TensorType) and found.dtype:
                self.known.setdefault(arg.type_attr, found.dtype)

    def of(self, arg: ArgDef | None) -> str | None:
        """The element type of an output, None when nothing says it."""
        if arg is None:
            return None
        if arg.type is not None:
            return arg.type
        named = self.attributes.get(arg.type_attr or "")
        return self.known.get(arg.type_attr or "") or (named if isinstance(named, str) else None)

    def fill(self, found: object, index: int) -> Type:
        """An output as a Type: a Shape gets the element type, a dtype of None is filled in."""
        arg = self.op_def.output(index)
        if found is None:
            found = Shape.unknown()
        if isinstance(found, Shape):
            if arg is not None and arg.kind in _KINDS:
                return _KINDS[arg.kind](TensorType(self.of(arg), found))
            return TensorType(self.of(arg), found)
        if isinstance(found, PartialTensor):
            return found if found.dtype else PartialTensor(self.of(arg), found.shape, found.elements)
        if isinstance(found, TensorType):
            return found if found.dtype else TensorType(self.of(arg), found.shape)
        if isinstance(found, SequenceType):
            return found
        raise TypeError(f"a rule returned {found!r}; it must return Shapes or types")


_KINDS = {"sequence": SequenceType, "optional": OptionalType}
