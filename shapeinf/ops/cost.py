"""The cost of one call of an operator: the record that a cost rule returns, and the context that it reads.

A cost rule is a second function of an operator, next to its shape function:

    @onnx.cost("PatchMerge", domain="com.example")
    def patch_merge(c: CostContext) -> OpCost:
        return OpCost(macs=c.product(*c.output(), c.input(1)[0]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import attrs

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape, ShapeStore, TensorType, Type
from shapeinf.lattice.types import Element
from shapeinf.ops.opdef import OpDef
from shapeinf.solver.long_dims import product_of, sum_dims


@attrs.frozen
class OpCost:
    """The cost of one call.

    Args:
        macs: multiply-accumulates; each is two floating-point operations.
        operations: all other operations; an elementwise operator has one for each element of the output.
        reads: the positions of the inputs whose elements are read; None for all.
        partial: by position, the number of elements that are read of an input, such as the table of a lookup.
        bodies: whether "all" bodies of the operator run, or "one" of them.
    """

    macs: DimSize = 0
    operations: DimSize = 0
    reads: tuple[int, ...] | None = None
    partial: Mapping[int, DimSize] = attrs.Factory(dict)
    bodies: Literal["all", "one"] = "all"


class CostContext:
    """One call of an operator with the types of its inputs and outputs.

    The methods raise NotKnown for what is not inferred: the node is then listed as not counted, with that reason.
    """

    def __init__(
        self,
        op_def: OpDef,
        inputs: Sequence[Type | None],
        outputs: Sequence[Type | None],
        attributes: Mapping[str, object],
        store: ShapeStore,
        version: int = 0,
    ) -> None:
        """`inputs` and `outputs` have canonical dims, None for an absent value."""
        self.op_def = op_def
        self.types = inputs
        self.output_types = outputs
        self.attributes = attributes
        self.store = store
        self.version = version

    def has_input(self, index: int) -> bool:
        """Whether the node has an input at this position."""
        return index < len(self.types) and self.types[index] is not None

    def input(self, index: int) -> Shape:
        """The shape of an input, of known rank."""
        return _shape(self.types[index] if index < len(self.types) else None, f"input {index}")

    def output(self, index: int = 0) -> Shape:
        """The shape of an output, of known rank."""
        return _shape(self.output_types[index] if index < len(self.output_types) else None, f"output {index}")

    @property
    def result(self) -> Shape:
        """The shape of the first output that the node has."""
        present = [index for index, value in enumerate(self.output_types) if value is not None]
        return self.output(present[0] if present else 0)

    def has_output(self, index: int) -> bool:
        """Whether the node has an output at this position."""
        return index < len(self.output_types) and self.output_types[index] is not None

    def attribute(self, name: str, default: object = None) -> object:
        """An attribute of the node, else the default of the operator, else this one."""
        if name in self.attributes:
            return self.attributes[name]
        defined = self.op_def.attributes.get(name)
        return defined.default if defined is not None and defined.has_default else default

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is an integer."""
        value = self.attribute(name, default)
        return int(value) if isinstance(value, (int, bool)) else default

    def integers(self, name: str) -> tuple[int, ...]:
        """An attribute that is a list of integers; empty where it is absent."""
        value = self.attribute(name, ())
        return tuple([item for item in value if isinstance(item, int)]) if isinstance(value, tuple) else ()

    def text(self, name: str, default: str = "") -> str:
        """An attribute that is a text."""
        value = self.attribute(name, default)
        return value if isinstance(value, str) else default

    def contents(self, index: int) -> tuple[Element, ...]:
        """The elements of an input. Raises NotKnown where they are not inferred."""
        value = self.types[index] if index < len(self.types) else None
        elements = value.elements if isinstance(value, PartialTensor) else None
        if elements is None:
            raise NotKnown(f"the contents of input {index} are not known")
        return tuple(elements)

    def product(self, *factors: DimSize) -> DimSize:
        """The product of dims, also one that is too long for `*`."""
        total = product_of(self.store, factors)
        if total is None:
            raise NotKnown("the formula is too long")
        return total

    def sum(self, *terms: DimSize) -> DimSize:
        """The sum of dims, also one that is too long for `+`."""
        return sum_dims(self.store.scope, terms)

    def elements(self, shape: Shape | Iterable[DimSize]) -> DimSize:
        """The number of elements of a shape."""
        return self.product(*shape)


CostRule = Callable[[CostContext], OpCost]

ValueRule = Callable[[CostContext], Mapping[int, int]]
"""By position of an input, the number that all its elements have in a run at the sizes of a call."""


def _shape(value: Type | None, role: str) -> Shape:
    if value is None:
        raise NotKnown(f"{role} is absent")
    if not isinstance(value, TensorType):
        raise NotKnown(f"{role} is not a tensor")
    if value.shape.dims is None:
        raise NotKnown(f"the rank of {role} is not known")
    return value.shape
