"""Signatures: public names of the inputs and outputs of a subgraph. Each is an entry point of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import UnknownNameError
from shapeinf.formats.tflite import codes
from shapeinf.formats.tflite.document import Document, Signature
from shapeinf.formats.tflite.flatbuffer import MalformedError
from shapeinf.graph import Graph


def find_signature(document: Document, key: str) -> Signature:
    """The signature of a key. Raises UnknownNameError."""
    for signature in document.signatures:
        if signature.key == key:
            return signature
    raise UnknownNameError("signature", key, [signature.key for signature in document.signatures])


def add_signatures(
    graph: Graph, document: Document, names: Mapping[tuple[int, int], str], subgraph: int, chosen: str | None
) -> None:
    """Add the names of the signatures of a subgraph to its graph, and a note on those of other subgraphs.

    A name that stands for different values in several signatures is that of the chosen one, or of the first.
    """
    own = [signature for signature in document.signatures if signature.subgraph == subgraph]
    own.sort(key=lambda signature: signature.key != chosen)
    named: dict[str, str] = {}
    qualified: dict[str, str] = {}
    for signature in own:
        for argument, tensor in (*signature.inputs, *signature.outputs):
            value = names.get((subgraph, tensor))
            if value is None:
                raise MalformedError(f"the signature {signature.key!r} refers to tensor {tensor}, which is not there")
            named.setdefault(argument, value)
            qualified.setdefault(f"{signature.key}.{argument}", value)
    graph.aliases = {**named, **qualified}
    if chosen is None:
        graph.diagnostics += _other_signatures([s for s in document.signatures if s.subgraph != subgraph])


def _other_signatures(others: Sequence[Signature]) -> list[Diagnostic]:
    if not others:
        return []
    keys = ", ".join(repr(signature.key) for signature in others)
    message = f"the signatures {keys} run other subgraphs, which are not part of this result"
    return [Diagnostic("note", codes.OTHER_SIGNATURES, message, help="select one of them with `--signature`")]
