"""Signatures: names for the inputs and outputs of a graph, and the part of it that one of them needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from shapeinf.errors import UnknownNameError
from shapeinf.formats.tf.assembly import merge_dims
from shapeinf.formats.tf.meta_graph import Signature, SignatureTensor
from shapeinf.graph import DeclaredType, Graph


def add_signatures(graph: Graph, signatures: Mapping[str, Signature], chosen: str | None) -> Graph:
    """The graph with the outputs, names and declared shapes of its signatures, or of the chosen one only.

    Raises UnknownNameError for a signature that the model does not have.
    """
    if chosen is not None:
        if chosen not in signatures:
            raise UnknownNameError("signature", chosen, list(signatures))
        signatures = {chosen: signatures[chosen]}
    inputs = dict.fromkeys(graph.inputs)
    for signature in signatures.values():
        for tensor in signature.inputs:
            if tensor.value in inputs:
                _declare(graph, tensor)
    outputs = [tensor.value for signature in signatures.values() for tensor in signature.outputs]
    if outputs:
        graph.outputs = list(dict.fromkeys(outputs))
    graph.aliases = {**_argument_names(signatures), **graph.aliases}
    return graph


def _declare(graph: Graph, tensor: SignatureTensor) -> None:
    """Add the shape that a signature declares for an input."""
    known = graph.declared.get(tensor.value, DeclaredType())
    dims = merge_dims(known.dims, tensor.declared.dims)
    graph.declared[tensor.value] = DeclaredType(known.dtype or tensor.declared.dtype, dims, of=known.of)


def _argument_names(signatures: Mapping[str, Signature]) -> dict[str, str]:
    """The values of arguments by name; `signature.argument` where several signatures have different ones."""
    named: dict[str, str] = {}
    for kind in ("inputs", "outputs"):
        pairs = [(name, tensor) for name, signature in signatures.items() for tensor in getattr(signature, kind)]
        counts = Counter(argument for argument, _ in {(tensor.argument, tensor.value) for _, tensor in pairs})
        for name, tensor in pairs:
            if counts[tensor.argument] == 1:
                named.setdefault(tensor.argument, tensor.value)
            named.setdefault(f"{name}.{tensor.argument}", tensor.value)
    return named
