"""Reads the models that passes clean, and writes the results, with weights in other files as the user wants them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import onnx
import onnx_ir as ir

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats import FORMATS
from shapeinf.formats.files import check_path, replace_file
from shapeinf.formats.onnx.source import TEXT_FORMATS
from shapeinf.passes import External
from shapeinf.passes.other_formats import refuse_other_formats
from shapeinf.passes.skeleton import duplicate, from_proto, skeleton, to_proto
from shapeinf.passes.storage import MAX_PROTOBUF, Piece, embed_weights, move_weights, weight_bytes
from shapeinf.passes.weights import check_location, external_tensors


def read_model(model: Any) -> ir.Model:
    """A copy of a model in memory, or the model of a file, whose external weights are not loaded.

    Raises UnknownFormatError for a model of another format, by its name, ModelError for a malformed one and for
    weights outside the folder of the model, LimitError for a file of more than 2 GB.
    """
    if isinstance(model, ir.Model):
        loaded = duplicate(model)
    elif isinstance(model, onnx.ModelProto):
        loaded = _deserialize(model, "the model")
    else:
        refuse_other_formats(model)
        loaded = _read_bytes(model) if isinstance(model, bytes) else _read_file(check_path(model))
    for tensor in external_tensors(loaded):
        check_location(tensor)
    return loaded


def _read_bytes(data: bytes) -> ir.Model:
    FORMATS.load(data)  # reports damaged models
    with _readable("<bytes>"):
        proto = onnx.load_model_from_string(data)
    return _deserialize(proto, "<bytes>")


def _read_file(path: str) -> ir.Model:
    FORMATS.load(path)  # reports damaged files
    if os.path.getsize(path) > MAX_PROTOBUF:
        raise LimitError("has more than 2 GB: store its weights as external data", node=path)
    with _readable(path):
        text_format = TEXT_FORMATS.get(_suffix(path), "protobuf")
        proto = onnx.load_model(path, format=text_format, load_external_data=False)
    loaded = _deserialize(proto, path)
    for tensor in external_tensors(loaded):
        tensor.base_dir = os.path.dirname(os.path.abspath(path))
    return loaded


def _deserialize(proto: onnx.ModelProto, where: str) -> ir.Model:
    """The model of a message. Raises ModelError where onnx-ir cannot represent it, so that no pass ever meets that."""
    with _readable(where):
        model = from_proto(proto)
        skeleton(model.clone())
    return model


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


@contextmanager
def _readable(where: str) -> Iterator[None]:
    """Errors of onnx-ir, which has many classes of them, as ModelError."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"cannot be read: {' '.join(str(error).split())}", node=where) from error


def write_model(model: ir.Model, path: str | os.PathLike[str], external: External = "keep") -> None:
    """Write a model, in a text form where the suffix is that of one. Each file appears whole or not at all.

    Args:
        model: the model; it stays as it is.
        path: the file.
        external: what becomes of weights in other files. "keep" needs a path in their folder; "copy" writes them to
            `path` with `.data` behind it, and weights in a model of more than 2 GB as well; "embed" writes them into
            the model.

    Raises ModelError where the weights cannot be kept there or be read, where a file is one that the model reads its
    weights from, or cannot be written; LimitError for more than 2 GB in one file.
    """
    target = check_path(path)
    data = f"{target}.data"
    sources = list(external_tensors(model))
    _check_not_read(sources, target)
    if external == "keep":
        _check_folder(sources, target)
    proto = to_proto(model)
    moved: list[Piece] = []
    if external == "copy" and (sources or weight_bytes(proto) > MAX_PROTOBUF):
        _check_not_read(sources, data)
        moved = move_weights(proto, sources, os.path.basename(data))
    elif external == "embed":
        embed_weights(proto, sources)
    try:
        with replace_file(target) as file:
            file.write(_serialize(proto, target))
            if moved:  # the model appears after its weights
                with replace_file(data) as weights:
                    for piece in moved:
                        piece.write(weights)
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror or error}", node=target) from error


def _serialize(proto: onnx.ModelProto, path: str) -> bytes:
    if weight_bytes(proto) > MAX_PROTOBUF:
        text = (
            f"the weights in the model take {weight_bytes(proto)} B, more than 2 GB: copy them to a file of their own"
        )
        raise LimitError(text, node=path)
    text_format = TEXT_FORMATS.get(_suffix(path), "protobuf")
    try:
        return bytes(onnx.serialization.registry.get(text_format).serialize_proto(proto))
    except Exception as error:  # protobuf's serializers have no common base
        raise ModelError(f"cannot be written: {' '.join(str(error).split())}", node=path) from error


def _check_folder(sources: list[ir.ExternalTensor], path: str) -> None:
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    for tensor in sources:
        if tensor.base_dir and os.path.realpath(tensor.base_dir) != folder:
            message = f"its weights lie in {tensor.location} of another folder: write there, or copy or embed them"
            raise ModelError(message, node=path)


def _check_not_read(sources: list[ir.ExternalTensor], path: str) -> None:
    for file in {tensor.path for tensor in sources}:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            raise ModelError("the model reads its weights from this file: write to another one", node=path)
