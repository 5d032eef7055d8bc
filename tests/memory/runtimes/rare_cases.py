"""Cases of signals, of classical learning, and of rarer operators, at random sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.memory.runtimes.case_maker import ALL, SCALE, ZERO_U8, Maker
from tests.memory.runtimes.kernel_models import MS, NCHWC, Case, Input


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
