"""Finds the document of an NNEF model and its other files: in a text, a file, a folder or an archive."""

from __future__ import annotations

import os
import re
from stat import S_ISREG

import attrs

from shapeinf.errors import ModelError, UnknownFormatError
from shapeinf.formats.files import check_path, open_regular
from shapeinf.formats.nnef.files.archive import (
    ARCHIVES,
    GRAPH,
    MODEL_FILES,
    QUANTIZATION,
    Archive,
    Folder,
    ModelFiles,
    decode_text,
    read_archive,
)
from shapeinf.formats.nnef.files.unpacking import first_name, kind_of
from shapeinf.formats.nnef.language.diagnostics import SourceText
from shapeinf.formats.read_files import read_stream

_DOCUMENT = "graph.nnef"
_START = re.compile(r"\ufeff?(?:\s|#[^\n]*\n)*version\s+[0-9]")


@attrs.frozen
class Located:
    """A document with the other files of its model; `path` is the path of the model, None for a text."""

    document: SourceText
    quantization: SourceText | None = None
    files: ModelFiles | None = None
    path: str | None = None


def is_document(text: str) -> bool:
    """Whether a text is a document and not a path: it starts with a version."""
    return _START.match(text) is not None


def is_nnef(head: bytes) -> bool:
    """Whether the first bytes of a file (512 are enough) are those of an NNEF document or an archive.

    Other tools write zip archives too: one is a model if its first file is a file of a model.
    """
    kind = kind_of(head)
    if kind == "zip":
        return first_name(head).endswith(MODEL_FILES)
    return kind is not None or is_document(head.decode("utf-8", "replace"))


def has_nnef_name(path: str) -> bool:
    """Whether a path has the name of an NNEF document or an archive, or is a folder with a document."""
    if os.path.isdir(path):
        return bool(_documents(path))
    return path.lower().endswith((GRAPH, *ARCHIVES))


def is_model_path(path: str) -> bool:
    """Whether a path in a folder of models is one: a document, a folder with `graph.nnef`, or a `.nnef.tgz`.

    A folder with one document of another name is not: such a folder may hold other models too.
    """
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, _DOCUMENT))
    return path.lower().endswith((GRAPH, *(GRAPH + archive for archive in ARCHIVES)))


def locate(model: str | os.PathLike[str] | bytes) -> Located:
    """Find and read the texts of a model. Raises ModelError for a model that cannot be read or has no document."""
    if isinstance(model, bytes):
        if kind_of(model[:512]) is not None:
            return _archive_source(read_archive(model), None)
        return Located(SourceText(decode_text(model, "<bytes>"), "<text>"))
    if isinstance(model, str) and is_document(model):
        return Located(SourceText(model.removeprefix("\ufeff"), "<text>"))
    path = check_path(model)
    if os.path.isdir(path):
        return _folder_source(path)
    try:
        with open_regular(path, pipe=True) as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                return _stream_source(read_stream(file, path), path)
            head = file.read(512)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", node=path) from error
    if kind_of(head) is not None or path.lower().endswith(ARCHIVES):
        return _archive_source(read_archive(path), path)
    folder, name = os.path.split(path)
    return _with_files(Folder(folder or "."), name, path)


def _stream_source(data: bytes, path: str) -> Located:
    """The model on a pipe, which has no other files unless it is an archive."""
    if kind_of(data[:512]) is not None:
        return _archive_source(read_archive(data, path), path)
    return Located(SourceText(decode_text(data, path), path), path=path)


def _folder_source(path: str) -> Located:
    folder = Folder(path)
    name = _choose_document("directory", path, _documents(path))
    return _with_files(folder, name, os.path.join(path, name))


def _documents(folder: str) -> list[str]:
    """The names of the documents in a folder; none in a folder that cannot be listed."""
    try:
        return [name for name in sorted(os.listdir(folder)) if name.endswith(GRAPH)]
    except OSError:
        return []


def _archive_source(archive: Archive, path: str | None) -> Located:
    name = _choose_document("archive", archive.name, [n for n in archive.documents if "/" not in n])
    return attrs.evolve(_with_files(archive, name, f"{archive.name}:{name}"), path=path)


def _choose_document(kind: str, where: str, names: list[str]) -> str:
    if _DOCUMENT in names:
        return _DOCUMENT
    if len(names) != 1:
        count = f"has several ({', '.join(names[:4])})" if names else "has none"
        raise UnknownFormatError(f"an NNEF model has one document, {_DOCUMENT}; this {kind} {count}", node=where)
    return names[0]


def _with_files(files: ModelFiles, name: str, path: str) -> Located:
    text = files.text(name)
    if text is None:
        raise ModelError("is not a regular file", node=path)
    stem = name.removesuffix(GRAPH)
    quantization = files.text(stem + QUANTIZATION)
    quantization_path = path.removesuffix(GRAPH) + QUANTIZATION
    quantization_source = None if quantization is None else SourceText(quantization, quantization_path)
    return Located(SourceText(text, path), quantization_source, files, path)
