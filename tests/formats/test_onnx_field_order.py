"""Fields of a protobuf message may come in any order: the graph is the same, in both readers.

Source: protobuf's "Encoding" page, "Field order"; only the fields of one number keep their order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import onnx
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from shapeinf.formats.onnx.reader import read_model
from shapeinf.formats.onnx.source import read
from shapeinf.formats.protobuf.wire import BYTES, FIXED32, FIXED64, VARINT, encode_tag, encode_varint, fields
from tests.formats.graphs import record
from tests.formats.onnx_models import everything


def shuffled(data: bytes, descriptor: Descriptor, draw: random.Random) -> bytes:
    """The same message with its fields in another order, and those of all messages in it."""
    queues: dict[int, list[bytes]] = {}
    for number, part in _parts(data, descriptor, draw):
        queues.setdefault(number, []).append(part)
    order = [number for number, parts in queues.items() for _ in parts]
    draw.shuffle(order)
    remaining = {number: iter(parts) for number, parts in queues.items()}
    return b"".join(next(remaining[number]) for number in order)


def _parts(data: bytes, descriptor: Descriptor, draw: random.Random) -> Iterator[tuple[int, bytes]]:
    for number, kind, start, end in fields(data, 0, len(data)):
        tag = encode_tag(number, kind)
        if kind == VARINT:
            yield number, tag + encode_varint(start)
        elif kind in (FIXED32, FIXED64):
            yield number, tag + data[start:end]
        else:
            assert kind == BYTES
            field = descriptor.fields_by_number.get(number)
            inner = data[start:end]
            if field is not None and field.type == FieldDescriptor.TYPE_MESSAGE:
                inner = shuffled(inner, field.message_type, draw)
            yield number, tag + encode_varint(len(inner)) + inner


def text_model() -> onnx.ModelProto:
    """A model with a function, a branch, metadata and constants of two forms."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18, "my" : 1], producer_name: "p", producer_version: "2">
        g (float[N, 4] x, bool c) => (float[] y, float[] z)
        <float[2, 4] w = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] k = {-1}> {
            a = my.twice(x)
            y = If (c) <then_branch = t () => (float[] p) { p = Add(a, x) },
                        else_branch = e () => (float[] q) { q = Relu(a) }>
            z = Reshape(w, k)
        }
        <domain: "my", opset_import: ["" : 18]> twice (v) => (u) { u = Concat<axis = 0>(v, v) }"""
    )
    model.graph.node[-1].attribute.append(onnx.helper.make_attribute("allowzero", 1))
    model.metadata_props.add(key="author", value="nobody")
    return model


MODELS = {"all kinds of fields": everything, "functions and bodies": text_model}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_fields_means_nothing(name: str, seed: int) -> None:
    model = MODELS[name]()
    data = shuffled(model.SerializeToString(), onnx.ModelProto.DESCRIPTOR, random.Random(seed))
    again = onnx.ModelProto.FromString(data)
    assert again == model
    expected = record(read(model.SerializeToString()))
    assert record(read(data)) == expected
    assert record(read_model(again)) == expected
