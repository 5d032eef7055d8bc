"""The graph of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
from attrs import Factory

from shapeinf.diagnostics import Diagnostic
from shapeinf.graph.node import DeclaredType, FunctionKey, FunctionReference, Node, NodeKind
from shapeinf.graph.table import kinds_of
from shapeinf.lattice import PartialTensor
from shapeinf.texts import format_count, object_text

if TYPE_CHECKING:
    import networkx as nx


def subgraphs(kind: NodeKind) -> Iterator[tuple[str, Graph]]:
    """The attributes of a kind that are graphs, with their names."""
    for name, value in kind.attrs.items():
        if isinstance(value, Graph):
            yield name, value
        elif isinstance(value, tuple) and value and isinstance(value[0], Graph):
            yield from ((f"{name}[{i}]", graph) for i, graph in enumerate(value))


def has_bodies(graph: Graph) -> bool:
    """Whether an attribute of a node is a graph."""
    return any(True for kind in kinds_of(graph.nodes) for _ in subgraphs(kind))


def function_references(kind: NodeKind) -> Iterator[tuple[str, FunctionReference]]:
    """The attributes of a kind that are functions of the model, with their names as `subgraphs` has them."""
    for name, value in kind.attrs.items():
        if isinstance(value, FunctionReference):
            yield name, value
        elif isinstance(value, tuple) and value and isinstance(value[0], FunctionReference):
            yield from ((f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, FunctionReference))


@attrs.define(eq=False)
class Graph:
    """Nodes, the values they read and write, and the declared types of values.

    Args:
        name: the name in the file.
        dialect: the dialect of the operators.
        format: the name of the format that the graph was read from, empty for a graph in memory: several formats may
            have the operators of one dialect.
        opsets: the version of each domain.
        inputs: the names of the inputs.
        outputs: the names of the outputs.
        nodes: the operations.
        declared: the declared types of values.
        planned: the declared types with the texts that the planner of a runtime compares, where these differ.
        constants: the known values, with contents only if small.
        repeated_constants: the names that the file gives to several constants, of which the last one counts.
        invalid_types: the inputs and constants whose declared element type no value can have.
        unread: functions that load the contents of constants in other files.
        functions: the bodies of the model's own operators.
        defaults: the defaults of the attributes, of the body of a function.
        aliases: the values by other names that users may use, such as the arguments of a signature; texts have the
            first alias of a value.
        dim_aliases: the named dims by other names that users may use, such as those of messages of another tool.
        traced: whether the declared types of node outputs are those of a run, which hold for its sizes of inputs only.
        cyclic: whether cycles are intended, as loops with back edges are.
        external: whether the contents of a constant are in another file.
        strict_inputs: whether a size of an input that the file states as a number must not be replaced by another one.
        lenient: whether its runtime runs nodes that do not conform to the definitions of their operators, as
            TensorFlow.js does.
        assumptions: relations of dims that the file asserts, such as `S >= 4`.
        stored_contract: the text of the contract that the file states; empty for none.
        diagnostics: warnings and notes of the reader.
        producer: the tool that wrote the model, as the file states it; for people.
        file_version: the version of the format, as the file states it; for people.
        source: the path of the file; None for a graph in memory.
        locations: the positions of nodes in the source text, by the names of the nodes.
        model: the reader's own object, for writing.
        files: the reader's record of the files that it has read, for writing.
    """

    name: str = ""
    dialect: str = ""
    opsets: dict[str, int] = Factory(dict)
    inputs: list[str] = Factory(list)
    outputs: list[str] = Factory(list)
    nodes: Sequence[Node] = Factory(list)
    declared: dict[str, DeclaredType] = Factory(dict)
    planned: dict[str, DeclaredType] = Factory(dict)
    constants: dict[str, PartialTensor] = Factory(dict)
    repeated_constants: list[str] = Factory(list)
    invalid_types: list[str] = Factory(list)
    unread: dict[str, Callable[[], PartialTensor]] = Factory(dict)
    functions: dict[FunctionKey, Graph] = Factory(dict)
    defaults: dict[str, object] = Factory(dict)
    aliases: dict[str, str] = Factory(dict)
    dim_aliases: dict[str, str] = Factory(dict)
    traced: bool = False
    cyclic: bool = False
    external: bool = False
    lenient: bool = False
    strict_inputs: bool = False
    format: str = ""
    assumptions: list[str] = Factory(list)
    stored_contract: str = ""
    diagnostics: list[Diagnostic] = Factory(list)
    producer: str = ""
    file_version: str = ""
    source: str | None = None
    locations: dict[str, str] = Factory(dict)
    model: Any = None
    files: Any = None

    def __repr__(self) -> str:
        """Name, dialect and counts: a graph has too many nodes and constants to list."""
        counts = ((len(self.nodes), "node"), (len(self.inputs), "input"), (len(self.outputs), "output"))
        listed = ", ".join(format_count(count, noun) for count, noun in counts)
        return object_text(f"Graph {self.name}: {self.dialect or 'no dialect'}, {listed}")

    def free_names(self) -> list[str]:
        """The names that nodes (and their subgraphs) and outputs read, but that the graph does not define, in order."""
        produced = {*self.inputs, *self.constants, *(o for node in self.nodes for o in node.outputs), ""}
        read: dict[str, None] = {}
        for node in self.nodes:
            read.update(dict.fromkeys(node.inputs))
            for _, graph in subgraphs(node.kind):
                read.update(dict.fromkeys(graph.free_names()))
        read.update(dict.fromkeys(self.outputs))
        return [name for name in read if name not in produced]

    def to_networkx(self) -> nx.DiGraph[Any]:
        """The networkx view; see `views.to_networkx`."""
        from shapeinf.graph.views import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Graph:
        """Read a networkx graph; see `views.read_networkx`."""
        from shapeinf.graph.views import read_networkx

        return cls(**read_networkx(graph))


def refers_to_attributes(function: Graph) -> bool:
    """Whether the body of a function reads attributes of the function."""
    kinds = {node.kind for node in function.nodes}
    return any(kind.references or any(refers_to_attributes(graph) for _, graph in subgraphs(kind)) for kind in kinds)


def bind_attributes(function: Graph, attributes: Mapping[str, object]) -> Graph:
    """The body of a function with its references to attributes replaced by these values."""
    kinds: dict[NodeKind, NodeKind] = {}
    nodes = []
    for node in function.nodes:
        if node.kind not in kinds:
            kinds[node.kind] = _bind_kind(node.kind, attributes)
        nodes.append(Node(kinds[node.kind], node.inputs, node.outputs, node.name))
    return attrs.evolve(function, nodes=nodes)


def _bind_kind(kind: NodeKind, attributes: Mapping[str, object]) -> NodeKind:
    values = dict(kind.attrs)
    values.update((name, attributes[source]) for name, source in kind.references.items() if source in attributes)
    for name, value in values.items():
        if isinstance(value, Graph):
            values[name] = bind_attributes(value, attributes)
    return NodeKind(kind.op, kind.domain, values, kind.overload, repeated=kind.repeated, invalid=kind.invalid)
