"""TensorProtos: shapes and types always, contents only of small ones that may be shapes.

TensorFlow compresses constants: a list of fewer values than elements repeats its last value, and no value at all stands
for zeros or empty strings. Bytes of weights are never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

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
from shapeinf.formats.tf.types import dtype_name
from shapeinf.lattice import Element, PartialTensor, Shape, numpy_dtype
from shapeinf.lattice.dtypes import DTYPES

MAX_RANK = 254
"""Axes that a shape of TensorFlow may have."""

_CONTENT = 4
_KINDS = {dtype.name: dtype.kind for dtype in DTYPES}
_FLOATS = {5: "<f4", 6: "<f8", 9: "<f4", 12: "<f8"}
"""Lists of floats, by the number of their field; complex numbers are pairs."""

_PATTERNS = 13
"""The list of bit patterns of 16-bit floats."""

_TEXTS, _BYTE_FLOATS = 8, 18
_INTEGERS = (7, 10, 11, 16, 17, _PATTERNS)
_ZEROS: Mapping[str, Element] = {"string": "", "bool": False, "complex": 0j, "float": 0.0}
_VALUES = (*_FLOATS, *_INTEGERS, _TEXTS, _BYTE_FLOATS)

Span = tuple[int, int, int]
"""Wire type, start and end of a field."""


def read_dims(buffer: Buffer, pos: int, end: int) -> tuple[int | None, ...] | None:
    """The dims of a TensorShapeProto: None for an unknown one, None for a shape of unknown rank.

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
    """A tensor with its type and shape, and its contents if small. Raises ModelError for a malformed one."""
    code = 0
    content: tuple[int, int] | None = None
    values: dict[int, list[Span]] = {}
    shape: tuple[int | None, ...] | None = ()
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == 1 and kind == VARINT:
            code = start
        elif number == 2 and kind == BYTES:
            shape = read_dims(buffer, start, stop)
        elif number == _CONTENT and kind == BYTES and stop > start:
            content = start, stop
        elif number in _VALUES:
            values.setdefault(number, []).append((kind, start, stop))
    dtype = dtype_name(code)
    dims = _static(shape)
    if content is not None and dtype is not None:
        _check_content(dtype, dims, content[1] - content[0])
    if not wants_contents(dtype, dims) or dtype is None:
        return PartialTensor(dtype, Shape(dims), None)
    elements = decode_content(dtype, dims, buffer[slice(*content)]) if content else _listed(dtype, dims, buffer, values)
    return PartialTensor(dtype, Shape(dims), elements)


def _static(dims: tuple[int | None, ...] | None) -> tuple[int, ...]:
    if dims is None or None in dims:
        raise ModelError("the shape of a constant has unknown sizes")
    sizes = tuple([d for d in dims if d is not None])
    if prod(sizes) >= 1 << 63:
        raise ModelError(f"the constant of the shape {list(sizes)} is too large (more than 2**63 - 1 elements)")
    return sizes


def _check_content(dtype: str, dims: Sequence[int], length: int) -> None:
    """Compare the length of raw data with the shape."""
    kind = _storage(dtype)
    if kind is not None and length != prod(dims) * kind.itemsize:
        expected = f"{prod(dims)} elements of {kind.itemsize} bytes"
        raise ModelError(f"the data of a {dtype} constant of the shape {list(dims)} are {length} bytes, not {expected}")


def _storage(dtype: str) -> np.dtype[np.generic] | None:
    """The numpy type of the elements of raw data, little endian; None for strings, handles and quantized numbers."""
    if _KINDS[dtype] in ("string", "handle", "quantized"):
        return None
    kind = numpy_dtype(dtype)
    assert kind is not None
    return kind.newbyteorder("<") if kind.isbuiltin == 1 else kind


def decode_content(dtype: str, dims: Sequence[int], data: bytes) -> list[Element] | None:
    """The elements of raw data that fit the shape; None for types whose elements are never known."""
    if dtype == "string":
        return _decode_strings(data, prod(dims))
    kind = _storage(dtype)
    return None if kind is None else _elements(dtype, np.frombuffer(data, kind))


