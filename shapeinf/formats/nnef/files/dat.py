"""Tensor files (`.dat`): their headers in both layouts, and the contents of small ones.

Source: NNEF 1.0.5, 5.1 "Tensor Data Format", and the provisional specification of 2017 for the older layout.
"""

from __future__ import annotations

import struct
from math import prod
from typing import Literal

import attrs

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.formats.raw_data import raw_elements
from shapeinf.lattice import PartialTensor, Shape

MAX_RANK = 8
MAX_HEADER = 4096
"""Bytes of the longest header, with the quantization text of the older layout."""
MAX_SMALL = MAX_HEADER + 8 * 4096
"""Bytes of the largest file whose contents are read."""

_MAGIC = b"\x4e\xef"
_FINAL_LENGTH = 128
_WRAP = 1 << 32
_TRACT = 0x5452  # "TR"
_TRACT_STRING = 0x1000

ItemKind = Literal["float", "unsigned", "quantized unsigned", "quantized", "signed", "bool", "other"]

_FINAL_KINDS: tuple[ItemKind, ...] = ("float", "unsigned", "quantized unsigned", "quantized", "signed", "bool")
_OLD_KINDS: tuple[ItemKind, ...] = ("float", "quantized unsigned", "signed", "unsigned")
_PREFIXES = {"float": "float", "unsigned": "uint", "quantized unsigned": "uint", "quantized": "int", "signed": "int"}
_BITS = {"float": (16, 32, 64), "int": (8, 16, 32, 64), "uint": (8, 16, 32, 64)}


@attrs.frozen
class Header:
    """The header of a tensor file.

    Args:
        layout: `final` has 128 bytes, `provisional` has no fixed length.
        dims: the extents.
        kind: the meaning of the item type code.
        code: the item type code.
        bits: the bits of an item.
        vendor: the vendor who defines `code`, 0 for the specification.
        quantization: the quantization text of the older layout.
        start: the offset of the items.
        length: the bytes of all items.
    """

    layout: Literal["final", "provisional"]
    dims: tuple[int, ...]
    kind: ItemKind
    code: int
    bits: int
    vendor: int
    quantization: str
    start: int
    length: int

    @property
    def dtype(self) -> str | None:
        """The element type of the stored items; None if numpy has no such type."""
        if self.kind == "other":
            return self._vendor_dtype()
        if self.kind == "bool":
            return "bool" if self.bits in (1, 8) else None
        prefix = _PREFIXES[self.kind]
        return f"{prefix}{self.bits}" if self.bits in _BITS[prefix] else None

    def _vendor_dtype(self) -> str | None:
        if self.vendor != _TRACT:
            return None
        if self.code == _TRACT_STRING:
            return "string"
        return f"complex{self.bits}" if self.code == 0 and self.bits in (64, 128) else None


def read_header(head: bytes, size: int, name: str) -> Header:
    """The header of a tensor file of `size` bytes, from its first `MAX_HEADER` bytes.

    Raises ModelError with the name of the file if it is no tensor file, is cut off, or contradicts itself.
    """
    if len(head) < 12:
        raise ModelError(f"is not an NNEF tensor file: it has only {size} bytes", node=name)
    if head[:2] != _MAGIC:
        raise ModelError(f"is not an NNEF tensor file: it starts with {head[:4]!r}", node=name)
    if tuple(head[2:4]) != (1, 0):
        raise ModelError(f"the version {head[2]}.{head[3]} of tensor files is not supported", node=name)
    length, rank = struct.unpack_from("<II", head, 4)
    if rank > MAX_RANK:
        raise LimitError(f"a tensor of rank {rank}; at most {MAX_RANK} is allowed", node=name)
    # Both layouts have rank and extents at the same offset, and a file may have the length of both: all must fit.
    final, old = _final(head, size, length, rank), _provisional(head, size, length, rank)
    # The size of items of a vendor is unknown, so a file of 2017 may look like one with a type of a vendor.
    likely = (old, final) if isinstance(final, Header) and final.vendor != 0 else (final, old)
    for header in likely:
        if isinstance(header, Header):
            return header
    raise ModelError(str(old if _is_provisional_length(head, length, rank) else final), node=name)


def _is_provisional_length(head: bytes, length: int, rank: int) -> bool:
    """Whether a damaged file is more likely one of 2017: its fields have the length of the header."""
    fixed = 16 + 4 * rank
    if len(head) < fixed:
        return False
    bits, text = struct.unpack_from("<BH", head, fixed - 3)
    return bool(bits > 0 and length == fixed + text)


