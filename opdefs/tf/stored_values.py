"""What nodes store behind a handle, for the nodes that load it: queues, stacks and iterators.

A handle does not say what is stored behind it later. Where all nodes that use a resource are in the same graph, the
nodes that load from it read, besides the handle, what the others store into it: this is appended to their inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from opdefs.tf.dialect import tf
from opdefs.tf.handles import Values, read_value, refine_values
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind
from shapeinf.lattice import HandleType, TensorType
from shapeinf.ops import InferenceContext

SLICED = "_sliced"
"""The attribute of a loading node: for each node that stores, whether it stores the rows of its inputs."""


@attrs.frozen
class Access:
    """How an operator uses a resource: its handle is the input at `handle`, what it stores are the inputs from `first`.

    `sliced`: it stores the rows of these, each as one element.
    """

    handle: int = 0
    first: int = 1
    sliced: bool = False


RESOURCES = frozenset(
    {"FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2"}
    | {"Stack", "StackV2", "Iterator", "IteratorV2"}
)
STORES = {
    "QueueEnqueue": Access(),
    "QueueEnqueueV2": Access(),
    "QueueEnqueueMany": Access(sliced=True),
    "QueueEnqueueManyV2": Access(sliced=True),
    "StackPush": Access(),
    "StackPushV2": Access(),
    "MakeIterator": Access(handle=1, first=0),
}
LOADS = frozenset(
    {"QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo"}
    | {"QueueDequeueUpToV2", "StackPop", "StackPopV2", "IteratorGetNext", "IteratorGetNextSync"}
    | {"IteratorGetNextAsOptional"}
)
PASSES = frozenset({"Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch"})
"""Operators that return the handle in their input 0."""

QUERIES = frozenset(
    {"QueueSize", "QueueSizeV2", "QueueIsClosed", "QueueIsClosedV2", "QueueClose", "QueueCloseV2", "StackClose"}
    | {"StackCloseV2", "IteratorToStringHandle", "IteratorGetDevice"}
)


def connect(graph: Graph) -> Graph:
    """The graph with what is stored behind handles as inputs of the nodes that load it; itself if it has none."""
    kinds = graph.nodes.kinds() if hasattr(graph.nodes, "kinds") else {node.kind for node in graph.nodes}
    operators = {kind.op for kind in kinds}
    if operators.isdisjoint(RESOURCES) or operators.isdisjoint(LOADS) or operators.isdisjoint(STORES):
        return graph
    nodes = list(graph.nodes)
    changed: dict[int, Node] = {}
    readers = _readers(nodes)
    for node in nodes:
        if node.op in RESOURCES and _is_private(node):
            changed.update(_connected(nodes, node, readers, graph.outputs))
    if not changed:
        return graph
    joined = [changed.get(index, node) for index, node in enumerate(nodes)]
    return attrs.evolve(graph, nodes=joined, cyclic=True)  # what is stored may depend on what was loaded


def _is_private(node: Node) -> bool:
    """Whether no other graph has the resource by its name, and its declaration leaves something open."""
    if node.attrs.get("shared_name") or not node.outputs:
        return False
    shapes = node.attrs.get("shapes", node.attrs.get("output_shapes", ()))
    closed = [isinstance(s, DeclaredType) and s.dims is not None and None not in s.dims for s in _items(shapes)]
    return not closed or not all(closed)


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, tuple) else ()


def _readers(nodes: list[Node]) -> dict[str, list[tuple[int, int]]]:
    """For each value the nodes that read it, with the positions of their inputs."""
    readers: dict[str, list[tuple[int, int]]] = {}
    for index, node in enumerate(nodes):
        for position, name in enumerate(node.inputs):
            readers.setdefault(name, []).append((index, position))
    return readers


def _connected(
    nodes: list[Node], resource: Node, readers: dict[str, list[tuple[int, int]]], outputs: list[str]
) -> Iterator[tuple[int, Node]]:
    """The nodes that load from a resource, with more inputs; none where a use of its handle is not understood."""
    uses = _uses(nodes, resource.outputs[0], readers, outputs)
    if uses is None:
        return
    stores = [(nodes[i], STORES[nodes[i].op]) for i in uses if nodes[i].op in STORES]
    stored: list[str] = []
    for node, access in stores:
        stored += node.inputs[access.first : access.handle if access.handle > access.first else None]
    sliced = tuple(access.sliced for _, access in stores)
    for index in uses if stored else ():
        node = nodes[index]
        if node.op in LOADS:
            kind = NodeKind(node.op, node.domain, {**node.attrs, SLICED: sliced}, node.kind.overload)
            yield index, Node(kind, (*node.inputs, *stored), node.outputs, node.name)


def _uses(
    nodes: list[Node], handle: str, readers: dict[str, list[tuple[int, int]]], outputs: list[str]
) -> list[int] | None:
    """The nodes that store and load through a handle, in order; None where another node may do so as well."""
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
            elif node.op not in QUERIES:
                return None
    return sorted(uses)


tf.connect = connect


# -- in rules ----------------------------------------------------------------------------------------------------------


def stored_values(c: InferenceContext, stored: tuple[TensorType, ...], count: int) -> Values:
    """The join of the elements of `count` components that other nodes store, None where these are not known."""
    sliced = c.attributes.get(SLICED)
    if not isinstance(sliced, tuple) or not sliced or count * len(sliced) != len(stored):
        return None
    joined: list[TensorType] = []
    for index, is_sliced in enumerate(sliced):
        element = [_element(c, value, is_sliced) for value in stored[index * count : (index + 1) * count]]
        joined = (
            [_join(c, a, b, i) for i, (a, b) in enumerate(zip(joined, element, strict=True))] if joined else element
        )
    return tuple(read_value(c, value) for value in joined)


def _element(c: InferenceContext, value: TensorType, is_sliced: bool) -> TensorType:
    if isinstance(value, HandleType):
        return value
    shape = c.subshape(value.shape, 1) if is_sliced and value.shape.dims != () else value.shape
    return TensorType(value.dtype, shape)


def _join(c: InferenceContext, a: TensorType, b: TensorType, component: int) -> TensorType:
    relaxed = c.relax_type(a, b, f"component{component}")
    assert isinstance(relaxed, TensorType)  # the join of tensors
    return relaxed


def loaded_values(
    c: InferenceContext, declared: Values, dtypes: tuple[str, ...], stored: tuple[TensorType, ...]
) -> Values:
    """The types of the components of an element: as a handle declares, and as other nodes store them."""
    known = stored_values(c, stored, len(dtypes))
    if declared is None or len(declared) != len(dtypes):
        return known
    return refine_values(c, declared, known)
