"""Convolutions, pooling, normalization."""

import numpy as np

from tests.differential.tf.case import Case, Runtime

IMAGE, VOLUME = (2, 7, 9, 4), (2, 6, 7, 5, 4)
WINDOWS = [
    {"padding": "VALID", "strides": [1, 1, 1, 1]},
    {"padding": "VALID", "strides": [1, 2, 2, 1]},
    {"padding": "SAME", "strides": [1, 2, 2, 1]},
    {"padding": "SAME", "strides": [1, 3, 3, 1], "dilations": [1, 1, 1, 1]},
    {"padding": "VALID", "strides": [1, 1, 1, 1], "dilations": [1, 2, 3, 1]},
    {"padding": "SAME", "strides": [1, 1, 1, 1], "dilations": [1, 2, 2, 1]},
    {"padding": "EXPLICIT", "strides": [1, 2, 2, 1], "explicit_paddings": [0, 0, 1, 2, 0, 3, 0, 0]},
]
VOLUME_WINDOWS = [
    {"padding": "VALID", "strides": [1, 1, 1, 1, 1]},
    {"padding": "SAME", "strides": [1, 2, 3, 1, 1]},
    {"padding": "VALID", "strides": [1, 2, 1, 2, 1]},
]


def size_after(size, window, stride, padding, dilation=1, pads=0):
    """The definition of the size of an output, by counting windows."""
    if padding == "SAME":
        return len(range(0, size, stride))
    span = (window - 1) * dilation + 1
    return len(range(0, size + pads - span + 1, stride))


def text(*dims, dtype="float32"):
    return f"{dtype}{list(dims)}"


def outputs(shape, window, attributes):
    pads = attributes.get("explicit_paddings", [0] * 2 * len(shape))
    return [
        size_after(
            size,
            width,
            attributes["strides"][axis],
            attributes["padding"],
            attributes.get("dilations", [1] * len(shape))[axis],
            pads[2 * axis] + pads[2 * axis + 1],
        )
        for axis, (size, width) in enumerate(zip(shape[1:-1], window, strict=True), 1)
    ]


def convolutions():
    for attributes in WINDOWS:
        yield Case("Conv2D", (text(*IMAGE), "float32[3, 2, 4, 6]"), attributes)
        yield Case("Conv2D", (text(*IMAGE), "float32[3, 2, 2, 6]"), attributes)
        yield Case("Conv", (text(*IMAGE), "float32[3, 2, 4, 6]"), attributes)
        if max(attributes.get("dilations", [1])) == 1:
            yield Case("DepthwiseConv2dNative", (text(*IMAGE), "float32[3, 2, 4, 3]"), attributes)
    for attributes in VOLUME_WINDOWS:
        yield Case("Conv3D", (text(*VOLUME), "float32[2, 3, 2, 4, 6]"), attributes)
        yield Case("Conv", (text(*VOLUME), "float32[2, 3, 2, 4, 6]"), attributes)
    batches = {"padding": "VALID", "strides": [1, 1, 1, 1], "batch_dims": 2}
    yield Case("Conv", ("float32[3, 2, 7, 9, 4]", "float32[3, 2, 4, 6]"), batches)
    yield Case("Conv2D", ("float32[0, 7, 9, 4]", "float32[3, 2, 4, 6]"), WINDOWS[0])
    for attributes in WINDOWS[:3]:
        window = {k: v for k, v in attributes.items() if k != "dilations"}
        for rates in ([1, 1, 1, 1], [1, 2, 3, 1]):
            yield Case("Dilation2D", (text(*IMAGE), "float32[3, 2, 4]"), {**window, "rates": rates})


def gradients_of_convolutions():
    for attributes in WINDOWS:
        if max(attributes.get("dilations", [1])) > 1:
            continue
        grad = text(2, *outputs(IMAGE, (3, 2), attributes), 6)
        for sizes in (IMAGE, IMAGE[1:3]):
            contents = np.array(sizes, np.int32)
            for sized in (contents, Runtime(contents)):
                yield Case(
                    "Conv2DBackpropInput", (sized, "float32[3, 2, 4, 6]", grad), attributes, isinstance(sized, Runtime)
                )
        grad = text(2, *outputs(IMAGE, (3, 2), attributes), 6)
        filters = np.array([3, 2, 4, 6], np.int32)
        yield Case("Conv2DBackpropFilter", (text(*IMAGE), filters, grad), attributes)
        grad = text(2, *outputs(IMAGE, (3, 2), attributes), 12)
        sizes = np.array(IMAGE, np.int32)
        yield Case("DepthwiseConv2dNativeBackpropInput", (sizes, "float32[3, 2, 4, 3]", grad), attributes)
        filters = np.array([3, 2, 4, 3], np.int32)
        yield Case("DepthwiseConv2dNativeBackpropFilter", (text(*IMAGE), filters, grad), attributes)
    for attributes in VOLUME_WINDOWS:
        grad = text(2, *outputs(VOLUME, (2, 3, 2), attributes), 6)
        sizes = np.array(VOLUME, np.int32)
        yield Case("Conv3DBackpropInputV2", (sizes, "float32[2, 3, 2, 4, 6]", grad), attributes)
        yield Case("Conv3DBackpropInputV2", (Runtime(sizes), "float32[2, 3, 2, 4, 6]", grad), attributes, True)
        filters = np.array([2, 3, 2, 4, 6], np.int32)
        yield Case("Conv3DBackpropFilterV2", (text(*VOLUME), filters, grad), attributes)
    for attributes in WINDOWS[:3]:
        window = {**attributes, "rates": [1, 1, 1, 1]}
        grad = text(2, *outputs(IMAGE, (3, 2), attributes), 4)
        yield Case("Dilation2DBackpropInput", (text(*IMAGE), "float32[3, 2, 4]", grad), window)
        yield Case("Dilation2DBackpropFilter", (text(*IMAGE), "float32[3, 2, 4]", grad), window)


