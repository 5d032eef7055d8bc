"""Calls with an attribute that is the contents of an input (`InputContents`), which is known with the inputs only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.graph import InputContents
from shapeinf.lattice import MAX_ELEMENTS, PartialTensor, Shape, ShapeStore, TensorType, Type
from shapeinf.lattice.truths import Truth
from shapeinf.ops.bodies import Body
from shapeinf.ops.context import SizeTerms
from shapeinf.ops.opdef import OpDef
from shapeinf.ops.run import Call, Contents, Outcome

_MAX_CALLS = 256
_UNKNOWN = "an attribute is the contents of an input, which are not known"


class DeferredCall(Call):
    """A call that replaces `InputContents` by the contents of inputs, then calls the rule on the other inputs."""

    def __init__(
        self, op_def: OpDef, attributes: Mapping[str, object], version: int = 0, wanted: tuple[bool, ...] = (True,)
    ) -> None:
        """See `Call`."""
        super().__init__(op_def, attributes, version, wanted)
        self.contents = Contents.ANY
        self._taken = {i for value in self.attributes.values() for i in referenced_inputs(value)}
        self._calls: dict[tuple[object, ...], Call] = {}

    def reads(self, position: int) -> bool:
        """See `Call.reads`."""
        return position in self._taken or super().reads(position)

    def run(
        self,
        inputs: Sequence[Type | None],
        store: ShapeStore,
        node_name: str,
        bodies: Mapping[str, Body] | None = None,
        size_terms: SizeTerms | None = None,
        conditions: Sequence[Truth] = (),
    ) -> Outcome:
        """See `Call.run`; the outputs are unknown where the contents are unknown."""
        try:
            values, positions = self.operands(inputs)
        except NotKnown as unknown:
            own = [inputs[i] for i in self._positions(inputs)]
            types = [self.fill_type(Shape.unknown(), i, own) for i in range(self.outputs)]
            return Outcome(types, unknown.reason, True)
        key = tuple(values.items())
        call = self._calls.get(key)
        if call is None:
            if len(self._calls) >= _MAX_CALLS:
                self._calls.clear()
            call = self._calls[key] = Call(self.op_def, values, self.version, self.wanted, self.attributes)
        return call.run([inputs[i] for i in positions], store, node_name, bodies, size_terms, conditions)

    def operands(self, inputs: Sequence[Type | None]) -> tuple[Mapping[str, object], Sequence[int]]:
        """See `Call.operands`."""
        values = {name: self._resolve(name, value, inputs) for name, value in self.attributes.items()}
        return values, self._positions(inputs)

    def _positions(self, inputs: Sequence[Type | None]) -> list[int]:
        return [i for i in range(len(inputs)) if i not in self._taken]

    def _resolve(self, name: str, value: object, inputs: Sequence[Type | None]) -> object:
        try:
            contents = resolve_contents(value, inputs)
        except NotKnown:
            contents = None
        if contents is None and value is not None and name not in self.rule.open:
            raise NotKnown(_UNKNOWN)
        return contents


def referenced_inputs(value: object) -> set[int]:
    """The positions of the inputs whose contents an attribute refers to."""
    if isinstance(value, InputContents):
        return {value.input}
    if not isinstance(value, tuple) or _PLAIN.issuperset(map(type, value)):  # a tree ensemble has thousands of ints
        return set()
    return set().union(*map(referenced_inputs, value))


_PLAIN = frozenset({int, float, str, bool, type(None)})


def resolve_contents(value: object, inputs: Sequence[Type | None]) -> object:
    """An attribute with the contents of inputs inserted: the element of a scalar, nested tuples for any other tensor.

    Unknown elements are None. Raises NotKnown where not even the number of elements is known.
    """
    if isinstance(value, tuple):
        return tuple([resolve_contents(item, inputs) for item in value])
    if not isinstance(value, InputContents):
        return value
    tensor = inputs[value.input] if value.input < len(inputs) else None
    if not isinstance(tensor, TensorType) or not _is_countable(tensor.shape):
        raise NotKnown(_UNKNOWN)
    dims = [d for d in tensor.shape if isinstance(d, int)]
    elements = tensor.elements if isinstance(tensor, PartialTensor) else None
    return _nest((None,) * prod(dims) if elements is None else elements, dims)


def _is_countable(shape: Shape) -> bool:
    """Whether the number of elements is known and small enough to list them."""
    total: DimSize = 1 if shape.dims is None else prod(shape.dims)
    return shape.dims is not None and isinstance(total, int) and total <= MAX_ELEMENTS


def _nest(elements: Sequence[object], dims: Sequence[int]) -> object:
    if not dims:
        return elements[0]
    step = len(elements) // dims[0] if dims[0] else 0
    return tuple([_nest(elements[i * step : (i + 1) * step], dims[1:]) for i in range(dims[0])])
