"""Hostile files: cut off, random, with absurd counts: a result or a typed error, soon and in little memory."""

from __future__ import annotations

import contextlib
import random

import pytest

from shapeinf import LimitError, ModelError, ShapeInferenceError, infer_shapes
from shapeinf.formats import load
from shapeinf.formats.protobuf.wire import encode_varint
from shapeinf.formats.tf import TensorFlowOptions
from shapeinf.formats.tf.text import encode_text
from tests.formats.damage.tensorflow import LOOPS, SAVED
from tests.formats.tf.test_reading import FLOAT, node, placeholder

FILES = {"GraphDef": encode_text(LOOPS, "GraphDef"), "SavedModel": encode_text(SAVED, "SavedModel")}
OURS = TensorFlowOptions(tag="serve")
"""Options that make the file one of TensorFlow, however it begins."""


def inferred(data):
    """Whether there is a result; a typed error is none, and a rule that fails is a failure of the test."""
    with contextlib.suppress(ShapeInferenceError):
        result = infer_shapes(data, format_options=OURS)
        assert not [str(note) for note in result.diagnostics if note.code == "S301"]
        return True
    return False


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_files_that_are_cut_off_anywhere(data):
    assert inferred(data)
    assert sum(inferred(data[:length]) for length in range(len(data))) < len(data) / 4


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(seed):
    rng = random.Random(seed)
    for head in (b"", b"\x0a", b"\x08\x01\x12", FILES["GraphDef"][:40], FILES["SavedModel"][:9]):
        inferred(head + rng.randbytes(rng.randrange(200)))


HUGE = 2**40
ABSURD = [
    placeholder("x") + node("n", "Pack", *["x"] * 2, N=f"i: {HUGE}", T=FLOAT),
    placeholder("x") + node("n", "Unpack", "x", num=f"i: {HUGE}", T=FLOAT),
    placeholder("x") + node("n", "Unpack", "x", num="i: 65536", T=FLOAT),
    placeholder("x") + node("n", "Own", "x") + node("m", "Relu", "n:65535", T=FLOAT),
    node("n", "RandomUniformInt", minval=f"i: {HUGE}", T="type: DT_INT64"),
    node("c", "Const", value=f"tensor {{ dtype: DT_INT32 tensor_shape {{ dim {{ size: {HUGE} }} }} int_val: 1 }}"),
    placeholder("x", "shape { " + f"dim {{ size: {2**62} }} " * 3 + "}") + node("n", "Relu", "x", T=FLOAT),
    placeholder("x", "shape { " + "dim { size: 1 } " * 254 + "}") + node("n", "Relu", "x", T=FLOAT),
    node("n", "VarHandleOp", shape=f"shape {{ dim {{ size: {2**63 - 1} }} }}", dtype=FLOAT),
]


@pytest.mark.parametrize("text", ABSURD)
def test_absurd_counts(text):
    inferred(encode_text(text, "GraphDef"))


def test_outputs_of_all_nodes_are_limited():
    text = placeholder("x") + "".join(node(f"n{i}", "Unpack", "x", num="i: 65536", T=FLOAT) for i in range(9))
    with pytest.raises(LimitError, match="the nodes with several outputs have more than 524288"):
        load(encode_text(text, "GraphDef"))


def test_a_message_that_nests_deeply():
    """Fields that we skip may nest to any depth; attributes of functions may not."""
    data = b""
    for _ in range(3000):
        data = b"\x52" + encode_varint(len(data) + 2) + b"\x12" + encode_varint(len(data)) + data
        data = data[: 1 << 16]
    entry = b"\x0a\x01a\x12" + encode_varint(len(data)) + data
    body = b"\x0a\x01n\x12\x04NoOp\x2a" + encode_varint(len(entry)) + entry
    inferred(b"\x0a" + encode_varint(len(body)) + body)


def test_functions_that_call_each_other():
    call = node("c", "PartitionedCall", "a", Tin="list { type: DT_FLOAT }", Tout="list { type: DT_FLOAT }")
    functions = ""
    for name, other in (("f", "g"), ("g", "f")):
        body = call.replace("node {", "node_def {").replace(
            " }\n", f' attr {{ key: "f" value {{ func {{ name: "{other}" }} }} }} }}'
        )
        arguments = 'input_arg { name: "a" type: DT_FLOAT } output_arg { name: "o" type: DT_FLOAT }'
        functions += (
            f'function {{ signature {{ name: "{name}" {arguments} }} {body} ret {{ key: "o" value: "c:output:0" }} }}'
        )
    top = node("t", "f", "x") + node("u", "f", "t")
    inferred(encode_text(placeholder("x") + top + f"library {{ {functions} }}", "GraphDef"))


def test_signatures_that_nest_deeply():
    inner = 'name: "x:0"'
    for _ in range(20):
        inner = f"composite_tensor {{ components {{ {inner} }} }}"
    signature = f'signature_def {{ key: "s" value {{ inputs {{ key: "a" value {{ {inner} }} }} }} }}'
    text = f"graph_def {{ {placeholder('x')} }} {signature}"
    with pytest.raises(LimitError, match="nest deeper than 16"):
        load(encode_text(text, "MetaGraphDef"))


def relu(name, value):
    body = b"\x0a" + encode_varint(len(name)) + name + b"\x12\x04Relu\x1a" + encode_varint(len(value)) + value
    body += b"\x2a\x07\x0a\x01T\x12\x02\x30\x01"
    return b"\x0a" + encode_varint(len(body)) + body


@pytest.mark.parametrize("count", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("backwards", [False, True])
def test_many_nodes(count, backwards):
    nodes = [relu(b"n%d" % i, b"n%d" % (i - 1) if i else b"x") for i in range(count)]
    data = encode_text(placeholder("x"), "GraphDef") + b"".join(nodes[::-1] if backwards else nodes)
    result = infer_shapes(data)
    assert str(result.tensors[f"n{count - 1}:0"]) == str(result.tensors["x:0"])


def test_damaged_names_do_not_break_the_terminal():
    data = encode_text(node("n\\033[31m", "NoOp") * 2, "GraphDef")
    with pytest.raises(ModelError) as caught:
        load(data, OURS)
    assert "\033" not in str(caught.value)
