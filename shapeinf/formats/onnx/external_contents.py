"""The contents of constants whose data are in other files of a model's folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.files import is_path, open_regular
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, DamagedError, decode_packed, fields, to_signed
from shapeinf.formats.ranges import range_in_file
from shapeinf.formats.raw_data import raw_elements
from shapeinf.formats.read_files import ReadFiles
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import ONNX_CODES, ONNX_NAMES
from shapeinf.packages import is_installed

MAX_PIECE = 1 << 20
"""Bytes of the largest tensor in another file whose contents are read."""


def external_contents(data: bytes, files: ReadFiles | None) -> PartialTensor:
    """A tensor whose data are in another file of the model's folder: with contents, or with the range if it is large.

    Both stay unknown if the file is missing or `files` is None: the model has no folder. Raises ModelError for a path
    outside the folder, and for a damaged tensor.
    """
    try:
        dtype, dims, name = tensor_header(data)
        entries = read_entries(data, 0, len(data))
    except (DamagedError, IndexError) as error:
        raise ModelError(f"a tensor whose data are in another file cannot be read: {error}") from error
    path = path_inside(None if files is None else files.folder, entries.get("location", ""), name)
    if path is None:
        return PartialTensor(dtype, Shape(dims), None)
    offset, length = entries.get("offset"), entries.get("length")
    if dtype is not None and not wants_contents(dtype, dims):
        return range_in_file(dtype, dims, path, offset, length, files)
    piece = _piece(path, offset, length, name, files)
    elements = raw_elements(dtype, piece)
    if elements is not None and len(elements) == prod(dims):
        return PartialTensor(dtype, Shape(dims), elements)
    return _decode_rare(name, dtype, dims, piece)


def tensor_header(data: bytes) -> tuple[str | None, list[int], str]:
    """Element type, dims and name of a TensorProto."""
    dims: list[int] = []
    code, name = 0, ""
    for number, kind, start, stop in fields(data, 0, len(data)):
        if number == pb.TENSOR_DIMS:
            dims += [to_signed(start)] if kind == VARINT else decode_packed(data[start:stop])
        elif number == pb.TENSOR_DATA_TYPE and kind == VARINT:
            code = start
        elif number == pb.TENSOR_NAME and kind == BYTES:
            name = data[start:stop].decode("utf-8", "replace")
    return ONNX_NAMES.get(code), dims, name


def _decode_rare(name: str, dtype: str | None, dims: Sequence[int], data: bytes) -> PartialTensor:
    """A tensor of a type that only onnx decodes; without onnx, it has no contents.

    Raises ModelError for data that do not fit the dims.
    """
    if not is_installed("onnx"):
        return PartialTensor(dtype, Shape(dims), None)
    import onnx

    from shapeinf.formats.onnx.tensor_protos import read_tensor

    return read_tensor(onnx.TensorProto(name=name, dims=dims, data_type=ONNX_CODES.get(dtype or "", 0), raw_data=data))


def read_entries(buffer: Buffer, pos: int, end: int) -> dict[str, str]:
    """The external data of a TensorProto: its location, and usually its offset and length, as strings."""
    entries = {}
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == pb.TENSOR_EXTERNAL_DATA and kind == BYTES:
            parts = fields(buffer, start, stop)
            pair = {n: buffer[a:b].decode("utf-8", "replace") for n, k, a, b in parts if k == BYTES}
            entries[pair.get(pb.PROPERTY_KEY, "")] = pair.get(pb.PROPERTY_VALUE, "")
    return entries


def path_inside(folder: str | None, location: str, name: str) -> str | None:
    """The path of a data file in the folder of a model; None if the file is missing or `folder` is None.

    Raises ModelError for a location that is no path, and for one outside the folder, also by a symbolic link.
    """
    if folder is None or not location:
        return None
    if not is_path(location):
        raise ModelError(f"the location of its data is not a path: {location!r}", node=name)
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, location))
    if os.path.commonpath((root, path)) != root:
        raise ModelError(f"its data are outside the model's folder: {location!r}", node=name)
    return path if os.path.isfile(path) else None


def _piece(path: str, offset: str | None, length: str | None, name: str, files: ReadFiles | None) -> bytes:
    """The bytes of a small tensor in a data file. Raises ModelError if the file does not have them."""
    try:
        start, count = int(offset or 0), None if length is None else int(length)
        size = os.path.getsize(path)
        count = size - start if count is None else count
        if start < 0 or count < 0 or start + count > size or count > MAX_PIECE:
            message = f"its data are {count} bytes from offset {start}, in a file of {size} bytes"
            raise ModelError(message, node=name)
        with open_regular(path) as file:
            if files is not None:
                files.add(path, file)
            file.seek(start)
            return file.read(count)
    except ValueError as error:
        raise ModelError(f"the position of its data is not a number: {offset!r}, {length!r}", node=name) from error
    except OSError as error:
        raise ModelError(f"its data cannot be read: {error.strerror}", node=name) from error
