"""The contents of small constants: elements in order, narrow integers packed into bytes, texts behind their offsets."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from shapeinf.formats.contents import wants_contents
from shapeinf.formats.raw_data import Elements, raw_elements
from shapeinf.formats.tflite.document import Document, TensorRecord
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import element_bits

MAX_TEXTS = 1 << 16
"""Bytes of a constant of texts whose contents are read."""


def constant_of(document: Document, tensor: TensorRecord) -> PartialTensor:
    """A tensor that is stored with the model, with its contents where these are small and elements in order."""
    shape = Shape(tensor.dims)
    elements: Elements | tuple[str, ...] | None = None
    if tensor.data is not None and not tensor.is_encoded and wants_contents(tensor.dtype, tensor.dims):
        elements = _elements(document, tensor, *tensor.data)
    elif 0 in tensor.dims and tensor.data is None:
        elements = ()
    return PartialTensor(tensor.dtype, shape, elements)


def _elements(document: Document, tensor: TensorRecord, start: int, length: int) -> Elements | tuple[str, ...] | None:
    """The elements; None where their number is not that of the shape."""
    count = prod(tensor.dims)
    bits = element_bits(tensor.dtype)
    if tensor.dtype == "string":
        texts = _texts(document.reader.bytes_at(start, length)) if length <= MAX_TEXTS else None
        return texts if texts is not None and len(texts) == count else None
    if bits is None or length < (count * bits + 7) // 8:
        return None
    data = document.reader.bytes_at(start, (count * bits + 7) // 8)
    return raw_elements(tensor.dtype, data) if bits >= 8 else _narrow(data, bits, count, tensor.dtype == "uint4")


def _narrow(data: bytes, bits: int, count: int, unsigned: bool) -> Elements:
    """Integers of less than 8 bits, the first one in the lowest bits.

    >>> _narrow(bytes([0xF1, 0x07]), 4, 3, False)
    (1, -1, 7)
    """
    packed = int.from_bytes(data, "little")
    values = [packed >> bits * index & (1 << bits) - 1 for index in range(count)]
    return tuple([v - (1 << bits) if v >> bits - 1 and not unsigned else v for v in values])


def _texts(data: bytes) -> tuple[str, ...] | None:
    """The texts of a constant: their number, the offset of each and the end of the last, then their bytes."""
    if len(data) < 4:
        return None
    count = int.from_bytes(data[:4], "little")
    if 4 * (count + 2) > len(data):
        return None
    ends = [int.from_bytes(data[at : at + 4], "little") for at in range(4, 4 * (count + 2), 4)]
    if any(first > second for first, second in pairwise(ends)) or ends[-1] > len(data):
        return None
    return tuple([data[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)])
