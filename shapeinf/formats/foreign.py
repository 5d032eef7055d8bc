"""What a file is that holds no model of any format: by its first bytes, else by its name; and what to do instead.

Nothing of such a file is read but its first bytes, and a pickle is never loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import attrs

from shapeinf.formats.protobuf.wire import BYTES, DamagedError, fields

_EXPORT_TORCH = "export the model with torch.onnx.export"
_EXPORT_KERAS = "save it with model.export('folder') and pass that folder, or convert it with tf2onnx"
_LIST = 3
"""Files of a folder that a message names."""
_FOLDER_FILES = 1000
_MAX_SAFETENSORS_HEADER = 100_000_000
_TAR_MAGIC = slice(257, 262)
_PEEK = 512
_TAR_NAMES = (".tgz", ".tar.gz", ".txz", ".tar.xz", ".tbz2", ".tar.bz2")
_MODEL_NAMES = (".onnx", ".nnef", ".tgz", ".tar", ".pb", ".pbtxt", ".param", ".onnxtxt")

_CAFFE_TEXT = re.compile(rb"^\s*layers?\s*\{[^}]*\b(?:type|bottom|top)\s*:", re.MULTILINE)
_CAFFE_NAME, _CAFFE_OLD_LAYERS, _CAFFE_LAYERS = 1, 2, 100
"""Fields of Caffe's NetParameter."""


class Kind(NamedTuple):
    """A kind of files: what a message says of one, what to do, and how one begins or is named."""

    text: str
    advice: str
    recognises: Callable[[bytes], object] = lambda head: False
    suffixes: Sequence[str] = ()

    def __str__(self) -> str:
        """As a predicate of the file."""
        return f"{self.text}: {self.advice}"


@attrs.frozen
class _Start:
    """Whether a file begins with one of these bytes, and meets a condition."""

    magic: tuple[bytes, ...]
    condition: Callable[[bytes], object]

    def __call__(self, head: bytes) -> object:
        return head.startswith(self.magic) and self.condition(head)


def _starts(*magic: bytes, condition: Callable[[bytes], object] = lambda head: True) -> _Start:
    return _Start(magic, condition)


def _matches(pattern: bytes, *first: bytes) -> _Start:
    """Whether a file matches a pattern, which begins with one of these bytes or with white space."""
    return _Start((*first, b" ", b"\t", b"\r", b"\n", b"\v", b"\f"), re.compile(pattern, re.IGNORECASE).match)


def _is_safetensors(head: bytes) -> bool:
    size = int.from_bytes(head[:8], "little")
    return head[8:10] in (b'{"', b"{}") and 2 <= size <= _MAX_SAFETENSORS_HEADER


_PYTORCH = Kind(
    "is a checkpoint of PyTorch, a zip archive with a pickle, which is never loaded since it may run code",
    _EXPORT_TORCH,
    _starts(b"PK\x03\x04", condition=lambda head: re.search(rb"/(?:data|constants)\.pkl", head)),
    (".pt", ".pth", ".ckpt", ".pt2"),
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
    _PYTORCH,
    Kind(
        "is a file of safetensors, weights without a graph",
        "export the model that they belong to to ONNX, with torch.onnx.export or `optimum-cli export onnx`",
        _is_safetensors,
        (".safetensors",),
    ),
    Kind(
        "is a GGUF file of llama.cpp, weights without a graph",
        "export the model that they belong to to ONNX",
        _starts(b"GGUF"),
        (".gguf",),
    ),
    Kind("is an HDF5 file, as Keras writes them", _EXPORT_KERAS, _starts(b"\x89HDF\r\n\x1a\n"), (".h5", ".hdf5")),
    Kind(
        "is a model of Keras 3, a zip archive",
        _EXPORT_KERAS,
        _starts(b"PK\x03\x04", condition=lambda head: b"metadata.json" in head and b"config.json" in head),
        (".keras",),
    ),
    Kind(
        "is a TensorFlow Lite model",
        "pass the SavedModel that it was converted from, or convert it with `python -m tf2onnx.convert --tflite`",
        lambda head: head[4:8] == b"TFL3",
        (".tflite", ".lite"),
    ),
    Kind(
        "is a model in ONNX Runtime's own format",
        "pass the .onnx file that it was converted from",
        lambda head: head[4:8] == b"ORTM",
        (".ort",),
    ),
    Kind(
        "is an engine of TensorRT, compiled for one kind of GPU",
        "pass the ONNX model that it was built from",
        _starts(b"ptrt", b"ftrt"),
        (".engine", ".plan", ".trt"),
    ),
    Kind(
        "is a network of OpenVINO",
        "pass the model that it was converted from",
        _matches(rb"\s*(?:<\?xml[^>]*>\s*)?<net\s", b"<"),
    ),
    Kind("is an array or an archive of numpy, not a model", "pass the model", _starts(b"\x93NUMPY"), (".npy", ".npz")),
    Kind("is a program or a library", "pass the model", _starts(b"\x7fELF", b"MZ\x90"), (".so", ".dll", ".exe")),
)
"""Kinds whose first bytes no format of ours has."""

