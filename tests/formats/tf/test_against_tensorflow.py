"""The table of messages and the import of graphs, compared with TensorFlow where it is installed."""

from __future__ import annotations

import pytest

from shapeinf import ModelError
from shapeinf.formats import load
from shapeinf.formats.tf.messages import message_type
from shapeinf.formats.tf.text import encode_text
from tests.formats.tf.test_reading import node, placeholder

pytestmark = pytest.mark.slow


def test_the_table_of_messages():
    pytest.importorskip("tensorflow")
    from tensorflow.core.protobuf import saved_model_pb2

    waiting, compared = [saved_model_pb2.SavedModel.DESCRIPTOR], set()
    while waiting:
        message = waiting.pop()
        name = message.full_name.removeprefix("tensorflow.").removeprefix("google.protobuf.")
        if name in compared:
            continue
        compared.add(name)
        ours = message_type(name).by_name
        assert {field.name: field.number for field in message.fields} == {f.name: f.number for f in ours.values()}, name
        waiting += [field.message_type for field in message.fields if field.message_type is not None]
    assert len(compared) > 80


@pytest.mark.parametrize("producer", [0, 20, 21, 22, 23, 24, 2474])
def test_ranks_of_scalar_placeholders(producer):
    tf = pytest.importorskip("tensorflow")
    data = encode_text(placeholder("x", "shape { }") + f"versions {{ producer: {producer} }}", "GraphDef")
    with tf.Graph().as_default():
        (value,) = tf.import_graph_def(tf.compat.v1.GraphDef.FromString(data), return_elements=["x:0"])
    assert (load(data).declared["x:0"].dims is None) == (value.shape.rank is None)


REFUSED = [
    node("n", "NoOp") * 2,
    node("n", "NoOp") + "versions { min_consumer: 2475 }",
    node("n", "NoOp") + "versions { bad_consumers: 2474 }",
]


@pytest.mark.parametrize("text", REFUSED)
def test_graphs_that_both_refuse(text):
    tf = pytest.importorskip("tensorflow")
    data = encode_text(text, "GraphDef")
    with pytest.raises(ModelError), tf.Graph().as_default():
        load(data)
    with pytest.raises((ValueError, tf.errors.OpError)), tf.Graph().as_default():
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(data))
