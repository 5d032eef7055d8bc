"""Reads an ONNX model from a file, from bytes, or from an object of onnx or onnx_ir."""

from __future__ import annotations

import os
import warnings
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, BinaryIO

from shapeinf.errors import ModelError, UnknownFormatError
from shapeinf.formats.files import check_path, open_regular, read_regular
from shapeinf.formats.onnx.scanner import scan
from shapeinf.formats.onnx.tensors import Source
from shapeinf.formats.protobuf.large_file import file_bytes
from shapeinf.formats.read_files import ReadFiles, read_stream
from shapeinf.graph import Graph
from shapeinf.packages import require_package

if TYPE_CHECKING:
    import onnx

MAX_TEXT = 1 << 29
"""Bytes of the largest model in a text form, whose parser needs many times as many."""

TEXT_FORMATS = {".onnxtxt": "onnxtxt", ".json": "json", ".textproto": "textproto", ".pbtxt": "textproto"}
"""The text forms that the onnx package reads, by extension."""


def read(model: str | os.PathLike[str] | bytes | onnx.ModelProto | Any) -> Graph:
    """Read a path, bytes, a `ModelProto` or an `onnx_ir.Model`.

    Raises UnknownFormatError for a file that is not ONNX, ModelError for a file that is cut off or malformed.
    """
    if isinstance(model, bytes):
        graph = _scan(model, "<bytes>")
        graph.model = model
        return graph
    if isinstance(model, (str, os.PathLike)):
        return _read_file(check_path(model))
    if type(model).__module__.partition(".")[0] not in ("onnx", "onnx_ir"):
        raise UnknownFormatError(f"a {type(model).__name__} is not a model that shapeinf can read")
    return _read_object(model)


def read_edited(data: bytes, files: ReadFiles) -> Graph:
    """The graph of an edited model in memory, whose weights are in the folder of the model that `files` are of."""
    graph = _scan(data, "<bytes>", ReadFiles(files.path, data))
    graph.model = data
    return graph


def _read_object(model: onnx.ModelProto | Any) -> Graph:
    import onnx

    from shapeinf.formats.onnx.reader import read_model

    if isinstance(model, onnx.ModelProto):
        return read_model(model)
    if type(model).__module__.startswith("onnx_ir"):
        import onnx_ir

        return read_model(onnx_ir.to_proto(model))
    raise UnknownFormatError(f"a {type(model).__name__} is not a model that shapeinf can read")


def _read_file(path: str) -> Graph:
    extension = os.path.splitext(path)[1].lower()
    if extension in TEXT_FORMATS:
        return _read_text(path, TEXT_FORMATS[extension])
    files = ReadFiles(os.path.abspath(path))
    try:
        with open_regular(path, pipe=True, buffered=False) as file:
            source = _source(file, path, files)
            graph = _scan(source, path, files)
            if not isinstance(source, bytes):
                files.check_file(files.path or path, file)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error
    graph.source = path
    return graph


def _source(file: BinaryIO, path: str, files: ReadFiles) -> Source:
    """The bytes of a file; those of a large one are read when they are scanned, those of a small one are kept."""
    status = os.fstat(file.fileno())
    if not S_ISREG(status.st_mode):
        files.data = read_stream(file, path)
        return files.data
    files.add(files.path or path, file, status)
    source = file_bytes(file, status.st_size, path)
    if isinstance(source, bytes) and files.keeps(len(source)):
        files.data = source
    return source


def _scan(source: Source, where: str, files: ReadFiles | None = None) -> Graph:
    if len(source) == 0:
        raise UnknownFormatError("is empty (0 bytes): download or export it again", node=where)
    head = source[:256]
    if _is_text(head):
        known = ", ".join(TEXT_FORMATS)
        hint = f"is a text file of an unknown format (text forms of ONNX end in {known}); it starts with {head[:24]!r}"
        raise UnknownFormatError(hint, node=where)
    return scan(source, where, files)


def _is_text(head: bytes) -> bool:
    return b"\0" not in head and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in head)


def load_text(path: str, text_format: str) -> onnx.ModelProto:
    """The message in a file of a text form. Raises ModelError, and MissingPackageError where onnx is not installed."""
    require_package("onnx", f"the text form {os.path.splitext(path)[1]}")
    import onnx

    try:
        data = read_regular(path, MAX_TEXT)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error
    try:
        with warnings.catch_warnings():  # onnx warns of its own text form on each use
            warnings.filterwarnings("ignore", "The onnxtxt format is experimental")
            return onnx.load_model_from_string(data, format=text_format)
    except Exception as error:  # the parsers of onnx and protobuf have many errors, without a common base
        # onnx's own parser passes on C++'s error for a number with too many digits: an IndexError, "stoll"
        reason = "a number is out of range" if isinstance(error, IndexError) else error
        raise ModelError(f"is not an ONNX model in {text_format} form: {reason}", node=path) from error


def _read_text(path: str, text_format: str) -> Graph:
    model = load_text(path, text_format)
    from shapeinf.formats.onnx.reader import read_model

    graph = read_model(model, ReadFiles(os.path.abspath(path)))
    graph.source = path
    return graph
