"""Cases of kernels at random sizes: one node each, in the forms whose temporaries differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.memory.runtimes.attention_cases import attention
from tests.memory.runtimes.case_maker import ALL, SCALE, ZERO_U8, Maker
from tests.memory.runtimes.kernel_models import MS, Case, Input
from tests.memory.runtimes.quantized_cases import blocks, quantized_convolution, quantized_products, quantized_where
from tests.memory.runtimes.rare_cases import built, learning, rare, signals

UNARY = (
    *("Abs", "Neg", "Floor", "Ceil", "Reciprocal", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"),
    *("Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf", "Sign", "Round", "Relu", "Sigmoid", "HardSigmoid"),
    *("Elu", "Selu", "LeakyRelu", "ThresholdedRelu", "Softplus", "Softsign", "Celu", "Shrink", "Gelu", "IsNaN"),
    *("IsInf", "Identity", "Size", "Shape", "Flatten", "Hardmax", "NonZero", "Clip", "LpNormalization", "Softmax"),
    *("LogSoftmax", "Dropout", "RandomNormalLike", "RandomUniformLike", "TopK", "Trilu"),
)
BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
LOGIC = ("And", "Or", "Xor")
BITWISE = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
REDUCE = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")
FLOAT16 = ("Sign", "Round", "Shrink", "IsNaN", "Transpose", "Identity", "Shape", "Flatten", "Clip")


def elementwise(m: Maker) -> Iterator[Case]:
    a, b, c = m.sizes(9, 60, 90)
    for op in UNARY:
        inputs = [m.x(a, b, c), *([m.k(np.array([2], np.int64))] if op == "TopK" else [])]
        yield Case(op, op, inputs, outputs=("y0", "y1") if op == "TopK" else ("y0",))
    for op in BINARY:
        yield Case(op, op, [m.x(a, b, c), m.x(a, b, c)])
        yield Case(f"{op} broadcast", op, [m.x(a, b, c), m.x(c)])
    yield Case("Add outer", "Add", [m.x(a, 1, c), m.x(b, 1)])
    for op in LOGIC:
        yield Case(op, op, [m.x(a, b, c, dtype="bool"), m.x(b, c, dtype="bool")])
    for op in BITWISE:
        yield Case(op, op, [m.x(a, b, c, dtype="uint8"), m.x(b, c, dtype="uint8")])
    yield Case("BitwiseNot", "BitwiseNot", [m.x(a, b, dtype="uint8")])
    yield Case("Not", "Not", [m.x(a, b, c, dtype="bool")])
    yield Case("Mod", "Mod", [m.x(a, b), m.k(np.full(b, 3, np.float32))], {"fmod": 1})
    yield Case("BitShift", "BitShift", [m.x(a, b, dtype="uint8"), m.x(b, dtype="uint8")], {"direction": "LEFT"})
    for to, source in ((1, "int64"), (7, "float32"), (10, "float32"), (1, "float16"), (9, "float32")):
        yield Case(f"Cast {source} {to}", "Cast", [m.x(a, b, c, dtype=source)], {"to": to})
    for op in FLOAT16:
        yield Case(f"{op} float16", op, [m.x(a, b, c, dtype="float16")])
    yield Case("QuickGelu", "QuickGelu", [m.x(a, b, c)], domain=MS)
    yield Case("Gelu microsoft", "Gelu", [m.x(a, b, c)], domain=MS)
    for op in ("FastGelu", "BiasGelu"):
        yield Case(f"{op} bias", op, [m.x(a, b, c), m.x(c)], domain=MS)
    yield Case("FastGelu", "FastGelu", [m.x(a, b, c)], domain=MS)


def broadcasting(m: Maker) -> Iterator[Case]:
    a, b, c = m.sizes(9, 60, 90)
    full = (a, b, c)
    for dtype in ("float32", "int64", "uint8"):
        yield Case(f"Where {dtype}", "Where", [m.x(*full, dtype="bool"), m.x(*full, dtype=dtype), m.x(c, dtype=dtype)])
    yield Case("Where scalar", "Where", [m.x(*full, dtype="bool"), m.x(*full), m.k(np.float32(1))])
    yield Case("Where small condition", "Where", [m.x(b, 1, dtype="bool"), m.x(*full), m.k(np.float32(1))])
    yield Case("Where outer", "Where", [m.x(a, 1, 1, dtype="bool"), m.x(1, b, 1), m.x(1, 1, c)])
    for op in ("Max", "Min", "Sum", "Mean"):
        for count in (1, 2, 3, 4, 6):
            yield Case(f"{op} {count}", op, [m.x(*full)] * count)
        yield Case(f"{op} growing", op, [m.x(c), m.x(b, 1), m.x(a, 1, 1)])
        yield Case(f"{op} growing 5", op, [m.x(c), m.x(c), m.x(b, c), m.x(a, 1, 1), m.x(c)])
        yield Case(f"{op} shrinking", op, [m.x(*full), m.x(c), m.x(b, 1), m.x(a, 1, 1)])
    yield Case("Max float16", "Max", [m.x(*full, dtype="float16")] * 4)
    yield Case("QLinearWhere", "QLinearWhere", quantized_where(m, a, b, c), domain=MS)


def movement(m: Maker) -> Iterator[Case]:
    a, b, c, d = m.sizes(5, 12, 20, 30)
    x = m.x(a, b, c, d)
    for perm in ([0, 2, 1, 3], [3, 1, 2, 0], [0, 1, 3, 2]):
        yield Case(f"Transpose {perm}", "Transpose", [x], {"perm": perm})
    yield Case("Reshape", "Reshape", [x, m.k(np.array([a * b, -1]))])
    yield Case("Unsqueeze", "Unsqueeze", [x, m.k(np.array([1]))])
    yield Case("Squeeze", "Squeeze", [m.x(1, a, b), m.k(np.array([0]))])
    yield Case("Expand", "Expand", [m.x(b, 1, d), m.k(np.array([a, b, c, d]))])
    yield Case("Tile", "Tile", [x, m.k(np.array([1, 2, 1, 2]))])
    for axis in (0, 1, 3):
        yield Case(f"Concat {axis}", "Concat", [x, x, x], {"axis": axis})
        yield Case(f"Gather {axis}", "Gather", [x, m.x(7, 2, dtype="int64")], {"axis": axis})
        yield Case(f"ArgMax {axis}", "ArgMax", [x], {"axis": axis})
        yield Case(f"ArgMin {axis}", "ArgMin", [x], {"axis": axis})
        yield Case(f"CumSum {axis}", "CumSum", [x, m.k(np.array(axis))])
        yield Case(f"Softmax {axis}", "Softmax", [x], {"axis": axis})
        yield Case(f"LogSoftmax {axis} double", "LogSoftmax", [m.x(a, b, c, d, dtype="float64")], {"axis": axis})
        yield Case(f"Softmax 11 {axis}", "Softmax", [x], {"axis": axis}, opset=11)
        for name in REDUCE:
            axes = m.k(np.array([axis, 2]))
            yield Case(f"Reduce{name} {axis}", f"Reduce{name}", [x, axes], opset=18)
    yield Case("Split", "Split", [m.x(a, 2 * b)], {"axis": 1, "num_outputs": 2}, outputs=("y0", "y1"))
    yield Case("Slice", "Slice", [x, *(m.k(np.array(v)) for v in ([1], [9], [2], [2]))])
    for mode in ("constant", "reflect", "edge"):
        yield Case(f"Pad {mode}", "Pad", [x, m.k(np.array([0, 1, 1, 1, 0, 1, 1, 1]))], {"mode": mode})
    yield Case("GatherElements", "GatherElements", [x, m.x(a, b, c, d, dtype="int64")], {"axis": 1})
    yield Case("ScatterElements", "ScatterElements", [x, m.x(a, b, c, d, dtype="int64"), x], {"axis": 2})
    yield Case("GatherND", "GatherND", [x, m.x(9, 2, dtype="int64")])
    yield Case("ScatterND", "ScatterND", [x, m.x(9, 2, dtype="int64"), m.x(9, c, d)])
    yield Case("DepthToSpace", "DepthToSpace", [m.x(a, 4 * b, c, d)], {"blocksize": 2})
    yield Case("SpaceToDepth", "SpaceToDepth", [m.x(a, b, 2 * c, 2 * d)], {"blocksize": 2})
    yield Case("OneHot", "OneHot", [m.x(a, b, dtype="int64"), m.k(np.array(9)), m.k(np.array([0, 1], np.float32))])
    yield Case("Range", "Range", [m.k(np.array(0)), Input(np.array(a * b)), m.k(np.array(1))])
    yield Case("EyeLike", "EyeLike", [m.x(c, d)])
    yield Case("Compress", "Compress", [x, m.x(b, dtype="bool")], {"axis": 1})
    yield Case("ReverseSequence", "ReverseSequence", [m.x(c, d), m.k(np.full(d, 2))])
    yield Case("Multinomial", "Multinomial", [m.x(a, d)], {"sample_size": b})
    yield Case("Unique", "Unique", [m.x(a * b)])
    yield Case("Det", "Det", [m.x(a, c, c)])
    yield Case("GridSample", "GridSample", [x, m.x(a, c, d, 2)])
    yield Case("Trilu microsoft", "Trilu", [m.x(c, d)], domain=MS)


def resizing(m: Maker) -> Iterator[Case]:
    a, b, c, d = m.sizes(4, 9, 20, 30)
    for mode in ("nearest", "linear", "cubic"):
        scales = m.k(np.array([1, 1, 2, 3], np.float32))
        yield Case(f"Resize {mode}", "Resize", [m.x(a, b, c, d), None, scales], {"mode": mode})
    for dims in ((c, d), (b, c, d), (a, b, 6, c, d)):
        scales = m.k(np.array([2, 3] if len(dims) == 2 else [*[1] * (len(dims) - 3), 2, 2, 2], np.float32))
        yield Case(f"Resize linear {len(dims)}", "Resize", [m.x(*dims), None, scales], {"mode": "linear"})
    sizes = m.k(np.array([a, b, c // 2, 2 * d]))
    yield Case("Resize sizes", "Resize", [m.x(a, b, c, d), None, None, sizes], {"mode": "linear"})
    yield Case("Resize uint8", "Resize", [m.x(a, b, c, d, dtype="uint8"), None, None, sizes], {"mode": "linear"})

    yield from filtered(m, a, b, c, d)


def filtered(m: Maker, a: int, b: int, c: int, d: int) -> Iterator[Case]:
    x = m.x(a, b, c, d)
    for mode in ("linear", "cubic"):
        attributes = {"mode": mode, "antialias": 1}
        for scales in ((0.5, 0.5), (0.7, 1.3), (2.0, 0.3), (1.0, 0.5)):
            steps = m.k(np.array([1, 1, *scales], np.float32))
            yield Case(f"Resize antialias {mode} {scales}", "Resize", [x, None, steps], attributes)
        steps = m.k(np.array([0.4, 0.6], np.float32))
        yield Case(f"Resize antialias 2d {mode}", "Resize", [m.x(c, d), None, steps], attributes)
        steps = m.k(np.array([1, 1, 0.4, 0.6], np.float32))
        bytes_in = m.x(a, b, c, d, dtype="uint8")
        yield Case(f"Resize antialias uint8 {mode}", "Resize", [bytes_in, None, steps], attributes)
        sizes = m.k(np.array([a, b, 2 * c // 3, d + 3]))
        yield Case(f"Resize antialias sizes {mode}", "Resize", [x, None, None, sizes], attributes)
    same = m.k(np.array([1, 1, 1, 1], np.float32))
    yield Case("Resize equal", "Resize", [x, None, same], {"mode": "linear"})
    last = m.k(np.array([1, 2, 3, 1], np.float32))
    yield Case("Resize channels last", "Resize", [x, None, last], {"mode": "linear"})
    steps = m.k(np.array([1, 1, 2, 3], np.float32))
    for mode in ("nearest", "linear"):
        yield Case(f"Upsample {mode}", "Upsample", [x, steps], {"mode": mode}, opset=9)


def normalization(m: Maker) -> Iterator[Case]:
    a, b, c, d = m.sizes(4, 20, 20, 30)
    x = m.x(a, b, c, d)
    yield Case("BatchNormalization", "BatchNormalization", [x, *[m.w(b)] * 3, Input(np.ones(b, np.float32))])
    yield Case("InstanceNormalization", "InstanceNormalization", [x, m.w(b), m.w(b)])
    yield Case("LRN", "LRN", [x], {"size": 1 + 2 * m.size(0, 3)})
    for dtype in ("float32", "float16"):
        for make in (m.w, m.x):
            scale = [make(d, dtype=dtype)] * 2
            y = m.x(a, c, d, dtype=dtype)
            kind = f"{dtype} {'constant' if scale[0].constant else 'variable'}"
            yield Case(f"LayerNormalization {kind}", "LayerNormalization", [y, *scale])
            yield Case(f"SkipLayerNormalization {kind}", "SkipLayerNormalization", [y, y, *scale, scale[0]], domain=MS)
            name = "SkipSimplifiedLayerNormalization"
            yield Case(f"{name} {kind}", name, [y, y, scale[0]], outputs=("y0", "", "", "y3"), domain=MS)
    yield Case("RMSNormalization", "RMSNormalization", [x, m.w(d)], opset=23)
    yield Case("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", [x, m.w(d)])


def convolution(m: Maker) -> Iterator[Case]:
    n, c, f, h, w = m.size(2, 4), *m.sizes(24, 40, 24, 30)
    same = {"pads": [1, 1, 1, 1]}
    for batch in (1, n):
        x = m.x(batch, c, h, w)
        yield Case(f"Conv 3x3 {batch}", "Conv", [x, m.w(f, c, 3, 3), m.w(f)], same)
        yield Case(f"Conv 1x1 {batch}", "Conv", [x, m.x(f, c, 1, 1)])
        yield Case(f"Conv 1x1 stride {batch}", "Conv", [x, m.w(f, c, 1, 1)], {"strides": [2, 2]})
        yield Case(f"Conv 1x1 pads {batch}", "Conv", [x, m.w(f, c, 1, 1)], same)
        yield Case(f"Conv depthwise {batch}", "Conv", [x, m.w(c, 1, 3, 3)], {"group": c})
        yield Case(f"Conv small {batch}", "Conv", [m.x(batch, c, 5, 5), m.w(8 * f, c, 3, 3)], same)
        yield Case(f"Conv medium {batch}", "Conv", [m.x(batch, 2, 9, 9), m.w(5, 2, 3, 3)], same)
        yield Case(f"Conv 1d {batch}", "Conv", [m.x(batch, c, h * w), m.w(f, c, 5)])
        yield Case(f"Conv whole {batch}", "Conv", [x, m.w(f, c, h, w)])
        yield Case(f"Conv SAME {batch}", "Conv", [x, m.w(f, c, 1, 1)], {"auto_pad": "SAME_UPPER"})
        yield Case(f"Conv groups {batch}", "Conv", [m.x(batch, 2 * c, h, w), m.w(2 * f, c, 3, 3)], {"group": 2})
        yield Case(f"ConvTranspose {batch}", "ConvTranspose", [x, m.w(c, f, 2, 2)], {"strides": [2, 2]})
    x3 = m.x(n, c, 5, h, w)
    yield Case("Conv 3d", "Conv", [x3, m.w(f, c, 3, 3, 3)])
    yield Case("ConvTranspose groups", "ConvTranspose", [m.x(n, 3 * c, h, w), m.w(3 * c, f, 3, 3)], {"group": 3})
    yield Case("FusedConv", "FusedConv", [m.x(1, c, h, w), m.w(f, c, 3, 3)], {"activation": "Relu"}, domain=MS)
    offsets = m.x(n, 18, h - 2, w - 2)
    yield Case("DeformConv", "DeformConv", [m.x(n, c, h, w), m.w(f, c, 3, 3), offsets])
    offsets = m.x(n, 54, h - 2, w - 2)
    groups = {"offset_group": 3}
    yield Case("DeformConv groups", "DeformConv", [m.x(n, 3 * c, h, w), m.w(f, 3 * c, 3, 3), offsets], groups)
    yield from pooling(m, n, c, h, w)


def pooling(m: Maker, n: int, c: int, h: int, w: int) -> Iterator[Case]:
    x, window = m.x(n, c, h, w), {"kernel_shape": [3, 2]}
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield Case(op, op, [x], window)
    for op in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"):
        yield Case(op, op, [x])
    yield Case("MaxPool indices", "MaxPool", [x], window, outputs=("y0", "y1"))
    yield Case("MaxPool uint8", "MaxPool", [m.x(n, c, h, w, dtype="uint8")], window)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    last = m.x(n, h, w, c, dtype="uint8")
    yield Case("NhwcMaxPool", "NhwcMaxPool", [last], window, domain=MS)
    yield Case("NhwcMaxPool small", "NhwcMaxPool", [m.x(n, 7, 8, c, dtype="uint8")], window, domain=MS)
    pooled = [m.x(n, c, h, w, dtype="uint8"), scale, zero, scale, zero]
    yield Case("QLinearAveragePool", "QLinearAveragePool", pooled, window, domain=MS)
    yield Case("QLinearGlobalAveragePool", "QLinearGlobalAveragePool", pooled, domain=MS)


def products(m: Maker) -> Iterator[Case]:
    a, b, depth, columns = m.sizes(5, 40, 50, 60)
    for make in (m.w, m.x):
        w = make(depth, columns)
        label = "constant" if w.constant else "variable"
        yield Case(f"MatMul {label}", "MatMul", [m.x(a, b, depth), w])
        yield Case(f"MatMul batched {label}", "MatMul", [m.x(a, b, depth), make(a, depth, columns)])
        yield Case(f"MatMul vector {label}", "MatMul", [m.x(a, b, depth), make(depth)])
        yield Case(
            f"MatMul double {label}", "MatMul", [m.x(b, depth, dtype="float64"), make(depth, columns, dtype="float64")]
        )
        yield Case(f"Gemm {label}", "Gemm", [m.x(b, depth), w, m.w(columns)])
        turned = make(columns, depth)
        yield Case(f"Gemm transposed {label}", "Gemm", [m.x(depth, b), turned], {"transA": 1, "transB": 1})
        yield Case(f"FusedMatMul {label}", "FusedMatMul", [m.x(a, b, depth), turned], {"transB": 1}, domain=MS)
        yield Case(
            f"FusedGemm {label}", "FusedGemm", [m.x(b, depth), w, m.w(columns)], {"activation": "Relu"}, domain=MS
        )
    yield from blocks(m, columns)


def recurrence(m: Maker) -> Iterator[Case]:
    t, n, i, h = m.sizes(30, 8, 40, 50)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            layer = [m.x(t, n, i), m.w(d, gates * h, i), m.w(d, gates * h, h)]
            bias, lengths = m.w(d, 2 * gates * h), m.k(np.full(n, t, np.int32))
            state = m.x(d, n, h)
            whole = [*layer, bias, lengths, *[state] * (2 if op == "LSTM" else 1)]
            for linear in (0, 1) if op == "GRU" else (0,):
                attributes = {"hidden_size": h, "direction": direction}
                attributes |= {"linear_before_reset": 1} if linear else {}
                label = f"{op} {direction} {linear}"
                yield Case(label, op, layer, attributes)
                yield Case(f"{label} bias", op, [*layer, bias], attributes)
                yield Case(f"{label} whole", op, whole, attributes, outputs=ALL[: 3 if op == "LSTM" else 2])
    yield Case("RNN last", "RNN", [m.x(t, n, i), m.w(2, h, i), m.w(2, h, h)], last_state(h), outputs=("", "y1"))
    yield Case("LSTM last", "LSTM", layer_of(m, t, n, i, h), {"hidden_size": h}, outputs=("", "y1"))
    weights = [m.w(1, i, 4 * h, dtype="int8"), m.w(1, h, 4 * h, dtype="int8")]
    scale, zero = m.k(np.full(1, 0.02, np.float32)), m.k(np.zeros(1, np.int8))
    inputs = [m.x(t, n, i), *weights, m.w(1, 8 * h), None, None, None, None, scale, zero, scale, zero]
    yield Case("DynamicQuantizeLSTM", "DynamicQuantizeLSTM", inputs, {"hidden_size": h}, domain=MS)


def last_state(hidden: int) -> dict[str, Any]:
    return {"hidden_size": hidden, "direction": "bidirectional"}


def layer_of(m: Maker, t: int, n: int, i: int, h: int) -> list[Input]:
    return [m.x(t, n, i), m.w(1, 4 * h, i), m.w(1, 4 * h, h)]


EQUATIONS = (
    *("bij,bjk->bik", "bij,bkj->bik", "bij->bji", "bij->bi", "bij->bj", "bij->b", "bij->", "ii->i", "ij,jk,kl->il"),
    *("i,j->ij", "i,i->", "ij,ij->", "ij,ij->ij", "bhid,bhjd->bhij", "bid,bjhd->bhij", "bihd,bjhd->bhij"),
    *("bhqk,bkhd->bqhd", "bid,dj->bij", "bi,bj->bij", "bij,bij->b", "ij,jk->ki", "ij,jk", "bij,jk->bki", "ij,i->ij"),
    *("ij,j->i", "ij,kl->ijkl", "ijk,kj->i", "bij,bj->bi", "bji,bjk->bik", "ij,ij->i", "ij,ij->j", "bij,bij->bj"),
    *("ij->ij", "bhij,bhjd->bihd", "ij,jk,kl,lm->im", "ji->ij", "bjj->bj", "bij,k->bijk", "ij,b->bij", "qd,kd->kq"),
    *("ij,kl->k", "ij,jk,jl->ikl", "ijk,jl->kl", "ij,kl,km->im", "ai,bi,ci->abc"),
)


ELLIPSES = {
    "...ij,...jk->...ik": ("bhij", "bhjk"),
    "...ij,jk->...ik": ("bhij", "jk"),
    "b...d,de->b...e": ("bhjd", "de"),
    "...i,...j->...ij": ("bhi", "bhj"),
    "i...,j->ij...": ("ibh", "j"),
    "...ij->...ji": ("bij",),
    "...ij->...": ("bhij",),
    "...ij,...jk": ("bij", "bjk"),
    "a...b,b...c->...ac": ("ahib", "bhic"),
}
"""Equations, and the letters of all axes of their operands."""


def einsum(m: Maker) -> Iterator[Case]:
    letters = sorted({letter for text in (*EQUATIONS, *ELLIPSES) for letter in text if letter.isalpha()})
    for units in ("", "b", "h", "j", "ik"):
        sizes = {letter: 1 if letter in units else m.size(2, 14) for letter in letters}
        for equation in EQUATIONS:
            if not set(units) - set(equation):
                operands = equation.partition("->")[0].split(",")
                inputs = [m.x(*[sizes[letter] for letter in operand]) for operand in operands]
                yield Case(f"Einsum {equation} {units}", "Einsum", inputs, {"equation": equation})
        for equation, axes in ELLIPSES.items():
            inputs = [m.x(*[sizes[letter] for letter in operand]) for operand in axes]
            yield Case(f"Einsum {equation} {units}", "Einsum", inputs, {"equation": equation})


FAMILIES = (
    *(elementwise, broadcasting, movement, resizing, normalization, convolution, quantized_convolution),
    *(quantized_products, products, recurrence, einsum, attention, signals, learning, rare, built),
)


def cases(seed: int) -> Sequence[Case]:
    """All cases, at sizes that depend on the seed."""
    return [case for number, family in enumerate(FAMILIES) for case in family(Maker(seed * 100 + number))]
