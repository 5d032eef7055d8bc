"""Identifies files that are models of no format, by their first bytes or their names, with advice for messages.

Only the first bytes of such a file are read, and a pickle is never loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import attrs

from shapeinf.formats.protobuf.wire import BYTES, VARINT, DamagedError, fields

_EXPORT_TORCH = "export the model with torch.onnx.export"
_EXPORT_KERAS = "save it with model.export('folder') and pass that folder, or convert it with tf2onnx"
_LIST = 3
"""The most files of a folder that a message names."""
_FOLDER_FILES = 1000
_MAX_SAFETENSORS_HEADER = 100_000_000
_TAR_MAGIC = slice(257, 262)
_PEEK = 512
_TAR_NAMES = (".tgz", ".tar.gz", ".txz", ".tar.xz", ".tbz2", ".tar.bz2")
_MODEL_NAMES = (".onnx", ".nnef", ".tgz", ".tar", ".pb", ".pbtxt", ".param", ".onnxtxt")

_CORE_ML_PACKAGE = ".mlpackage"
_NAME = re.compile(rb"[\x20-\x7e]+")

_CAFFE_TEXT = re.compile(rb"^\s*layers?\s*\{[^}]*\b(?:type|bottom|top)\s*:", re.MULTILINE)
_CAFFE_NAME, _CAFFE_OLD_LAYERS, _CAFFE_LAYERS = 1, 2, 100
"""Fields of Caffe's NetParameter."""


class Kind(NamedTuple):
    """A kind of file: its description and advice in messages, a test of the first bytes, and suffixes of names."""

    text: str
    advice: str
    recognizes: Callable[[bytes], object] = lambda head: False
    suffixes: Sequence[str] = ()

    def __str__(self) -> str:
        """A predicate in messages, whose subject is the file."""
        return f"{self.text}: {self.advice}"


@attrs.frozen
class _Start:
    """Whether the first bytes of a file are one of `magic` and meet a condition."""

    magic: tuple[bytes, ...]
    condition: Callable[[bytes], object]

    def __call__(self, head: bytes) -> object:
        return head.startswith(self.magic) and self.condition(head)


def _starts(*magic: bytes, condition: Callable[[bytes], object] = lambda head: True) -> _Start:
    return _Start(magic, condition)


def _matches(pattern: bytes, *first: bytes) -> _Start:
    """Whether the first bytes of a file match a pattern that starts with one of `first` or with white space."""
    return _Start((*first, b" ", b"\t", b"\r", b"\n", b"\v", b"\f"), re.compile(pattern, re.IGNORECASE).match)


def _is_safetensors(head: bytes) -> bool:
    size = int.from_bytes(head[:8], "little")
    return head[8:10] in (b'{"', b"{}") and 2 <= size <= _MAX_SAFETENSORS_HEADER


_PYTORCH = Kind(
    "is a checkpoint of PyTorch, a zip archive with a pickle, which is never loaded since it may run code",
    _EXPORT_TORCH,
    _starts(b"PK\x03\x04", condition=lambda head: re.search(rb"/(?:data|constants)\.pkl", head)),
    (".pt", ".pth", ".ckpt"),
)
_CORE_ML = Kind(
    "is a Core ML model, a format that is not read",
    "pass the model that it was converted from",
    lambda head: _has_core_ml_features(head),
    (".mlmodel",),
)

