"""Cases of kernels at random sizes: one node each, in the forms whose temporaries differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.memory.runtimes.kernel_models import MS, NCHWC, Case, Input, numbers

ALL = ("y0", "y1", "y2")
SCALE, ZERO_U8, ZERO_I8 = np.array(0.02, np.float32), np.array(3, np.uint8), np.array(0, np.int8)


class Maker:
    """Inputs with random sizes and contents."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def size(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def sizes(self, *highs: int) -> tuple[int, ...]:
        """For each, a size of at least a third of it, and of at least 2."""
        return tuple(self.size(max(2, high // 3), high) for high in highs)

    def x(self, *dims: int, dtype: str = "float32") -> Input:
        return Input(numbers(self.rng, *dims, dtype=dtype))

    def w(self, *dims: int, dtype: str = "float32") -> Input:
        return Input(numbers(self.rng, *dims, dtype=dtype), constant=True)

    def k(self, value: Any) -> Input:
        return Input(np.asarray(value), constant=True)


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


def quantized_where(m: Maker, a: int, b: int, c: int) -> list[Input]:
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    x, y = m.x(a, b, c, dtype="uint8"), m.x(c, dtype="uint8")
    return [m.x(b, 1, dtype="bool"), x, scale, zero, y, scale, zero, scale, zero]


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


def signals(m: Maker) -> Iterator[Case]:
    n, length = m.size(2, 5), m.size(5, 300)
    for size in (length, 64):
        for depth, dtype in ((1, "float32"), (2, "float32"), (2, "float64")):
            x = m.x(n, size, depth, dtype=dtype)
            yield Case(f"DFT {size} {depth} {dtype}", "DFT", [x])
            yield Case(f"DFT axis {size} {depth} {dtype}", "DFT", [x], {"axis": 1}, opset=17)
        yield Case(f"DFT one side {size}", "DFT", [m.x(n, size, 1)], {"onesided": 1})
        yield Case(f"DFT length {size}", "DFT", [m.x(n, 50, 1), m.k(np.array(size))])
        yield Case(f"STFT {size}", "STFT", [m.x(n, 900, 1), m.k(np.array(9)), None, m.k(np.array(size))])
        yield Case(f"STFT window {size}", "STFT", [m.x(n, 900, 1), m.k(np.array(9)), m.w(size)])


ML = "ai.onnx.ml"


def learning(m: Maker) -> Iterator[Case]:
    n, k = m.sizes(60, 40)
    x = m.x(n, k)
    yield Case("Scaler", "Scaler", [x], {"offset": [0.5], "scale": [2.0]}, ML)
    yield Case("Normalizer", "Normalizer", [x], {}, ML)
    yield Case("Binarizer", "Binarizer", [x], {}, ML)
    yield Case("Imputer", "Imputer", [x], {"imputed_value_floats": [0.0]}, ML)
    yield Case("ArrayFeatureExtractor", "ArrayFeatureExtractor", [x, m.x(1, 5, dtype="int64")], {}, ML)
    pairs = {"keys_int64s": [0, 1], "values_floats": [0.5, 1.5]}
    yield Case("LabelEncoder", "LabelEncoder", [m.x(n, k, dtype="int64")], pairs, ML)
    linear = {"coefficients": [0.1] * 3 * k, "intercepts": [0.0] * 3}
    yield Case("LinearRegressor", "LinearRegressor", [x], {**linear, "targets": 3}, ML)
    classes = {**linear, "classlabels_ints": [0, 1, 2]}
    yield Case("LinearClassifier", "LinearClassifier", [x], classes, ML, outputs=("y0", "y1"))
    yield Case("OneHotEncoder", "OneHotEncoder", [m.x(n, k, dtype="int64")], {"cats_int64s": [0, 1]}, ML)
    yield Case("FeatureVectorizer", "FeatureVectorizer", [x, m.x(n, 3)], {"inputdimensions": [k, 3]}, ML)
    trees = range(m.size(2, 90))
    nodes = {
        "nodes_treeids": [t for t in trees for _ in range(3)],
        "nodes_nodeids": [0, 1, 2] * len(trees),
        "nodes_featureids": [0] * 3 * len(trees),
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * len(trees),
        "nodes_values": [0.0] * 3 * len(trees),
        "nodes_truenodeids": [1, 0, 0] * len(trees),
        "nodes_falsenodeids": [2, 0, 0] * len(trees),
    }
    leaves = {"treeids": [t for t in trees for _ in range(2)], "nodeids": [1, 2] * len(trees)}
    leaves |= {"ids": [0, 1] * len(trees), "weights": [0.25, 0.5] * len(trees)}
    regression = {"n_targets": 2, **nodes, **{f"target_{name}": value for name, value in leaves.items()}}
    yield Case("TreeEnsembleRegressor", "TreeEnsembleRegressor", [x], regression, ML)
    votes = {"classlabels_int64s": [0, 1], **nodes, **{f"class_{name}": value for name, value in leaves.items()}}
    yield Case("TreeEnsembleClassifier", "TreeEnsembleClassifier", [x], votes, ML, outputs=("y0", "y1"))


def rare(m: Maker) -> Iterator[Case]:
    a, b, c, d = m.sizes(5, 12, 20, 30)
    x = m.x(a, b, c, d)
    yield Case("CumProd", "CumProd", [x, m.k(np.array(1))], opset=26)
    yield Case("Scatter", "Scatter", [x, m.x(a, b, c, d, dtype="int64"), x], {"axis": 2}, opset=10)
    yield Case("RandomNormal", "RandomNormal", [], {"shape": [c, d]})
    yield Case("RandomUniform", "RandomUniform", [], {"shape": [c, d]})
    yield Case("MaxRoiPool", "MaxRoiPool", [x, Input(np.zeros((3, 5), np.float32))], {"pooled_shape": [3, 2]})
    yield Case("BitCast", "BitCast", [x], {"to": 6}, opset=26)
    cache = m.x(a, b, c + 5, d)
    yield Case("TensorScatter", "TensorScatter", [cache, m.x(a, b, c, d), m.x(a, dtype="int64")], opset=24)
    boxes, indices = m.w(3, 4), m.k(np.zeros(3, np.int32))
    crops = [x, boxes, indices, m.k(np.array([5, 4], np.int32))]
    yield Case("CropAndResize", "CropAndResize", crops, domain=MS)
    yield Case("GridSample microsoft", "GridSample", [x, m.x(a, c, d, 2)], domain=MS)
    yield Case("Range microsoft", "Range", [m.k(np.array(0)), Input(np.array(c * d)), m.k(np.array(1))], domain=MS)
    yield Case("GatherND microsoft", "GatherND", [x, m.x(9, 2, dtype="int64")], domain=MS)
    yield Case("MurmurHash3", "MurmurHash3", [m.x(c, d, dtype="int32")], domain=MS)
    grams = [m.x(a, c, dtype="int64"), m.x(a, 9 * d)]
    yield Case("NGramRepeatBlock", "NGramRepeatBlock", grams, {"ngram_size": 3}, domain=MS)
    for op in ("ScaledSiLU", "SampleOp"):
        yield Case(op, op, [x], domain=MS)
    yield Case("UnfoldTensor", "UnfoldTensor", [x], {"dim": 3, "size": 4, "step": 2}, domain=MS)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    yield Case("QuantizeLinear microsoft", "QuantizeLinear", [x, scale, zero], domain=MS)
    yield Case("DequantizeLinear microsoft", "DequantizeLinear", [m.x(c, d, dtype="uint8"), scale, zero], domain=MS)
    yield Case("TransposeMatMul", "TransposeMatMul", [m.x(a, c, d), m.w(d, b)], domain=MS)
    weight = [m.w(b, 7, 3, 3), m.k(np.zeros(4, np.int64))]
    yield Case("ConvTransposeWithDynamicPads", "ConvTransposeWithDynamicPads", [x, *weight], domain=MS)
    blocked = m.x(a, 8, c, d)
    for op in ("AveragePool", "MaxPool"):
        yield Case(f"{op} nchwc", op, [blocked], {"kernel_shape": [2, 2]}, domain=NCHWC)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield Case(f"{op} nchwc", op, [blocked], domain=NCHWC)
    yield Case("ReorderInput", "ReorderInput", [blocked], domain=NCHWC)
    yield Case("ReorderOutput", "ReorderOutput", [blocked], {"channels": 6}, domain=NCHWC)
    weight = [m.w(16, 8, 3, 3), m.w(16)]
    yield Case("Conv nchwc", "Conv", [blocked, *weight], {"kernel_shape": [3, 3]}, domain=NCHWC)
    yield Case("Upsample nchwc", "Upsample", [blocked], {"scales": [1, 1, 2, 2]}, domain=NCHWC)
    yield Case("Inverse", "Inverse", [m.x(a, c, c)], domain=MS)
    yield Case("ExpandDims", "ExpandDims", [x, m.k(np.array(1, np.int32))], domain=MS)
    yield Case("CDist", "CDist", [m.x(c, d), m.x(b, d)], {"metric": "euclidean"}, domain=MS)
    padding = m.k(np.array([0, 1, 1, 1, 0, 1, 1, 1]))
    yield Case("Pad microsoft", "Pad", [x, padding, m.k(np.zeros(1, np.float32))], domain=MS)
    yield Case("Unique microsoft", "Unique", [m.x(c * d)], domain=MS, outputs=ALL)
    mask = m.x(a, b, c, d, dtype="int32")
    yield Case("MaxpoolWithMask", "MaxpoolWithMask", [x, mask], {"kernel_shape": [2, 2]}, domain=MS)
    yield from embeddings(m, a, c)


def built(m: Maker) -> Iterator[Case]:
    """Operators that build tensors from few numbers, and those of boxes and windows."""
    n, c, h, w = m.sizes(4, 6, 20, 24)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Case(op, op, [Input(np.array(h * w))])
    mel = [Input(np.array(number)) for number in (c, 4 * h, 8000)]
    ends = [Input(np.array(number, np.float32)) for number in (0, 4000)]
    yield Case("MelWeightMatrix", "MelWeightMatrix", [*mel, *ends])
    yield Case("ConstantOfShape", "ConstantOfShape", [Input(np.array([n, c, h]))])
    yield Case("AffineGrid", "AffineGrid", [m.x(n, 2, 3), m.k(np.array([n, c, h, w]))])
    columns = m.x(n, 4 * c, (h - 1) * (w - 1))
    yield Case("Col2Im", "Col2Im", [columns, m.k(np.array([h, w])), m.k(np.array([2, 2]))])
    yield Case("NonMaxSuppression", "NonMaxSuppression", [m.x(n, h, 4), m.x(n, c, h), m.k(np.array([9]))])
    boxes = [m.x(n, c, h, w), m.k(np.zeros((3, 4), np.float32)), m.k(np.zeros(3, np.int64))]
    yield Case("RoiAlign", "RoiAlign", boxes, {"output_height": 5, "output_width": 6})
    indices = m.k(np.zeros((n, c, h, w), np.int64))
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield Case("MaxUnpool", "MaxUnpool", [m.x(n, c, h, w), indices], window)
    table = [m.w(30, 16, dtype="uint8"), m.x(n, h, dtype="int64"), m.w(30, 1)]
    attributes = {"block_size": 32, "bits": 4, "quantize_axis": 1, "gather_axis": 0}
    yield Case("GatherBlockQuantized", "GatherBlockQuantized", table, attributes, domain=MS)


def embeddings(m: Maker, n: int, s: int) -> Iterator[Case]:
    ids, mask, h = m.x(n, s, dtype="int32"), m.k(np.ones((n, s), np.int32)), 4 * m.size(2, 9)
    tables = [m.w(30, h), m.w(s, h), m.w(2, h), m.w(h), m.w(h)]
    op = "EmbedLayerNormalization"
    yield Case(op, op, [ids, ids, *tables, mask], domain=MS, outputs=("y0", "y1"))
    tables = [m.w(*table.array.shape, dtype="uint8") for table in tables]
    quantized = [ids, ids, *tables, mask, *[m.k(SCALE)] * 5, *[m.k(ZERO_U8)] * 5]
    yield Case(f"Q{op}", f"Q{op}", quantized, domain=MS, outputs=("y0", "y1"))


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


def quantized_operands(m: Maker, x: Input, w: Input, zero: Any = None) -> list[Input]:
    scale, zero_x = m.k(SCALE), m.k(np.array(3, x.array.dtype))
    zero_w = m.k(np.array(0, w.array.dtype) if zero is None else zero)
    return [x, scale, zero_x, w, scale, zero_w, scale, zero_x]


def quantized_convolution(m: Maker) -> Iterator[Case]:
    n, h, w = m.size(2, 4), *m.sizes(20, 30)
    c, f = 4 * m.size(2, 6), 8 * m.size(2, 5)
    for kind in ("int8", "uint8"):
        for channels, filters in ((c, f), (c + 1, f), (c, f + 1)):
            x, weight = m.x(n, channels, h, w, dtype="uint8"), m.w(filters, channels, 3, 3, dtype=kind)
            label = f"{kind} {'odd ' * (channels % 2)}{'oddfilters' * (filters % 2)}"
            yield Case(f"QLinearConv {label}", "QLinearConv", quantized_operands(m, x, weight), {"pads": [1] * 4})
            yield Case(f"ConvInteger {label}", "ConvInteger", [x, weight], {"strides": [2, 2]})
        x = m.x(n, c, h, w, dtype="uint8")
        for groups in (16, c):
            own = m.x(n, groups, h, w, dtype="uint8")
            depthwise = quantized_operands(m, own, m.w(groups, 1, 3, 3, dtype=kind))
            yield Case(f"QLinearConv depthwise {kind} {groups}", "QLinearConv", depthwise, {"group": groups})
        double = quantized_operands(m, x, m.w(2 * c, 1, 3, 3, dtype=kind))
        yield Case(f"QLinearConv multiplier {kind}", "QLinearConv", double, {"group": c})
        yield Case(
            f"QLinearConv groups {kind}",
            "QLinearConv",
            quantized_operands(m, x, m.w(f, c // 2, 3, 3, dtype=kind)),
            {"group": 2},
        )
        one = quantized_operands(m, x, m.w(f, c, 1, 1, dtype=kind))
        yield Case(f"QLinearConv 1x1 {kind}", "QLinearConv", one)
        yield Case(f"QLinearConv 1x1 stride {kind}", "QLinearConv", one, {"strides": [2, 1]})
        variable = quantized_operands(m, x, m.x(f, c, 3, 3, dtype=kind))
        yield Case(f"QLinearConv variable {kind}", "QLinearConv", variable)
        line = quantized_operands(m, m.x(n, c, h * w, dtype="uint8"), m.w(f, c, 3, dtype=kind))
        yield Case(f"QLinearConv 1d {kind}", "QLinearConv", line)
        for groups in (1, 2):
            cube = quantized_operands(m, m.x(n, c, 5, 6, 7, dtype="uint8"), m.w(f, c // groups, 3, 3, 3, dtype=kind))
            yield Case(f"QLinearConv 3d {kind} {groups}", "QLinearConv", cube, {"group": groups})
        for channels in (c, c + 1):
            last = quantized_operands(m, m.x(n, h, w, channels, dtype="uint8"), m.w(f, channels, 3, 3, dtype=kind))
            yield Case(f"QLinearConv last {kind} {channels % 2}", "QLinearConv", last, {"channels_last": 1}, domain=MS)
        last = quantized_operands(m, m.x(n, h, w, 16, dtype="uint8"), m.w(16, 1, 3, 3, dtype=kind))
        attributes = {"channels_last": 1, "group": 16}
        yield Case(f"QLinearConv last depthwise {kind}", "QLinearConv", last, attributes, domain=MS)
    signed = quantized_operands(m, m.x(n, c, h, w, dtype="int8"), m.w(f, c, 3, 3, dtype="int8"))
    yield Case("QLinearConv signed", "QLinearConv", signed)
    x, weight = m.x(n, c, h, w, dtype="uint8"), m.w(f, c, 3, 3, dtype="int8")
    shifted = quantized_operands(m, x, weight, np.arange(f).astype(np.int8))
    shifted[4] = m.k(np.full(f, 0.02, np.float32))
    yield Case("QLinearConv shifted", "QLinearConv", shifted)


def quantized_products(m: Maker) -> Iterator[Case]:
    a, b, depth, columns = m.sizes(5, 40, 50, 60)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    for kind in ("int8", "uint8"):
        for make in (m.w, m.x):
            w = make(depth, columns, dtype=kind)
            label = f"{kind} {'constant' if w.constant else 'variable'}"
            x = m.x(a, b, depth, dtype="uint8")
            yield Case(f"MatMulInteger {label}", "MatMulInteger", [x, w])
            yield Case(f"MatMulIntegerToFloat {label}", "MatMulIntegerToFloat", [x, w, scale, scale], domain=MS)
            yield Case(f"QLinearMatMul {label}", "QLinearMatMul", quantized_operands(m, x, w))
            zero_w = m.k(np.array(0, kind))
            row = m.x(b, depth, dtype="uint8")
            gemm = [row, scale, zero, w, scale, zero_w, m.k(np.zeros(columns, np.int32))]
            yield Case(f"QGemm {label}", "QGemm", gemm, domain=MS)
            yield Case(f"QGemm quantized {label}", "QGemm", [*gemm, scale, zero], domain=MS)
            turned = [*gemm[:3], make(columns, depth, dtype=kind), *gemm[4:]]
            yield Case(f"QGemm transposed {label}", "QGemm", turned, {"transB": 1}, domain=MS)
            dynamic = [m.x(a, b, depth), w, scale, zero_w]
            yield Case(f"DynamicQuantizeMatMul {label}", "DynamicQuantizeMatMul", dynamic, domain=MS)
    yield Case(
        "MatMulInteger signed", "MatMulInteger", [m.x(b, depth, dtype="int8"), m.w(depth, columns, dtype="int8")]
    )
    x = m.x(a, b, depth, dtype="uint8")
    pair = [x, scale, zero]
    yield Case("QLinearAdd", "QLinearAdd", [*pair, *pair, scale, zero], domain=MS)
    yield Case("QLinearMul", "QLinearMul", [*pair, *pair, scale, zero], domain=MS)
    yield Case("QLinearSigmoid", "QLinearSigmoid", [*pair, scale, zero], domain=MS)
    yield Case("QLinearLeakyRelu", "QLinearLeakyRelu", [*pair, scale, zero], domain=MS)
    yield Case("QLinearConcat", "QLinearConcat", [scale, zero, *[x, scale, zero] * 2], {"axis": 1}, domain=MS)
    for axis in (1, 2):
        attributes = {"axis": axis, "opset": 13}
        yield Case(f"QLinearSoftmax {axis}", "QLinearSoftmax", [*pair, scale, zero], attributes, domain=MS)
    yield Case("QuantizeLinear", "QuantizeLinear", [m.x(a, b), scale, zero])
    yield Case("DequantizeLinear", "DequantizeLinear", [x, scale, zero])
    yield Case("DynamicQuantizeLinear", "DynamicQuantizeLinear", [m.x(a, b)], outputs=ALL)


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


def blocks(m: Maker, columns: int) -> Iterator[Case]:
    chosen = [(bits, block, level) for bits in (2, 4, 8) for level in (0, 1, 4) for block in (32, 128)]
    for bits, block, level in (*chosen, (4, 16, 0), (4, 256, 4)):
        depth = 256 * m.size(1, 3)
        count = depth // block
        attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block, "accuracy_level": level}
        x, half = m.x(m.size(2, 5), 20, depth), m.x(m.size(2, 5), 20, depth, dtype="float16")
        zeros = m.w(columns * -(-count * bits // 8), dtype="uint8")
        for make in (m.w, m.x):
            w, scales = make(columns, count, block * bits // 8, dtype="uint8"), make(columns * count)
            label = f"MatMulNBits {bits} {block} {level} {'constant' if w.constant else 'variable'}"
            for extra in ((), (zeros,), (None, None, m.w(columns))):
                name = f"{label} {len(extra)}"
                yield Case(name, "MatMulNBits", [x, w, scales, *extra], attributes, domain=MS)
        w, scales = m.w(columns, count, block * bits // 8, dtype="uint8"), m.w(columns * count, dtype="float16")
        yield Case(f"MatMulNBits half {bits} {block} {level}", "MatMulNBits", [half, w, scales], attributes, domain=MS)


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


def einsum(m: Maker) -> Iterator[Case]:
    letters = sorted({letter for equation in EQUATIONS for letter in equation if letter.isalpha()})
    for units in ("", "b", "h", "j", "ik"):
        sizes = {letter: 1 if letter in units else m.size(2, 14) for letter in letters}
        for equation in EQUATIONS:
            if not set(units) - set(equation):
                operands = equation.partition("->")[0].split(",")
                inputs = [m.x(*[sizes[letter] for letter in operand]) for operand in operands]
                yield Case(f"Einsum {equation} {units}", "Einsum", inputs, {"equation": equation})


def attention(m: Maker) -> Iterator[Case]:
    n, s, length, heads = m.size(2, 4), *m.sizes(50, 70), m.size(2, 4)
    d, e = 8 * m.size(1, 5), 8 * m.size(1, 5)
    width = heads * d
    h = {"num_heads": heads}
    yield from projected(m, n, s, heads, d)
    q, k, v = m.x(n, s, width), m.x(n, length, width), m.x(n, length, heads * e)
    op = "MultiHeadAttention"
    bias = m.x(2 * width + heads * e)
    yield Case("MHA", op, [q, k, v], h, domain=MS)
    yield Case("MHA bias", op, [q, k, v, bias], h, domain=MS)
    yield Case("MHA one query", op, [m.x(n, 1, width), k, v, bias], h, domain=MS)
    mask = m.k(np.ones((n, length), np.int32))
    yield Case("MHA mask", op, [q, k, v, None, mask], h, domain=MS)
    yield Case("MHA mask bias", op, [q, k, v, bias, mask], h, domain=MS)
    yield Case("MHA matrix mask", op, [q, k, v, None, m.k(np.ones((n, s, length), np.int32))], h, domain=MS)
    yield Case("MHA scores", op, [q, k, v, None, None, m.x(1, 1, s, length)], h, domain=MS)
    yield Case("MHA scores bias", op, [q, k, v, bias, None, m.x(n, heads, s, length)], h, domain=MS)
    whole = m.x(n, heads, length, d)
    yield Case("MHA heads", op, [q, whole, whole], h, domain=MS)
    yield Case("MHA heads bias", op, [q, whole, whole, m.x(3 * width)], h, domain=MS)
    past = m.x(n, heads, 9, d)
    own = m.x(n, s, width)
    yield Case("MHA past", op, [own, own, own, None, None, None, past, past], h, domain=MS, outputs=ALL)
    yield Case("MHA past bias", op, [own, own, own, m.x(3 * width), None, None, past, past], h, domain=MS, outputs=ALL)
    yield Case("MHA present", op, [q, k, v], h, domain=MS, outputs=ALL)
    yield Case("MHA causal", op, [own, own, own], {**h, "unidirectional": 1}, domain=MS)
    yield Case("MHA wide", op, [m.x(1, 300, 2 * 160), *[m.x(1, 700, 2 * 160)] * 2], {"num_heads": 2}, domain=MS)
    yield from grouped(m, n, s, heads, 16 * m.size(1, 3))
    yield from standard(m, n, s, length, heads)


def projected(m: Maker, n: int, s: int, heads: int, d: int) -> Iterator[Case]:
    width, h = heads * d, {"num_heads": heads}
    x, w, b = m.x(n, s, width), m.w(width, 3 * width), m.w(3 * width)
    mask = m.k(np.ones((n, s), np.int32))
    causal = {**h, "unidirectional": 1}
    past = m.x(2, n, heads, 7, d)
    yield Case("Attention", "Attention", [x, w, b], h, domain=MS)
    yield Case("Attention variable", "Attention", [x, m.x(width, 3 * width)], h, domain=MS)
    yield Case("Attention mask", "Attention", [x, w, b, mask], h, domain=MS)
    yield Case("Attention lengths", "Attention", [x, w, b, m.k(np.full(n, s, np.int32))], h, domain=MS)
    yield Case("Attention matrix", "Attention", [x, w, b, m.k(np.ones((n, s, s), np.int32))], h, domain=MS)
    yield Case("Attention causal", "Attention", [x, w, b], causal, domain=MS)
    yield Case("Attention causal mask", "Attention", [x, w, b, mask], causal, domain=MS)
    yield Case("Attention past", "Attention", [x, w, b, None, past], causal, domain=MS, outputs=("y0", "y1"))
    yield Case("Attention scores", "Attention", [x, w, b, None, None, m.x(n, heads, s, s)], h, domain=MS)
    sizes = [width, width, 2 * heads]
    wide = m.w(width, 2 * width + 2 * heads)
    attributes = {**h, "qkv_hidden_sizes": sizes}
    yield Case("Attention sizes", "Attention", [x, wide, m.w(2 * width + 2 * heads)], attributes, domain=MS)
    scale, zero = m.k(SCALE), m.k(ZERO_U8)
    for kind in ("int8", "uint8"):
        weight = m.w(width, 3 * width, dtype=kind)
        inputs = [m.x(n, s, width, dtype="uint8"), weight, b, scale, scale, None, zero, m.k(np.array(0, kind))]
        yield Case(f"QAttention {kind}", "QAttention", inputs, h, domain=MS)
        yield Case(f"QAttention {kind} mask", "QAttention", [*inputs[:5], mask, *inputs[6:]], causal, domain=MS)


def grouped(m: Maker, n: int, s: int, heads: int, d: int) -> Iterator[Case]:
    op, groups = "GroupQueryAttention", 2
    h = {"num_heads": 2 * heads, "kv_num_heads": groups}
    cache = m.x(n, groups, s + m.size(20, 40), d)
    lengths, total = m.k(np.full(n, s - 1, np.int32)), m.k(np.array(s, np.int32))
    q, k = m.x(n, s, 2 * heads * d), m.x(n, s, groups * d)
    rest = [cache, cache, lengths, total]
    table = [m.w(200, d // 2)] * 2
    yield Case("GQA", op, [q, k, k, *rest], h, domain=MS, outputs=ALL)
    yield Case("GQA rotary", op, [q, k, k, *rest, *table], {**h, "do_rotary": 1}, domain=MS, outputs=ALL)
    yield Case("GQA softcap", op, [q, k, k, *rest], {**h, "softcap": 2.0}, domain=MS, outputs=ALL)
    yield Case("GQA window", op, [q, k, k, *rest], {**h, "local_window_size": 8}, domain=MS, outputs=ALL)
    packed = m.x(n, s, (2 * heads + 2 * groups) * d)
    yield Case("GQA packed", op, [packed, None, None, *rest], h, domain=MS, outputs=ALL)
    rotary = {**h, "do_rotary": 1}
    yield Case("GQA packed rotary", op, [packed, None, None, *rest, *table], rotary, domain=MS, outputs=ALL)
    yield Case("GQA first", op, [q, k, k, None, None, lengths, total], h, domain=MS, outputs=ALL)
    q1, k1 = m.x(n, 1, 2 * heads * d), m.x(n, 1, groups * d)
    yield Case("GQA step", op, [q1, k1, k1, *rest], h, domain=MS, outputs=ALL)
    yield Case("GQA step softcap", op, [q1, k1, k1, *rest], {**h, "softcap": 2.0}, domain=MS, outputs=ALL)


def standard(m: Maker, n: int, s: int, length: int, heads: int) -> Iterator[Case]:
    d, e = 8 * m.size(1, 5), 8 * m.size(1, 5)
    q, k, v = m.x(n, 2 * heads, s, d), m.x(n, heads, length, d), m.x(n, heads, length, e)
    causal = {"is_causal": 1}
    for opset in (23, 24):
        name = f"Attention {opset}"
        yield Case(name, "Attention", [q, k, v], opset=opset)
        yield Case(f"{name} causal", "Attention", [q, k, v], causal, opset=opset)
        for dims in ((s, length), (n, 1, s, length), (n, 2 * heads, s, length)):
            label = f"{name} mask {len(dims)}"
            for attributes in ({}, causal):
                kind = "causal" * bool(attributes)
                yield Case(f"{label} {kind} {dims[:2]}", "Attention", [q, k, v, m.x(*dims)], attributes, opset=opset)
                flags = m.k(np.ones(dims, bool))
                yield Case(f"{label} bool {kind} {dims[:2]}", "Attention", [q, k, v, flags], attributes, opset=opset)
        past = [m.x(n, heads, 9, d), m.x(n, heads, 9, e)]
        yield Case(f"{name} past", "Attention", [q, k, v, None, *past], opset=opset, outputs=ALL)
        yield Case(f"{name} past causal", "Attention", [q, k, v, None, *past], causal, opset=opset, outputs=ALL)
        flat = {"q_num_heads": 2 * heads, "kv_num_heads": heads}
        rows = [m.x(n, s, 2 * heads * d), m.x(n, length, heads * d), m.x(n, length, heads * e)]
        yield Case(f"{name} flat", "Attention", rows, flat, opset=opset)
        yield Case(f"{name} scores", "Attention", [q, k, v], opset=opset, outputs=("y0", "", "", "y3"))
        half = [m.x(*x.array.shape, dtype="float16") for x in (q, k, v)]
        yield Case(f"{name} float16", "Attention", half, opset=opset)
        yield Case(f"{name} float16 causal", "Attention", half, causal, opset=opset)
    lengths = [None, None, None, m.k(np.full(n, length))]
    yield Case("Attention lengths", "Attention", [q, k, v, *lengths], opset=24)
    yield Case("Attention lengths causal", "Attention", [q, k, v, *lengths], causal, opset=24)
    rotary = [m.x(n, heads, s, d), m.x(n, s, d // 2), m.x(n, s, d // 2)]
    yield Case("RotaryEmbedding", "RotaryEmbedding", rotary, opset=23)
    positions = m.k(np.zeros((n, s), np.int64))
    inputs = [m.x(n, s, heads * d), positions, m.w(200, d // 2), m.w(200, d // 2)]
    yield Case("RotaryEmbedding microsoft", "RotaryEmbedding", inputs, domain=MS)


FAMILIES = (
    *(elementwise, broadcasting, movement, resizing, normalization, convolution, quantized_convolution),
    *(quantized_products, products, recurrence, einsum, attention, signals, learning, rare, built),
)


def cases(seed: int) -> Sequence[Case]:
    """All cases, at sizes that depend on the seed."""
    return [case for number, family in enumerate(FAMILIES) for case in family(Maker(seed * 100 + number))]
