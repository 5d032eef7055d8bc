"""The text form of TensorFlow's messages, with the text format of protobuf as the oracle."""

from __future__ import annotations

import contextlib
import random
import re

import pytest
from google.protobuf import text_format

from shapeinf.errors import LimitError, ModelError
from shapeinf.formats.protobuf.text import MAX_DEPTH
from shapeinf.formats.tf.encoding import ALTERNATIVES
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.descriptors import message_class, reachable_messages
from tests.formats.tf.random_messages import damage_text, random_message

STYLES = ({}, {"as_one_line": True}, {"use_short_repeated_primitives": True}, {"pointy_brackets": True})


def decode(text, name):
    """The message that we read, as an object of protobuf."""
    return message_class(name).FromString(encode_text(text, name))


def comparable(message):
    """Bytes that are equal for equal messages; NaN is not equal to itself."""
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", reachable_messages())
def test_random_messages_of_every_type(name) -> None:
    rng = random.Random(name)
    for _ in range(25):
        message = random_message(rng, name)
        for style in STYLES:
            text = text_format.MessageToString(message, **style)
            assert comparable(decode(text, name)) == comparable(message), text


VALID = [
    ("NodeDef", 'name: "a" "b" \'c\''),
    ("NodeDef", 'name: "a"; op: "b", input: "c"'),
    ("NodeDef", 'input: ["a", "b"] input: "c" input: []'),
    ("NodeDef", '# a comment\nname: "x" # another\n#'),
    ("NodeDef", 'attr < key: "T" value < type: DT_INT32 > >'),
    ("NodeDef", 'attr: { key: "T" value: { type: 3 } }'),
    ("NodeDef", 'attr [ { key: "T" value { i: 1 } }, { key: "U" value { b: t } } ]'),
    ("NodeDef", 'attr { key: "T" } attr { value { i: 1 } } attr { }'),
    ("AttrValue", "i: -9223372036854775808"),
    ("AttrValue", "i: 0x7fffffffffffffff"),
    ("AttrValue", "i: -0X10"),
    ("AttrValue", "i: 017"),
    ("AttrValue", "f: 1.5e3"),
    ("AttrValue", "f: .5"),
    ("AttrValue", "f: 1."),
    ("AttrValue", "f: 10"),
    ("AttrValue", "f: 1.5f"),
    ("AttrValue", "f: -inf"),
    ("AttrValue", "f: Infinity"),
    ("AttrValue", "f: nan"),
    ("AttrValue", "f: 1e60"),
    ("AttrValue", "b: True"),
    ("AttrValue", "b: 0"),
    ("AttrValue", "type: DT_FLOAT_REF"),
    ("AttrValue", "type: 12345"),
    ("AttrValue", "list { i: [1, 2] i: 3 type: [DT_INT8, 1] b: [true, f] f: [1, -2.5] }"),
    ("AttrValue", "list { }"),
    ("AttrValue", "shape { dim { } dim { size: -1 } unknown_rank: false }"),
    ("AttrValue", r's: "\a\b\f\n\r\t\v\\\'\"\0\07\377\x41\xff"'),
    ("AttrValue", r's: "\u00e9\U0001f600"'),
    ("AttrValue", 's: "é\\tx"'),
    ("FunctionDef", "arg_attr { key: 3 value { } } resource_arg_unique_id { key: 1 value: 2 }"),
    ("StructuredValue", "int64_value: -5"),
    ("StructuredValue", "none_value { }"),
    (
        "GraphDebugInfo",
        "frames_by_id { key: 18446744073709551615 value { line: 3 } } traces_by_id { key: 1 value { } }",
    ),
    ("GraphDef", ""),
]


@pytest.mark.parametrize(("name", "text"), VALID)
def test_valid_texts(name, text) -> None:
    assert comparable(decode(text, name)) == comparable(text_format.Parse(text, message_class(name)()))