_ALWAYS = (
    Kind(
        "is a pointer of Git LFS, not the file itself",
        "run `git lfs pull`",
        _starts(b"version https://git-lfs.github.com/spec/"),
    ),
    Kind(
        "is an HTML page, not a model",
        "the download was a login or an error page; download the file itself",
        _matches(rb"\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html)\b", b"<"),
    ),
    Kind(
        "is a pickle, as old checkpoints of PyTorch and PPQ's native files are, which is never loaded since it may run "
        "code",
        _EXPORT_TORCH,
        _starts(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        (".pkl", ".pickle"),
    ),
    Kind(
        "is a safetensors file, weights without a graph",
        "export their model to ONNX, with torch.onnx.export or `optimum-cli export onnx`",
        _is_safetensors,
        (".safetensors",),
    ),
    Kind(
        "is a GGUF file of llama.cpp, weights without a graph",
        "export their model to ONNX",
        _starts(b"GGUF"),
        (".gguf",),
    ),
    Kind("is an HDF5 file, as Keras writes them", _EXPORT_KERAS, _starts(b"\x89HDF\r\n\x1a\n"), (".h5", ".hdf5")),
    Kind(
        "is a Keras 3 model, a zip archive",
        _EXPORT_KERAS,
        _starts(b"PK\x03\x04", condition=lambda head: b"metadata.json" in head and b"config.json" in head),
        (".keras",),
    ),
    Kind(
        "is a model in ONNX Runtime's own format",
        "pass the .onnx file that it was converted from",
        lambda head: head[4:8] == b"ORTM",
        (".ort",),
    ),
    Kind(
        "is a TensorRT engine, compiled for one kind of GPU",
        "pass the ONNX model that it was built from",
        _starts(b"ptrt", b"ftrt"),
        (".engine", ".plan", ".trt"),
    ),
    Kind(
        "is an OpenVINO model",
        "pass the model that it was converted from",
        _matches(rb"\s*(?:<\?xml[^>]*>\s*)?<net\s", b"<"),
    ),
    Kind("is an array or an archive of numpy, not a model", "pass the model", _starts(b"\x93NUMPY"), (".npy", ".npz")),
    Kind("is a program or a library", "pass the model", _starts(b"\x7fELF", b"MZ\x90"), (".so", ".dll", ".exe")),
)
"""Kinds whose first bytes are never those of a model."""

_COMPRESSED = (
    Kind("is compressed with gzip", "decompress it with gunzip", _starts(b"\x1f\x8b"), (".gz",)),
    Kind("is compressed with xz", "decompress it with unxz", _starts(b"\xfd7zXZ\0"), (".xz",)),
    Kind("is compressed with bzip2", "decompress it with bunzip2", _starts(b"BZh"), (".bz2",)),
)
"""Kinds of compressed files, unless they contain a tar archive, which may be a model."""

_UNREAD = (
    Kind("is compressed with zstd", "decompress it with unzstd", _starts(b"\x28\xb5\x2f\xfd"), (".zst",)),
    _PYTORCH,
    Kind("is an archive", "unpack it, and pass the model in it", _starts(b"7z\xbc\xaf\x27\x1c", b"Rar!")),
    Kind(
        "is a zip archive without an NNEF model or a SavedModel",
        "unpack it, and pass the model in it",
        _starts(b"PK\x03\x04", b"PK\x05\x06"),
        (".zip",),
    ),
    Kind("is a Caffe model, a format that is not read", "convert it to ONNX", lambda head: _has_caffe_layers(head)),
    _CORE_ML,
)
"""Kinds whose first bytes may be those of a model, for files that no format recognizes."""

_NAMED = (
    *_ALWAYS,
    *_COMPRESSED,
    *_UNREAD,
    Kind("is a Caffe model", "convert it to ONNX", suffixes=(".prototxt", ".caffemodel")),
    Kind("is a Paddle model", "convert it with paddle2onnx", suffixes=(".pdmodel", ".pdiparams")),
    Kind(
        "has the weights of an OpenVINO, PNNX or PyTorch model",
        "pass its graph, such as a .pnnx.param file, or export it to ONNX",
        suffixes=(".bin",),
    ),
    Kind("is an XML file, but no model", "pass an ONNX model", _matches(rb"\s*<\?xml", b"<"), (".xml",)),
    Kind(
        "is JSON, but neither an ONNX model in JSON nor a TensorFlow.js model",
        "pass the model, not its configuration",
        _matches(rb"\s*[{\[]", b"{", b"["),
        (".json",),
    ),
    Kind(
        "should be a GraphDef or a SavedModel of TensorFlow",
        "pass another file, or export the model again",
        suffixes=(".pb",),
    ),
)
"""All kinds, with those that only a name identifies, for files that a reader refuses."""


def identify_by_content(head: bytes, recognized: bool) -> Kind | None:
    """The kind of a file by its first bytes; None where these may be those of a model.

    `recognized`: a format recognizes the file by its contents, such as an archive with a model.
    """
    for kind in _kinds_by_first_byte(head[:1], recognized):
        if kind.recognizes(head):
            return kind
    return None


@cache
def _kinds_by_first_byte(first: bytes, recognized: bool) -> Sequence[Kind]:
    """The kinds among which `identify_by_content` chooses, for a first byte: few for most models."""
    kinds = _ALWAYS if recognized else (*_ALWAYS, *_UNREAD)
    return tuple(
        kind for kind in kinds if not isinstance(kind.recognizes, _Start) or _may_begin(kind.recognizes, first)
    )


def _may_begin(start: _Start, first: bytes) -> bool:
    return any(magic.startswith(first) for magic in start.magic)


def identify_compressed(path: str | None, head: bytes) -> Kind | None:
    """The kind of a compressed file; None for a file that is not compressed, and for a tar archive, maybe a model."""
    kind = next((kind for kind in _COMPRESSED if kind.recognizes(head)), None)
    if kind is None or (path is not None and path.lower().endswith(_TAR_NAMES)):
        return None
    start = _decompress(head)
    is_tar = start[_TAR_MAGIC] == b"ustar" or (path is None and len(start) < _TAR_MAGIC.stop)
    return None if is_tar else kind


def explain_failure(path: str, head: bytes, cause: str) -> str | None:
    """The message for a file that a reader refused because of `cause`: its kind, by its first bytes or its name.

    None for a file of an unknown kind.
    """
    kind = next((kind for kind in _NAMED if kind.recognizes(head)), None)
    if kind is not None:
        return str(kind)
    lowered = path.lower()
    kind = next((kind for kind in _NAMED if kind.suffixes and lowered.endswith(tuple(kind.suffixes))), None)
    return None if kind is None else f"{cause}; by its name it {kind}"


def identify_folder(path: str) -> str:
    """The message for a folder that is no model: it names files in the folder that may be models."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for _, entry in zip(range(_FOLDER_FILES), entries, strict=False)]
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if "Manifest.json" in names and path.rstrip("/\\").lower().endswith(_CORE_ML_PACKAGE):
        return "is a Core ML package, a format that is not read: pass the model that it was converted from"
    models = sorted(name for name in names if name.lower().endswith(_MODEL_NAMES))
    if not models:
        return "is a folder without a model"
    more = f" and {len(models) - _LIST} more" if len(models) > _LIST else ""
    return f"is a folder: pass a model in it, such as {', '.join(map(repr, models[:_LIST]))}{more}"


def _decompress(head: bytes) -> bytes:
    """The first bytes of the decompressed contents, as many as the head yields."""
    import lzma  # few files are compressed
    import zlib

    try:
        if head.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(31).decompress(head, _PEEK)
        if head.startswith(b"\xfd7zXZ\0"):
            return lzma.LZMADecompressor(lzma.FORMAT_XZ, 1 << 28).decompress(head, _PEEK)
    except (zlib.error, lzma.LZMAError):
        pass
    return b""


def _has_core_ml_features(head: bytes) -> bool:
    """Whether the first bytes are those of Core ML's Model: a version, then a description that begins with a feature.

    A feature has a name, maybe a description, and a type. Source: Model.proto of Core ML's specification.
    """
    try:
        messages = ((number, kind, start, end) for number, kind, start, end in fields(head, 0, 1 << 62))
        version, description = next(messages)[:2], next(messages)
        if version != (1, VARINT) or description[:2] != (2, BYTES):
            return False
        number, kind, start, end = next(fields(head, *description[2:]))
        if (number, kind) != (1, BYTES):
            return False
        name, *others = fields(head, start, end)
    except (DamagedError, IndexError, StopIteration, ValueError):
        return False
    is_named = name[:2] == (1, BYTES) and _NAME.fullmatch(head[name[2] : name[3]]) is not None
    return is_named and [other[:2] for other in others] in ([(3, BYTES)], [(2, BYTES), (3, BYTES)])


def _has_caffe_layers(head: bytes) -> bool:
    """Whether the first bytes are those of a network of Caffe, binary or text."""
    if b"\0" not in head and _CAFFE_TEXT.search(head):
        return True
    named = False
    try:
        for number, kind, start, end in fields(head, 0, 1 << 62):  # the last one may end after the head
            if kind != BYTES and number == _CAFFE_NAME:
                return False  # in each ONNX file, the field of this number is an integer
            if kind == BYTES and number == _CAFFE_LAYERS:
                return True
            if kind == BYTES and number == _CAFFE_OLD_LAYERS and named:
                return True
            named |= kind == BYTES and number == _CAFFE_NAME and head[start:end].isascii() and head[start] >= 32
    except (DamagedError, IndexError):
        return False
    return False
