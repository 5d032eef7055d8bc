"""Tensor files (`.dat`): their headers in both layouts, and the contents of small ones.

Source: NNEF 1.0.5, 5.1 "Tensor Data Format", and the provisional specification of 2017 for the older layout.
"""

from __future__ import annotations

import struct
from math import prod
from typing import Literal

import attrs
import numpy as np

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.contents import wants_contents
from shapeinf.lattice import PartialTensor, Shape

MAX_RANK = 8
MAX_HEADER = 4096
"""Bytes at the start of a file that hold any header, with the quantization text of the older layout."""
MAX_SMALL = MAX_HEADER + 8 * 4096
"""Bytes of the largest file whose contents may be wanted."""

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
    """What a tensor file says before its items.

    Args:
        layout: `final` has 128 bytes, `provisional` as many as it needs.
        dims: the extents.
        kind: what the item type code means.
        code: the item type code, `vendor` whose it is (0 for the specification's own).
        bits: bits of an item.
        quantization: the quantization text of the older layout.
        start: the offset of the items, `length` their bytes.
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
        """The numpy name of the stored items; None where numpy has none."""
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
    """The header of a tensor file of `size` bytes, from its first bytes (`MAX_HEADER`, or all that there are).

    Raises ModelError with the file's name for what is no tensor file, is cut off, or contradicts itself.
    """
    if len(head) < 12:
        raise ModelError(f"is no NNEF tensor file: it has only {size} bytes", node=name)
    if head[:2] != _MAGIC:
        raise ModelError(f"is no NNEF tensor file: it starts with {head[:4]!r}", node=name)
    if tuple(head[2:4]) != (1, 0):
        raise ModelError(f"the version {head[2]}.{head[3]} of tensor files is not supported", node=name)
    length, rank = struct.unpack_from("<II", head, 4)
    if rank > MAX_RANK:
        raise LimitError(f"a tensor of rank {rank}; at most {MAX_RANK} is allowed", node=name)
    # Both layouts have rank and extents in the same place, and a file may have the length of both: all of it must fit.
    final, old = _final(head, size, length, rank), _provisional(head, size, length, rank)
    for found in (final, old):
        if isinstance(found, Header):
            return found
    raise ModelError(str(old if _looks_provisional(head, length, rank) else final), node=name)


def _looks_provisional(head: bytes, length: int, rank: int) -> bool:
    """Whether a wrong file is more likely one of 2017: its items have bits, and its fields the length of the header."""
    fixed = 16 + 4 * rank
    if len(head) < fixed:
        return False
    bits, text = struct.unpack_from("<BH", head, fixed - 3)
    return bool(bits > 0 and length == fixed + text)


def _final(head: bytes, size: int, length: int, rank: int) -> Header | str:
    """The header in the final layout, or what is wrong with it."""
    if size < _FINAL_LENGTH or len(head) < _FINAL_LENGTH:
        return f"is cut off: a header has {_FINAL_LENGTH} bytes, the file {size}"
    present = size - _FINAL_LENGTH
    if length != present % _WRAP:  # the field has 32 bits; larger files exist
        return f"the header says {length} bytes of items, the file has {present}"
    dims = struct.unpack_from(f"<{rank}I", head, 12)
    bits, code, vendor = struct.unpack_from("<IHH", head, 44)
    kind: ItemKind = "other"
    if vendor == 0:
        if code >= len(_FINAL_KINDS):
            return f"the item type {code} is not one of 0 to {len(_FINAL_KINDS) - 1}"
        kind = _FINAL_KINDS[code]
        # Files of before 1.0.3 have one code for integers, and after it whether they are signed.
        if kind == "unsigned" and struct.unpack_from("<I", head, 52)[0] != 0:
            kind = "signed"
        wrong = _wrong_items(dims, kind, bits, present)
        if wrong:
            return wrong
    return Header("final", dims, kind, code, bits, vendor, "", _FINAL_LENGTH, present)


def _provisional(head: bytes, size: int, length: int, rank: int) -> Header | str:
    """The header in the layout of 2017, or what is wrong with it."""
    fixed = 16 + 4 * rank
    if length > MAX_HEADER:
        return f"a header of {length} bytes; at most {MAX_HEADER} are allowed"
    if len(head) < length or size < length:
        return f"is cut off: the header has {length} bytes, the file {size}"
    dims = struct.unpack_from(f"<{rank}I", head, 12)
    code, bits, text = struct.unpack_from("<BBH", head, fixed - 4)
    if fixed + text != length:
        return f"the header says that it has {length} bytes, but its fields have {fixed + text}"
    if code >= len(_OLD_KINDS):
        return f"the item type {code} is not one of 0 to {len(_OLD_KINDS) - 1}"
    quantization = head[fixed:length].decode("utf-8", "replace")
    wrong = _wrong_items(dims, _OLD_KINDS[code], bits, size - length)
    if wrong:
        return wrong
    return Header("provisional", dims, _OLD_KINDS[code], code, bits, 0, quantization, length, size - length)


def _wrong_items(dims: tuple[int, ...], kind: ItemKind, bits: int, present: int) -> str | None:
    """What is wrong with items of these bits, of which there are so many bytes."""
    allowed = (16, 32, 64) if kind == "float" else (1, 8) if kind == "bool" else range(1, 65)
    if bits not in allowed:
        return f"{kind} items of {bits} bits"
    wanted = (prod(dims) * bits + 7) // 8
    if wanted == present:
        return None
    return f"items of the shape {list(dims)} with {bits} bits each need {wanted} bytes, the file has {present}"


def wanted(header: Header) -> bool:
    """Whether the contents are small and likely to decide about shapes."""
    return wants_contents(header.dtype, header.dims) and header.start + header.length <= MAX_SMALL


def read_contents(header: Header, data: bytes, dtype: str | None = None) -> PartialTensor:
    """The tensor of a whole small file; `dtype` is what the graph takes it for (else that of its items).

    Quantized items, and those that numpy has no type for, stay unknown: they stand for other numbers.
    """
    shape = Shape(header.dims)
    stored = header.dtype
    found = dtype or stored
    if stored is None or header.kind in ("quantized", "quantized unsigned", "other"):
        return PartialTensor(found, shape, None)
    items = data[header.start : header.start + header.length]
    if len(items) < header.length:
        return PartialTensor(found, shape, None)
    count = prod(header.dims)
    if header.kind != "bool":
        array = np.frombuffer(items, np.dtype(stored).newbyteorder("<"), count)
    elif header.bits == 1:
        array = np.unpackbits(np.frombuffer(items, np.uint8))[:count].astype(bool)
    else:
        array = np.frombuffer(items, np.uint8, count) != 0
    return PartialTensor(found, shape, array.tolist())
