"""Steps of building a `Graph` that the scanner of bytes and the reader of protobuf objects share, without onnx."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from shapeinf.errors import ModelError
from shapeinf.graph import DeclaredType, Graph, kinds_of, subgraphs
from shapeinf.lattice import PartialTensor

MAX_NESTING = 32

_DEFAULT_DOMAIN = "ai.onnx"

_CHAIN = re.compile(r"@\d+\Z")
"""The number of an in-place chain at the end of the text of a dim."""

ASSUMPTIONS = "shapeinf.assumptions"
"""The metadata key of the assumptions about the dims of a model, one per line."""

CONTRACT = "shapeinf.contract"
"""The metadata key of the contract of a model, as JSON."""

CHAINS = ("shapeinf.dims", "chains")
"""The metadata property of a file whose inner dims have numbers of in-place chains, as `chains` describes them."""


def add_property(graph: Graph, key: str, value: str) -> None:
    """Apply a metadata property of the model to its graph: assumptions, the contract, how inner dims are written."""
    if key == ASSUMPTIONS:
        graph.assumptions += [line for line in value.splitlines() if line.strip()]
    elif key == CONTRACT:
        graph.stored_contract = value
    elif (key, value) == CHAINS:
        _drop_chains(graph)


def _drop_chains(graph: Graph) -> None:
    """Remove the numbers of chains from the declared dims of the inner values of a graph and of the graphs in it."""
    interface = {*graph.inputs, *graph.outputs}
    for name, declared in graph.declared.items():
        if name not in interface:
            graph.declared[name] = without_chain(declared)
            if graph.declared[name] != declared:
                graph.planned[name] = declared
    for kind in kinds_of(graph.nodes):
        for _, body in subgraphs(kind):
            _drop_chains(body)


def without_chain(declared: DeclaredType) -> DeclaredType:
    """A declared type whose dims have no numbers of chains.

    >>> without_chain(DeclaredType("float32", ("height//2@17", 8, None))).dims
    ('height//2', 8, None)
    """
    if declared.dims is None or not any(isinstance(dim, str) for dim in declared.dims):
        return declared
    return attrs.evolve(declared, dims=tuple(_CHAIN.sub("", d) if isinstance(d, str) else d for d in declared.dims))


def add_origin(graph: Graph, producer: str, version: str, ir_version: int) -> None:
    """Set the producer of the model and the version of its format."""
    graph.producer = " ".join(filter(None, (producer, version)))
    graph.file_version = f"IR version {ir_version}" if ir_version else ""


def domain_of(name: str) -> str:
    """The domain as shapeinf writes it: empty for the default domain `ai.onnx`."""
    return "" if name == _DEFAULT_DOMAIN else name


def repeated_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names that occur more than once, but for the empty one.

    >>> repeated_names(["axis", "mode", "axis"])
    ('axis',)
    """
    if len(set(names)) == len(names):
        return ()
    return tuple(name for name, count in Counter(names).items() if count > 1 and name)


def finish_model(graph: Graph) -> Graph:
    """Check the opsets of a complete model. Raises ModelError for a domain without an opset."""
    kinds = kinds_of(graph.nodes)
    if not {kind.domain for kind in kinds}.issubset(graph.opsets):
        node = next(node for node in graph.nodes if node.domain not in graph.opsets)
        domain = node.domain or _DEFAULT_DOMAIN
        raise ModelError(f"the model imports no opset for the domain {domain!r} of {node.op}", node=node.name)
    return graph


def finish_graph(graph: Graph, declared: Iterable[tuple[str, DeclaredType | None]]) -> Graph:
    """Add the declared types (the first one of a name counts), and compare initializers with inputs of the same name.

    Initializers without a name are dropped: no node can read them. Raises ModelError for an input without a name, and
    for an initializer of another shape.
    """
    graph.constants.pop("", None)
    if "" in graph.repeated_constants:
        graph.repeated_constants = [name for name in graph.repeated_constants if name]
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
    fits = len(dims) == len(declared.dims) and all(
        not isinstance(d, int) or d == c for d, c in zip(declared.dims, dims, strict=True)
    )
    if not fits:
        message = f"the initializer has shape {list(dims)} but the input declares {list(declared.dims)}"
        raise ModelError(message, node=name)
