"""The digest of a graph: graphs that an inference may tell apart differ in it, whatever file they are read from.

It covers what decides the sizes with which a graph runs: operators, attributes, connections, the declared types of
inputs, constants with the contents that rules may read, functions. It leaves out what decides nothing: names of nodes,
the order of nodes, the declared types of what nodes compute, metadata, and the values of weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

import attrs

from shapeinf.errors import ShapeInferenceError
from shapeinf.graph.model import Graph
from shapeinf.graph.node import DeclaredType, FunctionReference, InputContents, InputReference, Node, NodeKind
from shapeinf.lattice import MAX_ELEMENTS, PartialTensor, TensorType

_SCALARS = (int, float, str, bytes, bool, type(None))


class GraphDigest:
    """Computes the digest of one graph; kinds of nodes that several nodes share are encoded once."""

    def __init__(self) -> None:
        """Nothing is encoded yet."""
        self._kinds: dict[int, tuple[NodeKind, bytes]] = {}

    def graph(self, graph: Graph) -> bytes:
        """The digest of a graph, or of one inside of it."""
        constants = {name: self._constant(graph, name) for name in graph.constants}
        parts: Iterable[object] = (
            *(graph.dialect, graph.opsets, graph.inputs, graph.outputs, graph.traced, graph.cyclic, graph.lenient),
            graph.strict_inputs,
            {name: declared for name, declared in graph.declared.items() if name in graph.inputs},
            *(constants, graph.functions, graph.defaults, graph.aliases, graph.assumptions, graph.invalid_types),
            sorted(self._node(node) for node in graph.nodes),
        )
        return self._join(*map(self.value, parts))

    def _constant(self, graph: Graph, name: str) -> object:
        """The contents of a constant that rules may read, which may be in another place or file."""
        constant, load = graph.constants[name], graph.unread.get(name)
        if load is None or not _may_be_read(constant):
            return constant
        try:
            return load()
        except (OSError, ShapeInferenceError):
            return (constant, "unreadable")

    def _node(self, node: Node) -> bytes:
        known = self._kinds.get(id(node.kind))
        if known is None:
            kind = node.kind
            parts = (kind.domain, kind.op, kind.overload, kind.attrs, kind.references, kind.repeated, kind.invalid)
            known = self._kinds[id(kind)] = kind, self._join(*map(self.value, parts))
        return self._join(known[1], self.value(node.inputs), self.value(node.outputs))

    def value(self, value: object) -> bytes:
        """The digest of an attribute, or of a part of a graph. Raises TypeError for an object of an unknown class."""
        if isinstance(value, _SCALARS):
            return sha256(f"{type(value).__name__} {value!r}".encode("utf-8", "backslashreplace")).digest()
        if isinstance(value, Graph):
            return self.graph(value)
        if isinstance(value, TensorType):
            return self._join(*map(self.value, (type(value).__name__, str(value), _contents_text(value))))
        if isinstance(value, Mapping):
            return self._join(b"map", *sorted(self._join(self.value(k), self.value(v)) for k, v in value.items()))
        if isinstance(value, (DeclaredType, FunctionReference, InputContents, InputReference)):
            fields = [getattr(value, field.name) for field in attrs.fields(type(value))]
            return self._join(self.value(type(value).__name__), *map(self.value, fields))
        if isinstance(value, (tuple, list)):
            return self._join(b"list", *map(self.value, value))
        raise TypeError(f"a {type(value).__name__} has no digest")

    @staticmethod
    def _join(*parts: bytes) -> bytes:
        return sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).digest()


def _may_be_read(constant: PartialTensor) -> bool:
    """Whether rules may read the contents of a constant: integers, or few numbers."""
    if constant.dtype is not None and "int" in constant.dtype:
        return True
    count = 1
    for dim in constant.shape.dims or ():
        count *= dim if isinstance(dim, int) else MAX_ELEMENTS + 1
    return count <= MAX_ELEMENTS


def _contents_text(value: TensorType) -> str:
    return repr(value.contents)


def graph_digest(graph: Graph) -> str:
    """The digest of a graph as text; empty where the graph has an attribute without one.

    >>> relu, named = (Graph(nodes=[Node.make("Relu", ("x",), ("y",), name=name)]) for name in ("", "act"))
    >>> graph_digest(relu) == graph_digest(named) != graph_digest(Graph())
    True
    """
    try:
        return f"sha256:{GraphDigest().graph(graph).hex()}"
    except (TypeError, RecursionError):
        return ""