INVALID = [
    ("GraphDef", 'node {\n  nam: "x"\n}', "line 2, column 3: NodeDef has no field 'nam' (did you mean 'name'?)"),
    ("GraphDef", "node {\n", "line 2, column 1: expected the name of a field or '}', not the end"),
    ("GraphDef", "node { >", "line 1, column 8: expected the name of a field or '}', not '>'"),
    ("GraphDef", "node { } }", "line 1, column 10: expected the name of a field, not '}'"),
    ("GraphDef", 'node { name: "x" name: "y" }', "line 1, column 18: NodeDef has a second name"),
    ("GraphDef", "versions { } versions { }", "GraphDef has a second versions"),
    ("GraphDef", 'node: "x"', "line 1, column 7: node: expected a value of type NodeDef, not '\"x\"'"),
    ("GraphDef", "node 3", "expected ':', '{' or '<', not '3'"),
    ("GraphDef", "node", "expected ':', '{' or '<', not the end"),
    ("GraphDef", "3: 4", "line 1, column 1: expected the name of a field, not '3'"),
    ("GraphDef", "[a.b]: 4", "extensions and expanded `Any` messages are not read"),
    ("GraphDef", "version: ?", "line 1, column 10: cannot read '?'"),
    ("GraphDef", "version: 1 # \x00\n\x00", "line 2, column 1: cannot read '\\x00'"),
    ("NodeDef", 'name: "x', "line 1, column 7: a string without an end"),
    ("NodeDef", 'name: "x\n"', "line 1, column 7: a string without an end"),
    ("NodeDef", "name: x", "name: expected a string in quotes, not 'x'"),
    ("NodeDef", "name: 3", "name: expected a string in quotes, not '3'"),
    ("NodeDef", 'name: ["x"]', "name of NodeDef is not a list"),
    ("NodeDef", "name { }", "line 1, column 6: name: a message is not a value of type string"),
    ("NodeDef", 'input: ["x" "y", "z",]', "expected a value, not ']'"),
    ("NodeDef", 'input: ["x", 3]', "line 1, column 14: input: expected a string in quotes, not '3'"),
    ("NodeDef", 'input: ["x"; "y"]', "expected ',' or ']', not ';'"),
    ("NodeDef", 'name: "x",, op: "y"', "expected the name of a field, not ','"),
    ("NodeDef", r'name: "ab\377"', "name: a string must be UTF-8"),
    ("AttrValue", r's: "ab\q"', "line 1, column 7: not an escape sequence"),
    ("AttrValue", r's: "é\xg"', "line 1, column 6: not an escape sequence"),
    ("AttrValue", r's: "\777"', "not an escape sequence"),
    ("AttrValue", 's: "ab\ud800"', "line 1, column 7: not a Unicode character"),
    ("AttrValue", r's: "\ud800"', "not an escape sequence"),
    ("AttrValue", r's: "\U00110000"', "not an escape sequence"),
    (
        "AttrValue",
        "i: 9223372036854775808",
        "i: 9223372036854775808 is not in -9223372036854775808..9223372036854775807",
    ),
    ("AttrValue", "i: " + "9" * 5000, "i: expected a value of type int64"),
    ("AttrValue", "i: 1.5", "i: expected a value of type int64, not '1.5'"),
    ("AttrValue", "i: 08", "i: expected a value of type int64, not '08'"),
    ("AttrValue", "i: +1", "cannot read '+1'"),
    ("AttrValue", "i: 1_0", "i: expected a value of type int64, not '1_0'"),
    ("AttrValue", "i: -", "expected a number, not the end"),
    ("AttrValue", 'i: -"1"', "expected a number, not '\"1\"'"),
    ("AttrValue", "i: DT_FLOAT", "i: expected a value of type int64, not 'DT_FLOAT'"),
    ("AttrValue", "f: 0x10", "f: expected a value of type float, not '0x10'"),
    ("AttrValue", "f: x", "f: expected a value of type float, not 'x'"),
    ("AttrValue", "f: 1.5.2", "f: expected a value of type float, not '1.5.2'"),
    ("AttrValue", "b: 2", "b: 2 is not in 0..1"),
    ("AttrValue", "b: yes", "b: expected a value of type bool, not 'yes'"),
    ("AttrValue", 'b: "true"', "b: expected a value of type bool"),
    ("AttrValue", "type: DT_FLOATS", "type: 'DT_FLOATS' is not a DataType (did you mean 'DT_FLOAT'?)"),
    ("AttrValue", "type: 2147483648", "type: 2147483648 is not in -2147483648..2147483647"),
    ("AttrValue", 'type: "DT_FLOAT"', "type: expected a value of type DataType"),
    ("AttrValue", "i: 1 b: true", "AttrValue has both b and i: only one may be set"),
    ("TensorProto", "uint32_val: -1", "uint32_val: -1 is not in 0..4294967295"),
    ("TensorProto", "int_val: [1, 2147483648]", "line 1, column 14: int_val: 2147483648 is not in"),
    ("TensorInfo", 'name: "x" coo_sparse { }', "TensorInfo has both coo_sparse and name: only one may be set"),
]
LENIENT = {"i: +1", "i: 1_0", r's: "ab\q"'}
"""Texts that only the Python parser of protobuf accepts: neither the specification nor TensorFlow does."""


