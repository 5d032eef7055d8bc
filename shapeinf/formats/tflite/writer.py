"""A TensorFlow Lite file with the inferred shapes: its own bytes, with other sizes of tensors.

Unknown sizes are -1 in the signature of a tensor; its `shape` keeps the converter's number for them. A tensor whose
inferred shape is the one in the file does not change.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping

from shapeinf.errors import ModelError
from shapeinf.formats.annotation import Annotation, Info, inferred_functions
from shapeinf.formats.files import replace_file
from shapeinf.formats.protobuf.pieces import piece_bytes
from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.formats.raw_data import CODES
from shapeinf.formats.read_files import files_of, open_source
from shapeinf.formats.registry import Target
from shapeinf.formats.tflite.builder import function_index
from shapeinf.formats.tflite.document import Document, Subgraph, TensorRecord, read_document
from shapeinf.formats.tflite.flatbuffer import MalformedError
from shapeinf.formats.tflite.model import TfliteModel
from shapeinf.formats.tflite.rewriting import Sizes, rewrite
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor


def write_metadata(
    graph: Graph, path: str, metadata: Mapping[str, bytes], edits: Mapping[tuple[int, int], Sizes]
) -> None:
    """Write the file that a graph was read from with other metadata, and other sizes of some tensors.

    The file is replaced atomically. Raises as `write`.
    """
    with open_source(graph) as buffer:
        try:
            document = read_document(buffer)
            pieces = rewrite(document.reader, edits, {}, metadata)
        except MalformedError as error:
            raise ModelError(str(error), node=graph.source) from error
        with replace_file(path, files_of(graph).check) as file:
            file.writelines(piece_bytes(buffer, pieces))


MAX_SIZE = (1 << 31) - 1
"""The largest size that a file can have."""


def write(graph: Graph, annotation: Annotation, target: Target) -> None:
    """Write the file that a graph was read from. It is replaced atomically.

    Raises ModelError for a graph of another origin, a member of an archive, a stream, and for what the format cannot
    express: relations of sizes, new contents of a constant that others share, sizes past 31 bits.
    """
    model = graph.model
    if not isinstance(model, TfliteModel):
        raise ModelError("the graph was not read from a TensorFlow Lite file")
    if model.member:
        raise ModelError("is a member of an archive: unpack it, and write a copy of the member", node=model.member)
    if not isinstance(target, (str, os.PathLike)):
        raise ModelError("a TensorFlow Lite file cannot be written to a stream of text: use a path")
    if annotation.assumptions:
        raise ModelError(f"a TensorFlow Lite file cannot express {annotation.assumptions[0]}")
    with open_source(graph) as buffer:
        _write(buffer, graph, annotation, os.fspath(target))


def _write(buffer: Buffer, graph: Graph, annotation: Annotation, path: str) -> None:
    try:
        document = read_document(buffer)
        edits = _all_edits(document, graph, annotation)
        patches = dict(_constants(document, graph, annotation.constants))
        pieces = rewrite(document.reader, edits, patches)
    except MalformedError as error:
        raise ModelError(str(error), node=graph.source) from error
    with replace_file(path, files_of(graph).check) as file:
        file.writelines(piece_bytes(buffer, pieces))


def _all_edits(document: Document, graph: Graph, annotation: Annotation) -> dict[tuple[int, int], Sizes]:
    """The new sizes of tensors by subgraph and index."""
    model: TfliteModel = graph.model
    types = {**annotation.tensors, **annotation.inputs}
    edits = dict(_edits(document.subgraph(model.subgraph), model, graph, types))
    for key in inferred_functions(graph, annotation):
        subgraph = document.subgraph(function_index(key))
        edits.update(_edits(subgraph, model, graph.functions[key], annotation.functions[key]))
    return edits


def _edits(
    subgraph: Subgraph, model: TfliteModel, graph: Graph, types: Mapping[str, Info]
) -> Iterator[tuple[tuple[int, int], Sizes]]:
    """The tensors of a subgraph whose inferred sizes differ from those in the file."""
    writers = Counter(number for record in subgraph.operators for number in set(record.outputs))
    writers.update(subgraph.inputs)
    for number, tensor in enumerate(subgraph.tensors):
        name = model.names[subgraph.index, number]
        info = types.get(name)
        if info is None or info.shape.dims is None or name in graph.constants or writers[number] > 1:
            continue
        sizes = _sizes(tensor, info, name)
        signature = tensor.dims if tensor.signature is None else tensor.signature
        if (sizes.signature or sizes.dims) != signature or sizes.dims != tensor.dims:
            yield (subgraph.index, number), sizes


def _sizes(tensor: TensorRecord, info: Info, name: str) -> Sizes:
    """The inferred sizes of a tensor; those that are not numbers have the number of the file, or 1."""
    signature = tuple([d if isinstance(d, int) else -1 for d in info.shape.dims or ()])
    if any(size > MAX_SIZE for size in signature):
        raise ModelError(f"a TensorFlow Lite file cannot express the size {max(signature)}", node=name)
    old = tensor.dims if len(tensor.dims) == len(signature) else (1,) * len(signature)
    dims = tuple([number if size < 0 else size for size, number in zip(signature, old, strict=True)])
    return Sizes(dims, signature if -1 in signature else None)


def _constants(document: Document, graph: Graph, constants: Mapping[str, PartialTensor]) -> Iterator[tuple[int, bytes]]:
    """The new bytes of constants, by position: numbers of the same type and count that no other tensor has."""
    if not constants:
        return
    model: TfliteModel = graph.model
    subgraph = document.subgraph(model.subgraph)
    values = {model.names[subgraph.index, number]: tensor for number, tensor in enumerate(subgraph.tensors)}
    shared = _shared_buffers(document)
    for name, new in constants.items():
        tensor = values.get(name)
        code = CODES.get(new.dtype or "")
        if tensor is None or tensor.data is None or tensor.is_encoded or new.elements is None or code is None:
            raise ModelError("its contents cannot be rewritten", node=name)
        data = struct.pack(f"<{len(new.elements)}{code}", *new.elements)
        if tensor.buffer in shared or (tensor.dtype, tensor.data[1]) != (new.dtype, len(data)):
            raise ModelError(
                "its contents cannot be rewritten: other tensors share them, or their size changes", node=name
            )
        yield tensor.data[0], data


def _shared_buffers(document: Document) -> set[int]:
    """The buffers of several tensors."""
    subgraphs = map(document.subgraph, range(document.num_subgraphs))
    counts = Counter(tensor.buffer for subgraph in subgraphs for tensor in subgraph.tensors)
    return {buffer for buffer, count in counts.items() if count > 1}
