"""Writes an edited ONNX model whose weights may be in other files: these are kept, copied or embedded.

Weights are neither decoded nor held in memory. Files are replaced atomically, the weights before the model, and nothing
is written unless all of it can be.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from mmap import ACCESS_READ, mmap
from typing import BinaryIO

from shapeinf.errors import LimitError, MissingDataWarning, ModelError
from shapeinf.formats.files import ExternalData, check_path, is_same_file, replace_file
from shapeinf.formats.onnx.external_tensors import DataFolder, ExternalTensor, external_tensors, move_tensors
from shapeinf.formats.onnx.source import TEXT_FORMATS
from shapeinf.formats.protobuf.pieces import FilePart, Piece, piece_bytes, total_size
from shapeinf.formats.protobuf.wire import Buffer
from shapeinf.packages import require_package

MAX_PROTOBUF = (1 << 31) - 1
"""Bytes of the largest model that protobuf reads, and so a runtime."""

LEAST_EXTERNAL = 1024
"""Tensors with fewer bytes are embedded when weights are copied: shapes may depend on them."""

ALIGNMENT = 4096
"""Copied weights keep their offset modulo the size of a page of memory, so that runtimes can map them."""


def save_model(
    buffer: Buffer, pieces: Sequence[Piece], path: str, folder: DataFolder, external_data: ExternalData = "keep"
) -> None:
    """Write a model that consists of these pieces, in a text form where the suffix of the path is that of one.

    Warns (MissingDataWarning) if the new model refers to data files that are missing. Raises ModelError if the weights
    cannot be kept or read, if the target is a file that the model reads weights from, and if a file cannot be written;
    ChangedFileError where a file has changed since it was read, also while it is copied; LimitError for a model that
    would have more than 2 GB in one file.
    """
    target = check_path(path)
    _check_text_size(pieces, target)  # before the data is searched for other files
    with _report_unwritable(target), _external_model(buffer, pieces, target) as edited:
        if edited is None:
            with replace_file(target, folder.check_model) as file:
                _write_pieces(file, buffer, pieces, target)
            return
        tensors = external_tensors(edited)

        def check() -> None:
            folder.check_model()
            folder.check(tensors)

        check()
        _check_not_read(tensors, folder, target)
        if external_data == "copy":
            _copy_weights(edited, tensors, target, folder, check)
            return
        if external_data == "embed":
            embedded = move_tensors(edited, lambda tensor: [tensor.part(folder.file(tensor))])
            if total_size(embedded) > MAX_PROTOBUF:
                text = f"has {total_size(embedded)} bytes with its weights, more than 2 GB: copy or keep them"
                raise LimitError(text, node=target)
            moved = embedded
        else:
            moved = move_tensors(edited, lambda tensor: _relative_location(tensor, folder, target))
            _warn_of_missing(tensors, folder, target)
        with replace_file(target, check) as file:
            _write_pieces(file, edited, moved, target)


def embed_small(data: bytes, folder: DataFolder) -> bytes:
    """A model with its small external tensors embedded. Raises ModelError if their files are missing."""

    def move(tensor: ExternalTensor) -> list[Piece] | None:
        small = tensor.nbytes is not None and tensor.nbytes < LEAST_EXTERNAL
        return [tensor.part(folder.file(tensor))] if small else None

    return b"".join(map(bytes, piece_bytes(data, move_tensors(data, move))))


@contextmanager
def _report_unwritable(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror or error}", node=path) from error


@contextmanager
def _external_model(buffer: Buffer, pieces: Sequence[Piece], target: str) -> Iterator[Buffer | None]:
    """The bytes of the edited model, mapped from a temporary file; None for a model without data in other files."""
    if buffer.find(b"location") < 0 or not external_tensors(buffer):
        yield None
        return
    if pieces == [(0, len(buffer))]:
        yield buffer
        return
    folder = os.path.dirname(os.path.realpath(target))
    usable = os.path.isdir(folder) and os.access(folder, os.W_OK)
    with tempfile.TemporaryFile(dir=folder if usable else None) as file:
        file.writelines(piece_bytes(buffer, pieces))
        file.flush()
        with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
            yield mapped


def _text_format(path: str) -> str | None:
    return TEXT_FORMATS.get(os.path.splitext(path)[1].lower())


def _check_text_size(pieces: Sequence[Piece], path: str) -> None:
    if _text_format(path) is not None and total_size(pieces) > MAX_PROTOBUF:
        raise ModelError("the model is too large for a text form: save it as .onnx", node=path)


def _write_pieces(file: BinaryIO, buffer: Buffer, pieces: Sequence[Piece], path: str) -> None:
    text_format = _text_format(path)
    if text_format is None:
        file.writelines(piece_bytes(buffer, pieces))
        return
    _check_text_size(pieces, path)
    require_package("onnx", f"the text form {os.path.splitext(path)[1]}")
    import onnx

    model = onnx.ModelProto.FromString(b"".join(map(bytes, piece_bytes(buffer, pieces))))
    try:
        file.write(onnx.serialization.registry.get(text_format).serialize_proto(model))
    except OSError:
        raise
    except Exception as error:  # protobuf's serializers have no common base
        raise ModelError(f"cannot be written: {' '.join(str(error).split())}", node=path) from error


def _check_not_read(tensors: Sequence[ExternalTensor], folder: DataFolder, path: str) -> None:
    for file in {folder.file(tensor) for tensor in tensors if folder.is_known(tensor)}:
        if is_same_file(path, file):
            raise ModelError("the model reads its weights from this file: write to another one", node=path)


# -- keep ------------------------------------------------------------------------------------------------------------


def _relative_location(tensor: ExternalTensor, folder: DataFolder, target: str) -> dict[str, str] | None:
    """The location of a data file relative to the folder of the new model; None if it stays the same.

    Raises ModelError if the file is outside that folder: no runtime follows such a location.
    """
    if not folder.is_known(tensor):
        return None
    home = os.path.realpath(os.path.dirname(target) or os.curdir)
    if folder.path is not None and os.path.realpath(folder.path) == home and tensor.location not in folder.others:
        return None
    file = folder.file(tensor)
    if os.path.commonpath((home, file)) != home:
        message = (
            f"its weights are in {file!r}, outside the folder of the new model, where no runtime looks for them: "
            "write to their folder, or use --external-data copy or embed (in Python external_data=)"
        )
        raise ModelError(message, node=target)
    return {"location": os.path.relpath(file, home).replace(os.sep, "/")}


def _warn_of_missing(tensors: Sequence[ExternalTensor], folder: DataFolder, target: str) -> None:
    known = folder if folder.path is not None else DataFolder(os.path.dirname(os.path.abspath(target)), folder.others)
    missing = sorted({tensor.location for tensor in tensors if not os.path.isfile(known.file(tensor))})
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        text = f"{target}: the file with its weights, {missing[0]!r}{more}, is missing"
        warnings.warn(text, MissingDataWarning, stacklevel=2)


# -- copy ------------------------------------------------------------------------------------------------------------


def _copy_weights(
    edited: Buffer, tensors: Sequence[ExternalTensor], target: str, folder: DataFolder, check: Callable[[], None]
) -> None:
    data = f"{target}.data"
    _check_not_read(tensors, folder, data)
    parts = [tensor.part(folder.file(tensor)) for tensor in tensors]
    starts, copied = lay_out([part for part in parts if part.count >= LEAST_EXTERNAL])
    name = os.path.basename(data)

    def move(tensor: ExternalTensor) -> list[Piece] | dict[str, str]:
        part = tensor.part(folder.file(tensor))
        if part.count < LEAST_EXTERNAL:
            return [part]
        return {"location": name, "offset": str(starts[part]), "length": str(part.count)}

    pieces = move_tensors(edited, move)
    with replace_file(target, None if copied else check) as file:
        _write_pieces(file, edited, pieces, target)
        with replace_file(data, check) if copied else nullcontext() as weights:  # the model appears after its weights
            end = 0
            for start, part in copied:
                assert weights is not None
                weights.write(bytes(start - end))
                weights.writelines(part.chunks())
                end = start + part.count


def lay_out(parts: Sequence[FilePart]) -> tuple[dict[FilePart, int], list[tuple[int, FilePart]]]:
    """The offset of each part in one new file, and the parts that the file consists of, as (offset, part) in order.

    Parts that overlap or touch stay together, so that shared bytes are written once. Offsets stay the same modulo
    `ALIGNMENT`: a file whose tensors are all copied keeps its layout.

    >>> lay_out([FilePart("w", 4096, 10), FilePart("w", 4100, 20), FilePart("w", 20480, 8)])[1]
    [(0, FilePart(path='w', start=4096, count=24)), (4096, FilePart(path='w', start=20480, count=8))]
    """
    starts: dict[FilePart, int] = {}
    copied: list[tuple[int, FilePart]] = []
    end = 0
    files: dict[str, set[FilePart]] = {}
    for part in parts:
        files.setdefault(part.path, set()).add(part)
    for path, own in files.items():
        for group in _touching_groups(sorted(own, key=lambda part: part.start)):
            first, stop = group[0].start, max(part.start + part.count for part in group)
            offset = end + (first - end) % ALIGNMENT
            starts.update({part: offset + part.start - first for part in group})
            copied.append((offset, FilePart(path, first, stop - first)))
            end = offset + stop - first
    return starts, copied


def _touching_groups(parts: Sequence[FilePart]) -> Iterator[list[FilePart]]:
    """The groups of parts that overlap or touch; `parts` are sorted by their starts."""
    group: list[FilePart] = []
    stop = 0
    for part in parts:
        if group and part.start > stop:
            yield group
            group = []
        group.append(part)
        stop = max(stop, part.start + part.count)
    if group:
        yield group
