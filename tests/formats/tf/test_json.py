"""The JSON form of graphs, with the JSON format of protobuf as the oracle, and the manifest of TensorFlow.js."""

from __future__ import annotations

import contextlib
import json
import random
import re

import pytest
from google.protobuf import json_format

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.tf.json_form import graph_def_bytes, parse_document
from shapeinf.formats.tf.weight_manifest import StoredWeight, stored_weights
from tests.formats.tf.descriptors import message_class
from tests.formats.tf.random_messages import damage_text, random_message

STYLES = ({}, {"preserving_proto_field_name": True}, {"use_integers_for_enums": True})


def comparable(message):
    return message.SerializeToString(deterministic=True)


def decode(text):
    """The graph that we read, as an object of protobuf."""
    return message_class("GraphDef").FromString(graph_def_bytes(parse_document(text)))


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed) -> None:
    rng = random.Random(seed)
    message = random_message(rng, "GraphDef", 6)
    message.node.add().CopyFrom(random_message(rng, "NodeDef", 6))
    for style in STYLES:
        text = json_format.MessageToJson(message, **style)
        assert comparable(decode(text)) == comparable(message), text


def attribute(value):
    return json.dumps({"node": [{"attr": {"a": value}}]})


VALID = [
    "{}",
    '{"node": null}',
    '{"node": []}',
    '{"versions": {"producer": 27, "badConsumers": ["1", 2]}}',
    '{"versions": {"min_consumer": 3.0}}',
    *map(
        attribute,
        [
            {"i": "-9223372036854775808"},
            {"i": 3},
            {"i": 3.0},
            {"i": "3"},
            {"f": "NaN"},
            {"f": "-Infinity"},
            {"f": "1.5"},
            {"f": 2},
            {"b": False},
            {"type": "DT_INT32"},
            {"type": 3},
            {"type": "3"},
            {"type": 1234},
            {"s": "aGk="},
            {"s": "aGk"},
            {"s": "-_8"},
            {"s": ""},
            {"i": None, "b": True},
            {"list": {}},
            {"list": {"i": ["1", 2], "s": ["aGk="], "type": ["DT_INT8", 3]}},
            {"tensor": {"dtype": "DT_INT32", "tensorShape": {"dim": [{"size": "2"}]}, "tensorContent": "AQAAAAIAAAA="}},
            {"tensor": {"float8Val": "AQ=="}},
            {"shape": {"dim": [{}, {"size": -1}], "unknownRank": False}},
            {"func": {"name": "f", "attr": {"T": {"type": "DT_FLOAT"}}}},
            {"placeholder": "é\U0001f600"},
        ],
    ),
    '{"library": {"function": [{"argAttr": {"3": {"attr": {}}}, "resourceArgUniqueId": {"1": 2}}]}}',
]


@pytest.mark.parametrize("text", VALID)
def test_valid_documents(text) -> None:
    assert comparable(decode(text)) == comparable(json_format.Parse(text, message_class("GraphDef")()))


