"""The parts of a `Graph` of ONNX that are alike for bytes and for protobuf objects; nothing in here imports onnx."""

from __future__ import annotations

from collections.abc import Iterable

from shapeinf.errors import ModelError
from shapeinf.graph import DeclaredType, Graph, NodeTable
from shapeinf.lattice import PartialTensor

MAX_NESTING = 32

_DEFAULT_DOMAIN = "ai.onnx"

ASSUMPTIONS = "shapeinf.assumptions"
"""The metadata key of the assumptions about the dims of a model, one a line."""


def add_assumptions(graph: Graph, key: str, value: str) -> None:
    """Enter a metadata property of the model, if it is the one that holds relations of its dims."""
    if key == ASSUMPTIONS:
        graph.assumptions += [line for line in value.splitlines() if line.strip()]


def add_origin(graph: Graph, producer: str, version: str, ir_version: int) -> None:
    """Enter what the model says of its producer and of the version of its format."""
    graph.producer = " ".join(filter(None, (producer, version)))
    graph.file_version = f"IR version {ir_version}" if ir_version else ""


def domain_of(name: str) -> str:
    """The domain as shapeinf writes it: empty for ONNX's own."""
    return "" if name == _DEFAULT_DOMAIN else name


def finish_model(graph: Graph) -> Graph:
    """Check the opsets of a complete model. Raises ModelError for a domain without an opset."""
    kinds = graph.nodes.kinds() if isinstance(graph.nodes, NodeTable) else {node.kind for node in graph.nodes}
    if not {kind.domain for kind in kinds}.issubset(graph.opsets):
        node = next(node for node in graph.nodes if node.domain not in graph.opsets)
        domain = node.domain or _DEFAULT_DOMAIN
        raise ModelError(f"the model imports no opset for the domain {domain!r} of {node.op}", node=node.name)
    return graph


def finish_graph(graph: Graph, declared: Iterable[tuple[str, DeclaredType | None]]) -> Graph:
    """Enter the declarations (the first of a name counts) and check initializers against the inputs they shadow.

    An initializer without a name has no consumers; an input without one is an error.
    """
    graph.constants.pop("", None)
    graph.unread.pop("", None)
    if "" in graph.inputs:
        raise ModelError("an input of the graph has no name", node=graph.name)
    table = graph.declared
    for name, declaration in declared:
        if declaration is not None:
            table.setdefault(name, declaration)
    for name in graph.inputs:
        if name in graph.constants and name in table:
            _check_initializer(name, graph.constants[name], table[name])
    return graph


def _check_initializer(name: str, constant: PartialTensor, declared: DeclaredType) -> None:
    if declared.dims is None:
        return
    dims = constant.shape.require()
    same = len(dims) == len(declared.dims) and all(
        not isinstance(d, int) or d == c for d, c in zip(declared.dims, dims, strict=True)
    )
    if not same:
        message = f"the initializer has shape {list(dims)} but the input declares {list(declared.dims)}"
        raise ModelError(message, node=name)
