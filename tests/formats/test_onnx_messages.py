"""Messages of ONNX that the scanner decodes itself: attributes, types and tensors, as protobuf reads them."""

import random
import struct

import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper

from shapeinf import ModelError
from shapeinf.formats.onnx.attributes import plain_attribute
from shapeinf.formats.onnx.external_contents import external_contents
from shapeinf.formats.onnx.reader import read_attribute, read_type
from shapeinf.formats.onnx.tensor_protos import parse, read_tensor
from shapeinf.formats.onnx.tensors import TensorScanner
from shapeinf.formats.onnx.types import scan_type
from shapeinf.formats.protobuf.wire import DamagedError, encode_varint
from shapeinf.formats.read_files import ReadFiles


def field(number, data):
    """A field of bytes."""
    return encode_varint(number << 3 | 2) + encode_varint(len(data)) + data


def integer(number, value):
    return encode_varint(number << 3) + encode_varint(value & (1 << 64) - 1)


class Names(dict):
    def __missing__(self, data):
        return data.decode("utf-8", "replace")


# -- attributes

LISTS = [
    [],
    [0, 1, 127],
    [64, 61, 64, 64],  # the bytes of the tags
    [128, 16383, 16384, 2**31, 2**62, 2**63 - 1],
    [-1, -(2**63), 5, -128],
    [*range(-700, 700)],
    [7] * 5000,
    [*range(1 << 20, (1 << 20) + 2049)],
]


def attribute(kind, number, items, wire, packed):
    """An attribute with a list of encoded items, packed or each with its tag."""
    data = field(number, b"".join(items)) if packed else b"".join(encode_varint(number << 3 | wire) + i for i in items)
    return field(1, b"values") + data + integer(20, kind)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("values", LISTS, ids=lambda v: f"{len(v)} from {min(v, default=0)}")
def test_lists_of_integers(values, packed):
    items = [encode_varint(value & (1 << 64) - 1) for value in values]
    data = attribute(AttributeProto.INTS, 8, items, 0, packed)
    assert tuple(AttributeProto.FromString(data).ints) == tuple(values)
    assert plain_attribute(data, Names()) == ("values", tuple(values), "")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3, 1024, 1025, 5000])
def test_lists_of_floats(count, packed):
    draw = random.Random(count)
    values = [draw.randrange(-5000, 5000) / 64 for _ in range(count)]
    data = attribute(AttributeProto.FLOATS, 7, [struct.pack("<f", value) for value in values], 5, packed)
    assert tuple(AttributeProto.FromString(data).floats) == tuple(values)
    assert plain_attribute(data, Names()) == ("values", tuple(values), "")


def test_lists_of_which_parts_are_packed():
    data = integer(8, 1) + field(8, b"\x02\x80\x01") + integer(8, -3) + field(1, b"n") + integer(8, 4) + integer(20, 7)
    assert plain_attribute(data, Names()) == ("n", (1, 2, 128, -3, 4), "")
    assert plain_attribute(data, Names())[1] == tuple(AttributeProto.FromString(data).ints)


def test_lists_of_several_kinds_in_one_attribute():
    """Only the list of the kind counts, wherever its items stand."""
    float_items = [b"\x3d" + struct.pack("<f", value) for value in (0.5, 2.0)]
    strings = field(9, b"a"), field(9, "ü".encode() * 100), field(9, b"")
    parts = [field(1, b"n"), integer(8, 1), strings[0], integer(8, 2), float_items[0], strings[1], *float_items[1:]]
    for kind in (AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS):
        data = b"".join((*parts, strings[2], integer(20, kind), integer(8, 3)))
        assert plain_attribute(data, Names()) == ("n", read_attribute(AttributeProto.FromString(data), {}), "")


OTHERS = [
    helper.make_attribute("a", 3),
    helper.make_attribute("a", -3),
    helper.make_attribute("a", 0.5),
    helper.make_attribute("a", "täxt"),
    helper.make_attribute("a", ["x", "", "ü"]),
    AttributeProto(name="a", type=AttributeProto.INT),
    AttributeProto(name="a", type=AttributeProto.FLOAT),
    AttributeProto(name="a", type=AttributeProto.STRING),
    AttributeProto(name="a", type=AttributeProto.STRINGS),
    AttributeProto(name="a", type=AttributeProto.INT, i=1, f=2.0, ints=[5], doc_string="doc"),
    AttributeProto(name="a", type=AttributeProto.INTS, i=1, ints=[5], floats=[1]),
]


@pytest.mark.parametrize("proto", OTHERS, ids=str)
def test_attributes_of_one_value(proto):
    assert plain_attribute(proto.SerializeToString(), Names()) == ("a", read_attribute(proto, {}), "")


def test_an_attribute_that_refers_to_one_of_its_function():
    proto = AttributeProto(name="a", type=AttributeProto.INT, ref_attr_name="b")
    assert plain_attribute(proto.SerializeToString(), Names()) == ("a", None, "b")


@pytest.mark.parametrize(
    "data",
    [
        b"\x40",
        b"\x40\x80",
        b"\x40\x01\x40",
        b"\x40" + b"\xff" * 10 + b"\x01",
        b"\x3d\0\0\0",
        field(8, b"\x80"),
        field(8, b"\xff" * 11),
        b"\x42\x05\x01",
    ],
)
def test_damaged_lists(data):
    with pytest.raises((DamagedError, IndexError)):
        plain_attribute(data, Names())