INVALID = [
    ('{"nodes": []}', "GraphDef has no field 'nodes' (did you mean 'node'?)"),
    ('{"node": {}}', "node: expected a list, not an object"),
    ('{"node": [3]}', "node[0]: expected an object (a NodeDef), not 3"),
    ('{"node": [null]}', "node[0]: expected an object (a NodeDef), not None"),
    ('{"node": [{"name": 3}]}', "node[0].name: expected a value of type string, not 3"),
    ('{"node": [{"input": [null]}]}', "node[0].input[0]: expected a value of type string, not None"),
    ('{"node": [{"attr": []}]}', "node[0].attr: expected an object (a map), not a list"),
    ('{"node": [{"attr": {"a": null}}]}', "node[0].attr.a: expected an object (a AttrValue), not None"),
    ('{"node": [{"name": "\\ud800"}]}', "node[0].name: a string must be valid Unicode"),
    (
        '{"node": [{"experimentalDebugInfo": {}, "experimental_debug_info": {}}]}',
        "experimental_debug_info is set twice",
    ),
    (attribute({"i": 1, "b": True}), "node[0].attr.a: b and i are both set: only one may be"),
    (attribute({"i": "9223372036854775808"}), "is not in -9223372036854775808..9223372036854775807"),
    (attribute({"i": 1.5}), "node[0].attr.a.i: expected a value of type int64, not 1.5"),
    (attribute({"i": " 1"}), "expected a value of type int64, not ' 1'"),
    (attribute({"i": True}), "expected a value of type int64, not True"),
    (attribute({"i": []}), "expected a value of type int64, not a list"),
    (attribute({"f": "x"}), "expected a value of type float, not 'x'"),
    (attribute({"f": 1e39}), "the number is too large for a float"),
    (attribute({"f": True}), "expected a value of type float, not True"),
    (attribute({"b": "true"}), "expected a value of type bool, not 'true'"),
    (attribute({"b": 1}), "expected a value of type bool, not 1"),
    (attribute({"s": "a"}), "node[0].attr.a.s: bytes must be in base64"),
    (attribute({"s": "\x7f\x7f\x7f\x7f"}), "bytes must be in base64"),
    (attribute({"s": [1, 2]}), "expected a value of type bytes, not a list"),
    (attribute({"type": "DT_FLOATS"}), "'DT_FLOATS' is not a DataType (did you mean 'DT_FLOAT'?)"),
    (attribute({"type": 1 << 40}), "is not in -2147483648..2147483647"),
    (attribute({"tensor": {"int_val": [1 << 40]}}), "int_val[0]: 1099511627776 is not in"),
    ('{"library": {"function": [{"argAttr": {"x": {}}}]}}', "argAttr.x: expected a value of type uint32, not 'x'"),
    ("[]", "is not a JSON object"),
    ("{", "is not a JSON document"),
    ('{"node": [], "node": []}', "the key 'node' occurs twice in an object"),
    ('{"node": [{"attr": {"a": {"f": NaN}}}]}', "NaN must be written as a string"),
]
LENIENT = {
    '{"node": [{"experimentalDebugInfo": {}, "experimental_debug_info": {}}]}',
    attribute({"f": True}),
    attribute({"s": "\x7f\x7f\x7f\x7f"}),
    attribute({"type": 1 << 40}),
    "[]",
}
"""Documents that protobuf's Python parser accepts although the JSON mapping of proto3 does not allow them."""


@pytest.mark.parametrize(("text", "error"), INVALID, ids=range(len(INVALID)))
def test_invalid_documents(text, error) -> None:
    with pytest.raises(ModelError, match=re.escape(error)):
        decode(text)


@pytest.mark.parametrize("text", [text for text, _ in INVALID if text not in LENIENT])
def test_protobuf_rejects_them_too(text) -> None:
    with pytest.raises((json_format.ParseError, ValueError, TypeError)):
        comparable(json_format.Parse(text, message_class("GraphDef")()))


def test_nesting_is_limited() -> None:
    def nested(depth):
        return '{"node": [{"experimentalType": ' + '{"args": [' * depth + "]}" * depth + "}]}"

    assert decode(nested(90))
    for depth in (110, 100_000):
        with pytest.raises(LimitError):
            decode(nested(depth))


def test_a_document_of_tensorflow_js() -> None:
    graph = {"node": [{"name": "x", "op": "Placeholder"}]}
    document = {"format": "graph-model", "modelTopology": graph, "weightsManifest": []}
    assert graph_def_bytes(document) == graph_def_bytes(graph)
    with pytest.raises(ModelError, match=re.escape("m.json: is a layers model of TensorFlow.js")):
        graph_def_bytes({"format": "layers-model", "modelTopology": {}}, "m.json")
    with pytest.raises(ModelError, match=re.escape("expected an object (a GraphDef), not 3")):
        graph_def_bytes({"modelTopology": 3})