@pytest.mark.filterwarnings("ignore:invalid:DeprecationWarning")
@pytest.mark.parametrize(("name", "text", "error"), INVALID, ids=range(len(INVALID)))
def test_invalid_texts(name, text, error) -> None:
    with pytest.raises(ModelError, match=re.escape(error)):
        encode_text(text, name)
    if text not in LENIENT:
        with pytest.raises((text_format.ParseError, ValueError)):
            text_format.Parse(text, message_class(name)())


def test_nesting_is_limited() -> None:
    def nested(depth):
        return "experimental_type { " + "args { " * (depth - 1) + "} " * depth

    assert comparable(decode(nested(MAX_DEPTH), "NodeDef"))
    with pytest.raises(LimitError, match="nest deeper than 100"):
        encode_text(nested(MAX_DEPTH + 1), "NodeDef")
    with pytest.raises(LimitError):
        encode_text("experimental_type { " + "args { " * 100_000, "NodeDef")


@pytest.mark.parametrize("blanks", [" " * 200_000, "#" * 200_000, "# #" * 50_000 + "\n", "\n\t" * 100_000])
def test_blanks_in_front_of_damage_are_read_once(blanks) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        encode_text(f"{blanks}\n\x00", "GraphDef")


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|[^\s\w]')


def test_texts_with_a_changed_token_are_accepted_where_protobuf_accepts_them() -> None:
    rng = random.Random(15)
    accepted = 0
    for _ in range(1500):
        text = text_format.MessageToString(random_message(rng, "NodeDef"))
        tokens = TOKEN.findall(text)
        if not tokens:
            continue
        change(rng, tokens)
        text = " ".join(tokens)
        accepted += agree(text, "NodeDef")
    assert accepted > 100


def change(rng, tokens) -> None:
    """Drop, repeat, exchange or replace a token."""
    index = rng.randrange(len(tokens))
    way = rng.randrange(4)
    if way == 0:
        del tokens[index]
    elif way == 1:
        tokens.insert(index, tokens[index])
    elif way == 2:
        tokens[index] = rng.choice(tokens)
    else:
        tokens[index] = rng.choice(["{", "}", "<", ">", "[", "]", ":", ",", ";", "-", "1", "2.5", "x", '"s"', "true"])


def agree(text, name):
    """Whether both accept a text; fails where they differ."""
    try:
        theirs = comparable(text_format.Parse(text, message_class(name)()))
    except (text_format.ParseError, ValueError):
        theirs = None
    try:
        ours = comparable(decode(text, name))
    except ModelError:
        ours = None
    assert ours == theirs, text
    return ours is not None


@pytest.mark.slow
def test_the_same_fields_exclude_each_other_as_in_tensorflow() -> None:
    saved_model_pb2 = pytest.importorskip("tensorflow.core.protobuf.saved_model_pb2")
    stack, seen = [saved_model_pb2.SavedModel.DESCRIPTOR], set()
    while stack:
        message = stack.pop()
        if message.full_name not in seen:
            seen.add(message.full_name)
            stack += [field.message_type for field in message.fields if field.message_type]
            names = {field.name for oneof in message.oneofs for field in oneof.fields}
            assert ALTERNATIVES.get(message.full_name.removeprefix("tensorflow."), set()) == names


PIECES = ["", "{", "}", "[", '"', "'", "\\", "\\x", "-", ".", "1e999", "0x", "9" * 30, "\0", "\ud800", "#", "\n"]


def test_damaged_texts_end_in_typed_errors() -> None:
    rng = random.Random(7)
    for _ in range(400):
        text = text_format.MessageToString(random_message(rng, "GraphDef", 5))
        with contextlib.suppress(ModelError):
            encode_text(damage_text(rng, text, PIECES, 4), "GraphDef")
