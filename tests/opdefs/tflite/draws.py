"""Random models of a single operator: options and sizes of which most are legal, for each operator with a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import Any

from tests.opdefs.tflite.case import Case, Operand

Drawing = Callable[["Draw"], Case]
MAX_DATA = 64
"""The most elements with numbers of their own; others are 0."""

DRAWINGS: dict[str, Drawing] = {}
"""By operator, what draws a case of it."""


def draws(*names: str) -> Callable[[Callable[[Draw, str], Case]], Callable[[Draw, str], Case]]:
    """Register what draws cases of these operators."""

    def register(function: Callable[[Draw, str], Case]) -> Callable[[Draw, str], Case]:
        for name in names:
            DRAWINGS[name] = lambda draw, name=name: function(draw, name)  # type: ignore[misc]
        return function

    return register


def draw_case(name: str, seed: int) -> Case:
    """A random case of an operator."""
    return DRAWINGS[name](Draw(Random(f"{name}/{seed}")))


class Draw:
    """Random numbers, sizes and operands."""

    def __init__(self, random: Random) -> None:
        """With a source of random numbers."""
        self.random = random

    def number(self, low: int, high: int) -> int:
        """An integer of a range."""
        return self.random.randint(low, high)

    def one_of(self, *choices: Any) -> Any:
        """One of several values."""
        return self.random.choice(choices)

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred."""
        return self.random.random() * 100 < percent

    def dims(self, low: int = 1, high: int = 4, *, most: int = 5) -> tuple[int, ...]:
        """Sizes of a rank of a range; few of them are 0."""
        return tuple(self.size(most) for _ in range(self.number(low, high)))

    def size(self, most: int = 5) -> int:
        """A size, seldom 0."""
        return 0 if self.chance(2) else self.number(1, most)

    def off(self, value: int, percent: int = 8) -> int:
        """The value, or seldom another one next to it."""
        return max(value + self.one_of(-1, 1), 0) if self.chance(percent) else value

    def feed(self, *dims: int, dtype: str = "float32") -> Operand:
        """An input of the model, with small numbers as data."""
        count = prod(dims)
        if count > MAX_DATA or dtype not in ("float32", "bool"):
            return Operand(dtype, dims)
        numbers = [self.number(-4, 9) for _ in range(count)]
        data = tuple(n > 0 for n in numbers) if dtype == "bool" else tuple(n / 2 for n in numbers)
        return Operand(dtype, dims, data=data)

    def weights(self, *dims: int, dtype: str = "float32") -> Operand:
        """A constant of zeros."""
        return Operand(dtype, dims, None, True)

    def ints(self, values: Sequence[int], *, dtype: str = "int32", dims: Sequence[int] | None = None) -> Operand:
        """Integers that decide sizes: a constant, or an input that is fed."""
        shape = (len(values),) if dims is None else tuple(dims)
        return Operand(dtype, shape, tuple(values), self.chance(60))

    def scalar(self, value: Any, dtype: str = "int32", dims: Sequence[int] = ()) -> Operand:
        """One number, constant or fed."""
        return Operand(dtype, tuple(dims), (value,), self.chance(60))

    def broadcastable(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Sizes that broadcast with others, in most cases."""
        part = dims[self.number(0, len(dims)) :] if self.chance(30) else dims
        return tuple(1 if self.chance(25) else self.off(d, 4) for d in part)

    def axis(self, rank: int) -> int:
        """An axis of a rank, seldom out of range."""
        if self.chance(4):
            return self.one_of(rank, -rank - 1)
        return self.number(-rank, max(rank - 1, -rank))


# -- element by element ------------------------------------------------------------------------------------------------

FLOAT_UNARY = {
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "TANH", "LOGISTIC", "ELU", "FLOOR", "CEIL"), ""),
    **dict.fromkeys(("ROUND", "SQRT", "RSQRT", "SIN", "LOG"), ""),
    "COS": "CosOptions",
    "EXP": "ExpOptions",
    "ABS": "AbsOptions",
    "NEG": "NegOptions",
    "SQUARE": "SquareOptions",
    "SIGN": "SignOptions",
    "HARD_SWISH": "HardSwishOptions",
    "GELU": "GeluOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "ZEROS_LIKE": "ZerosLikeOptions",
    "SOFTMAX": "SoftmaxOptions",
    "LOG_SOFTMAX": "LogSoftmaxOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions",
}


@draws(*FLOAT_UNARY)
def unary(d: Draw, op: str) -> Case:
    rank = (4, 4) if op == "LOCAL_RESPONSE_NORMALIZATION" and d.chance(80) else (0, 5)
    dims = d.dims(*rank)
    if op in ("SOFTMAX", "LOG_SOFTMAX"):
        dims = tuple(max(size, 1) for size in dims)
    return Case(op, [d.feed(*dims)], ["float32"], FLOAT_UNARY[op])


@draws("LOGICAL_NOT")
def logical_not(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 4), dtype="bool")], ["bool"], "LogicalNotOptions")


@draws("CAST")
def cast(d: Draw, op: str) -> Case:
    source, target = (d.one_of("float32", "int32", "int64", "bool", "uint8", "int8", "int16") for _ in range(2))
    return Case(op, [d.feed(*d.dims(0, 4), dtype=source)], [target], "CastOptions")


@draws("QUANTIZE")
def quantize(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 4))], [d.one_of("int8", "uint8", "int16")], "QuantizeOptions")


@draws("DEQUANTIZE")
def dequantize(d: Draw, op: str) -> Case:
    dtype = d.one_of("int8", "uint8", "int16", "float16")
    return Case(op, [d.feed(*d.dims(0, 4), dtype=dtype)], ["float32"], "DequantizeOptions")


@draws("FAKE_QUANT")
def fake_quant(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 4))], ["float32"], "FakeQuantOptions", {"min": 0.0, "max": 6.0, "num_bits": 8})


@draws("REAL", "IMAG", "COMPLEX_ABS")
def complex_part(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 4), dtype="complex64")], ["float32"])


@draws("PRELU")
def prelu(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    return Case(op, [d.feed(*dims), d.weights(*d.broadcastable(dims))], ["float32"])


@draws("BUCKETIZE")
def bucketize(d: Draw, op: str) -> Case:
    options = {"boundaries": (0.0, 1.0, 10.0)}
    return Case(op, [d.feed(*d.dims(0, 4))], ["int32"], "BucketizeOptions", options)


@draws("CUMSUM")
def cumsum(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    options = {"exclusive": d.chance(50), "reverse": d.chance(50)}
    return Case(op, [d.feed(*dims), d.scalar(d.axis(len(dims)))], ["float32"], "CumsumOptions", options)


# -- several operands --------------------------------------------------------------------------------------------------

BINARY = {
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "DIV": "DivOptions",
    "FLOOR_DIV": "FloorDivOptions",
    "FLOOR_MOD": "FloorModOptions",
    "POW": "PowOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "ATAN2": "ATan2Options",
}
COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")


def pair_of_sizes(d: Draw, most: int = 4) -> tuple[tuple[int, ...], tuple[int, ...]]:
    dims = d.dims(0, most)
    other = d.broadcastable(dims)
    return (dims, other) if d.chance(60) else (other, dims)


@draws(*BINARY)
def binary(d: Draw, op: str) -> Case:
    a, b = pair_of_sizes(d)
    second = d.feed(*b)
    if op in ("FLOOR_DIV", "FLOOR_MOD"):
        second = Operand("float32", b, (2.0,) * second.count)
    return Case(op, [d.feed(*a), second], ["float32"], BINARY[op])


@draws(*COMPARISONS)
def comparison(d: Draw, op: str) -> Case:
    a, b = pair_of_sizes(d)
    dtype = d.one_of("float32", "int32")
    return Case(op, [d.feed(*a, dtype=dtype), d.feed(*b, dtype=dtype)], ["bool"])


@draws("LOGICAL_AND", "LOGICAL_OR")
def connective(d: Draw, op: str) -> Case:
    a, b = pair_of_sizes(d)
    return Case(op, [d.feed(*a, dtype="bool"), d.feed(*b, dtype="bool")], ["bool"])


@draws("BITWISE_XOR", "RIGHT_SHIFT")
def bits(d: Draw, op: str) -> Case:
    a, b = pair_of_sizes(d)
    return Case(op, [d.feed(*a, dtype="int32"), d.feed(*b, dtype="int32")], ["int32"])


@draws("ADD_N")
def add_n(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    operands = [d.feed(*(d.off(size, 3) for size in dims)) for _ in range(d.number(2, 4))]
    return Case(op, operands, ["float32"], "AddNOptions")


@draws("SELECT")
def select(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    condition = d.one_of(dims, (), dims[:1], d.broadcastable(dims))
    other = tuple(d.off(size, 4) for size in dims)
    return Case(
        op, [d.feed(*condition, dtype="bool"), d.feed(*dims), d.feed(*other)], ["float32"], "SelectOptions", {}, (dims,)
    )


@draws("SELECT_V2")
def select_v2(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    condition, a, b = (d.broadcastable(dims) for _ in range(3))
    return Case(
        op, [d.feed(*condition, dtype="bool"), d.feed(*a), d.feed(*b)], ["float32"], "SelectV2Options", {}, (dims,)
    )


@draws("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM")
def stablehlo_binary(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    return Case(op, [d.feed(*dims), d.feed(*(d.off(size, 5) for size in dims))], ["float32"])


# -- layers ------------------------------------------------------------------------------------------------------------


def window_options(d: Draw) -> dict[str, Any]:
    return {
        "padding": d.one_of("SAME", "VALID"),
        "stride_w": d.off(d.number(1, 3), 2),
        "stride_h": d.number(1, 3),
    }


def bias(d: Draw, size: int) -> Operand | None:
    return None if d.chance(20) else d.weights(d.off(size, 5))


@draws("CONV_2D")
def conv_2d(d: Draw, op: str) -> Case:
    depth, groups = d.number(1, 3), d.one_of(1, 1, 1, 2)
    outputs = d.number(1, 3) * groups
    x = d.feed(d.size(2), d.size(9), d.size(9), d.off(depth * groups, 8))
    w = d.weights(outputs, d.number(1, 4), d.number(1, 4), depth)
    options = {**window_options(d), "dilation_w_factor": d.number(1, 2), "dilation_h_factor": d.number(1, 2)}
    return Case(op, [x, w, bias(d, outputs)], ["float32"], "Conv2DOptions", options)


@draws("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(d: Draw, op: str) -> Case:
    depth, times = d.number(1, 3), d.number(1, 2)
    x = d.feed(d.size(2), d.size(9), d.size(9), d.off(depth, 8))
    w = d.weights(d.off(1, 4), d.number(1, 4), d.number(1, 4), depth * times)
    options = {
        **window_options(d),
        "depth_multiplier": d.off(times, 5),
        "dilation_w_factor": d.number(1, 2),
        "dilation_h_factor": d.number(1, 2),
    }
    return Case(op, [x, w, bias(d, depth * times)], ["float32"], "DepthwiseConv2DOptions", options)


@draws("CONV_3D")
def conv_3d(d: Draw, op: str) -> Case:
    depth, outputs = d.number(1, 3), d.number(1, 3)
    x = d.feed(d.size(2), d.size(6), d.size(6), d.size(6), d.off(depth))
    w = d.weights(d.number(1, 3), d.number(1, 3), d.number(1, 3), depth, outputs)
    options = {
        **window_options(d),
        "stride_d": d.number(1, 3),
        "dilation_d_factor": d.number(1, 2),
        "dilation_w_factor": d.number(1, 2),
        "dilation_h_factor": d.number(1, 2),
    }
    operands = [x, w] if d.chance(50) else [x, w, bias(d, outputs)]
    return Case(op, operands, ["float32"], "Conv3DOptions", options)


@draws("TRANSPOSE_CONV")
def transpose_conv(d: Draw, op: str) -> Case:
    depth, outputs, batch, stride = d.number(1, 3), d.number(1, 3), d.number(1, 2), d.number(1, 2)
    height, width, k = d.number(1, 4), d.number(1, 4), d.number(1, 3)
    sizes = [batch, height * stride, width * stride, outputs]
    x, w = d.feed(batch, height, width, d.off(depth)), d.weights(outputs, k, k, depth)
    options = {"padding": "SAME", "stride_w": stride, "stride_h": stride}
    operands = [d.ints(sizes), w, x]
    if d.chance(40):
        operands.append(bias(d, outputs))
    return Case(op, operands, ["float32"], "TransposeConvOptions", options)


@draws("CONV_3D_TRANSPOSE")
def conv_3d_transpose(d: Draw, op: str) -> Case:
    depth, outputs, batch = d.number(1, 3), d.number(1, 3), d.number(1, 2)
    spatial, k = [d.number(1, 4) for _ in range(3)], d.number(1, 3)
    x, w = d.feed(batch, *spatial, d.off(depth)), d.weights(k, k, k, outputs, depth)
    options = {"padding": "SAME", "stride_w": 1, "stride_h": 1, "stride_d": 1}
    operands = [d.ints([batch, *spatial, outputs]), w, x]
    if d.chance(40):
        operands.append(bias(d, outputs))
    return Case(op, operands, ["float32"], "Conv3DOptions", options)


@draws("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool(d: Draw, op: str) -> Case:
    options = {**window_options(d), "filter_width": d.number(1, 4), "filter_height": d.number(1, 4)}
    x = d.feed(d.number(1, 2), d.number(1, 9), d.number(1, 9), d.number(1, 3))
    return Case(op, [x], ["float32"], "Pool2DOptions", options)


@draws("FULLY_CONNECTED")
def fully_connected(d: Draw, op: str) -> Case:
    depth, units = d.number(1, 4), d.number(1, 4)
    x = d.feed(*d.dims(0, 3), d.off(depth, 10)) if d.chance(90) else d.feed(d.number(1, 8), d.number(1, 8))
    options = {"keep_num_dims": d.chance(50)}
    operands = [x, d.weights(units, depth), bias(d, units)]
    return Case(op, operands, ["float32"], "FullyConnectedOptions", options)


@draws("BATCH_MATMUL")
def batch_matmul(d: Draw, op: str) -> Case:
    batch = d.dims(0, 2, most=3)
    a, b = (d.broadcastable(batch) for _ in range(2))
    rows, depth, columns = d.size(), d.number(1, 4), d.size()
    x, y, other = d.chance(30), d.chance(30), d.off(depth, 5)
    left = (*a, depth, rows) if x else (*a, rows, depth)
    right = (*b, columns, other) if y else (*b, other, columns)
    options = {"adj_x": x, "adj_y": y}
    return Case(op, [d.feed(*left), d.feed(*right)], ["float32"], "BatchMatMulOptions", options)


# -- shapes ------------------------------------------------------------------------------------------------------------


@draws("SHAPE")
def shape(d: Draw, op: str) -> Case:
    dtype = d.one_of("int32", "int64")
    return Case(op, [d.feed(*d.dims(0, 5))], [dtype], "ShapeOptions", {"out_type": dtype})


@draws("RANK")
def rank(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 5))], ["int32"], "RankOptions")


@draws("RANGE")
def range_(d: Draw, op: str) -> Case:
    dtype = d.one_of("int32", "float32", "int64")
    values = d.number(-5, 5), d.number(-5, 9), d.one_of(1, 1, 2, 3, -1, -2, 0)
    kind = float if dtype == "float32" else int
    return Case(op, [d.scalar(kind(v), dtype) for v in values], [dtype], "RangeOptions")


@draws("FILL")
def fill(d: Draw, op: str) -> Case:
    sizes = [d.number(-1, 3) if d.chance(4) else d.number(0, 3) for _ in range(d.number(0, 4))]
    return Case(op, [d.ints(sizes, dtype=d.one_of("int32", "int64")), d.scalar(3)], ["int32"], "FillOptions")


@draws("BROADCAST_TO")
def broadcast_to(d: Draw, op: str) -> Case:
    wanted = d.dims(0, 4)
    dims = d.broadcastable(wanted)
    return Case(op, [d.feed(*dims), d.ints(wanted)], ["float32"], "BroadcastToOptions")


@draws("BROADCAST_ARGS")
def broadcast_args(d: Draw, op: str) -> Case:
    a, b = pair_of_sizes(d)
    return Case(op, [d.ints(a), d.ints(b)], ["int32"])


@draws("RESHAPE")
def reshape(d: Draw, op: str) -> Case:
    dims = list(d.dims(0, 4))
    count = 1
    for size in dims:
        count *= size
    wanted: list[int] = []
    rest = count
    for _ in range(d.number(0, 3)):
        size = d.one_of(*[n for n in range(1, 7) if rest and rest % n == 0] or [1])
        wanted.append(size)
        rest = rest // size
    wanted.append(rest if d.chance(60) else -1)
    if d.chance(10):
        wanted[d.number(0, len(wanted) - 1)] = d.one_of(-1, 0, 2, -2)
    if d.chance(20):
        options = {"new_shape": tuple(wanted) if d.chance(80) else (0,)}
        operands = [d.feed(*dims)] if d.chance(60) else [d.feed(*dims), d.ints(wanted, dims=(1, len(wanted)))]
        return Case(op, operands, ["float32"], "ReshapeOptions", options)
    return Case(op, [d.feed(*dims), d.ints(wanted)], ["float32"], "ReshapeOptions")


@draws("SQUEEZE")
def squeeze(d: Draw, op: str) -> Case:
    dims = tuple(1 if d.chance(50) else d.size() for _ in range(d.number(0, 5)))
    ones = [i for i, size in enumerate(dims) if size == 1]
    axes = [i - len(dims) if d.chance(30) else i for i in ones if d.chance(60)] if d.chance(80) else []
    if d.chance(8):
        axes.append(d.number(-6, 6))
    return Case(op, [d.feed(*dims)], ["float32"], "SqueezeOptions", {"squeeze_dims": tuple(axes)})


@draws("EXPAND_DIMS")
def expand_dims(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    axis = d.scalar(d.axis(len(dims) + 1), d.one_of("int32", "int64"), d.one_of((), (1,)))
    return Case(op, [d.feed(*dims), axis], ["float32"], "ExpandDimsOptions")


@draws("TRANSPOSE")
def transpose(d: Draw, op: str) -> Case:
    dims = d.dims(0, 5)
    order = list(range(len(dims)))
    d.random.shuffle(order)
    if d.chance(15):
        order = [axis - len(dims) if d.chance(40) else axis for axis in order]
    if order and d.chance(6):
        order[0] = d.number(-6, 6)
    return Case(op, [d.feed(*dims), d.ints(order)], ["float32"], "TransposeOptions")


@draws("BITCAST")
def bitcast(d: Draw, op: str) -> Case:
    source, target = d.one_of("float32", "int32", "int16", "int8"), d.one_of("float32", "int32", "int16", "int8")
    widths = {"float32": 4, "int32": 4, "int16": 2, "int8": 1}
    dims = d.dims(0, 3)
    if widths[target] > widths[source]:
        dims = (*dims, d.off(widths[target] // widths[source], 5))
    return Case(op, [d.feed(*dims, dtype=source)], [target], "BitcastOptions")


@draws("REVERSE_V2")
def reverse_v2(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    first = d.number(0, len(dims) - 1)
    axes = list(range(first, d.number(first, len(dims) - 1) + 1))
    axes = [axis - len(dims) if d.chance(20) else axis for axis in axes] if d.chance(90) else [0, len(dims) - 1]
    return Case(op, [d.feed(*dims), d.ints(axes)], ["float32"], "ReverseV2Options")


@draws("REVERSE_SEQUENCE")
def reverse_sequence(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 5) for _ in range(d.number(2, 4)))
    seq, batch = d.number(0, len(dims) - 1), d.number(0, len(dims) - 1)
    count = d.off(dims[batch], 5)
    lengths = [d.number(1, dims[seq] + (1 if d.chance(5) else 0)) for _ in range(count)]
    options = {"seq_dim": seq, "batch_dim": batch}
    return Case(op, [d.feed(*dims), d.ints(lengths)], ["float32"], "ReverseSequenceOptions", options)


# -- slices ------------------------------------------------------------------------------------------------------------


@draws("SLICE")
def slice_(d: Draw, op: str) -> Case:
    dims = d.dims(0, 5)
    begins = [d.number(0, size) for size in dims]
    sizes = [d.one_of(-1, d.number(0, size - begin)) for size, begin in zip(dims, begins, strict=True)]
    if dims and d.chance(10):
        (begins if d.chance(50) else sizes)[0] = d.number(-2, 7)
    dtype = d.one_of("int32", "int64")
    operands = [d.feed(*dims), d.ints(begins, dtype=dtype), d.ints(sizes, dtype=dtype)]
    return Case(op, operands, ["float32"], "SliceOptions")


@draws("STRIDED_SLICE")
def strided_slice(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    count = d.number(0, len(dims) + (1 if d.chance(20) else 0))
    begins, ends = ([d.number(-6, 6) for _ in range(count)] for _ in range(2))
    steps = [d.one_of(1, 1, 1, 2, 3, -1, -2) for _ in range(count)]
    if count and d.chance(3):
        steps[0] = 0
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for i in range(count):
        for name, percent in (("begin_mask", 25), ("end_mask", 25), ("new_axis_mask", 8), ("shrink_axis_mask", 15)):
            masks[name] |= d.chance(percent) << i
    if count and d.chance(20):
        masks["ellipsis_mask"] = 1 << d.number(0, count - 1)
    operands = [d.feed(*dims), *(d.ints(values) for values in (begins, ends, steps))]
    return Case(op, operands, ["float32"], "StridedSliceOptions", masks)


@draws("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 5) for _ in range(d.number(1, 4)))
    update = tuple(d.number(1, size + (1 if d.chance(5) else 0)) for size in dims)
    operands = [d.feed(*dims), d.feed(*update), d.ints([d.number(0, 3) for _ in dims])]
    return Case(op, operands, ["float32"], "DynamicUpdateSliceOptions")


# -- joining and splitting ---------------------------------------------------------------------------------------------


@draws("CONCATENATION")
def concatenation(d: Draw, op: str) -> Case:
    dims = d.dims(1, 5)
    axis = d.axis(len(dims))
    operands = []
    for _ in range(d.number(1, 4)):
        sizes = [d.off(size, 2) for size in dims]
        if -len(dims) <= axis < len(dims):
            sizes[axis] = d.size()
        operands.append(d.feed(*sizes))
    return Case(op, operands, ["float32"], "ConcatenationOptions", {"axis": axis})


@draws("PACK")
def pack(d: Draw, op: str) -> Case:
    dims, count = d.dims(0, 4), d.number(1, 4)
    options = {"values_count": d.off(count, 4), "axis": d.axis(len(dims) + 1)}
    operands = [d.feed(*(d.off(size, 2) for size in dims)) for _ in range(count)]
    return Case(op, operands, ["float32"], "PackOptions", options)


@draws("UNPACK")
def unpack(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    axis = d.axis(len(dims))
    num = max(d.off(dims[axis] if -len(dims) <= axis < len(dims) else 1, 5), 1)
    return Case(op, [d.feed(*dims)], ["float32"] * num, "UnpackOptions", {"num": num, "axis": axis})


@draws("SPLIT")
def split(d: Draw, op: str) -> Case:
    dims, num = list(d.dims(1, 4)), d.number(1, 3)
    axis = d.axis(len(dims))
    if -len(dims) <= axis < len(dims):
        dims[axis] = d.off(dims[axis] * num, 10)
    operands = [d.scalar(axis, dims=d.one_of((), (1,))), d.feed(*dims)]
    return Case(op, operands, ["float32"] * num, "SplitOptions", {"num_splits": num})


@draws("SPLIT_V")
def split_v(d: Draw, op: str) -> Case:
    dims, num = list(d.dims(1, 4)), d.number(1, 3)
    axis = d.axis(len(dims))
    sizes = [d.number(0, 3) for _ in range(num)]
    if -len(dims) <= axis < len(dims):
        dims[axis] = d.off(sum(sizes), 10)
    if d.chance(40):
        sizes[d.number(0, num - 1)] = -1
    if d.chance(5):
        sizes[d.number(0, num - 1)] = d.one_of(-1, -2)
    operands = [d.feed(*dims), d.ints(sizes, dtype=d.one_of("int32", "int64")), d.scalar(axis)]
    return Case(op, operands, ["float32"] * num, "SplitVOptions", {"num_splits": num})


@draws("TILE")
def tile(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    counts = [d.number(0, 3) if d.chance(95) else -1 for _ in dims]
    if d.chance(4):
        counts.append(1)
    return Case(op, [d.feed(*dims), d.ints(counts, dtype=d.one_of("int32", "int64"))], ["float32"], "TileOptions")


# -- padding and blocks ------------------------------------------------------------------------------------------------


def paddings(d: Draw, rank: int, most: int = 2) -> Operand:
    values = [d.number(0, most) if d.chance(97) else -1 for _ in range(2 * rank)]
    return d.ints(values, dtype=d.one_of("int32", "int64"), dims=(rank, 2))


@draws("PAD")
def pad(d: Draw, op: str) -> Case:
    dims = d.dims(1, 5)
    return Case(op, [d.feed(*dims), paddings(d, d.off(len(dims), 4))], ["float32"], "PadOptions")


@draws("PADV2")
def padv2(d: Draw, op: str) -> Case:
    dims = d.dims(1, 5)
    fill = d.scalar(1.0, "float32", d.one_of((), (1,)))
    return Case(op, [d.feed(*dims), paddings(d, len(dims)), fill], ["float32"], "PadV2Options")


@draws("MIRROR_PAD")
def mirror_pad(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    options = {"mode": d.one_of("REFLECT", "SYMMETRIC")}
    return Case(op, [d.feed(*dims), paddings(d, len(dims))], ["float32"], "MirrorPadOptions", options)


@draws("SPACE_TO_BATCH_ND")
def space_to_batch_nd(d: Draw, op: str) -> Case:
    spatial = d.number(1, 2)
    block = [d.number(1, 3) for _ in range(spatial)]
    amounts = [d.number(0, 2) for _ in range(2 * spatial)]
    dims = [d.number(1, 3) * b - sum(amounts[2 * i : 2 * i + 2]) for i, b in enumerate(block)]
    dims = [d.off(size if size > 0 else size + 2 * b * 3, 6) for size, b in zip(dims, block, strict=True)]
    operands = [d.feed(d.number(1, 3), *dims, d.number(1, 2)), d.ints(block), d.ints(amounts, dims=(spatial, 2))]
    return Case(op, operands, ["float32"], "SpaceToBatchNDOptions")


@draws("BATCH_TO_SPACE_ND")
def batch_to_space_nd(d: Draw, op: str) -> Case:
    spatial, batch = d.number(1, 2), d.number(1, 2)
    block = [d.number(1, 3) for _ in range(spatial)]
    for size in block:
        batch *= size
    crops = [d.number(0, 1) if d.chance(90) else 3 for _ in range(2 * spatial)]
    x = d.feed(d.off(batch, 8), *(d.number(1, 4) for _ in range(spatial)), d.number(1, 2))
    operands = [x, d.ints(block), d.ints(crops, dims=(spatial, 2))]
    return Case(op, operands, ["float32"], "BatchToSpaceNDOptions")


@draws("SPACE_TO_DEPTH")
def space_to_depth(d: Draw, op: str) -> Case:
    b = d.number(1, 3)
    x = d.feed(d.size(2), d.off(d.number(1, 3) * b), d.off(d.number(1, 3) * b), d.number(1, 3))
    return Case(op, [x], ["float32"], "SpaceToDepthOptions", {"block_size": b})


@draws("DEPTH_TO_SPACE")
def depth_to_space(d: Draw, op: str) -> Case:
    b = d.number(1, 3)
    x = d.feed(d.size(2), d.number(1, 3), d.number(1, 3), d.off(d.number(1, 2) * b * b))
    return Case(op, [x], ["float32"], "DepthToSpaceOptions", {"block_size": b})


@draws("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(d: Draw, op: str) -> Case:
    sizes = [d.off(d.number(1, 5), 5) for _ in range(2)]
    size, align = d.ints(sizes), d.chance(30)
    options = {"align_corners": align, "half_pixel_centers": d.chance(30) and (size.constant or not align)}
    table = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    x = d.feed(d.number(1, 2), d.number(1, 5), d.number(1, 5), d.number(1, 3))
    return Case(op, [x, size], ["float32"], table, options)


@draws("DILATE")
def dilate(d: Draw, op: str) -> Case:
    dims = d.dims(1, 4)
    factors = d.ints([d.off(d.number(1, 3), 4) for _ in dims])
    return Case(op, [d.feed(*dims), factors, d.scalar(0.0, "float32")], ["float32"], "DilateOptions")


# -- lookups -----------------------------------------------------------------------------------------------------------


@draws("GATHER")
def gather(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(1, 4)))
    axis, positions = d.axis(len(dims)), list(d.dims(0, 3))
    batch = d.number(0, min(len(dims) - 1, len(positions))) if d.chance(40) else 0
    for i in range(batch):
        positions[i] = d.off(dims[i], 5)
    options = {"axis": axis, "batch_dims": batch}
    operands = [d.feed(*dims), d.feed(*positions, dtype=d.one_of("int32", "int64"))]
    return Case(op, operands, ["float32"], "GatherOptions", options)


@draws("GATHER_ND")
def gather_nd(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(1, 4)))
    depth = d.off(d.number(0, len(dims)), 5)
    lead = d.dims(0, 2)
    indices = Operand("int32", (*lead, depth), (0,) * (depth * prod(lead)), depth == 0 or d.chance(50))
    operands = [d.feed(*dims), indices]
    return Case(op, operands, ["float32"], "GatherNdOptions")


@draws("SCATTER_ND")
def scatter_nd(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(1, 4)))
    depth, outer = d.number(1, len(dims)), d.dims(1, 2)
    updates = (*outer, *(d.off(size, 4) for size in dims[depth:]))
    operands = [d.feed(*outer, depth, dtype="int32"), d.feed(*updates), d.ints(dims)]
    return Case(op, operands, ["float32"], "ScatterNdOptions")


@draws("ONE_HOT")
def one_hot(d: Draw, op: str) -> Case:
    dims = d.dims(0, 3)
    options = {"axis": d.one_of(-1, d.number(0, len(dims)), d.number(-2, 5))}
    depth = d.scalar(d.number(0, 5) if d.chance(97) else -1)
    operands = [d.feed(*dims, dtype="int32"), depth, d.scalar(1.0, "float32"), d.scalar(0.0, "float32")]
    return Case(op, operands, ["float32"], "OneHotOptions", options)


@draws("SPARSE_TO_DENSE")
def sparse_to_dense(d: Draw, op: str) -> Case:
    sizes = [d.number(1, 4) for _ in range(d.number(1, 3))]
    count = d.number(1, 4)
    indices = d.one_of((count, len(sizes)), (count, len(sizes)), (count,) if len(sizes) == 1 else (count, 1), ())
    values = () if d.chance(30) else (d.off(count if indices else 1, 5),)
    operands = [d.feed(*indices, dtype="int32"), d.ints(sizes), d.feed(*values), d.feed()]
    return Case(op, operands, ["float32"], "SparseToDenseOptions")


@draws("EMBEDDING_LOOKUP")
def embedding_lookup(d: Draw, op: str) -> Case:
    table = tuple(d.number(1, 4) for _ in range(d.number(1, 3)))
    return Case(op, [d.feed(d.size(), dtype="int32"), d.weights(*table)], ["float32"])


@draws("HASHTABLE_LOOKUP")
def hashtable_lookup(d: Draw, op: str) -> Case:
    rows = d.number(1, 4)
    keys = Operand("int32", (d.off(rows, 5),), tuple(range(d.off(rows, 0)))[:rows], False)
    keys = d.feed(d.off(rows, 5), dtype="int32")
    values = d.feed(rows, *d.dims(0, 2))
    return Case(op, [d.feed(d.size(), dtype="int32"), keys, values], ["float32", "uint8"])


# -- reductions and order ----------------------------------------------------------------------------------------------


@draws("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL")
def reduction(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(0, 4)))
    axes = [d.axis(len(dims)) for _ in range(d.number(0, 3))] if dims else []
    dtype = "bool" if op in ("REDUCE_ANY", "REDUCE_ALL") else "float32"
    scalar = len(axes) == 1 and d.chance(40)
    operands = [d.feed(*dims, dtype=dtype), d.ints(axes, dims=() if scalar else None)]
    return Case(op, operands, [dtype], "ReducerOptions", {"keep_dims": d.chance(50)})


@draws("ARG_MAX", "ARG_MIN")
def arg_extreme(d: Draw, op: str) -> Case:
    dims = d.dims(0, 4)
    dtype = d.one_of("int32", "int64")
    table = "ArgMaxOptions" if op == "ARG_MAX" else "ArgMinOptions"
    operands = [d.feed(*dims), d.scalar(d.axis(len(dims)), dims=d.one_of((), (1,)))]
    return Case(op, operands, [dtype], table, {"output_type": dtype})


@draws("SEGMENT_SUM")
def segment_sum(d: Draw, op: str) -> Case:
    ids = [0]
    for _ in range(d.number(0, 4)):
        ids.append(ids[-1] + (d.number(0, 1) if d.chance(95) else d.one_of(-1, 2)))
    operands = [d.feed(d.off(len(ids), 4), *d.dims(0, 2)), d.ints(ids)]
    return Case(op, operands, ["float32"], "SegmentSumOptions")


@draws("UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM")
def unsorted_segments(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(1, 3)))
    ids = tuple(d.off(size, 3) for size in dims[: d.number(0 if d.chance(10) else 1, len(dims))])
    count = d.scalar(d.number(1, 4) if d.chance(95) else -1)
    operands = [d.feed(*dims), d.feed(*ids, dtype="int32"), count]
    table = {"MAX": "Max", "MIN": "Min", "ROD": "Prod", "SUM": "Sum"}[op[-3:]]
    return Case(op, operands, ["float32"], f"UnsortedSegment{table}Options")


@draws("TOPK_V2")
def topk(d: Draw, op: str) -> Case:
    dims = d.dims(0 if d.chance(5) else 1, 4)
    most = dims[-1] if dims else 1
    k = d.scalar(d.number(0, most) if d.chance(90) else d.one_of(most + 1, -1), dims=d.one_of((), (1,)))
    return Case(op, [d.feed(*dims), k], ["float32", "int32"], "TopKV2Options")


@draws("WHERE")
def where(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 3) for _ in range(d.number(0 if d.chance(5) else 1, 3)))
    count = prod(dims)
    values = [d.chance(50) for _ in range(count)]
    return Case(op, [Operand("bool", dims, values, d.chance(30))], ["int64"], "WhereOptions")


@draws("UNIQUE")
def unique(d: Draw, op: str) -> Case:
    values = [d.number(0, 3) for _ in range(d.number(1, 5))]
    options = {"idx_out_type": "int32"}
    return Case(op, [d.ints(values)], ["int32", "int32"], "UniqueOptions", options)


@draws("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(d: Draw, op: str) -> Case:
    count = d.number(1, 5)
    operands = [d.feed(count, d.off(4, 4)), d.feed(d.off(count, 4)), d.scalar(d.number(0, 6))]
    operands += [d.scalar(0.5, "float32"), d.scalar(0.0, "float32")]
    if op.endswith("5"):
        operands.append(d.scalar(0.5, "float32"))
        return Case(op, operands, ["int32", "float32", "int32"], "NonMaxSuppressionV5Options")
    return Case(op, operands, ["int32", "int32"], "NonMaxSuppressionV4Options")


# -- matrices, signals, random numbers ---------------------------------------------------------------------------------


@draws("MATRIX_DIAG")
def matrix_diag(d: Draw, op: str) -> Case:
    return Case(op, [d.feed(*d.dims(0, 3))], ["float32"], "MatrixDiagOptions")


@draws("MATRIX_SET_DIAG")
def matrix_set_diag(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(2, 4)))
    diagonal = (*dims[:-2], min(dims[-2:]))
    return Case(op, [d.feed(*dims), d.feed(*diagonal)], ["float32"], "MatrixSetDiagOptions")


@draws("RFFT2D")
def rfft2d(d: Draw, op: str) -> Case:
    lengths = d.ints([d.one_of(1, 2, 4, 8, 3 if d.chance(20) else 4) for _ in range(2)])
    dims = tuple(d.number(1, 8) for _ in range(d.number(2, 3)))
    return Case(op, [d.feed(*dims), lengths], ["complex64"], "Rfft2dOptions")


@draws("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def random_numbers(d: Draw, op: str) -> Case:
    return Case(op, [d.ints(d.dims(0, 3))], ["float32"], "RandomOptions")


@draws("MULTINOMIAL")
def multinomial(d: Draw, op: str) -> Case:
    operands = [d.feed(*(d.number(1, 4) for _ in range(d.off(2, 5)))), d.scalar(d.number(0, 4))]
    return Case(op, operands, [d.one_of("int32", "int64")], "RandomOptions")


# -- recurrent layers --------------------------------------------------------------------------------------------------


def state(*dims: int) -> Operand:
    return Operand("float32", dims, None, False, True)


@draws("SVDF")
def svdf(d: Draw, op: str) -> Case:
    batch, depth, units, rank, memory = (d.number(1, 3) for _ in range(5))
    filters = d.off(units * rank, 6)
    operands = [
        d.feed(d.off(batch, 10), d.off(depth, 6)),
        d.weights(filters, depth),
        d.weights(filters, memory),
        d.weights(units) if d.chance(50) else None,
        state(batch, memory * filters),
    ]
    return Case(op, operands, ["float32"], "SVDFOptions", {"rank": rank})


@draws("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(d: Draw, op: str) -> Case:
    batch, steps, depth, units = (d.number(1, 3) for _ in range(4))
    major = op != "RNN" and d.chance(50)
    items = d.off(batch, 8)
    lead = (items,) if op == "RNN" else (steps, items) if major else (items, steps)
    operands = [
        d.feed(*lead, d.off(depth, 6)),
        d.weights(units, depth),
        d.weights(units, d.off(units, 5)),
        d.weights(units),
        state(batch, units),
    ]
    table = "RNNOptions" if op == "RNN" else "SequenceRNNOptions"
    return Case(op, operands, ["float32"], table, {} if op == "RNN" else {"time_major": major})


@draws("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(d: Draw, op: str) -> Case:
    batch, steps, depth = (d.number(1, 3) for _ in range(3))
    major, merge = d.chance(50), d.chance(50)
    items = d.off(batch, 8)
    operands: list[Operand | None] = [d.feed(*((steps, items) if major else (items, steps)), depth)]
    for _ in range(2):
        units = d.number(1, 3)
        operands += [d.weights(units, depth), d.weights(units, units), d.weights(units), state(batch, units)]
    operands += [None, None, None]
    options = {"time_major": major, "merge_outputs": merge}
    outputs = ["float32"] * (1 if merge else 2)
    return Case(op, operands, outputs, "BidirectionalSequenceRNNOptions", options)


def lstm_operands(d: Draw, depth: int, cells: int, outputs: int, projects: bool) -> list[Operand | None]:
    coupled = d.chance(30)
    weights: list[Operand | None] = [d.weights(cells, depth) for _ in range(4)]
    weights += [d.weights(cells, outputs) for _ in range(4)]
    biases: list[Operand | None] = [d.weights(cells) for _ in range(4)]
    if coupled:
        weights[0] = weights[4] = biases[0] = None
    projection = [d.weights(outputs, cells) if projects else None, None]
    return [*weights, None, None, None, *biases, *projection]


@draws("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(d: Draw, op: str) -> Case:
    batch, steps, depth, cells = (d.number(1, 3) for _ in range(4))
    projects = d.chance(40)
    outputs = d.number(1, 3) if projects else cells
    if op == "LSTM" and d.chance(50):
        return _basic_lstm(d, batch, depth, cells)
    major = op != "LSTM" and d.chance(50)
    items = d.off(batch, 8)
    lead = (items,) if op == "LSTM" else (steps, items) if major else (items, steps)
    operands = [d.feed(*lead, d.off(depth, 6)), *lstm_operands(d, depth, cells, outputs, projects)]
    operands += [state(batch, outputs), state(batch, cells), None, None, None, None]
    if op == "LSTM":
        return Case(op, operands, ["float32"], "LSTMOptions", {"kernel_type": "FULL"})
    return Case(op, operands, ["float32"], "UnidirectionalSequenceLSTMOptions", {"time_major": major})


def _basic_lstm(d: Draw, batch: int, depth: int, units: int) -> Case:
    operands = [
        d.feed(batch, depth),
        d.feed(d.off(batch, 6), units),
        d.weights(4 * units, depth + units),
        d.weights(4 * units),
        d.feed(batch, d.off(units, 6)),
    ]
    options = {"kernel_type": "BASIC", "fused_activation_function": "TANH"}
    return Case("LSTM", operands, ["float32"] * 4, "LSTMOptions", options)


@draws("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(d: Draw, op: str) -> Case:
    batch, steps, depth = (d.number(1, 3) for _ in range(3))
    major, merge = d.chance(50), d.chance(50)
    items = d.off(batch, 8)
    operands: list[Operand | None] = [d.feed(*((steps, items) if major else (items, steps)), depth)]
    states: list[Operand | None] = []
    cells = d.number(1, 3)
    for _ in range(2):
        operands += lstm_operands(d, depth, cells, cells, False)
        states += [state(batch, cells), state(batch, cells)]
    operands += [*states, *[None] * 9]
    options = {"time_major": major, "merge_outputs": merge}
    outputs = ["float32"] * (1 if merge else 2)
    return Case(op, operands, outputs, "BidirectionalSequenceLSTMOptions", options)


# -- StableHLO, and lookups of texts -----------------------------------------------------------------------------------


@draws("REDUCE_WINDOW")
def reduce_window(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 6) for _ in range(d.number(1, 4)))
    vectors = [Operand("int64", (len(dims),), [d.number(1, 3) for _ in dims], True) for _ in range(3)]
    operands = [d.feed(*dims), d.feed(), *vectors]
    return Case(op, operands, ["float32"], "ReduceWindowOptions", {"reduce_function": "ADD"})


@draws("STABLEHLO_PAD")
def stablehlo_pad(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 5) for _ in range(d.number(1, 4)))
    options = {
        "edge_padding_low": tuple(d.number(-1, 2) for _ in dims),
        "edge_padding_high": tuple(d.number(-1, 2) for _ in dims),
        "interior_padding": tuple(d.number(0, 2) for _ in dims),
    }
    return Case(op, [d.feed(*dims), d.feed()], ["float32"], "StablehloPadOptions", options)


@draws("STABLEHLO_SHIFT_LEFT")
def stablehlo_shift(d: Draw, op: str) -> Case:
    dims = d.dims(0, 3)
    other = tuple(d.off(size, 5) for size in dims)
    return Case(op, [d.feed(*dims, dtype="int32"), d.feed(*other, dtype="int32")], ["int32"])


@draws("STABLEHLO_GATHER")
def stablehlo_gather(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 5) for _ in range(d.number(1, 3)))
    sizes = tuple(d.number(1, size) for size in dims)
    collapsed = tuple(axis for axis, size in enumerate(sizes) if size == 1 and d.chance(50))
    batch = tuple(d.number(1, 3) for _ in range(d.number(0, 2)))
    inner = len(dims) - len(collapsed)
    options = {
        "offset_dims": tuple(range(len(batch), len(batch) + inner)),
        "collapsed_slice_dims": collapsed,
        "start_index_map": tuple(range(len(dims))),
        "index_vector_dim": len(batch),
        "slice_sizes": sizes,
    }
    operands = [d.feed(*dims), d.feed(*batch, len(dims), dtype="int32")]
    declared = ((1,) * (len(batch) + inner),)
    return Case(op, operands, ["float32"], "StablehloGatherOptions", options, declared)


@draws("STABLEHLO_RNG_BIT_GENERATOR")
def stablehlo_bits(d: Draw, op: str) -> Case:
    dims = tuple(d.number(1, 4) for _ in range(d.number(0, 3)))
    options = {"algorithm": "THREEFRY"}
    declared = ((2,), dims)
    return Case(
        op, [d.feed(2, dtype="uint64")], ["uint64", "int32"], "StablehloRngBitGeneratorOptions", options, declared
    )


@draws("EMBEDDING_LOOKUP_SPARSE")
def embedding_lookup_sparse(d: Draw, op: str) -> Case:
    count, rank = d.number(1, 3), d.number(1, 3)
    sizes = d.ints([d.number(1, 3) for _ in range(d.off(rank, 4))])
    table = d.weights(*(d.number(1, 3) for _ in range(d.number(2, 3))))
    operands = [d.feed(count, dtype="int32"), d.feed(count, rank, dtype="int32"), sizes, d.feed(d.off(count, 5)), table]
    return Case(op, operands, ["float32"], "EmbeddingLookupSparseOptions", {"combiner": "SUM"})


@draws("LSH_PROJECTION")
def lsh_projection(d: Draw, op: str) -> Case:
    count = d.number(1, 4)
    x = d.feed(count, *d.dims(0, 2), dtype="int32")
    operands = [d.weights(d.number(1, 4), d.number(1, 4)), x]
    if d.chance(50):
        operands.append(d.feed(d.off(count, 6)))
    return Case(op, operands, ["int32"], "LSHProjectionOptions", {"type": d.one_of("SPARSE", "DENSE")})


# -- custom operators --------------------------------------------------------------------------------------------------


@draws("TFLite_Detection_PostProcess")
def detection_post_process(d: Draw, op: str) -> Case:
    count, classes = d.number(1, 5), d.number(1, 3)
    operands = [d.feed(d.off(1, 4), count, d.number(4, 5)), d.feed(1, d.off(count, 0), classes), d.weights(count, 4)]
    options = {
        **dict.fromkeys(("y_scale", "x_scale", "h_scale", "w_scale"), 1.0),
        "max_detections": d.number(0, 6),
        "max_classes_per_detection": d.number(1, 2),
        "num_classes": classes,
        "nms_score_threshold": 0.0,
        "nms_iou_threshold": 0.5,
    }
    return Case(op, operands, ["float32"] * 4, "", options)


@draws("AudioSpectrogram")
def audio_spectrogram(d: Draw, op: str) -> Case:
    options = {"window_size": d.number(2, 20), "stride": d.number(1, 8), "magnitude_squared": True}
    return Case(op, [d.feed(d.number(1, 60), d.number(1, 2))], ["float32"], "", options)


@draws("Mfcc")
def mfcc(d: Draw, op: str) -> Case:
    options = {
        "upper_frequency_limit": 4000.0,
        "lower_frequency_limit": 20.0,
        "filterbank_channel_count": 10,
        "dct_coefficient_count": d.number(1, 10),
    }
    operands = [d.feed(d.number(1, 2), d.number(1, 5), d.one_of(129, 257)), Operand("int32", (1,), (8000,), True)]
    return Case(op, operands, ["float32"], "", options)
