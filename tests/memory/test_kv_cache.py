"""Caches of keys and values: which inputs and outputs are pairs, and their bytes, as a run of onnxruntime has them."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest

from shapeinf import UnknownNameError, infer_shapes
from shapeinf.errors import MissingSizeError, ShapeInferenceError

HEADS, DEPTH = 3, 8
TENSOR = f"float[batch, {HEADS}, PAST, {DEPTH}]"


def memory(text):
    opsets = '"" : 18, "com.microsoft" : 1'
    return infer_shapes(onnx.parser.parse_model(f"<ir_version: 9, opset_import: [{opsets}]> {text}")).memory()


def decoder(names, past="past", new="seq", before_join="Identity", suffix=""):
    """A model that joins each input of the pairs (input, output), after another node, with new keys."""
    joined = [f"{TENSOR.replace('PAST', past)} {name}" for name, _ in names]
    outputs = [
        f"float[{', '.join(f'{axis}{i}{suffix}' for axis in 'abcd')}] {after}" for i, (_, after) in enumerate(names)
    ]
    nodes = [
        f"s{suffix} = Constant<value = int64[4] {{0, 0, {HEADS}, {DEPTH}}}>()",
        f"r{suffix} = Reshape(x{suffix}, s{suffix})  new{suffix} = Transpose<perm = [0, 2, 1, 3]>(r{suffix})",
    ]
    nodes += [
        f"p{i}{suffix} = {before_join}({before})  {after} = Concat<axis = 2>(p{i}{suffix}, new{suffix})"
        for i, (before, after) in enumerate(names)
    ]
    return [f"float[batch, {new}, {HEADS * DEPTH}] x{suffix}", *joined], outputs, nodes


def model(*decoders):
    inputs, outputs, nodes = (list(itertools.chain(*parts)) for parts in zip(*decoders, strict=True))
    return f"g ({', '.join(inputs)}) => ({', '.join(outputs)}) {{ {' '.join(nodes)} }}"


def pairs(text):
    return [[(p.past, p.present) for p in cache.pairs] for cache in memory(text).kv_caches]


NAMED = [("past_key_values_0_key", "present_0_key"), ("past_key_values_0_value", "present_0_value")]
NAMELESS = [("a", "z"), ("b", "y"), ("c", "w")]


@pytest.mark.parametrize("names", [NAMED, NAMELESS, [("k_cache", "k_out")]])
@pytest.mark.parametrize("before_join", ["Identity", "Relu"])
def test_pairs_follow_from_the_data(names, before_join):
    assert pairs(model(decoder(names, before_join=before_join))) == [names]


def test_one_pair_without_a_name_is_two_joined_tensors():
    assert pairs(model(decoder([("a", "z")]))) == []


ATTENTION = f"""
g (float[batch, seq, {2 * DEPTH}] q, float[batch, seq, {DEPTH}] k, float[batch, seq, {DEPTH}] v,
   float[batch, 1, past, {DEPTH}] P0, float[batch, 1, past, {DEPTH}] P1,
   int32[batch] lengths, int32 total)
  => (float[batch, seq, {2 * DEPTH}] y, float[batch, 1, total, {DEPTH}] N0, float[batch, 1, total, {DEPTH}] N1)
{{ y, N0, N1 = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, P0, P1, lengths, total) }}
"""


@pytest.mark.parametrize("past", [("past_key", "past_value"), ("past_value", "past_key"), ("p0", "p1")])
def test_both_outputs_of_one_node(past):
    """Names decide, and without them positions."""
    text = ATTENTION.replace("P0", past[0]).replace("P1", past[1])
    present = [name.replace("past", "present") if "past" in name else f"n_{name}" for name in past]
    text = text.replace("N0", present[0]).replace("N1", present[1])
    assert pairs(text) == [list(zip(past, present, strict=True))]


@pytest.mark.parametrize(
    "text",
    [
        # a recurrent state, a window of fixed length, a table, a tensor that gets shorter, another element type
        "g (float[b, 2, s, 4] past_a) => (float[b, 2, s, 4] present_a) { present_a = Relu(past_a) }",
        "g (float[b, 2, 9, 4] past_a) => (float[b, 2, k, 4] present_a) {"
        " s = Constant<value = int64[1] {1}>() e = Constant<value = int64[1] {8}>()"
        " x = Constant<value = int64[1] {2}>()"
        " present_a = Slice(past_a, s, e, x) }",
        "g (float[s, 4] past_a, float[t, 4] b) => (float[n, 4] present_a) { present_a = Concat<axis = 0>(past_a, b) }",
        "g (float[b, s, 4] past_a, float[b, t, 4] x) => (int32[b, u, 4] present_a) {"
        " j = Concat<axis = 1>(past_a, x)  present_a = Cast<to = 6>(j) }",
        "g (float[b, s, 4] past_a, float[c, t, 4] x) => (float[c, t, 5] present_a) {"
        " p = Constant<value = int64[6] {0, 0, 0, 0, 0, 1}>() present_a = Pad(x, p) }",
    ],
)
def test_what_is_no_cache(text):
    assert pairs(text) == []


def test_bytes():
    (cache,) = memory(model(decoder(NAMED))).kv_caches
    per_token = 2 * HEADS * DEPTH * 4
    assert str(cache.bytes_per_token) == f"{per_token}*batch"
    assert (str(cache.past_tokens), str(cache.tokens)) == ("past", "seq + past")
    assert cache.at(4096, batch=8) == 4096 * 8 * per_token
    assert cache.largest(10**6, batch=8) == 10**6 // (8 * per_token)
    assert cache.at(0, {"batch": 8}) == 0


def test_caches_of_other_lengths_are_others():
    text = model(decoder(NAMED), decoder(NAMELESS, past="window", new="t", suffix="w"))
    assert pairs(text) == [NAMED, NAMELESS]


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ({}, MissingSizeError, "no size for batch"),
        ({"batch": 1, "heads": 2}, UnknownNameError, "heads"),
        ({"batch": 0}, ShapeInferenceError, "batch"),
    ],
)
def test_errors(sizes, error, message):
    (cache,) = memory(model(decoder(NAMED))).kv_caches
    with pytest.raises(error, match=message):
        cache.at(1, sizes)


def test_a_static_cache_has_numbers():
    (cache,) = memory(model(decoder(NAMED, past="127", new="1")).replace("batch", "2")).kv_caches
    assert (cache.past_tokens, cache.tokens, cache.bytes) == (127, 128, 128 * 2 * 2 * HEADS * DEPTH * 4)


def test_bytes_are_those_of_a_run():
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: nothing can run")
    text = ATTENTION.replace("P0", "past_key").replace("P1", "past_value")
    text = text.replace("N0", "present_key").replace("N1", "present_value")
    opsets = '"" : 18, "com.microsoft" : 1'
    proto = onnx.parser.parse_model(f"<ir_version: 9, opset_import: [{opsets}]> {text}")
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    batch, seq, past = 2, 1, 5
    feeds = {
        "q": np.zeros((batch, seq, 2 * DEPTH), np.float32),
        **{name: np.zeros((batch, seq, DEPTH), np.float32) for name in "kv"},
        **{f"past_{name}": np.zeros((batch, 1, past, DEPTH), np.float32) for name in ("key", "value")},
        "lengths": np.full(batch, past, np.int32),
        "total": np.array(past + seq, np.int32),
    }
    _, key, value = session.run(None, feeds)
    (cache,) = infer_shapes(proto).memory().kv_caches
    assert cache.at(past + seq, batch=batch) == key.nbytes + value.nbytes
