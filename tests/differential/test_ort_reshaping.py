"""Reshaping, slicing, padding, joining and repeating, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.differential import ort
from tests.differential.cases import case, ints, tensor
from tests.differential.draws import axes_of, axis_of, broadcastable, flag, opset, shapes


def reshape(draw):
    """The axes of a shape regrouped: 1s put in, neighbors multiplied, one size left open, some copied."""
    shape = draw(shapes(least=draw(st.integers(0, 1))))
    target, i = [], 0
    while i < len(shape):
        many = draw(st.integers(1, 2))
        target.append(int(np.prod(shape[i : i + many])))
        i += many
        if draw(st.booleans()):
            target.append(1)
    zero = 0 in shape
    allow = draw(flag) if zero else None
    for axis, n in enumerate(target):
        if axis < len(shape) and shape[axis] == n and not allow and draw(st.booleans()):
            target[axis] = 0
    if target and not zero and draw(st.booleans()):
        target[draw(st.integers(0, len(target) - 1))] = -1
    return case("Reshape", tensor(shape), ints(*target), deciding=(1,), allowzero=allow, opset=draw(opset(14, 19, 21)))


def flatten(draw):
    shape = draw(shapes(least=0))
    at = draw(st.sampled_from((None, *range(-len(shape), len(shape) + 1)))) if shape else None
    return case("Flatten", tensor(shape), axis=at, opset=draw(opset(11, 13, 21)))


def transpose(draw):
    shape = draw(shapes(least=0))
    order = draw(st.sampled_from((None, draw(st.permutations(range(len(shape)))))))
    return case("Transpose", tensor(shape), perm=order, opset=draw(opset(7, 13, 21)))


def squeeze(draw):
    shape = draw(shapes(size=3))
    ones = [i for i, n in enumerate(shape) if n == 1]
    some = draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
    some = [i - len(shape) if draw(st.booleans()) else i for i in some]
    axes = draw(st.sampled_from((None, some))) or None
    if not some or draw(st.booleans()):  # onnxruntime takes an empty tensor of axes for all of them
        return case("Squeeze", tensor(shape), axes=axes, opset=11)
    return case("Squeeze", tensor(shape), ints(*some), deciding=(1,), opset=draw(opset(13, 21)))


def unsqueeze(draw):
    shape = draw(shapes(high=3))
    count = draw(st.integers(1, 3))
    rank = len(shape) + count
    axes = draw(st.lists(st.integers(0, rank - 1), min_size=count, max_size=count, unique=True))
    axes = [a - rank if draw(st.booleans()) else a for a in axes]
    if draw(st.booleans()):
        return case("Unsqueeze", tensor(shape), axes=axes, opset=11)
    return case("Unsqueeze", tensor(shape), ints(*axes), deciding=(1,), opset=draw(opset(13, 21)))


FAR = st.sampled_from(
    (-(2**63), -(10**9), -9, 9, 10**9, 2**31)
)  # 2**63 - 1 backwards is to onnxruntime, not to ONNX, an open end


def slice_(draw):
    shape = draw(shapes(low=1, least=0))
    axes = draw(axes_of(len(shape), low=1))
    near = st.integers(-6, 6)
    each = st.lists(st.one_of(near, near, FAR), min_size=len(axes), max_size=len(axes))
    steps = draw(st.lists(st.sampled_from((-3, -2, -1, 1, 1, 2, 3)), min_size=len(axes), max_size=len(axes)))
    optional = [ints(*axes), draw(st.sampled_from((None, ints(*steps))))]
    if sorted(a % len(shape) for a in axes) == list(range(len(axes))) == axes and draw(st.booleans()):
        optional[0] = None
    version = draw(opset(10, 11, 13, 21))
    return case(
        "Slice", tensor(shape), ints(*draw(each)), ints(*draw(each)), *optional, deciding=(1, 2, 3, 4), opset=version
    )


def slice_by_attribute(draw):
    shape = draw(shapes(low=1))
    axes = [a % len(shape) for a in draw(axes_of(len(shape), low=1))]
    each = st.lists(st.integers(-6, 6), min_size=len(axes), max_size=len(axes))
    return case("Slice", tensor(shape), starts=draw(each), ends=draw(each), axes=axes, opset=draw(opset(7, 9)))


def pad(draw):
    shape = draw(shapes(low=1, size=4))
    version = draw(opset(11, 13, 18, 21))
    axes = draw(st.sampled_from((None, draw(axes_of(len(shape), low=1))))) if version >= 18 else None
    count = len(shape) if axes is None else len(axes)
    mode = draw(st.sampled_from((None, "constant", "edge", "reflect")))
    low = -1 if mode in (None, "constant") else 0
    high = 0 if mode == "reflect" and min(shape) < 2 else 1 if mode == "reflect" else 3
    pads = draw(st.lists(st.integers(low, high), min_size=2 * count, max_size=2 * count))
    value = draw(st.sampled_from((None, np.float32(1))))
    last = [] if axes is None else [ints(*axes)]
    return case("Pad", tensor(shape), ints(*pads), value, *last, deciding=(1, 3), mode=mode, opset=version)


def pad_by_attribute(draw):
    shape = draw(shapes(low=1, size=4))
    pads = draw(st.lists(st.integers(-1, 3), min_size=2 * len(shape), max_size=2 * len(shape)))
    return case("Pad", tensor(shape), pads=pads, opset=draw(opset(7, 9)))


def center_crop_pad(draw):
    shape = draw(shapes(low=1))
    axes = draw(st.sampled_from((None, draw(axes_of(len(shape), low=1)))))
    count = len(shape) if axes is None else len(axes)
    wanted = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    return case("CenterCropPad", tensor(shape), ints(*wanted), deciding=(1,), axes=axes, opset=18)


def concat(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        part = list(shape)
        part[at] = draw(st.integers(0, 4))
        parts.append(tensor(part, "int64"))
    deciding = draw(st.sampled_from(((), tuple(range(len(parts))))))
    return case("Concat", *parts, deciding=deciding, axis=at, opset=draw(opset(11, 13)))


def split(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    parts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    shape[at] = sum(parts)
    if draw(st.booleans()):
        return case("Split", tensor(shape), split=parts, axis=at, outputs=len(parts), opset=draw(opset(7, 11)))
    return case(
        "Split", tensor(shape), ints(*parts), deciding=(1,), axis=at, outputs=len(parts), opset=draw(opset(13, 18))
    )


def split_evenly(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    count = draw(st.integers(1, 3))
    version = draw(opset(11, 13, 18))
    shape[at] = draw(st.integers(count, 9)) if version == 18 else count * draw(st.integers(1, 3))
    number = count if version == 18 else None
    return case("Split", tensor(shape), axis=at, outputs=count, num_outputs=number, opset=version)


def tile(draw):
    shape = draw(shapes(least=0))
    repeats = draw(st.lists(st.integers(0, 3), min_size=len(shape), max_size=len(shape)))
    return case("Tile", tensor(shape), ints(*repeats), deciding=(1,), opset=draw(opset(7, 13)))


def expand(draw):
    x, target = broadcastable(draw, 2)
    return case("Expand", tensor(x), ints(*target), deciding=(1,), opset=draw(opset(8, 13)))


def shape(draw):
    array = tensor(draw(shapes(least=0)))
    version = draw(opset(13, 15, 19, 21))
    ends = {name: draw(st.sampled_from((None, *range(-6, 7)))) for name in ("start", "end") if version >= 15}
    return case("Shape", array, opset=version, **ends)


def size(draw):
    return case("Size", tensor(draw(shapes(least=0))), opset=draw(opset(7, 13)))


def constant_of_shape(draw):
    return case("ConstantOfShape", ints(*draw(shapes(least=0))), deciding=(0,), opset=draw(opset(9, 20)))


def range_(draw):
    dtype = draw(st.sampled_from(("int64", "int32", "float32", "float64")))
    fractions = 4 if dtype.startswith("float") else 1
    start, limit, delta = (draw(st.integers(-9, 9)) for _ in range(3))
    operands = [np.array(v / fractions if fractions > 1 else v, dtype) for v in (start, limit, delta or 1)]
    return case("Range", *operands, deciding=(0, 1, 2), opset=11)


def eye_like(draw):
    return case(
        "EyeLike", tensor(draw(shapes(rank=2))), dtype=draw(st.sampled_from((None, 1, 7))), opset=draw(opset(9, 22))
    )


def one_hot(draw):
    dims = draw(shapes(low=1, high=3))
    at = draw(st.sampled_from((None, *range(-len(dims) - 1, len(dims) + 1))))
    depth = draw(st.sampled_from((np.array(4), np.array([4]), np.array([4.0], np.float32))))
    values = tensor([2], draw(st.sampled_from(("float32", "int64"))))
    return case("OneHot", tensor(dims, "int64"), depth, values, deciding=(1,), axis=at, opset=draw(opset(9, 11)))


def trilu(draw):
    return case("Trilu", tensor(draw(shapes(low=2))), upper=draw(flag), opset=14)


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