def _final(head: bytes, size: int, length: int, rank: int) -> Header | str:
    """The header in the final layout, or the error."""
    if size < _FINAL_LENGTH or len(head) < _FINAL_LENGTH:
        return f"is cut off: a header has {_FINAL_LENGTH} bytes, the file {size}"
    present = size - _FINAL_LENGTH
    if length != present % _WRAP:  # the field has 32 bits; larger files exist
        return f"the header has {length} bytes of items, the file has {present}"
    dims = struct.unpack_from(f"<{rank}I", head, 12)
    bits, code, vendor = struct.unpack_from("<IHH", head, 44)
    kind: ItemKind = "other"
    if vendor == 0:
        if code >= len(_FINAL_KINDS):
            return f"the item type {code} is not one of 0 to {len(_FINAL_KINDS) - 1}"
        kind = _FINAL_KINDS[code]
        # Files before 1.0.3 have one code for integers, and another field for the sign.
        if kind == "unsigned" and struct.unpack_from("<I", head, 52)[0] != 0:
            kind = "signed"
        error = _items_error(dims, kind, bits, present)
        if error:
            return error
    return Header("final", dims, kind, code, bits, vendor, "", _FINAL_LENGTH, present)


def _provisional(head: bytes, size: int, length: int, rank: int) -> Header | str:
    """The header in the layout of 2017, or the error."""
    fixed = 16 + 4 * rank
    if length > MAX_HEADER:
        return f"a header of {length} bytes; at most {MAX_HEADER} are allowed"
    if len(head) < length or size < length:
        return f"is cut off: the header has {length} bytes, the file {size}"
    dims = struct.unpack_from(f"<{rank}I", head, 12)
    code, bits, text = struct.unpack_from("<BBH", head, fixed - 4)
    if fixed + text != length:
        return f"the header states a length of {length} bytes, but its fields have {fixed + text}"
    if code >= len(_OLD_KINDS):
        return f"the item type {code} is not one of 0 to {len(_OLD_KINDS) - 1}"
    quantization = head[fixed:length].decode("utf-8", "replace")
    error = _items_error(dims, _OLD_KINDS[code], bits, size - length)
    if error:
        return error
    return Header("provisional", dims, _OLD_KINDS[code], code, bits, 0, quantization, length, size - length)


def _items_error(dims: tuple[int, ...], kind: ItemKind, bits: int, present: int) -> str | None:
    """The error for items of this many bits in the `present` bytes; None if they fit."""
    allowed = (16, 32, 64) if kind == "float" else (1, 8) if kind == "bool" else range(1, 65)
    if bits not in allowed:
        return f"{kind} items of {bits} bits"
    needed = (prod(dims) * bits + 7) // 8
    if needed == present:
        return None
    return f"items of the shape {list(dims)} with {bits} bits each need {needed} bytes, the file has {present}"


def has_small_contents(header: Header) -> bool:
    """Whether the contents are small, and shapes may depend on them."""
    return wants_contents(header.dtype, header.dims) and header.start + header.length <= MAX_SMALL


def read_contents(header: Header, data: bytes, dtype: str | None = None) -> PartialTensor:
    """The tensor of a complete small file; `dtype` is its element type in the graph, by default that of its items.

    Quantized items, which stand for other numbers, and items without a numpy type stay unknown.
    """
    shape = Shape(header.dims)
    stored = header.dtype
    dtype = dtype or stored
    if stored is None or header.kind in ("quantized", "quantized unsigned", "other"):
        return PartialTensor(dtype, shape, None)
    items = data[header.start : header.start + header.length]
    if len(items) < header.length:
        return PartialTensor(dtype, shape, None)
    count = prod(header.dims)
    plain = raw_elements(stored, items) if header.kind != "bool" else None
    if plain is not None and len(plain) == count:
        return PartialTensor(dtype, shape, plain)
    import numpy as np

    if header.kind != "bool":
        array = np.frombuffer(items, np.dtype(stored).newbyteorder("<"), count)
    elif header.bits == 1:
        array = np.unpackbits(np.frombuffer(items, np.uint8))[:count].astype(bool)
    else:
        array = np.frombuffer(items, np.uint8, count) != 0
    return PartialTensor(dtype, shape, array.tolist())
