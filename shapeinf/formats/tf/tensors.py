"""Reads TensorProtos: always shapes and types, and contents only of small ones that may be shapes.

TensorFlow compresses constants: the last value of a list with fewer values than elements is repeated, and an empty list
stands for zeros or empty strings. Bytes of weights are never copied.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.protobuf.wire import (
    BYTES,
    VARINT,
    Buffer,
    DamagedError,
    decode_packed,
    fields,
    to_signed,
    varint,
)
from shapeinf.formats.ranges import MAX_EAGER_BYTES, wants_range
from shapeinf.formats.raw_data import raw_elements
from shapeinf.formats.tf.types import dtype_name
from shapeinf.lattice import BoundedTensor, Element, PartialTensor, Shape, element_bits, has_numpy_type, numpy_dtype
from shapeinf.lattice.dtypes import INTEGER_RANGES, KINDS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_RANK = 254
"""The most axes of a shape in TensorFlow."""

_CONTENT = 4
_INT_LIST, _TEXT_LIST, _PATTERN_LIST, _BYTE_LIST = 7, 8, 13, 18
_LISTS: Mapping[str, int] = {
    "float32": 5,
    "float64": 6,
    "string": _TEXT_LIST,
    "complex64": 9,
    "int64": 10,
    "bool": 11,
    "complex128": 12,
    "float16": _PATTERN_LIST,
    "bfloat16": _PATTERN_LIST,
    "uint32": 16,
    "uint64": 17,
}
"""The fields with the values, by type; other integers are in the list of ints, float8 in that of bytes."""

_FLOAT_TYPES = {5: "float32", 6: "float64", 9: "float32", 12: "float64"}
"""The types of lists of floats, by the number of their field; complex numbers are pairs."""

_ZEROS: Mapping[str, Element] = {"string": "", "bool": False, "complex": 0j, "float": 0.0}
_VALUES = frozenset({*_LISTS.values(), _INT_LIST, _BYTE_LIST})

Span = tuple[int, int, int]
"""Wire type, start and end of a field."""


def read_dims(buffer: Buffer, pos: int, end: int) -> tuple[int | None, ...] | None:
    """The dims of a TensorShapeProto, None for an unknown one; None instead of dims for an unknown rank.

    Raises ModelError for sizes below -1, LimitError for more axes than TensorFlow has.
    """
    dims: list[int | None] = []
    unknown = False
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 2 and kind == BYTES:
            dims.append(_read_dim(buffer, start, stop))
        elif number == 3 and kind == VARINT:
            unknown = bool(start)
    if unknown:
        return None
    if len(dims) > MAX_RANK:
        raise LimitError(f"a shape has {len(dims)} axes; TensorFlow has at most {MAX_RANK}")
    return tuple(dims)


def _read_dim(buffer: Buffer, pos: int, end: int) -> int | None:
    size = 0
    for number, kind, start, _ in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            size = to_signed(start)
    if size < -1:
        raise ModelError(f"a shape has the size {size}; sizes are at least 0, or -1 where unknown")
    return None if size == -1 else size


def read_tensor(buffer: Buffer, pos: int, end: int) -> PartialTensor:
    """A TensorProto: type, shape, and contents of a small tensor. Raises ModelError for a malformed one."""
    code = 0
    values = _Values(buffer)
    shape: tuple[int | None, ...] | None = ()
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            code = start
        elif number == 2 and kind == BYTES:
            shape = read_dims(buffer, start, stop)
        elif number == _CONTENT and kind == BYTES and stop > start:
            values.content = start, stop
        elif number in _VALUES:
            values.lists.setdefault(number, []).append((kind, start, stop))
    dtype, dims = dtype_name(code), _static_dims(shape)
    if dtype is None:
        return PartialTensor(None, Shape(dims), None)
    if values.content is not None:
        _check_content(dtype, dims, values.content[1] - values.content[0])
    if not wants_contents(dtype, dims):
        return _read_range(dtype, dims, values) or PartialTensor(dtype, Shape(dims), None)
    return PartialTensor(dtype, Shape(dims), _elements(dtype, dims, values))


@attrs.define
class _Values:
    """The values of a tensor: the range of its raw data, and the fields of its lists by their numbers."""

    buffer: Buffer
    content: tuple[int, int] | None = None
    lists: dict[int, list[Span]] = attrs.Factory(dict)

    def length(self) -> int:
        """The number of bytes of the lists."""
        spans = [span for listed in self.lists.values() for span in listed]
        return sum(stop - start if kind == BYTES else 1 for kind, start, stop in spans)

    def pieces(self, number: int) -> list[bytes]:
        """The bytes of a list of strings."""
        return [self.buffer[start:stop] for kind, start, stop in self.lists.get(number, ()) if kind == BYTES]

    def ints(self, number: int) -> list[int]:
        """The values of a list of integers, packed or not."""
        listed: list[int] = []
        for kind, start, stop in self.lists.get(number, ()):
            if kind not in (VARINT, BYTES):
                raise DamagedError("a list of integers has a field of another type")
            listed += [to_signed(start)] if kind == VARINT else decode_packed(self.buffer[start:stop])
        return listed

    def floats(self, number: int) -> list[float]:
        """The values of a list of floats, packed or not."""
        listed: list[float] = []
        for kind, start, stop in self.lists.get(number, ()):
            piece = None if kind == VARINT else raw_elements(_FLOAT_TYPES[number], bytes(self.buffer[start:stop]))
            if piece is None:
                raise DamagedError("a list of floats has a field of another type")
            listed += piece
        return listed


def _read_range(dtype: str, dims: Sequence[int], values: _Values) -> BoundedTensor | None:
    """A large integer tensor with its least and its greatest element; None for any other tensor."""
    if not wants_range(dtype, dims):
        return None
    if values.content is not None:
        import numpy as np

        array = np.frombuffer(values.buffer[slice(*values.content)], _storage_dtype(dtype), prod(dims))
        return BoundedTensor(dtype, Shape(dims), int(array.min()), int(array.max()))
    if values.length() > MAX_EAGER_BYTES:
        return None
    listed = values.ints(_LISTS.get(dtype, _INT_LIST))[: prod(dims)] or [0]
    return BoundedTensor(dtype, Shape(dims), min(listed), max(listed))


def _static_dims(dims: tuple[int | None, ...] | None) -> tuple[int, ...]:
    if dims is None or None in dims:
        raise ModelError("the shape of a constant has unknown sizes")
    sizes = tuple([d for d in dims if d is not None])
    if prod(sizes) >= 1 << 63:
        raise ModelError(f"the constant of the shape {list(sizes)} is too large (more than 2**63 - 1 elements)")
    return sizes


def _check_content(dtype: str, dims: Sequence[int], length: int) -> None:
    """Raise ModelError for raw data whose length does not fit the shape."""
    bits = element_bits(dtype)
    if bits is None or KINDS[dtype] == "quantized":
        return
    size = -(-bits // 8)
    if length != prod(dims) * size:
        expected = f"{prod(dims)} elements of {size} bytes"
        raise ModelError(f"the data of a {dtype} constant of the shape {list(dims)} are {length} bytes, not {expected}")


def _storage_dtype(dtype: str) -> np.dtype[np.generic] | None:
    """The numpy type of the elements of raw data, little endian.

    None for strings, handles and quantized numbers, and for a type of ml_dtypes where that is not installed.
    """
    if KINDS[dtype] in ("string", "handle", "quantized") or not has_numpy_type(dtype):
        return None
    kind = numpy_dtype(dtype)
    assert kind is not None
    return kind.newbyteorder("<") if kind.isbuiltin == 1 else kind


def decode_content(dtype: str, dims: Sequence[int], data: bytes) -> list[Element] | None:
    """The elements of raw data that fit the shape; None for types whose elements are never known."""
    if dtype == "string":
        return _decode_strings(data, prod(dims))
    plain = raw_elements(dtype, bytes(data))
    if plain is not None:
        return list(plain)
    kind = _storage_dtype(dtype)
    if kind is None:
        return None
    import numpy as np

    return _numbers(dtype, np.frombuffer(data, kind))


def _numbers(dtype: str, array: npt.NDArray[np.generic]) -> list[Element]:
    """Python numbers of an array."""
    import numpy as np

    plain = {"float": "f8", "integer": "i8" if dtype != "uint64" else "u8"}.get(KINDS[dtype])
    with np.errstate(all="ignore"):
        return list(array.astype(plain).tolist() if plain else array.tolist())


def _decode_strings(data: bytes, count: int) -> list[Element]:
    """The strings of raw data: all lengths, then all bytes."""
    lengths, pos = [], 0
    for _ in range(count):
        length, pos = varint(data, pos)
        lengths.append(length)
    if pos + sum(lengths) != len(data):
        raise DamagedError("the strings of a constant do not fill its data")
    texts: list[Element] = []
    for length in lengths:
        texts.append(data[pos : pos + length].decode("utf-8", "replace"))
        pos += length
    return texts


def _elements(dtype: str, dims: Sequence[int], values: _Values) -> list[Element] | None:
    """The elements of a tensor; the last value of a short list repeats, an empty list stands for zeros."""
    if values.content is not None:
        return decode_content(dtype, dims, values.buffer[slice(*values.content)])
    count, reader = prod(dims), _READERS.get(KINDS[dtype])
    if reader is None or (KINDS[dtype] == "float" and dtype not in _LISTS and not has_numpy_type(dtype)):
        return None
    listed = reader(dtype, values)[:count]
    last = listed[-1] if listed else _ZEROS.get(KINDS[dtype], 0)
    return [*listed, *[last] * (count - len(listed))]


def _strings(dtype: str, values: _Values) -> list[Element]:
    return [piece.decode("utf-8", "replace") for piece in values.pieces(_TEXT_LIST)]


def _complex_numbers(dtype: str, values: _Values) -> list[Element]:
    parts = values.floats(_LISTS[dtype])
    return [complex(real, imaginary) for real, imaginary in zip(parts[::2], parts[1::2], strict=False)]


def _floats(dtype: str, values: _Values) -> list[Element]:
    """Floats of all widths; those of at most 16 bits are stored as bit patterns."""
    number = _LISTS.get(dtype, _BYTE_LIST)
    if number in _FLOAT_TYPES:
        return list(values.floats(number))
    if number == _PATTERN_LIST:
        patterns = [value & 0xFFFF for value in values.ints(number)]
        return list(raw_elements(dtype, struct.pack(f"<{len(patterns)}H", *patterns)) or ())
    import numpy as np

    return _numbers(dtype, np.frombuffer(b"".join(values.pieces(number)), np.dtype(numpy_dtype(dtype))))


def _integers(dtype: str, values: _Values) -> list[Element]:
    """Integers; those that are too large for their type wrap around, as in TensorFlow."""
    least, most = INTEGER_RANGES[dtype]
    span = most - least + 1
    return [(value - least) % span + least for value in values.ints(_LISTS.get(dtype, _INT_LIST))]


def _bools(dtype: str, values: _Values) -> list[Element]:
    return [bool(value) for value in values.ints(_LISTS[dtype])]


_READERS: dict[str, Callable[[str, _Values], list[Element]]] = {
    "string": _strings,
    "complex": _complex_numbers,
    "float": _floats,
    "integer": _integers,
    "bool": _bools,
}
