"""Reading ONNX: damaged files are typed errors, or graphs."""

from __future__ import annotations

import random

import onnx
import pytest
from onnx import helper

from shapeinf import ModelError, ShapeInferenceError, infer_shapes
from shapeinf.formats.onnx.source import read
from tests.formats.onnx_models import everything, field, model_of, tensor_value
from tests.vectors import PROJECT

EXAMPLES = sorted((PROJECT / "examples").glob("*.onnx"))


def outcome(data):
    """The graph of any bytes, None for a typed error; any other exception is a bug."""
    try:
        return read(data)
    except ShapeInferenceError:
        return None


def test_every_prefix_of_a_file_is_a_graph_or_an_error_of_ours():
    data = everything().SerializeToString()
    for end in range(len(data)):
        outcome(data[:end])


def test_flipped_bytes_are_a_graph_or_an_error_of_ours():
    data = everything().SerializeToString()
    draw = random.Random(0)
    for _ in range(500):
        damaged = bytearray(data)
        for _ in range(draw.choice((1, 1, 1, 2, 8))):
            damaged[draw.randrange(len(data))] = draw.randrange(256)
        outcome(bytes(damaged))


def test_a_dim_name_that_is_no_utf8_is_a_name():
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    model = model_of(nodes, [tensor_value("x", ["seq"])], [tensor_value("y", ["seq"])])
    damaged = model.SerializeToString().replace(b"seq", b"s\xffq")
    for form in (damaged, onnx.ModelProto.FromString(damaged)):
        assert str(infer_shapes(form).tensors["y"].shape) == "[`s\N{REPLACEMENT CHARACTER}q`]"


def test_malformed_protobuf_is_refused():
    """A file that is cut off inside is not a smaller model."""
    data = EXAMPLES[0].read_bytes()
    for end in range(1, len(data), 97):
        with pytest.raises(ModelError):
            read(data[:end])


def test_a_model_with_two_graphs_is_an_error():
    data = model_of([]).SerializeToString()
    with pytest.raises(ModelError, match="two graphs"):
        read(data + data)


def test_a_file_on_disk_that_is_damaged_is_named(tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes(EXAMPLES[0].read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"cut\.onnx"):
        read(path)


def test_graphs_that_nest_too_deep_are_an_error():
    """protobuf itself stops at 100 messages inside messages, which is 33 graphs; the scanner has a limit of its own."""
    for depth in (40, 2000):
        graph = field(2, b"innermost")
        for _ in range(depth):
            graph = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, graph)))
        with pytest.raises(ModelError, match=r"nest deeper|damaged"):
            read(field(7, graph) + field(8, field(1, b"")))
