"""Tensors of ONNX files: shapes and types always, contents only of small ones that may be shapes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from shapeinf.errors import ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.onnx.external_contents import external_contents, tensor_header
from shapeinf.formats.protobuf.large_file import LargeFile
from shapeinf.formats.protobuf.wire import BYTES, VARINT, decode_packed, fields, to_signed
from shapeinf.formats.ranges import DeferredRange, wants_range
from shapeinf.formats.raw_data import Elements, raw_elements
from shapeinf.formats.read_files import ReadFiles
from shapeinf.lattice import MAX_ELEMENTS, PartialTensor, Shape
from shapeinf.lattice.dtypes import ONNX_NAMES
from shapeinf.packages import is_installed

Source = bytes | LargeFile
"""What a tensor is read from."""

_HEAD: Final = 384
"""Bytes at the start of a tensor in which its dims, type and name are expected."""

_USUAL = re.compile(rb"(?:\x08[\x80-\xff]*[\x00-\x7f])*\x10[\x00-\x7f]", re.DOTALL)
"""The usual start of a tensor: dims and type; typed data and name follow."""

_NAME_TAG: Final = 0x42
_RAW_TAG: Final = 0x4A
_TYPED_TAGS = (0x22, 0x2A, 0x3A)
"""The tags of floats and of 32-bit and 64-bit integers, which precede the name."""

_TYPES: dict[bytes, PartialTensor | None] = {}
"""Tensors without contents by the bytes of their dims and type, for all files; None where contents are needed."""

_CONTENTS: dict[bytes, PartialTensor] = {}
"""Small tensors with contents by their bytes without the name, for all files; tensors are immutable."""

_MAX_SHARED: Final = 4096
_MAX_SHARED_BYTES: Final = 256

_PAYLOADS = frozenset(
    {
        pb.TENSOR_FLOAT_DATA,
        pb.TENSOR_INT32_DATA,
        pb.TENSOR_STRING_DATA,
        pb.TENSOR_INT64_DATA,
        pb.TENSOR_RAW_DATA,
        pb.TENSOR_DOUBLE_DATA,
        pb.TENSOR_UINT64_DATA,
    }
)

_INT32_CODES = {"int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "float16": "H", "bfloat16": "H"}
"""The codes of `struct` for the numbers in `int32_data`: those of 16-bit floats are their bits."""

_SMALL: Final = 1 << 16
"""Tensors of a large file up to this many bytes are read at once."""

Scanned = tuple[PartialTensor, Callable[[], PartialTensor] | None, str]
"""A tensor, a function that reads its contents if these are deferred, and its name."""


class TensorScanner:
    """Decodes the TensorProtos of one file; small equal ones become one object."""

    def __init__(self, source: Source, files: ReadFiles | None) -> None:
        """`files` has the file of `source`, from whose folder external data and ranges of large tensors are read later.

        None for bytes of no file.
        """
        self.source = source
        self.files = files
        self.external = False

    def initializer(self, buffer: Source, start: int, end: int) -> Scanned:
        """A TensorProto with a name. The usual form is decoded without a loop: dims, type, short typed data, name."""
        head = buffer[start : min(end, start + _HEAD)]
        size = len(head)
        usual = _USUAL.match(head)
        if usual is None:
            return self.tensor(buffer, start, end)
        at = usual.end()
        if at + 1 < size and head[at] in _TYPED_TAGS and head[at + 1] < 128:
            at += 2 + head[at + 1]
        if at + 1 >= size or head[at] != _NAME_TAG or head[at + 1] > 127 or at + 2 + head[at + 1] > size:
            return self.tensor(buffer, start, end)
        name_end = at + 2 + head[at + 1]
        name = head[at + 2 : name_end].decode("utf-8", "replace")
        header = usual[0]
        try:
            known = _TYPES[header]
        except KeyError:
            known = _share_type(header)
        if known is None:
            rest = head[name_end:]
            key = head[:at] + rest if end - start <= _MAX_SHARED_BYTES else b""
            known = _CONTENTS.get(key)
            return self._contents(buffer, start, end, key, rest) if known is None else (known, None, name)
        raw_follows = name_end + 1 < size and head[name_end] == _RAW_TAG and head[name_end + 1] > 0
        if not (raw_follows or self.external):
            self.external = _is_external(buffer, start, end)
        return known, None, name

    def _contents(self, buffer: Source, start: int, end: int, key: bytes, rest: bytes) -> Scanned:
        """A tensor whose contents are needed; `key` is empty for one that is not shared, `rest` follows its name."""
        scanned = self.tensor(buffer, start, end)
        named_again = any(number == pb.TENSOR_NAME for number, _, _, _ in fields(rest, 0, len(rest))) if key else True
        if scanned[1] is None and not named_again:
            if len(_CONTENTS) >= _MAX_SHARED:
                _CONTENTS.clear()
            _CONTENTS[key] = scanned[0]
        return scanned

    def tensor(self, buffer: Source, pos: int, end: int) -> Scanned:
        """A TensorProto, field by field: large payloads are not read, and those in other files are deferred."""
        if not isinstance(buffer, bytes) and end - pos <= _SMALL:
            buffer, pos, end = buffer[pos:end], 0, end - pos
        dims: list[int] = []
        code, external, name = 0, False, ""
        payloads: list[tuple[int, int, int, int]] = []
        for number, kind, start, stop in fields(buffer, pos, end):
            if number == pb.TENSOR_DIMS:
                dims += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
            elif number == pb.TENSOR_DATA_TYPE and kind == VARINT:
                code = start
            elif number == pb.TENSOR_NAME and kind == BYTES:
                name = buffer[start:stop].decode("utf-8", "replace")
            elif number in _PAYLOADS:
                if len(payloads) <= MAX_ELEMENTS:  # with more of them the contents are not needed
                    payloads.append((number, kind, start, stop))
            elif number == pb.TENSOR_DATA_LOCATION:
                external = start == pb.LOCATION_EXTERNAL
        self.external |= external
        dtype = ONNX_NAMES.get(code)
        if any(d < 0 for d in dims):
            raise ModelError(f"a tensor has the negative dims {dims}", node=name)
        wanted = wants_contents(dtype, dims)
        if not wanted and not wants_range(dtype, dims):
            return PartialTensor(dtype, Shape(dims), None), None, name
        if external:
            data, files = buffer[pos:end], self.files
            return PartialTensor(dtype, Shape(dims), None), lambda: external_contents(data, files), name
        if not wanted:
            later = self._range(dtype, dims, buffer, payloads)
            return PartialTensor(dtype, Shape(dims), None), later, name
        elements = _elements(dtype, dims, buffer, payloads)
        if elements is not None and len(elements) == prod(dims):
            return PartialTensor(dtype, Shape(dims), elements), None, name
        return _rare_tensor(buffer[pos:end]), None, name

    def _range(
        self, dtype: str | None, dims: list[int], buffer: Source, payloads: list[tuple[int, int, int, int]]
    ) -> DeferredRange | None:
        """The deferred range of a large tensor; None if its payload is not raw."""
        if dtype is None or len(payloads) != 1 or payloads[0][:2] != (pb.TENSOR_RAW_DATA, BYTES):
            return None
        _, _, start, stop = payloads[0]
        path = None if self.files is None or self.files.data is not None else self.files.path
        if isinstance(buffer, bytes) and (buffer is not self.source or path is None):
            return DeferredRange(dtype, dims, buffer, start, stop - start)
        return DeferredRange(dtype, dims, path or "", start, stop - start, self.files)


def _share_type(header: bytes) -> PartialTensor | None:
    """The tensor of dims and type, entered in `_TYPES`; None if contents are needed, or for illegal dims."""
    dims: list[int] = []
    code = 0
    for number, _, value, _ in fields(header, 0, len(header)):
        if number == pb.TENSOR_DIMS:
            dims.append(to_signed(value))
        else:
            code = value
    dtype = ONNX_NAMES.get(code)
    needed = any(d < 0 for d in dims) or wants_contents(dtype, dims) or wants_range(dtype, dims)
    tensor = None if needed else PartialTensor(dtype, Shape(dims), None)
    if len(_TYPES) >= _MAX_SHARED:
        _TYPES.clear()
    _TYPES[header] = tensor
    return tensor


def _is_external(buffer: Source, start: int, end: int) -> bool:
    return any(f[0] == pb.TENSOR_DATA_LOCATION and f[2] == pb.LOCATION_EXTERNAL for f in fields(buffer, start, end))


def _elements(
    dtype: str | None, dims: list[int], buffer: Source, payloads: list[tuple[int, int, int, int]]
) -> Sequence[int | float | bool | str] | None:
    """The elements in payload fields of plain types; None for any other payload, which protobuf reads."""
    if not payloads:
        return () if prod(dims) == 0 else None
    if dtype == "string" and all(p[:2] == (pb.TENSOR_STRING_DATA, BYTES) for p in payloads):
        return [buffer[start:stop].decode("utf-8", "replace") for _, _, start, stop in payloads]
    number, kind, start, stop = payloads[0]
    if len(payloads) > 1 or kind != BYTES:
        return None
    data = buffer[start:stop]
    return raw_elements(dtype, data) if number == pb.TENSOR_RAW_DATA else _typed_elements(dtype, number, data)


def _typed_elements(dtype: str | None, number: int, data: bytes) -> Elements | None:
    """The elements of a packed field of typed data; None for a type that is not stored there as a plain number."""
    if (number == pb.TENSOR_FLOAT_DATA and dtype == "float32") or (
        number == pb.TENSOR_DOUBLE_DATA and dtype == "float64"
    ):
        return raw_elements(dtype, data)
    if number == pb.TENSOR_INT64_DATA and dtype == "int64":
        return tuple(decode_packed(data))
    if number != pb.TENSOR_INT32_DATA:
        return None
    if dtype == "bool":
        return tuple(map(bool, decode_packed(data)))
    code = _INT32_CODES.get(dtype or "")
    values = decode_packed(data) if code is not None else []
    try:
        return raw_elements(dtype, struct.pack(f"<{len(values)}{code}", *values)) if code is not None else None
    except struct.error:  # a number that is too large for the type
        return None


def _rare_tensor(data: bytes) -> PartialTensor:
    """A tensor whose type or form only onnx decodes; without onnx, it has no contents.

    Raises ModelError for data that do not fit the dims.
    """
    if not is_installed("onnx"):
        dtype, dims, name = tensor_header(data)
        if any(d < 0 for d in dims):
            raise ModelError(f"a tensor has the negative dims {dims}", node=name)
        return PartialTensor(dtype, Shape(dims), None)
    import onnx

    from shapeinf.formats.onnx.tensor_protos import parse, read_tensor

    return read_tensor(parse(onnx.TensorProto, data))
