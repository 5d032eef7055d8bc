"""New contents for constants of a model."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.errors import ModelError
from shapeinf.formats.onnx import proto_numbers as pb
from shapeinf.formats.protobuf.edits import joined_field, with_field
from shapeinf.formats.protobuf.pieces import encode_bytes, encode_number
from shapeinf.formats.protobuf.wire import BYTES, VARINT, Buffer, fields
from shapeinf.formats.raw_data import encode_elements
from shapeinf.lattice import PartialTensor
from shapeinf.lattice.dtypes import ONNX_CODES


def initializer(buffer: Buffer, pos: int, end: int, constants: Mapping[str, PartialTensor]) -> bytes | None:
    """A TensorProto with the contents that `constants` has for its name; None if it has none."""
    for number, kind, start, stop in fields(buffer, pos, end):
        if number == pb.TENSOR_NAME and kind == BYTES:
            name = buffer[start:stop].decode("utf-8", "replace")
            return _tensor(name.encode(), constants[name], name) if name in constants else None
    return None


def constant_node(data: bytes, constants: Mapping[str, PartialTensor]) -> bytes:
    """A NodeProto of a constant with new contents. Raises ModelError for an attribute that cannot have them."""
    first = next(
        (data[a:b] for number, kind, a, b in fields(data, 0, len(data)) if (number, kind) == (pb.NODE_OUTPUT, BYTES)),
        b"",
    )
    output = first.decode("utf-8", "replace")
    before = 0
    for number, kind, start, end in fields(data, 0, len(data)):
        if number == pb.NODE_ATTRIBUTE and kind == BYTES:
            changed = _attribute(data[start:end], constants[output], output)
            if changed is not None:
                return data[:before] + encode_bytes(number, changed) + data[end:]
        before = end
    raise ModelError("its contents cannot be rewritten", node=output)


def _attribute(data: bytes, wanted: PartialTensor, node: str) -> bytes | None:
    """The AttributeProto of the contents of a constant, with new ones; None for another attribute."""
    name = joined_field(data, pb.ATTRIBUTE_NAME)
    items = [e for e in wanted.elements or () if isinstance(e, int)]
    if name == b"value" and _kind(data) == pb.KIND_TENSOR:
        old = joined_field(joined_field(data, pb.ATTRIBUTE_T) or b"", pb.TENSOR_NAME) or b""
        return with_field(data, pb.ATTRIBUTE_T, encode_bytes(pb.ATTRIBUTE_T, _tensor(old, wanted, node)))
    if name == b"value_ints":
        numbers = b"".join([encode_number(pb.ATTRIBUTE_INTS, item) for item in items])
        return with_field(data, pb.ATTRIBUTE_INTS, numbers)
    if name == b"value_int":
        return with_field(data, pb.ATTRIBUTE_I, encode_number(pb.ATTRIBUTE_I, items[0]))
    return None


def _kind(attribute: bytes) -> int:
    kinds = [
        start for n, kind, start, _ in fields(attribute, 0, len(attribute)) if (n, kind) == (pb.ATTRIBUTE_TYPE, VARINT)
    ]
    return kinds[-1] if kinds else 0


def _tensor(name: bytes, wanted: PartialTensor, node: str) -> bytes:
    """A TensorProto with raw data. Raises ModelError for a type without a code, and for numbers that do not fit."""
    numbers = [e for e in wanted.elements or () if isinstance(e, (int, float))]
    data = encode_elements(wanted.dtype or "", numbers) if len(numbers) == len(wanted.elements or ()) else None
    if data is None:
        raise ModelError("its contents cannot be rewritten", node=node)
    dims = b"".join([encode_number(pb.TENSOR_DIMS, int(str(d))) for d in wanted.shape])
    kind = encode_number(pb.TENSOR_DATA_TYPE, ONNX_CODES[wanted.dtype or ""])
    label = encode_bytes(pb.TENSOR_NAME, name) if name else b""
    return dims + kind + label + encode_bytes(pb.TENSOR_RAW_DATA, data)