# -- types


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except (ModelError, DamagedError, IndexError):
        return "an error"


def random_type(draw, depth=0):
    """The bytes of a TypeProto, with fields in any number and order."""
    return b"".join(random_part(draw, depth) for _ in range(draw.choice((0, 1, 1, 1, 2, 3))))


def random_part(draw, depth):
    kind = draw.choice(("tensor", "tensor", "sparse", "sequence", "optional", "map", "denotation", "opaque"))
    if kind in ("tensor", "sparse"):
        parts = [
            integer(1, draw.choice((0, 1, 7, 16, 99, 2**32 + 1))),
            *(field(2, random_shape(draw)) for _ in range(2)),
        ]
        return field(1 if kind == "tensor" else 8, b"".join(draw.sample(parts, draw.randrange(4))))
    if kind == "denotation":
        return field(6, b"IMAGE")
    if kind == "opaque":
        return field(7, b"")
    inner = field(2 if kind == "map" else 1, random_type(draw, depth + 1)) if depth < 3 else b""
    code = integer(1, draw.choice((7, 8))) if kind == "map" else b""
    return field({"sequence": 4, "optional": 9, "map": 5}[kind], code + inner * draw.choice((1, 1, 2)))


def random_shape(draw):
    dims = []
    for _ in range(draw.randrange(4)):
        choices = (integer(1, draw.choice((0, 3, -1, 2**40))), field(2, draw.choice((b"n", b"", "ü".encode()))))
        dims.append(field(1, b"".join(draw.sample(choices, draw.randrange(3))) + field(3, b"DATA_BATCH")))
    return b"".join(dims)


@pytest.mark.parametrize("seed", range(8))
def test_types_are_those_that_protobuf_reads(seed):
    draw = random.Random(seed)
    for _ in range(250):
        data = random_type(draw)
        assert scan_type(data) == read_type(onnx.TypeProto.FromString(data)), data


def test_damaged_types_are_errors_of_both():
    draw = random.Random(0)
    for _ in range(500):
        data = random_type(draw)
        data = data[: draw.randrange(len(data) + 1)]
        if outcome(lambda: read_type(parse(onnx.TypeProto, data))) == "an error":  # noqa: B023
            assert outcome(scan_type, data) == "an error", data


def test_types_nest_only_so_deep():
    data = b""
    for _ in range(40):
        data = field(4, field(1, data))
    with pytest.raises(ModelError, match="nest deeper"):
        scan_type(data)


# -- tensors

CODES = [code for code in TensorProto.DataType.values() if code]


def random_tensor(draw):
    """A tensor of any type with raw or typed data, which may not fit it."""
    dims = draw.choice(((), (1,), (2,), (2, 2), (0,), (3, 0)))
    proto = TensorProto(name=draw.choice(("w", "", "a longer name")), dims=dims, data_type=draw.choice(CODES))
    form = draw.choice(("raw", "raw", "int32", "int64", "float", "double", "uint64", "string", "none"))
    count = draw.choice((1, 2, 4, 0))
    if form == "raw":
        proto.raw_data = draw.randbytes(count * draw.choice((1, 2, 4, 8)))
    elif form != "none":
        values = {"float": 0.5, "double": -2.5, "string": "ü".encode(), "int32": -7, "int64": -(2**40), "uint64": 2**63}
        getattr(proto, f"{form}_data").extend([values[form]] * count)
    if draw.random() < 0.3:
        proto.doc_string = "doc"
    return proto


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(8))
def test_tensors_are_those_that_protobuf_reads(seed):
    draw = random.Random(seed)
    for _ in range(250):
        proto = random_tensor(draw)
        data = proto.SerializeToString()
        expected = outcome(read_tensor, proto)
        for _ in range(2):  # the second time from the table of tensors
            scanned = outcome(TensorScanner(data, None).initializer, data, 0, len(data))
            if expected == "an error":
                assert scanned == "an error"
            else:
                assert (repr(scanned[0]), scanned[2]) == (repr(expected), proto.name)


def test_of_two_names_of_a_tensor_the_last_one_counts():
    head, payload = integer(1, 1) + integer(2, TensorProto.INT64), field(9, (5).to_bytes(8, "little"))
    for first, last in ((b"b", b"b"), (b"a", b"b"), (b"c", b"b")):
        data = head + field(8, first) + payload + field(8, last)
        tensor, _, name = TensorScanner(data, None).initializer(data, 0, len(data))
        assert (tensor.elements, name) == ((5,), TensorProto.FromString(data).name)


@pytest.mark.parametrize(
    ("code", "values"),
    [
        (TensorProto.INT64, [-1, 2**62]),
        (TensorProto.FLOAT16, [1.5, -2.0]),
        (TensorProto.BFLOAT16, [1.5, -2.0]),
        (TensorProto.INT4, [-1, 7]),
        (TensorProto.BOOL, [True, False]),
    ],
)
def test_contents_in_other_files(tmp_path, code, values):
    array = onnx.numpy_helper.to_array(helper.make_tensor("t", code, [2], values))
    raw = onnx.numpy_helper.from_array(array).raw_data
    (tmp_path / "data.bin").write_bytes(b"...." + raw)
    proto = TensorProto(name="t", dims=[2], data_type=code, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "data.bin", "offset": 4, "length": len(raw)}.items():
        proto.external_data.add(key=key, value=str(value))
    assert (
        list(external_contents(proto.SerializeToString(), ReadFiles(str(tmp_path / "model.onnx"))).elements) == values
    )
