"""The types of all values of a graph and of the graphs inside it, for writers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import attrs

from shapeinf.graph import FunctionKey, Graph, NodeKind, function_references
from shapeinf.lattice import PartialTensor, Shape

GENERATED = re.compile(r"unk__\d+")
"""Names of dims that onnx's own inference generates in each run: they carry no information."""


class Info(Protocol):
    """The type of a value."""

    @property
    def dtype(self) -> str | None:
        """Element type, None when unknown."""

    @property
    def shape(self) -> Shape:
        """Inferred shape."""

    @property
    def kind(self) -> str:
        """tensor, sequence, optional or map."""


@attrs.frozen
class Annotation:
    """Types of values by name: of a graph, of subgraphs by (outputs of the node, attribute), of functions by key.

    `constants` have new contents for constants, `inputs` new declared types for inputs of the graph. `assumptions` are
    the relations of dims to write, None to leave those of the file. `contract` is the text of the contract to write, in
    a format that has a place for it.
    """

    tensors: Mapping[str, Info]
    bodies: Mapping[tuple[str, ...], Mapping[str, Annotation]] = attrs.Factory(dict)
    functions: Mapping[FunctionKey, Mapping[str, Info]] = attrs.Factory(dict)
    constants: Mapping[str, PartialTensor] = attrs.Factory(dict)
    inputs: Mapping[str, Info] = attrs.Factory(dict)
    assumptions: Sequence[str] | None = None
    contract: str = ""


def inferred_functions(graph: Graph, annotation: Annotation) -> set[FunctionKey]:
    """The functions whose calls are all inferred: a call that is not inferred may have other shapes.

    Only functions that one node calls are included; the annotation merges several calls of that node.
    """
    callers: dict[FunctionKey, list[FunctionKey | None]] = {}
    for caller, nodes in ((None, graph.nodes), *((key, body.nodes) for key, body in graph.functions.items())):
        for node in nodes:
            for key in _references(node.kind):
                callers.setdefault(key, []).append(caller)
    inferred: set[FunctionKey] = set()
    pending = [key for key in annotation.functions if callers.get(key) == [None]]
    while pending:
        inferred.update(pending)
        called = (key for key in annotation.functions if key not in inferred)
        pending = [key for key in called if len(callers.get(key, ())) == 1 and callers[key][0] in inferred]
    return inferred


def _references(kind: NodeKind) -> Iterator[FunctionKey]:
    """The functions that a node may call: its operator, and those of its attributes."""
    yield (kind.domain, kind.op, "")
    for _, reference in function_references(kind):
        yield reference.function
        yield from _references(NodeKind("", "", reference.attrs))
