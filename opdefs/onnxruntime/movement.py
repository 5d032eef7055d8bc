"""Temporaries of operators that move, copy, reduce, count or create elements; most have none."""

from __future__ import annotations

from opdefs.onnxruntime.kernels import MS, NCHWC, onnxruntime
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

onnxruntime.none(
    *("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Size", "Shape", "Transpose", "Expand", "Tile"),
    *("Concat", "Split", "Slice", "Pad", "Gather", "GatherElements", "GatherND", "ScatterND", "ScatterElements"),
    *("Range", "ConstantOfShape", "Trilu", "EyeLike", "Compress", "ReverseSequence", "OneHot", "Unique", "NonZero"),
    *("DepthToSpace", "SpaceToDepth", "Col2Im", "NonMaxSuppression", "RoiAlign", "GridSample", "AffineGrid"),
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare"),
    *("ReduceLogSum", "ReduceLogSumExp", "ArgMax", "ArgMin", "TopK", "CumSum", "Hardmax", "Det"),
    *("SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength"),
    *("SplitToSequence", "ConcatFromSequence", "CumProd", "Scatter", "MaxRoiPool", "BitCast", "TensorScatter"),
    *("RandomNormal", "RandomUniform"),
    *("RandomNormalLike", "RandomUniformLike", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"),
)
onnxruntime.none(
    *(
        "ExpandDims",
        "Trilu",
        "Pad",
        "CDist",
        "Inverse",
        "Unique",
        "GatherBlockQuantized",
        "CropAndResize",
        "GridSample",
    ),
    *("Range", "GatherND", "MurmurHash3", "NGramRepeatBlock", "UnfoldTensor"),
    domain=MS,
)
onnxruntime.none("ReorderInput", "ReorderOutput", "Upsample", domain=NCHWC)
onnxruntime.none(
    *("Scaler", "Normalizer", "Binarizer", "Imputer", "ArrayFeatureExtractor", "LabelEncoder", "LinearClassifier"),
    *("LinearRegressor", "OneHotEncoder", "FeatureVectorizer", "TreeEnsembleRegressor", "TreeEnsembleClassifier"),
    domain="ai.onnx.ml",
)


@onnxruntime.scratch("Multinomial")
def multinomial(c: KernelContext) -> Scratch:
    """The cumulative distribution of one row, in float64."""
    return Scratch([c.product(8, c.input(0)[1])])
