"""Reads graph models of TensorFlow.js: a JSON document with the graph, and shards with the contents of constants."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.files import is_path, open_regular
from shapeinf.formats.registry import MissingData
from shapeinf.formats.tf.graph_def import read_graph_def
from shapeinf.formats.tf.json_form import graph_def_bytes, message_bytes
from shapeinf.formats.tf.meta_graph import Signature, read_signature
from shapeinf.formats.tf.signatures import add_signatures, select_signature
from shapeinf.formats.tf.tensors import decode_content
from shapeinf.formats.tf.weight_manifest import StoredWeight, stored_weights
from shapeinf.graph import Graph
from shapeinf.lattice import PartialTensor, Shape

SIGNATURE = "serving_default"
"""The name of the only signature of a document."""


def read_web_model(document: Mapping[str, Any], where: str, folder: str | None, signature: str | None) -> Graph:
    """The graph of a document; contents of small constants are read from the shards in `folder`, if these exist.

    Raises ModelError for a malformed document, and for shards outside the folder.
    """
    data = graph_def_bytes(document, where)
    signatures = select_signature(_signatures(document, where), signature)
    chosen = None if signature is None else signatures[signature]
    graph = read_graph_def(data, 0, len(data), {}, chosen)
    weights = stored_weights(document, where)
    graph.model = WebModel(weights, folder)
    graph.lenient = True
    for name, weight in weights.items():
        value = graph.constants.get(f"{name}:0")
        if value is not None:
            graph.constants[f"{name}:0"] = _constant(value.dtype or weight.dtype, weight, folder, where)
    add_signatures(graph, signatures)
    writers = [document.get(key) for key in ("convertedBy", "generatedBy")]
    graph.producer = ", ".join(writer for writer in writers if isinstance(writer, str) and writer)
    graph.file_version = "TensorFlow.js"
    return graph


def _signatures(document: Mapping[str, Any], where: str) -> dict[str, Signature]:
    """The signature of a document under the name `SIGNATURE`; empty for a document without one."""
    metadata = document.get("userDefinedMetadata")
    signature = document.get("signature") or (metadata.get("signature") if isinstance(metadata, Mapping) else None)
    if not isinstance(signature, Mapping):
        return {}
    data = message_bytes(signature, "SignatureDef", where)
    return {SIGNATURE: read_signature(data, 0, len(data))}


def _constant(dtype: str, weight: StoredWeight, folder: str | None, where: str) -> PartialTensor:
    """A constant whose contents are in shards."""
    shape = Shape(weight.dims)
    widened = weight.stored_dtype != weight.dtype  # of quantized weights, only float16 is stored as it is
    if folder is None or weight.scale is not None or not wants_contents(weight.dtype, weight.dims):
        return PartialTensor(dtype, shape, None)
    if widened and (weight.stored_dtype, weight.dtype) != ("float16", "float32"):
        return PartialTensor(dtype, shape, None)
    data = _read_shards(folder, weight, where)
    elements = None if data is None else decode_content(weight.stored_dtype, weight.dims, data)
    return PartialTensor(dtype, shape, elements)


@attrs.frozen
class WebModel:
    """The weights of a document by name, and the folder of their shards; None for a document without a file."""

    weights: Mapping[str, StoredWeight]
    folder: str | None


def missing_data(graph: Graph) -> Iterator[MissingData]:
    """The weights whose shards are not in the folder of the document, or too short; grouped by file and reason.

    None for a document that was not read from a file.
    """
    model = graph.model
    if not isinstance(model, WebModel) or model.folder is None:
        return
    groups: dict[tuple[str, ...], list[StoredWeight]] = {}
    for weight in model.weights.values():
        groups.setdefault(weight.paths, []).append(weight)
    for paths, weights in groups.items():
        yield from _missing_weights(model.folder, paths, weights)


def _missing_weights(folder: str, paths: Sequence[str], weights: Sequence[StoredWeight]) -> Iterator[MissingData]:
    """The weights of a group that end after its last shard before a missing one."""
    size, complete = 0, True
    file, reason = paths[-1] if paths else "", "the document names no file with them"
    for name in paths:
        try:
            path = _inside(folder, name, "")
            size += os.path.getsize(path)
        except ModelError as error:
            file, reason, complete = name, error.cause, False
            break
        except OSError:
            file, reason, complete = name, f"the file {name!r} is missing", False
            break
        reason = f"its files end after {size} bytes, {name!r} last"
    ends = ((weight.name, None if weight.offset is None else weight.offset + (weight.size or 0)) for weight in weights)
    names = tuple(name for name, end in ends if (end > size if end is not None else not complete))
    if names:
        yield MissingData(file, reason, names)


def _read_shards(folder: str, weight: StoredWeight, where: str) -> bytes | None:
    """The bytes of a weight; None if its shards are missing or too short."""
    if weight.offset is None or weight.size is None:
        return None
    start, remaining = weight.offset, weight.size
    pieces: list[bytes] = []
    try:
        for name in weight.paths if remaining else ():
            path = _inside(folder, name, where)
            size = os.path.getsize(path)
            if start < size:
                with open_regular(path) as file:
                    file.seek(start)
                    pieces.append(file.read(remaining))
                remaining -= len(pieces[-1])
            start = max(0, start - size)
            if remaining <= 0:
                break
    except OSError:
        return None
    return None if remaining > 0 else b"".join(pieces)


def _inside(folder: str, name: str, where: str) -> str:
    """The path of a shard. Raises ModelError for one outside the folder, and for one that is no regular file."""
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, name)) if is_path(name) else ""
    if not path.startswith(os.path.join(root, "")):
        raise ModelError(f"the weights {name!r} are outside the model's folder", node=where)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelError(f"the weights {name!r} are not a regular file", node=where)
    return path
