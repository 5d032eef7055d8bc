"""Convolutions, pools, resizing and blocks, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.differential import ort
from tests.differential.cases import KNOWN, case, ints, tensor
from tests.differential.draws import axes_of, flag, opset, shapes

AUTO = ("NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def _per_axis(draw, rank, low, high):
    """A value for each spatial axis, or nothing."""
    return draw(st.sampled_from(([], None))) or draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))


def _window(draw, rank):
    """Attributes of a window: pads, less than the kernel, are set where no other attribute determines them."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    auto = draw(st.sampled_from(AUTO))
    pads = [draw(st.integers(0, k - 1)) for k in sizes * 2] if auto == "NOTSET" else None
    dilations = _per_axis(draw, rank, 1, 2) if not auto.startswith("SAME") else None
    return {
        "kernel_shape": sizes,
        "auto_pad": draw(st.sampled_from((auto, auto if auto != "NOTSET" else None))),
        "pads": draw(st.sampled_from((pads, pads, None))),
        "strides": _per_axis(draw, rank, 1, 3),
        "dilations": dilations,
    }


def _spatial(draw, rank, low=1, high=9):
    return draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))


def _fitting(draw, window):
    """Spatial sizes that no window of a pool is larger than."""
    dilations = window["dilations"] or [1] * len(window["kernel_shape"])
    return [(k - 1) * d + 1 + draw(st.integers(0, 7)) for k, d in zip(window["kernel_shape"], dilations, strict=True)]


def conv(draw):
    rank = draw(st.integers(1, 3))
    window = _window(draw, rank)
    group, channels, each = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    x = tensor([draw(st.integers(0, 2)), group * channels, *_spatial(draw, rank)])
    w = tensor([group * each, channels, *window["kernel_shape"]])
    if draw(st.booleans()):
        window["kernel_shape"] = None
    bias = draw(st.sampled_from((None, tensor([group * each]))))
    return case("Conv", x, w, bias, group=group, **window, opset=draw(opset(7, 11, 21)))


def conv_integer(draw):
    rank = 2
    window = _window(draw, rank)
    x = tensor([1, 2, *_spatial(draw, rank)], "uint8")
    return case("ConvInteger", x, tensor([3, 2, *window["kernel_shape"]], "uint8"), **window)


def conv_transpose(draw):
    rank = draw(st.integers(1, 3))
    window = _window(draw, rank)
    group, channels, each = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    x = tensor([1, group * channels, *_spatial(draw, rank, high=5)])
    w = tensor([group * channels, each, *window["kernel_shape"]])
    extra = _per_axis(draw, rank, 0, 1) if window["strides"] and min(window["strides"]) > 1 else None
    shape = draw(st.sampled_from((None, None, None, _spatial(draw, rank, low=4, high=12))))
    return case(
        "ConvTranspose",
        x,
        w,
        group=group,
        output_padding=extra,
        output_shape=shape,
        **window,
        opset=draw(opset(1, 11, 21)),
    )


def _pool(draw, op, **attributes):
    rank = draw(st.integers(1, 3))
    versions = {"AveragePool": (7, 10, 11, 19, 21), "MaxPool": (8, 10, 11, 12, 21), "LpPool": (11, 18, 21)}[op]
    version = draw(opset(*versions))
    window = _window(draw, rank)
    dilates = version >= {"AveragePool": 19, "MaxPool": 10, "LpPool": 18}[op]
    ceils = version >= {"AveragePool": 10, "MaxPool": 10, "LpPool": 18}[op]
    if not dilates:
        window["dilations"] = None
    x = tensor([draw(st.integers(0, 2)), draw(st.integers(1, 2)), *_fitting(draw, window)])
    ceil = draw(flag) if ceils else None
    return case(op, x, ceil_mode=ceil, opset=version, **window, **attributes)


def average_pool(draw):
    return _pool(draw, "AveragePool", count_include_pad=draw(flag))


def max_pool(draw):
    return _pool(draw, "MaxPool", outputs=draw(st.integers(1, 2)))


def lp_pool(draw):
    return _pool(draw, "LpPool")