def pools():
    for attributes in WINDOWS[:3]:
        for ksize in ([1, 2, 2, 1], [1, 3, 2, 1]):
            window = {**attributes, "ksize": ksize}
            yield Case("AvgPool", (text(*IMAGE),), window)
            yield Case("MaxPool", (text(*IMAGE),), window)
            yield Case("MaxPoolWithArgmax", (text(*IMAGE),), window)
            tensors = (np.array(ksize, np.int32), np.array(attributes["strides"], np.int32))
            padding = {"padding": attributes["padding"]}
            yield Case("MaxPoolV2", (text(*IMAGE), *tensors), padding)
            yield Case("MaxPoolV2", (text(*IMAGE), *map(Runtime, tensors)), padding, True)
            pooled = text(2, *outputs(IMAGE, ksize[1:3], attributes), 4)
            yield Case("AvgPoolGrad", (np.array(IMAGE, np.int32), pooled), window)
            yield Case("AvgPoolGrad", (Runtime(np.array(IMAGE, np.int32)), pooled), window, True)
            yield Case("MaxPoolGrad", (text(*IMAGE), pooled, pooled), window)
            yield Case("MaxPoolGradV2", (text(*IMAGE), pooled, pooled, *tensors), padding)
            yield Case("MaxPoolGradGrad", (text(*IMAGE), pooled, text(*IMAGE)), window)
            yield Case("MaxPoolGradGradV2", (text(*IMAGE), pooled, text(*IMAGE), *tensors), padding)
    explicit = {"ksize": [1, 2, 2, 1], **WINDOWS[-1], "explicit_paddings": [0, 0, 1, 1, 0, 1, 0, 0]}
    yield Case("MaxPool", (text(*IMAGE),), explicit)
    yield Case("MaxPool", ("float32[2, 3, 5, 6]",), {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "SAME"})
    yield Case("MaxPool", ("float32[0, 3, 5, 6]",), {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"})
    for attributes in VOLUME_WINDOWS:
        window = {**attributes, "ksize": [1, 2, 3, 2, 1]}
        pooled = text(2, *outputs(VOLUME, (2, 3, 2), attributes), 4)
        yield Case("AvgPool3D", (text(*VOLUME),), window)
        yield Case("MaxPool3D", (text(*VOLUME),), window)
        yield Case("AvgPool3DGrad", (np.array(VOLUME, np.int32), pooled), window)
        yield Case("MaxPool3DGrad", (text(*VOLUME), pooled, pooled), window)
        yield Case("MaxPool3DGradGrad", (text(*VOLUME), pooled, text(*VOLUME)), window)
    for op in ("FractionalAvgPool", "FractionalMaxPool"):
        for ratio in ([1.0, 2.0, 1.5, 1.0], [1.0, 1.44, 1.73, 1.0], [1.0, 1.25, 2.6, 1.0]):
            yield Case(op, ("float32[2, 13, 29, 3]",), {"pooling_ratio": ratio, "overlapping": True})
    rows, columns = np.array([0, 2, 4, 7]), np.array([0, 2, 5, 7, 9])
    grad = "float32[2, 3, 4, 4]"
    zeros = np.zeros(IMAGE, np.float32), np.zeros((2, 3, 4, 4), np.float32)
    yield Case("FractionalMaxPoolGrad", (*zeros, grad, rows, columns))
    yield Case("FractionalAvgPoolGrad", (np.array(IMAGE, np.int64), grad, rows, columns))
    yield Case("FractionalAvgPoolGrad", (Runtime(np.array(IMAGE, np.int64)), grad, rows, columns), data=True)


def normalizations():
    x, vector = text(*IMAGE), "float32[4]"
    for training in (True, False):
        for op in ("FusedBatchNorm", "FusedBatchNormV2"):
            yield Case(op, (x, *[vector] * 4), {"is_training": training})
        # what the kernel keeps for the gradient differs between devices
        yield Case("FusedBatchNormV3", (x, *[vector] * 4), {"is_training": training}, True, False)
        for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2"):
            yield Case(op, (x, x, *[vector] * 3), {"is_training": training})
        yield Case("FusedBatchNormGradV3", (x, x, *[vector] * 3, "float32[0]"), {"is_training": training})
    volume = {"data_format": "NDHWC"}
    yield Case("FusedBatchNormV3", (text(*VOLUME), *[vector] * 4), volume, True, False)
    yield Case("FusedBatchNormGradV3", (text(*VOLUME), text(*VOLUME), *[vector] * 3, "float32[0]"), volume)
    first = {"data_format": "NCHW"}
    yield Case("FusedBatchNormV3", ("float32[2, 4, 5, 7]", *[vector] * 4), first, True, False)
    yield Case("FusedBatchNorm", (x, vector, vector, "float32[0]", "float32[0]"))
    average = {"exponential_avg_factor": 0.5}
    yield Case("FusedBatchNormV3", (x, *[vector] * 4), average, True, False)
    yield Case("LRN", (x,))
    yield Case("LRN", (x,), {"depth_radius": 2})
    yield Case("LRN", ("float32[1, 3, 1, 2]",))
    yield Case("LRNGrad", (x, x, x))


CASES = [*convolutions(), *gradients_of_convolutions(), *pools(), *normalizations()]