_COMPRESSED = (
    Kind("is compressed with gzip", "decompress it with gunzip", _starts(b"\x1f\x8b"), (".gz",)),
    Kind("is compressed with xz", "decompress it with unxz", _starts(b"\xfd7zXZ\0"), (".xz",)),
    Kind("is compressed with bzip2", "decompress it with bunzip2", _starts(b"BZh"), (".bz2",)),
)
"""One file each, where they hold no tar archive of a model."""

_UNREAD = (
    Kind("is compressed with zstd", "decompress it with unzstd", _starts(b"\x28\xb5\x2f\xfd"), (".zst",)),
    Kind("is an archive", "unpack it, and pass the model in it", _starts(b"7z\xbc\xaf\x27\x1c", b"Rar!")),
    Kind(
        "is a zip archive without an NNEF model or a SavedModel",
        "unpack it, and pass the model in it",
        _starts(b"PK\x03\x04", b"PK\x05\x06"),
        (".zip",),
    ),
    Kind("is a file of Caffe, which is not read", "convert it to ONNX", lambda head: _has_caffe_layers(head)),
)
"""Kinds whose first bytes formats of ours may have, for files that no format recognises."""

_NAMED = (
    *_ALWAYS,
    *_COMPRESSED,
    *_UNREAD,
    Kind("is a file of Caffe", "convert it to ONNX", suffixes=(".prototxt", ".caffemodel")),
    Kind("is a model of Core ML", "pass the model that it was converted from", suffixes=(".mlmodel",)),
    Kind("is a model of Paddle", "convert it with paddle2onnx", suffixes=(".pdmodel", ".pdiparams")),
    Kind(
        "has the weights of a model of OpenVINO, PNNX or PyTorch",
        "pass its graph, such as a .pnnx.param file, or export it to ONNX",
        suffixes=(".bin",),
    ),
    Kind("is an XML file, but no model", "pass an ONNX model", _matches(rb"\s*<\?xml", b"<"), (".xml",)),
    Kind(
        "is JSON, but neither a model of ONNX in JSON nor one of TensorFlow.js",
        "pass the model, not its configuration",
        _matches(rb"\s*[{\[]", b"{", b"["),
        (".json",),
    ),
    Kind(
        "is a GraphDef or a SavedModel of TensorFlow, but it has none",
        "pass another file, or export the model again",
        suffixes=(".pb",),
    ),
)
"""Kinds by names too, for files that no reader understands."""


def identify_by_content(head: bytes, recognised: bool) -> Kind | None:
    """The kind of a file by its first bytes, None where they may begin a model.

    `recognised` files are those that a format sniffs by content; some kinds may be part of one.
    """
    for kind in _kinds_by_first_byte(head[:1], recognised):
        if kind.recognises(head):
            return kind
    return None


@cache
def _kinds_by_first_byte(first: bytes, recognised: bool) -> Sequence[Kind]:
    """The kinds of which `identify_by_content` chooses one that may begin with a byte: few, for most models."""
    kinds = _ALWAYS if recognised else (*_ALWAYS, *_UNREAD)
    return tuple(
        kind for kind in kinds if not isinstance(kind.recognises, _Start) or _may_begin(kind.recognises, first)
    )


def _may_begin(start: _Start, first: bytes) -> bool:
    return any(magic.startswith(first) for magic in start.magic)


def identify_compressed(path: str | None, head: bytes) -> Kind | None:
    """How a single file is compressed; None for what is not compressed, and for a tar archive, which may be a model."""
    kind = next((kind for kind in _COMPRESSED if kind.recognises(head)), None)
    if kind is None or (path is not None and path.lower().endswith(_TAR_NAMES)):
        return None
    start = _decompress(head)
    is_tar = start[_TAR_MAGIC] == b"ustar" or (path is None and len(start) < _TAR_MAGIC.stop)
    return None if is_tar else kind


def explain_failure(path: str, head: bytes, cause: str) -> str | None:
    """What to say of a file that could not be read because of `cause`: its kind, by its first bytes or its name.

    None for a file that is of no known kind.
    """
    kind = next((kind for kind in _NAMED if kind.recognises(head)), None)
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
    models = sorted(name for name in names if name.lower().endswith(_MODEL_NAMES))
    if not models:
        return "is a folder without a model"
    more = f" and {len(models) - _LIST} more" if len(models) > _LIST else ""
    return f"is a folder: name the model in it, {', '.join(map(repr, models[:_LIST]))}{more}"


def _decompress(head: bytes) -> bytes:
    """The first bytes of what is compressed, as far as the head gives them."""
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


def _has_caffe_layers(head: bytes) -> bool:
    """Whether the first bytes are those of a network of Caffe, binary or text."""
    if b"\0" not in head and _CAFFE_TEXT.search(head):
        return True
    named = False
    try:
        for number, kind, start, end in fields(head, 0, 1 << 62):  # the last one may end after the head
            if kind != BYTES and number == _CAFFE_NAME:
                return False  # as that of each ONNX file
            if kind == BYTES and number == _CAFFE_LAYERS:
                return True
            if kind == BYTES and number == _CAFFE_OLD_LAYERS and named:
                return True
            named |= kind == BYTES and number == _CAFFE_NAME and head[start:end].isascii() and head[start] >= 32
    except (DamagedError, IndexError):
        return False
    return False