def _elements(dtype: str, array: npt.NDArray[np.generic]) -> list[Element]:
    """Python numbers of an array."""
    plain = {"float": "f8", "integer": "i8" if dtype != "uint64" else "u8"}.get(_KINDS[dtype])
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


def _listed(dtype: str, dims: Sequence[int], buffer: Buffer, values: dict[int, list[Span]]) -> list[Element] | None:
    """The elements of typed lists; the last value of a short list repeats, an empty list stands for zeros."""
    count, kind = prod(dims), _KINDS[dtype]
    reader = _READERS.get(kind)
    if reader is None:
        return None
    listed = reader(dtype, buffer, values)[:count]
    last = listed[-1] if listed else _ZEROS.get(kind, 0)
    return [*listed, *[last] * (count - len(listed))]


def _strings(dtype: str, buffer: Buffer, values: dict[int, list[Span]]) -> list[Element]:
    spans = values.get(_TEXTS, ())
    return [buffer[start:stop].decode("utf-8", "replace") for kind, start, stop in spans if kind == BYTES]


def _complex_numbers(dtype: str, buffer: Buffer, values: dict[int, list[Span]]) -> list[Element]:
    parts = _float_list(buffer, values, (9, 12))
    return [complex(real, imaginary) for real, imaginary in zip(parts[::2], parts[1::2], strict=False)]


def _floats(dtype: str, buffer: Buffer, values: dict[int, list[Span]]) -> list[Element]:
    """Floats of all widths; those of 16 bits and of bytes are patterns."""
    if dtype in ("float32", "float64"):
        return list(_float_list(buffer, values, (5, 6)))
    if dtype in ("float16", "bfloat16"):
        patterns = np.array([value & 0xFFFF for value in _int_list(buffer, values, (_PATTERNS,))], "<u2")
        return _elements(dtype, patterns.view(np.dtype(numpy_dtype(dtype))))
    data = b"".join(buffer[start:stop] for kind, start, stop in values.get(_BYTE_FLOATS, ()) if kind == BYTES)
    return _elements(dtype, np.frombuffer(data, _storage(dtype)))


def _integers(dtype: str, buffer: Buffer, values: dict[int, list[Span]]) -> list[Element]:
    listed = _int_list(buffer, values, (7, 10, 16, 17))
    return [value % (1 << 64) for value in listed] if dtype == "uint64" else list(listed)


def _bools(dtype: str, buffer: Buffer, values: dict[int, list[Span]]) -> list[Element]:
    return [bool(value) for value in _int_list(buffer, values, (11,))]


_READERS: dict[str, Callable[[str, Buffer, dict[int, list[Span]]], list[Element]]] = {
    "string": _strings,
    "complex": _complex_numbers,
    "float": _floats,
    "integer": _integers,
    "bool": _bools,
}


def _int_list(buffer: Buffer, values: dict[int, list[Span]], numbers: Sequence[int]) -> list[int]:
    """The integers of the first of these fields that has some, packed or not."""
    spans = next((values[number] for number in numbers if number in values), ())
    listed: list[int] = []
    for kind, start, stop in spans:
        if kind not in (VARINT, BYTES):
            raise DamagedError("a list of integers has a field of another type")
        listed += [to_signed(start)] if kind == VARINT else decode_packed(buffer[start:stop])
    return listed


def _float_list(buffer: Buffer, values: dict[int, list[Span]], numbers: Sequence[int]) -> list[float]:
    """The floats of the first of these fields that has some, packed or not."""
    number = next((number for number in numbers if number in values), None)
    if number is None:
        return []
    code = _FLOATS[number]
    listed: list[float] = []
    for kind, start, stop in values[number]:
        if kind == VARINT or (stop - start) % int(code[-1]):
            raise DamagedError("a list of floats has a field of another type")
        listed += np.frombuffer(buffer[start:stop], code).tolist()
    return listed