def global_pool(draw):
    op = draw(st.sampled_from(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")))
    return case(op, tensor(draw(shapes(low=3, high=5))))


MODES = ("nearest", "linear")


def _scales(draw, rank):
    return draw(st.lists(st.sampled_from((0.5, 0.6, 1.0, 1.5, 2.0, 3.0, 1 / 3)), min_size=rank, max_size=rank))


def resize_by_scales(draw):
    shape = draw(shapes(low=1))
    scales = np.array(_scales(draw, len(shape)), np.float32)
    mode = "nearest" if len(shape) > 2 else draw(st.sampled_from(MODES))
    roi = None
    version = draw(opset(11, 13, 18, 19))
    if version == 11:
        roi = np.zeros(0, np.float32)
    return case("Resize", tensor(shape), roi, scales, deciding=(1, 2), mode=mode, opset=version)


def resize_by_sizes(draw):
    shape = draw(shapes(low=1))
    version = draw(opset(11, 13, 18, 19))
    policy, axes = None, None
    if version >= 18:
        policy = draw(st.sampled_from((None, "stretch", "not_larger", "not_smaller")))
        axes = draw(st.sampled_from((None, draw(axes_of(len(shape), low=1)))))
        if axes and policy not in (None, "stretch"):  # onnxruntime 1.31 forgets to count these from the end
            axes = [a % len(shape) for a in axes]
    count = len(shape) if axes is None else len(axes)
    sizes = ints(*draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)))
    empty = np.zeros(0, np.float32) if version == 11 else None
    attributes = {"keep_aspect_ratio_policy": policy, "axes": axes, "mode": "nearest"}
    return case("Resize", tensor(shape), empty, empty, sizes, deciding=(1, 2, 3), opset=version, **attributes)


def resize_some_axes_by_scales(draw):
    shape = draw(shapes(low=1))
    axes = draw(axes_of(len(shape), low=1))
    scales = np.array(_scales(draw, len(axes)), np.float32)
    return case(
        "Resize", tensor(shape), None, scales, deciding=(2,), mode="nearest", axes=axes, opset=draw(opset(18, 19))
    )


def upsample(draw):
    shape = draw(shapes(low=1))
    scales = np.maximum(np.array(_scales(draw, len(shape)), np.float32), 1)
    if draw(st.booleans()):
        return case("Upsample", tensor(shape), scales, deciding=(1,), mode="nearest", opset=9)
    return case("Upsample", tensor(shape), scales=scales.tolist(), mode="nearest", opset=7)


def resize_before_sizes(draw):
    shape = draw(shapes(low=1))
    scales = np.array(_scales(draw, len(shape)), np.float32)
    return case("Resize", tensor(shape), scales, deciding=(1,), mode="nearest", opset=10)


def depth_to_space(draw):
    block, n, channels, height, width = (draw(st.integers(1, 3)) for _ in range(5))
    x = tensor([n, channels * block * block, height, width])
    mode = draw(st.sampled_from((None, "DCR", "CRD")))
    return case("DepthToSpace", x, blocksize=block, mode=mode, opset=draw(opset(11, 13)))


def space_to_depth(draw):
    block, n, channels, height, width = (draw(st.integers(1, 3)) for _ in range(5))
    return case(
        "SpaceToDepth", tensor([n, channels, height * block, width * block]), blocksize=block, opset=draw(opset(7, 13))
    )


def col2im(draw):
    rank = draw(st.integers(1, 2))
    image = draw(st.lists(st.integers(4, 7), min_size=rank, max_size=rank))
    block = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    count = int(np.prod([i - b + 1 for i, b in zip(image, block, strict=True)]))
    x = tensor([draw(st.integers(1, 2)), 2 * int(np.prod(block)), count])
    return case("Col2Im", x, ints(*image), ints(*block), deciding=(1, 2), opset=18)


def grid_sample(draw):
    n, c, h, w, oh, ow = (draw(st.integers(1, 4)) for _ in range(6))
    return case("GridSample", tensor([n, c, h, w]), tensor([n, oh, ow, 2]), opset=draw(opset(16, 20)))


def roi_align(draw):
    h, w = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    count = draw(st.integers(1, 3))
    x, rois = tensor([2, draw(st.integers(1, 3)), 6, 6]), tensor([count, 4])
    return case(
        "RoiAlign", x, rois, np.zeros(count, np.int64), output_height=h, output_width=w, opset=draw(opset(10, 16))
    )


@pytest.mark.parametrize(("size", "stride"), [(1, 1), (2, 1), (1, 2), (2, 2), (2, 3), (1, 3)])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_a_window_that_does_not_fit(op, size, stride):
    c = case(op, tensor([1, 1, size]), kernel_shape=[3], strides=[stride])
    real = ort.run(c)
    if not isinstance(real, str):
        assert not list(ort.contradictions(c, KNOWN, real, exact=True))


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
