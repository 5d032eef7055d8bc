"""Reads the models that passes clean, and writes the results, with weights in other files as the user wants them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, get_args

import onnx
import onnx_ir as ir

from shapeinf.errors import LimitError, ModelError, UnknownFormatError
from shapeinf.formats import FORMATS
from shapeinf.formats.files import check_path, replace_file
from shapeinf.formats.onnx.source import TEXT_FORMATS
from shapeinf.formats.registry import Candidate
from shapeinf.passes.skeleton import from_proto, to_proto

External = Literal["keep", "copy", "embed"]
"""What becomes of weights in other files: they stay there, go to a file of the new model, or into the model."""

EXTERNAL: tuple[External, ...] = get_args(External)

MAX_PROTOBUF = (1 << 31) - 1
"""Bytes of the largest model that is one protobuf message."""

LEAST_EXTERNAL = 1024
"""Tensors with fewer bytes stay in the model when weights are copied: they may decide shapes."""

_PICKLE = b"\x80"
_CAFFE = (".prototxt", ".caffemodel")


def read_model(model: Any) -> ir.Model:
    """A copy of a model in memory, or the model of a file, whose external weights are not loaded.

    Raises UnknownFormatError for a model of another format, by its name, and ModelError for a malformed one.
    """
    if isinstance(model, ir.Model):
        return model.clone()
    if isinstance(model, onnx.ModelProto):
        return _deserialize(model, "the model")
    _refuse_others(model)
    if isinstance(model, bytes):
        FORMATS.load(model)
        return _deserialize(onnx.load_model_from_string(model), "<bytes>")
    path = check_path(model)
    FORMATS.load(path)  # reports damaged files
    with _readable(path):
        text_format = TEXT_FORMATS.get(os.path.splitext(path)[1].lower(), "protobuf")
        loaded = from_proto(onnx.load_model(path, format=text_format, load_external_data=False))
    for tensor in external_tensors(loaded):
        tensor.base_dir = os.path.dirname(os.path.abspath(path))
    return loaded


def _refuse_others(model: Any) -> None:
    """Raise UnknownFormatError for what is not ONNX. Nothing of a pickle is read but its first byte."""
    candidate = Candidate(model)
    where = candidate.text if candidate.text is not None else "<bytes>"
    if candidate.head.startswith(_PICKLE):
        raise UnknownFormatError("is a pickle, as PPQ's native files are: to read one runs code from it", node=where)
    if where.lower().endswith(_CAFFE):
        raise UnknownFormatError("is a file of Caffe, which is not read: convert it to ONNX", node=where)
    for format_ in FORMATS.formats:
        if format_.sniff(candidate):
            if format_ is not FORMATS.default:
                raise UnknownFormatError(f"is a model of {format_.title}: clean is for ONNX models", node=where)
            return


def _deserialize(proto: onnx.ModelProto, where: str) -> ir.Model:
    with _readable(where):
        return from_proto(proto)


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
    """Write a model; the file appears whole or not at all.

    `external` says what becomes of weights in other files. "keep" needs a path in the same folder; "copy" writes them
    to `path` with `.data` behind it.

    Raises ModelError where they cannot stay, LimitError for a model of more than 2 GB in one file.
    """
    target = check_path(path)
    if external == "keep":
        _check_folder(model, target)
    copy = model.clone()
    try:
        if external == "copy":
            data = f"{os.path.basename(target)}.data"
            folder = os.path.dirname(os.path.abspath(target))
            copy = ir.external_data.unload_from_model(copy, folder, data, size_threshold_bytes=LEAST_EXTERNAL)
        else:
            _check_size(copy, external)
            copy = ir.external_data.load_to_model(copy) if external == "embed" else copy
        with replace_file(target) as file:
            file.write(to_proto(copy).SerializeToString())
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror or error}", node=target) from error


def external_tensors(model: ir.Model) -> Iterator[ir.ExternalTensor]:
    """The weights that lie in other files."""
    for graph in (model.graph, *model.graph.subgraphs()):
        for value in graph.initializers.values():
            if isinstance(value.const_value, ir.ExternalTensor):
                yield value.const_value


def _check_folder(model: ir.Model, path: str) -> None:
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    for tensor in external_tensors(model):
        source = os.path.realpath(tensor.base_dir or ".")
        if source != folder:
            message = f"its weights lie in {tensor.location} of another folder: write there, or copy or embed them"
            raise ModelError(message, node=path)


def _check_size(model: ir.Model, external: External) -> None:
    total = 0
    for graph in (model.graph, *model.graph.subgraphs()):
        for value in graph.initializers.values():
            if value.const_value is not None and (
                external == "embed" or not isinstance(value.const_value, ir.ExternalTensor)
            ):
                total += value.const_value.nbytes
    if total > MAX_PROTOBUF:
        raise LimitError(f"the weights in the model take {total} B, more than 2 GB: copy them to a file of their own")
