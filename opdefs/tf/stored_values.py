"""Values that nodes store behind a handle, for nodes that load them: queues, stacks, iterators, gradients of arrays.

The type of a handle does not include values that are stored later. Where all nodes that use a resource are in the same
graph, `connect` appends the values that nodes store to the inputs of the nodes that load them. A queue or an iterator
may contain values of an earlier run: inference assumes that the inputs of all runs have the same shapes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping

import attrs

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.handles import Values, read_value, refine_values
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind, components, kinds_of, topological_order
from shapeinf.lattice import HandleType, TensorType
from shapeinf.ops.conformance import PRIVATE

STORED = f"{PRIVATE}stored"
"""The attribute of a loading node: for each node that stores, how its inputs are stored."""


class Form(enum.Enum):
    """How a node stores an input: as one value, as its rows, or as parts of it along its first axis."""

    VALUE = enum.auto()
    ROWS = enum.auto()
    PARTS = enum.auto()


@attrs.frozen
class Access:
    """How an operator uses a resource: the position of its handle and of the inputs that it stores."""

    handle: int = 0
    values: slice = slice(1, None)
    form: Form = Form.VALUE


RESOURCES = frozenset(
    {"FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2"}
    | {"Stack", "StackV2", "Iterator", "IteratorV2", "TensorArrayV3"}
)
STORES = {
    "QueueEnqueue": Access(),
    "QueueEnqueueV2": Access(),
    "QueueEnqueueMany": Access(form=Form.ROWS),
    "QueueEnqueueManyV2": Access(form=Form.ROWS),
    "StackPush": Access(),
    "StackPushV2": Access(),
    "MakeIterator": Access(1, slice(1)),
    "TensorArrayWriteV3": Access(values=slice(2, 3)),
    "TensorArrayScatterV3": Access(values=slice(2, 3), form=Form.ROWS),
    "TensorArraySplitV3": Access(values=slice(1, 2), form=Form.PARTS),
}
LOADS = frozenset(
    {"QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo"}
    | {"QueueDequeueUpToV2", "StackPop", "StackPopV2", "IteratorGetNext", "IteratorGetNextSync"}
    | {"IteratorGetNextAsOptional", "TensorArrayGradV3", "TensorArrayGradWithShape"}
)
PASSES = frozenset({"Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch"})
"""Operators that return the handle in their input 0."""

QUERIES = frozenset(
    {"QueueSize", "QueueSizeV2", "QueueIsClosed", "QueueIsClosedV2", "QueueClose", "QueueCloseV2", "StackClose"}
    | {"StackCloseV2", "IteratorGetDevice", "TensorArrayReadV3", "TensorArrayGatherV3"}
    | {"TensorArrayConcatV3", "TensorArraySizeV3", "TensorArrayCloseV3"}
)
"""Operators that neither store nor load; those that read an array get the types of its items from its flow."""

NAMES = frozenset({"IteratorToStringHandle"})
"""Operators that return the name of a resource: a node that reads the name may store values, too."""


def connect(graph: Graph) -> Graph:
    """The graph with stored values as inputs of the nodes that load them; the same graph if there are none."""
    kinds = kinds_of(graph.nodes)
    operators = {kind.op for kind in kinds}
    if operators.isdisjoint(RESOURCES) or operators.isdisjoint(LOADS) or operators.isdisjoint(STORES):
        return graph
    nodes = list(graph.nodes)
    changed: dict[int, Node] = {}
    readers = _readers(nodes)
    for node in nodes:
        if node.op in RESOURCES and _is_private(node):
            changed.update(_connect_resource(nodes, node, readers, graph.outputs))
    if not changed:
        return graph
    connected = attrs.evolve(graph, nodes=[changed.get(index, node) for index, node in enumerate(nodes)])
    circular = _circular_loads(connected, changed, nodes)
    if circular:
        remaining = [node if index in circular else changed.get(index, node) for index, node in enumerate(nodes)]
        connected = attrs.evolve(graph, nodes=remaining)
    return connected


def _circular_loads(connected: Graph, changed: Mapping[int, Node], nodes: list[Node]) -> set[int]:
    """The nodes that load values that depend on themselves, by index: they stay as they are."""
    if not connected.cyclic and topological_order(connected) is not None:
        return set()
    group = {index: number for number, members in enumerate(components(connected)) for index in members}
    producers = {output: index for index, node in enumerate(nodes) for output in node.outputs}
    circular = set()
    for index, node in changed.items():
        stored = node.inputs[len(nodes[index].inputs) :]
        if any(group[producers[name]] == group[index] for name in stored if name in producers):
            circular.add(index)
    return circular


def _is_private(node: Node) -> bool:
    """Whether only this graph can name the resource, and its declaration leaves a size open."""
    if node.attrs.get("shared_name") or not node.outputs:
        return False
    shapes = node.attrs.get("shapes", node.attrs.get("output_shapes", (node.attrs.get("element_shape"),)))
    closed = [isinstance(s, DeclaredType) and s.dims is not None and None not in s.dims for s in _items(shapes)]
    return not closed or not all(closed)


def _items(value: object) -> Iterable[object]:
    """The items of a tuple; none for other attributes."""
    return value if isinstance(value, tuple) else ()


def _readers(nodes: list[Node]) -> dict[str, list[tuple[int, int]]]:
    """By value, the nodes that read it and the positions of their inputs."""
    readers: dict[str, list[tuple[int, int]]] = {}
    for index, node in enumerate(nodes):
        for position, name in enumerate(node.inputs):
            readers.setdefault(name, []).append((index, position))
    return readers


def _connect_resource(
    nodes: list[Node], resource: Node, readers: dict[str, list[tuple[int, int]]], outputs: list[str]
) -> Iterator[tuple[int, Node]]:
    """The nodes that load from a resource, with stored values as inputs; none if a use of its handle is unknown."""
    uses = _uses(nodes, resource.outputs[0], readers, outputs)
    if uses is None:
        return
    stores = [(nodes[i], STORES[nodes[i].op]) for i in uses if nodes[i].op in STORES]
    stored: list[str] = []
    for node, access in stores:
        stored += node.inputs[access.values]
    forms = tuple(access.form for _, access in stores)
    for index in uses if stored else ():
        node = nodes[index]
        if node.op in LOADS:
            kind = NodeKind(node.op, node.domain, {**node.attrs, STORED: forms}, node.kind.overload)
            yield index, Node(kind, (*node.inputs, *stored), node.outputs, node.name)


def _uses(
    nodes: list[Node], handle: str, readers: dict[str, list[tuple[int, int]]], outputs: list[str]
) -> list[int] | None:
    """The nodes that store and load through a handle, in order; None if other nodes may do so as well."""
    waiting, seen, uses = [handle], {handle}, set()
    while waiting:
        name = waiting.pop()
        if name in outputs:
            return None
        for index, position in readers.get(name, ()):
            node = nodes[index]
            access = STORES.get(node.op, Access())
            if position != access.handle:
                return None
            if node.op in PASSES:
                new = [output for output in node.outputs if output and output not in seen]
                seen.update(new)
                waiting += new
            elif node.op in STORES or node.op in LOADS:
                uses.add(index)
            elif node.op not in QUERIES and not (node.op in NAMES and readers.keys().isdisjoint(node.outputs)):
                return None
    return sorted(uses)


# -- in rules ----------------------------------------------------------------------------------------------------------


def stored_values(c: TensorFlowContext, stored: tuple[TensorType, ...], count: int) -> Values:
    """The join of the elements of `count` components that other nodes store; None if unknown."""
    forms = c.attributes.get(STORED)
    if not isinstance(forms, tuple) or not forms or count * len(forms) != len(stored):
        return None
    joined: list[TensorType] = []
    for index, form in enumerate(forms):
        element = [_element(c, value, form) for value in stored[index * count : (index + 1) * count]]
        pairs = enumerate(zip(joined, element, strict=True)) if joined else ()
        joined = [_join(c, a, b, i) for i, (a, b) in pairs] if joined else element
    return tuple(read_value(c, value) for value in joined)


def _element(c: TensorFlowContext, value: TensorType, form: object) -> TensorType:
    """The type of an element of a stored value."""
    if isinstance(value, HandleType):
        return value
    shape = value.shape
    if form is not Form.VALUE:
        shape = c.subshape(shape, 1) if shape.dims != () else c.unknown_shape()
    return TensorType(value.dtype, c.concatenate(c.vector(None), shape) if form is Form.PARTS else shape)


def _join(c: TensorFlowContext, a: TensorType, b: TensorType, component: int) -> TensorType:
    """The join of the types of two elements."""
    relaxed = c.relax_type(a, b, f"component{component}")
    assert isinstance(relaxed, TensorType)  # the join of tensors
    return relaxed


def loaded_values(
    c: TensorFlowContext, declared: Values, dtypes: tuple[str, ...], stored: tuple[TensorType, ...]
) -> Values:
    """The types of the components of an element, as the handle declares them and as other nodes store them."""
    known = stored_values(c, stored, len(dtypes))
    if declared is None or len(declared) != len(dtypes):
        return known
    return refine_values(c, declared, known)
