"""Reading of the models that passes clean, and writing of the results; weights may be in other files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
import onnx
import onnx_ir as ir

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats import FORMATS
from shapeinf.formats.files import ExternalData, check_path
from shapeinf.formats.onnx.external_tensors import DataFolder
from shapeinf.formats.onnx.saving import MAX_PROTOBUF, save_model
from shapeinf.formats.onnx.source import TEXT_FORMATS, load_text
from shapeinf.formats.read_files import ReadFiles
from shapeinf.graph import validate
from shapeinf.passes.other_formats import refuse_other_formats
from shapeinf.passes.outline import outline
from shapeinf.passes.proto import duplicate, from_proto, to_proto
from shapeinf.passes.storage import SPILLED, move_weights, weight_bytes
from shapeinf.passes.weights import check_location, external_tensors


def read_model(model: Any) -> ir.Model:
    """A copy of a model in memory, or the model in bytes or a file; external weights are not loaded.

    Raises UnknownFormatError, with the name of the format, for a model of another format, ModelError for a malformed
    model and for weights outside its folder, LimitError for a file of more than 2 GB.
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
    validate(FORMATS.load(data))  # reports damaged models
    with report_unreadable("<bytes>"):
        proto = onnx.load_model_from_string(data)
    return _deserialize(proto, "<bytes>")


def _read_file(path: str) -> ir.Model:
    validate(FORMATS.load(path))  # reports damaged files
    if os.path.getsize(path) > MAX_PROTOBUF:
        raise LimitError("has more than 2 GB: store its weights as external data", node=path)
    with report_unreadable(path):
        text_format = TEXT_FORMATS.get(_suffix(path))
        proto = load_text(path, text_format) if text_format else onnx.load_model(path, load_external_data=False)
    loaded = _deserialize(proto, path)
    for tensor in external_tensors(loaded):
        tensor.base_dir = os.path.dirname(os.path.abspath(path))
    return loaded


def _deserialize(proto: onnx.ModelProto, where: str) -> ir.Model:
    """The model of a message. Raises ModelError where onnx-ir cannot represent or write it."""
    with report_unreadable(where):
        model = from_proto(proto)
        outline(duplicate(model))
    return model


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


@contextmanager
def report_unreadable(where: str) -> Iterator[None]:
    """Turn every exception, of which onnx-ir has many classes, into a ModelError."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"cannot be read: {' '.join(str(error).split())}", node=where) from error


def write_model(
    model: ir.Model,
    path: str | os.PathLike[str],
    external_data: ExternalData = "keep",
    files: ReadFiles | None = None,
) -> None:
    """Write a model, in the text form of the suffix if it has one; see `formats.onnx.saving.save_model`.

    `files` states when the model was read: weights in other files must not have been written since. "copy" also moves
    the weights of a model of more than 2 GB to the data file. Raises ModelError where weights are in several folders,
    and what `save_model` raises.
    """
    target = check_path(path)
    proto = to_proto(model)
    folder = attrs.evolve(_data_folder(list(external_tensors(model))), files=files)
    if external_data != "copy" or weight_bytes(proto) <= MAX_PROTOBUF:
        _save(proto, target, folder, external_data)
        return
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.realpath(target))) as scratch:
        spilled = move_weights(proto, os.path.join(scratch, SPILLED))
        _save(proto, target, attrs.evolve(folder, others={SPILLED: spilled}), external_data)


def _save(proto: onnx.ModelProto, target: str, folder: DataFolder, external_data: ExternalData) -> None:
    data = _serialize(proto, target)
    save_model(data, [(0, len(data))], target, folder, external_data)


def _data_folder(sources: Sequence[ir.ExternalTensor]) -> DataFolder:
    """The folder of the weights. Raises ModelError for several folders."""
    folders = {os.fspath(tensor.base_dir) if tensor.base_dir else None for tensor in sources}
    if len(folders) > 1:
        raise ModelError("its weights are in several folders")
    return DataFolder(folders.pop() if folders else None)


def _serialize(proto: onnx.ModelProto, path: str) -> bytes:
    if weight_bytes(proto) > MAX_PROTOBUF:
        text = (
            f"the weights in the model take {weight_bytes(proto)} B, more than 2 GB: copy them to a file of their own"
        )
        raise LimitError(text, node=path)
    try:
        return bytes(proto.SerializeToString())
    except Exception as error:  # protobuf's serializers have no common base
        raise ModelError(f"cannot be written: {' '.join(str(error).split())}", node=path) from error
