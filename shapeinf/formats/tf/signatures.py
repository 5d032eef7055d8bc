"""Signatures: names for inputs and outputs of a graph, and the nodes that a signature needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from shapeinf.errors import ModelError, UnknownNameError
from shapeinf.formats.tf.assembly import FlatNames, declare_input
from shapeinf.formats.tf.attributes import text
from shapeinf.formats.tf.meta_graph import Signature, SignatureTensor
from shapeinf.formats.tf.nodes import Record
from shapeinf.formats.tf.order import producer_of
from shapeinf.graph import DeclaredType, Graph

DEFAULT_SIGNATURE = "serving_default"
"""The signature that TensorFlow's tools use by default."""


def select_signature(signatures: Mapping[str, Signature], name: str | None) -> Mapping[str, Signature]:
    """The signature of a name, or all of them for None. Raises UnknownNameError for an unknown name."""
    if name is None:
        return signatures
    if name not in signatures:
        raise UnknownNameError("signature", name, list(signatures))
    return {name: signatures[name]}


def fed_values(signature: Signature) -> dict[bytes, DeclaredType]:
    """The inputs of a signature, with their declared types."""
    names = FlatNames()
    return {names[tensor.value.encode()]: tensor.declared for tensor in signature.inputs}


def needed_records(records: Sequence[Record], signature: Signature) -> list[Record]:
    """The nodes that the outputs of a signature need, by values or by control edges, and its placeholders."""
    names = FlatNames()
    fed = fed_values(signature)
    by_name = {record.name: record for record in records}
    waiting = [names[tensor.value.encode()] for tensor in signature.outputs]
    needed: set[bytes] = set()
    while waiting:
        value = waiting.pop()
        node = producer_of(value)
        if names[value] in fed or node in needed or node not in by_name:
            continue
        needed.add(node)
        waiting += by_name[node].inputs
    needed.update(node for node in map(producer_of, fed) if node in by_name and _is_placeholder(by_name[node]))
    return [record for record in records if record.name in needed]


def _is_placeholder(record: Record) -> bool:
    return record.attributes.kind.op == "Placeholder"


def add_signatures(graph: Graph, signatures: Mapping[str, Signature]) -> None:
    """Add the outputs, the names and the declared shapes of signatures to a graph."""
    signatures = {name: _resolve(graph, name, signature) for name, signature in signatures.items()}
    inputs = set(graph.inputs)
    for signature in signatures.values():
        for tensor in signature.inputs:
            if tensor.value in inputs:
                declare_input(graph, tensor.value, tensor.declared)
    outputs = [tensor.value for signature in signatures.values() for tensor in signature.outputs]
    if outputs:
        graph.outputs = list(dict.fromkeys(outputs))
    graph.aliases = {**_argument_names(signatures), **graph.aliases}


def _resolve(graph: Graph, name: str, signature: Signature) -> Signature:
    """A signature with the names of values, without outputs of nodes that have none, such as initializers.

    Raises ModelError for a tensor that the graph does not have.
    """
    values = {*graph.inputs, *graph.constants, *(value for node in graph.nodes for value in node.outputs)}
    empty = {node.name for node in graph.nodes if not node.outputs}
    names = FlatNames()

    def resolve(tensors: Sequence[SignatureTensor]) -> Iterator[SignatureTensor]:
        for tensor in tensors:
            value = text(names[tensor.value.encode()])
            if value in values:
                yield attrs.evolve(tensor, value=value)
            elif value.rpartition(":")[0] not in empty:
                argument = f"the tensor {tensor.value!r} of {tensor.argument!r}"
                raise ModelError(f"the signature {name!r} refers to {argument}, which the graph does not have")

    return Signature(tuple(resolve(signature.inputs)), tuple(resolve(signature.outputs)))


def _argument_names(signatures: Mapping[str, Signature]) -> dict[str, str]:
    """The values of arguments, by name and by `signature.argument`.

    A name that stands for different values in several signatures is that of the default signature, if it has the name.
    """
    named: dict[str, str] = {}
    qualified: dict[str, str] = {}
    for kind in ("inputs", "outputs"):
        pairs = [(name, tensor) for name, signature in signatures.items() for tensor in getattr(signature, kind)]
        counts = Counter(argument for argument, _ in {(tensor.argument, tensor.value) for _, tensor in pairs})
        for name, tensor in pairs:
            if counts[tensor.argument] == 1 or name == DEFAULT_SIGNATURE:
                named.setdefault(tensor.argument, tensor.value)
            qualified.setdefault(f"{name}.{tensor.argument}", tensor.value)
    return {**named, **qualified}
