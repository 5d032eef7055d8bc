"""Cases of ONNX's operators with operands that no published case has."""

import numpy as np

from tests.differential.single_node import Case, Known, runtime_values


def i32(*values):
    return runtime_values(*values, dtype=np.int32)


def onnx(op, inputs, attributes=None, outputs=1, domain=""):
    return Case(op, inputs, attributes or {}, outputs, domain)


TENSOR_SCALE, ZERO = runtime_values(0.5, dtype=np.float32, shape=()), runtime_values(0, dtype=np.uint8, shape=())

ONNX_CASES = [
    onnx("Conv", ("f[1,4,8,9]", "f[6,2,3,3]", "f[6]"), {"group": 2}),
    onnx("ConvTranspose", ("f[1,4,8,9]", "f[4,3,3,3]", "f[6]"), {"group": 2, "strides": [2, 2]}),
    onnx("DFT", ("f[2,5,1]", Known(8, shape=()))),
    onnx("RNN", ("f[5,2,3]", "f[1,4,3]", "f[1,4,4]", "f[1,8]", i32(5, 4), "f[1,2,4]"), {"hidden_size": 4}, 2),
    onnx("GRU", ("f[5,2,3]", "f[1,12,3]", "f[1,12,4]", "f[1,24]", i32(5, 4), "f[1,2,4]"), {"hidden_size": 4}, 2),
    onnx(
        "LSTM",
        ("f[5,2,3]", "f[2,16,3]", "f[2,16,4]", "f[2,32]", i32(5, 4), "f[2,2,4]", "f[2,2,4]", "f[2,12]"),
        {"hidden_size": 4, "direction": "bidirectional"},
        3,
    ),
    onnx("Pad", ("f[2,3]", Known(1, 2), runtime_values(0.5, dtype=np.float32, shape=()), Known(1))),
    onnx("MaxRoiPool", ("f[2,3,8,9]", "f[4,5]"), {"pooled_shape": [2, 2]}),
    onnx("FeatureVectorizer", ("f[2,3]", "f[2,4]"), {"inputdimensions": [3, 4]}, domain="ai.onnx.ml"),
    onnx("PRelu", ("f[2,3,4]", "f[3,1]")),
    onnx("LayerNormalization", ("f[2,3,4]", "f[4]", "f[4]"), {}, 3),
    onnx("QuantizeLinear", ("f[2,3,4]", "f[3]", runtime_values(0, 0, 0, dtype=np.uint8)), {"axis": 1}),
    onnx("DequantizeLinear", ("B[2,3,4]", "f[3]", runtime_values(0, 0, 0, dtype=np.uint8)), {"axis": 1}),
    onnx(
        "QLinearConv",
        (
            "B[1,4,8,9]",
            TENSOR_SCALE,
            ZERO,
            "B[6,4,3,3]",
            "f[6]",
            runtime_values(*(0,) * 6, dtype=np.uint8),
            TENSOR_SCALE,
            ZERO,
            "i[6]",
        ),
    ),
    onnx("Split", ("f[7,3]",), {"axis": 0, "num_outputs": 3}, 3),
]
