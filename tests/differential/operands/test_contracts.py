"""Preconditions of operands whose sizes have names: onnxruntime runs exactly the legal sizes."""

import itertools

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf import infer_shapes
from tests.differential.ort import session_of

HEADER = '<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>'

CASES = {
    "scale of a channel": (17, "float[1, n, 4] x, float[m] s", "y = InstanceNormalization(x, s, s)"),
    "scale that broadcasts": (17, "float[2, n] x, float[m] s", "y = LayerNormalization(x, s)"),
    "parts of an axis": (18, "float[n] x, float[m] z", "a, b, c, y = Split<num_outputs = 4>(x)"),
    "bias of a product": (17, "float[n, 3] x, float[m, 1] s", "y = Gemm<transB = 1>(x, x, s)"),
    "lengths of samples": (17, "float[5, n, 1] x, float[1, m, 1] h", "y = RNN<hidden_size = 1>(x, w, r, , , h)"),
    "indices of elements": (17, "float[n, 3] x, float[m] z", "y = GatherElements<axis = 1>(x, four)"),
    "size of a transposed convolution": (
        17,
        "float[1, 1, n] x, float[m] z",
        "y = ConvTranspose<strides = [3], output_shape = [7]>(x, w)",
    ),
    "choices along an axis": (17, "float[n, 2] x, float[m] z", "y = Expand(x, grown)"),
    "a cache of rotations": (17, "float[2, 1, n] x, float[9, m] s", "y = com.microsoft.RotaryEmbedding(x, p, s, s)"),
    "heads with rotations": (17, "float[2, 3, 1, n] x, float[9, m] s", "y = com.microsoft.RotaryEmbedding(x, p, s, s)"),
    "a part of heads with rotations": (
        17,
        "float[2, 1, n] x, float[9, m] s",
        "y = com.microsoft.RotaryEmbedding<num_heads = 1, rotary_embedding_dim = 5>(x, p, s, s)",
    ),
    "rotations of three positions": (
        17,
        "float[2, 3, 1, n] x, float[9, m] s",
        "y = com.microsoft.MRotaryEmbedding<mrope_section = [1, 1, 0]>(x, ppp, s, s)",
    ),
    "classes of targets": (17, "float[3, n] x, float[m] z", "y = NegativeLogLikelihoodLoss(x, classes)"),
    "classes of targets that are ignored": (
        17,
        "float[3, n] x, float[m] z",
        "y = SoftmaxCrossEntropyLoss<ignore_index = 5>(x, classes)",
    ),
    "groups of output channels": (17, "float[1, 2, n] x, float[m, 1, 1] s", "y = Conv<group = 2>(x, s)"),
    "groups of input channels": (17, "float[1, m, n] x, float[m, 1, 1] s", "y = ConvTranspose<group = 2>(x, s)"),
}
HELD = {
    "w": np.ones((1, 1, 1), np.float32),
    "r": np.ones((1, 1, 1), np.float32),
    "four": np.zeros((4, 2), np.int64),
    "grown": np.array([3, 2], np.int64),
    "classes": np.array([2, 5, 0]),
    "p": np.zeros(1, np.int64),
    "ppp": np.zeros((3, 2, 1), np.int64),
}


@pytest.mark.parametrize("name", CASES)
def test_legal_sizes_are_those_that_run(name):
    opset, inputs, body = CASES[name]
    model = onnx.parser.parse_model(f"{HEADER.format(opset=opset)} g ({inputs}) => (float[q] y) {{ {body} }}")
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in HELD.items())
    model.graph.output[0].type.tensor_type.ClearField("shape")
    contract, session = infer_shapes(model).contract, session_of(model)
    for sizes in itertools.product(range(1, 9), range(1, 5)):
        named = dict(zip("nm", sizes, strict=True))
        assert contract.check(named).verdict is runs(session, model, named), (contract, named)


def runs(session, model, sizes):
    feeds = {
        i.name: np.ones([sizes.get(d.dim_param, d.dim_value) for d in i.type.tensor_type.shape.dim], np.float32)
        for i in model.graph.input
    }
    try:
        session.run(None, feeds)
    except Exception:  # onnxruntime has no class of its own for what fails at run time
        return False
    return True
