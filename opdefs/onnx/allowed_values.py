"""The values that attributes of strings may have, which `onnx.defs` states in prose only.

From https://onnx.ai/onnx/operators and the kernels of ONNX Runtime: by operator and attribute, with the first version
of the values. The attributes that are not here take any text (patterns, equations, names), or neither onnx nor ONNX
Runtime checks their values.
"""

from __future__ import annotations

_AUTO_PAD = ("NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID")
_DIRECTION = ("bidirectional", "forward", "reverse")
_POST_TRANSFORM = ("LOGISTIC", "NONE", "PROBIT", "SOFTMAX", "SOFTMAX_ZERO")
_KERNEL = ("LINEAR", "POLY", "RBF", "SIGMOID")
_ROUND = ("down", "nearest", "up")
_TRANSFORMS = ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel", "tf_crop_and_resize")

_ANY_ATTRIBUTE = ("BiasDropout", "BitmaskBiasDropout", "BitmaskDropout", "QOrderedLayerNormalization", "Snpe")
ANY_ATTRIBUTE = frozenset(
    [
        ("", "LayerNormalization"),
        *(("com.microsoft", op) for op in _ANY_ATTRIBUTE),
    ]
)
"""The operators for which onnx and ONNX Runtime accept attributes that the definition lacks."""

Versions = dict[int, tuple[str, ...]]

ONNX: dict[tuple[str, str], Versions] = {
    **{
        (op, "auto_pad"): {1: _AUTO_PAD}
        for op in ("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv")
    },
    **{(op, "direction"): {1: _DIRECTION} for op in ("GRU", "LSTM", "RNN")},
    ("BitShift", "direction"): {1: ("LEFT", "RIGHT")},
    ("Cast", "round_mode"): {24: _ROUND},
    ("DepthToSpace", "mode"): {1: ("CRD", "DCR")},
    ("SpaceToDepth", "mode"): {1: ("CRD", "DCR")},
    ("GridSample", "mode"): {16: ("bicubic", "bilinear", "nearest"), 20: ("cubic", "linear", "nearest")},
    ("GridSample", "padding_mode"): {1: ("border", "reflection", "zeros")},
    ("Pad", "mode"): {1: ("constant", "edge", "reflect"), 19: ("constant", "edge", "reflect", "wrap")},
    ("Resize", "coordinate_transformation_mode"): {
        11: (*_TRANSFORMS, "tf_half_pixel_for_nn"),
        13: _TRANSFORMS,
        19: (*_TRANSFORMS, "half_pixel_symmetric"),
    },
    ("Resize", "keep_aspect_ratio_policy"): {1: ("not_larger", "not_smaller", "stretch")},
    ("Resize", "mode"): {10: ("linear", "nearest"), 11: ("cubic", "linear", "nearest")},
    ("Resize", "nearest_mode"): {1: ("ceil", "floor", "round_prefer_ceil", "round_prefer_floor")},
    ("RoiAlign", "mode"): {1: ("avg", "max")},
    ("StringNormalizer", "case_change_action"): {1: ("LOWER", "NONE", "UPPER")},
    ("TensorScatter", "mode"): {1: ("circular", "linear")},
    ("TfIdfVectorizer", "mode"): {1: ("IDF", "TF", "TFIDF")},
    ("Upsample", "mode"): {1: ("bilinear", "nearest"), 7: ("linear", "nearest")},
}

ML: dict[tuple[str, str], Versions] = {
    **{
        (op, "post_transform"): {1: _POST_TRANSFORM}
        for op in (
            "LinearClassifier",
            "LinearRegressor",
            "SVMClassifier",
            "SVMRegressor",
            "TreeEnsembleClassifier",
            "TreeEnsembleRegressor",
        )
    },
    **{(op, "kernel_type"): {1: _KERNEL} for op in ("SVMClassifier", "SVMRegressor")},
    ("CastMap", "cast_to"): {1: ("TO_FLOAT", "TO_INT64", "TO_STRING")},
    ("Normalizer", "norm"): {1: ("L1", "L2", "MAX")},
    ("TreeEnsembleRegressor", "aggregate_function"): {1: ("AVERAGE", "MAX", "MIN", "SUM")},
}

MICROSOFT: dict[tuple[str, str], Versions] = {
    **{
        (op, "auto_pad"): {1: _AUTO_PAD}
        for op in ("ConvTransposeWithDynamicPads", "FusedConv", "NhwcMaxPool", "QLinearAveragePool", "QLinearConv")
    },
    ("CropAndResize", "mode"): {1: ("bilinear", "nearest")},
    ("GridSample", "mode"): {1: ("bicubic", "bilinear", "nearest")},
    ("GridSample", "padding_mode"): {1: ("border", "reflection", "zeros")},
    ("Pad", "mode"): {1: ("constant", "edge", "reflect", "wrap")},
}

NCHWC: dict[tuple[str, str], Versions] = {(op, "auto_pad"): {1: _AUTO_PAD} for op in ("AveragePool", "Conv", "MaxPool")}

_TABLES = {"": ONNX, "ai.onnx.ml": ML, "com.microsoft": MICROSOFT, "com.microsoft.nchwc": NCHWC}


def allowed_values(domain: str, op: str, since: int, attribute: str) -> tuple[str, ...] | None:
    """The values that an attribute of an operator may have from an opset version on; None where any is accepted.

    >>> allowed_values("", "Resize", 10, "mode"), allowed_values("", "Einsum", 12, "equation")
    (('linear', 'nearest'), None)
    """
    versions = _TABLES.get(domain, {}).get((op, attribute), {})
    return next((versions[first] for first in sorted(versions, reverse=True) if first <= since), None)
