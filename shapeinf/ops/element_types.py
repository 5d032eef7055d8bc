"""The element types of a node's outputs: from its definition, its attributes, or inputs of the same type variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapeinf.lattice import SequenceType, Type
from shapeinf.lattice.dtypes import KINDS
from shapeinf.ops.opdef import ArgDef, OpDef


class ElementTypes:
    """The element types of the outputs of an operator with these attributes."""

    def __init__(self, op_def: OpDef, attributes: Mapping[str, object], outputs: int) -> None:
        """`outputs` is the number of outputs."""
        self.op_def = op_def
        self.attributes = attributes
        flat = op_def.flatten(attributes, 0, outputs)
        self._fixed = [_fixed_dtype(flat.output(i), attributes, op_def) for i in range(outputs)]
        self._variables = [_variable(flat.output(i)) for i in range(outputs)]
        self._sharing: list[tuple[int, list[int]]] = [(0, [])] * outputs
        """For each output, a number of inputs and those among them that share its type variable."""

    def output(self, index: int, inputs: Sequence[Type | None]) -> str | None:
        """The element type of an output: its own, or that of the first input that shares its type variable."""
        fixed = self._fixed[index]
        if fixed is not None:
            return fixed
        count, positions = self._sharing[index]
        if count < len(inputs):
            positions = self._positions(self._variables[index], len(inputs))
            self._sharing[index] = len(inputs), positions
        for position in positions:
            if position >= len(inputs):
                break
            type_ = inputs[position]
            while isinstance(type_, SequenceType):
                type_ = type_.element
            if type_ is not None and type_.dtype:
                return type_.dtype
        return None

    def _positions(self, variable: str | None, count: int) -> list[int]:
        """The positions of the inputs that have a type variable; `count` is the number of inputs."""
        flat = self.op_def.flatten(self.attributes, count, 0)
        return [i for i in range(count) if variable is not None and _variable(flat.input(i)) == variable]


def _variable(arg: ArgDef | None) -> str | None:
    return None if arg is None else arg.type_attr


def _fixed_dtype(arg: ArgDef | None, attributes: Mapping[str, object], op_def: OpDef) -> str | None:
    """The element type of an output that does not depend on the inputs: its own, or that of an attribute."""
    if arg is None:
        return None
    defined = op_def.attributes.get(arg.type_attr or "")
    named = attributes.get(arg.type_attr or "", None if defined is None else defined.default)
    return arg.type or (named if isinstance(named, str) and named in KINDS else None)
