"""Constants: all compressed forms, types, limits; TensorFlow is the oracle where it is installed."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from shapeinf import LimitError, ModelError
from shapeinf.formats.protobuf.wire import DamagedError
from shapeinf.formats.tf.messages import enum_values
from shapeinf.formats.tf.tensors import read_tensor
from shapeinf.formats.tf.text import encode_text
from shapeinf.lattice import BoundedTensor


def tensor(text):
    data = encode_text(text, "TensorProto")
    return read_tensor(data, 0, len(data))


def shape(*dims):
    return "tensor_shape { " + "".join(f"dim {{ size: {d} }} " for d in dims) + "}"


VALUES = [
    (f"dtype: DT_INT32 {shape(3)} int_val: [1, -2, 3]", (1, -2, 3)),
    (f"dtype: DT_INT32 {shape(3)} int_val: [1, 2]", (1, 2, 2)),
    (f"dtype: DT_INT32 {shape(2, 2)} int_val: 7", (7, 7, 7, 7)),
    (f"dtype: DT_INT32 {shape(2)}", (0, 0)),
    (f"dtype: DT_INT32 {shape(2)} int_val: [1, 2, 3]", (1, 2)),
    (f"dtype: DT_INT32 {shape(0)} int_val: [1]", ()),
    ("dtype: DT_INT32 int_val: 5", (5,)),
    ("dtype: DT_INT32", (0,)),
    (f"dtype: DT_INT32 {shape(2)} int64_val: [1, 2]", (0, 0)),
    (f'dtype: DT_INT32 {shape(2)} tensor_content: "\\001\\000\\000\\000\\377\\377\\377\\377"', (1, -1)),
    (f'dtype: DT_INT32 {shape(1)} int_val: 9 tensor_content: "\\001\\000\\000\\000"', (1,)),
    (f"dtype: DT_INT64 {shape(2)} int64_val: [-9223372036854775808, 4]", (-(2**63), 4)),
    (f"dtype: DT_UINT64 {shape(1)} uint64_val: 18446744073709551615", (2**64 - 1,)),
    (f"dtype: DT_UINT32 {shape(1)} uint32_val: 4294967295", (2**32 - 1,)),
    (f"dtype: DT_INT8 {shape(2)} int_val: [-1, 300]", (-1, 44)),
    (f"dtype: DT_UINT8 {shape(2)} int_val: [255, -1]", (255, 255)),
    (f"dtype: DT_BOOL {shape(3)} bool_val: [true, false]", (True, False, False)),
    (f"dtype: DT_FLOAT {shape(2)} float_val: [0.5]", (0.5, 0.5)),
    (f"dtype: DT_DOUBLE {shape(1)} double_val: [0.25]", (0.25,)),
    (f"dtype: DT_HALF {shape(2)} half_val: [15360, 49152]", (1.0, -2.0)),
    (f"dtype: DT_BFLOAT16 {shape(2)} half_val: [16256]", (1.0, 1.0)),
    (f'dtype: DT_FLOAT8_E4M3FN {shape(2)} float8_val: "8@"', (1.0, 2.0)),
    (f'dtype: DT_FLOAT8_E5M2 {shape(1)} tensor_content: "<"', (1.0,)),
    (f"dtype: DT_COMPLEX64 {shape(2)} scomplex_val: [1, 2]", (1 + 2j, 1 + 2j)),
    (f"dtype: DT_COMPLEX128 {shape(1)} dcomplex_val: [1, -2]", (1 - 2j,)),
    (f'dtype: DT_STRING {shape(3)} string_val: "a" string_val: "b\\303\\251"', ("a", "bé", "bé")),
    (f"dtype: DT_STRING {shape(2)}", ("", "")),
    (f'dtype: DT_STRING {shape(2)} tensor_content: "\\001\\002abc"', ("a", "bc")),
    (f"dtype: DT_INT4 {shape(2)} int_val: [-8, 7]", (-8, 7)),
    (f'dtype: DT_UINT4 {shape(2)} tensor_content: "\\017\\001"', (15, 1)),
    (f"dtype: DT_QINT8 {shape(2)} int_val: [1, 2]", None),
    (f"dtype: DT_RESOURCE {shape()}", None),
    (f"dtype: DT_VARIANT {shape()}", None),
    (f"dtype: DT_FLOAT {shape(9, 9)} float_val: 1", None),
]


@pytest.mark.parametrize(("text", "elements"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text, elements):
    assert tensor(text).elements == elements


def test_unpacked_lists_are_read_too():
    data = bytes([0x08, 3, 0x12, 4, 0x12, 2, 8, 2, 0x38, 7, 0x38, 8])
    assert read_tensor(data, 0, len(data)).elements == (7, 8)
    data = bytes([0x08, 1, 0x12, 4, 0x12, 2, 8, 1, 0x2D]) + struct.pack("<f", 2.5)
    assert read_tensor(data, 0, len(data)).elements == (2.5,)


def test_large_constants_take_no_memory():
    assert repr(tensor(f"dtype: DT_FLOAT {shape(2**20, 2**20)} float_val: 1")) == "float32[1048576, 1048576]"
    assert tensor(f"dtype: DT_INT64 {shape(2**40)} int64_val: 1").elements is None


RANGES = [
    (f"dtype: DT_INT32 {shape(5000)} int_val: [3, 9, 4]", 3, 9),
    (f"dtype: DT_INT64 {shape(5000)}", 0, 0),
]


@pytest.mark.parametrize(("text", "least", "most"), RANGES)
def test_many_indices_have_their_range(text, least, most):
    assert tensor(text) == BoundedTensor(tensor(text).dtype, tensor(text).shape, least, most)


def test_the_range_of_raw_indices():
    content = np.arange(6000, dtype="<i4").tobytes()
    header = encode_text(f"dtype: DT_INT32 {shape(6000)}", "TensorProto")
    data = header + b"\x22" + bytes([len(content) & 127 | 128, len(content) >> 7 & 127 | 128, len(content) >> 14])
    read = read_tensor(data + content, 0, len(data) + len(content))
    assert isinstance(read, BoundedTensor)
    assert (read.least, read.most) == (0, 5999)


REFUSED = [
    (f'dtype: DT_INT32 {shape(2)} tensor_content: "abc"', ModelError, "are 3 bytes, not 2 elements of 4 bytes"),
    (f'dtype: DT_FLOAT {shape(2**30)} tensor_content: "abcd"', ModelError, "are 4 bytes, not 1073741824 elements"),
    (f"dtype: DT_INT32 {shape(-1)}", ModelError, "the shape of a constant has unknown sizes"),
    ("dtype: DT_INT32 tensor_shape { unknown_rank: true }", ModelError, "unknown sizes"),
    (f"dtype: DT_INT32 {shape(-2)}", ModelError, "a shape has the size -2"),
    (f"dtype: DT_INT32 {shape(2**31, 2**32)}", ModelError, "is too large"),
    (f"dtype: DT_INT32 {shape(*[1] * 255)}", LimitError, "a shape has 255 axes"),
    (f'dtype: DT_STRING {shape(2)} tensor_content: "\\001\\005abc"', DamagedError, "do not fill its data"),
    (f'dtype: DT_STRING {shape(9)} tensor_content: "\\001\\005abc"', DamagedError, "ends inside an integer"),
]


@pytest.mark.parametrize(("text", "error", "message"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_malformed_constants(text, error, message):
    with pytest.raises(error, match=message):
        tensor(text)


LIST_OF = {
    "DT_FLOAT": "float_val",
    "DT_DOUBLE": "double_val",
    "DT_STRING": "string_val",
    "DT_COMPLEX64": "scomplex_val",
    "DT_INT64": "int64_val",
    "DT_BOOL": "bool_val",
    "DT_COMPLEX128": "dcomplex_val",
    "DT_HALF": "half_val",
    "DT_BFLOAT16": "half_val",
    "DT_UINT32": "uint32_val",
    "DT_UINT64": "uint64_val",
}
OTHERS = ("DT_INT32", "DT_UINT8", "DT_INT16", "DT_INT8", "DT_UINT16", "DT_INT4", "DT_UINT4")


def random_value(rng, field, dtype):
    if field == "string_val":
        return '"' + "".join(rng.choice("ab\u00e9") for _ in range(rng.randrange(4))) + '"'
    if field == "bool_val":
        return rng.choice(("true", "false"))
    if "float" in field or "double" in field or "complex" in field:
        return str(rng.choice((0, 1, -2.5, 0.1, 1e30)))
    low, high = (-8, 7) if dtype == "DT_INT4" else (0, 15) if dtype == "DT_UINT4" else (0, 100)
    return str(rng.randint(low, high))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*LIST_OF, *OTHERS])
def test_random_lists_against_tensorflow(dtype):
    """What the Const kernel returns for lists that are complete, short, empty and too long."""
    tf = pytest.importorskip("tensorflow")
    rng = random.Random(dtype)
    field = LIST_OF.get(dtype, "int_val")
    for _ in range(30):
        dims = [rng.randrange(4) for _ in range(rng.randrange(3))]
        count = int(np.prod(dims)) * (2 if "complex" in field else 1)
        number = rng.choice((0, 1, 2, count, count + 3))
        number += number % 2 if "complex" in field else 0
        values = ", ".join(random_value(rng, field, dtype) for _ in range(number))
        text = f"dtype: {dtype} {shape(*dims)} {field}: [{values}]"
        node = f'node {{ name: "c" op: "Const" attr {{ key: "value" value {{ tensor {{ {text} }} }} }}'
        data = encode_text(node + f' attr {{ key: "dtype" value {{ type: {dtype} }} }} }}', "GraphDef")
        graph = tf.compat.v1.GraphDef.FromString(data)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            (value,) = tf.import_graph_def(graph, return_elements=["c:0"])
            expected = np.asarray(session.run(value), dtype=object if field == "string_val" else None)
        ours = tensor(text)
        assert list(ours.shape) == list(expected.shape)
        listed = [e.decode() if isinstance(e, bytes) else e for e in expected.reshape(-1).tolist()]
        assert ours.elements is not None
        assert np.array_equal(np.array(ours.elements), np.array(listed)), text


def test_every_type_of_tensorflow_has_a_name():
    codes = {name: code for name, code in enum_values("DataType").items() if 0 < code < 100}
    for name in codes:
        assert tensor(f"dtype: {name} {shape(0)}").dtype is not None