MANIFEST = [
    {
        "paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"],
        "weights": [
            {"name": "a", "dtype": "float32", "shape": [2, 3]},
            {"name": "b", "dtype": "int32", "shape": []},
            {
                "name": "c",
                "dtype": "float32",
                "shape": [5],
                "quantization": {"dtype": "uint8", "scale": 0.1, "min": -1},
            },
            {"name": "d", "dtype": "float32", "shape": [4], "quantization": {"dtype": "float16"}},
            {"name": "e", "dtype": "string", "shape": [2]},
            {"name": "f", "dtype": "bool", "shape": [0, 4]},
        ],
    },
    {"paths": ["group2.bin"], "weights": [{"name": "g", "dtype": "complex64", "shape": [3]}]},
]


def test_the_manifest_of_weights() -> None:
    paths = ("group1-shard1of2.bin", "group1-shard2of2.bin")
    assert list(stored_weights({"weightsManifest": MANIFEST}).values()) == [
        StoredWeight("a", "float32", (2, 3), "float32", paths, 0, 24),
        StoredWeight("b", "int32", (), "int32", paths, 24, 4),
        StoredWeight("c", "float32", (5,), "uint8", paths, 28, 5, 0.1, -1.0),
        StoredWeight("d", "float32", (4,), "float16", paths, 33, 8),
        StoredWeight("e", "string", (2,), "string", paths, 41, None),
        StoredWeight("f", "bool", (0, 4), "bool", paths, None, 0),
        StoredWeight("g", "complex64", (3,), "complex64", ("group2.bin",), 0, 24),
    ]
    assert stored_weights({}) == {}


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        ({}, ""),
        (3, "weightsManifest: expected a list, not 3"),
        ([3], "weightsManifest[0]: expected an object, not 3"),
        ([{"paths": "a"}], "weightsManifest[0].paths: expected a list, not 'a'"),
        ([{"paths": [1]}], "weightsManifest[0].paths: expected names of files"),
        ([{"weights": [{}]}], "a weight has no name"),
        ([{"weights": [{"name": "a", "dtype": "int3", "shape": []}]}], "has the unknown element type 'int3'"),
        ([{"weights": [{"name": "a", "dtype": [], "shape": []}]}], "has the unknown element type a list"),
        ([{"weights": [{"name": "a", "dtype": "int8", "shape": [-1]}]}], "must be a list of sizes"),
        ([{"weights": [{"name": "a", "dtype": "int8", "shape": [True]}]}], "must be a list of sizes"),
        ([{"weights": [{"name": "a", "dtype": "int8", "shape": []}] * 2}], "the weight 'a' is listed twice"),
        (
            [
                {
                    "weights": [
                        {"name": "a", "dtype": "int8", "shape": [], "quantization": {"dtype": "int8", "scale": "1"}}
                    ]
                }
            ],
            "a: the quantization of the weight is malformed",
        ),
    ],
)
def test_damaged_manifests(manifest, error) -> None:
    if not error:
        assert stored_weights({"weightsManifest": manifest}) == {}
        return
    with pytest.raises(ModelError, match=re.escape(error)):
        stored_weights({"weightsManifest": manifest})


PIECES = ["", "{", "[", '"', "1e999", "0", "-", "null", "true", "1" * 5000, "[1]", '"x": 1,', "\\ud800"]


def test_damaged_documents_end_in_typed_errors() -> None:
    rng = random.Random(7)
    for _ in range(400):
        text = json_format.MessageToJson(random_message(rng, "GraphDef", 5))
        with contextlib.suppress(ModelError):
            decode(damage_text(rng, text, PIECES, 3))


def random_value(rng, depth):
    """A value of a JSON document with the keys of a manifest."""
    kind = rng.randrange(8 if depth else 6)
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        keys = ("paths", "weights", "name", "dtype", "shape", "quantization", "scale", "min")
        return {rng.choice(keys): random_value(rng, depth - 1) for _ in range(rng.randrange(6))}
    return [None, True, 3, -1.5, "float32", 1 << 70][kind]


def test_random_manifests_end_in_typed_errors() -> None:
    rng = random.Random(7)
    for _ in range(3000):
        with contextlib.suppress(ModelError):
            stored_weights({"weightsManifest": [random_value(rng, 5)]})
