"""Operators of TensorFlow.js that TensorFlow lacks; `FUNCTIONS` are TensorFlow's functions of the same meaning."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

VALID, SAME = {"padding": "VALID"}, {"padding": "SAME"}
STRIDED = {"strides": [1, 2, 2, 1], **SAME}
DILATED = {"strides": [1, 1, 1, 1], "dilations": [1, 2, 2, 1], **VALID}
IMAGES, FILTER = "float32[2, 8, 9, 4]", "float32[3, 2, 4, 2]"
SIZES = np.array([2, 0, 3], np.int32)


def cases():
    for x, alpha in (("[2, 5, 3]", "[3]"), ("[2, 5, 3]", "[5, 1]"), ("[3]", "[2, 3]"), ("[0, 3]", "[3]"), ("[]", "[]")):
        yield Case("Prelu", (f"float32{x}", f"float32{alpha}"))
    for window in (STRIDED, DILATED):
        yield Case("DepthwiseConv2d", (IMAGES, FILTER), window)
        yield Case("FusedDepthwiseConv2dNative", (IMAGES, FILTER, ["float32[8]"]), window)
    for x in ("[2, 9, 4]", "[7, 4]"):
        for window in ({"stride": 2, **SAME}, {"stride": 3, **VALID}, {"stride": 1, "dilation": 3, **VALID}):
            yield Case("Conv1D", (f"float32{x}", "float32[3, 4, 5]"), window)
    yield Case("DepthwiseConv2d", ("float32[8, 9, 4]", FILTER), STRIDED)
    for op in ("Ones", "Zeros"):
        for dtype in ("float32", "int32", "bool"):
            yield Case(op, (SIZES,), {"T": dtype})
            yield Case(op, (SIZES[::2],), {"T": dtype})
        yield Case(op, (Runtime(SIZES),), {"T": "float32"}, data=True, ranked=False)


def _depthwise(input, filter, strides, padding, dilations=(1, 1, 1, 1)):
    import tensorflow

    images = input if len(input.shape) == 4 else input[None]
    result = tensorflow.nn.depthwise_conv2d(images, filter, strides, padding, dilations=dilations[1:3])
    return result if len(input.shape) == 4 else result[0]


def _fused_depthwise(input, filter, args, strides, padding, dilations=(1, 1, 1, 1)):
    import tensorflow

    product = _depthwise(input, filter, strides, padding, dilations)
    return tensorflow.nn.relu(tensorflow.nn.bias_add(product, args[0]))


def _conv_1d(input, filter, stride, padding, dilation=1):
    import tensorflow

    rows = input if len(input.shape) == 3 else input[None]
    result = tensorflow.nn.conv1d(rows, filter, stride, padding, dilations=dilation)
    return result if len(input.shape) == 3 else result[0]


def _prelu(x, alpha):
    """What Keras' PReLU computes, and the converter replaces."""
    import tensorflow

    return tensorflow.nn.relu(x) - alpha * tensorflow.nn.relu(-x)


def _ones(shape, T):  # noqa: N803
    import tensorflow

    return tensorflow.ones(shape, T)


def _zeros(shape, T):  # noqa: N803
    import tensorflow

    return tensorflow.zeros(shape, T)


FUNCTIONS = {
    "Prelu": _prelu,
    "DepthwiseConv2d": _depthwise,
    "FusedDepthwiseConv2dNative": _fused_depthwise,
    "Conv1D": _conv_1d,
    "Ones": _ones,
    "Zeros": _zeros,
}
CASES = list(cases())
