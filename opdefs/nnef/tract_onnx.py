"""tract's operations for operators of ONNX: `ai.onnx.ml` and `Multinomial`."""

from __future__ import annotations

from opdefs.nnef.dialect import nnef
from opdefs.rules.numbers import read_ints
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext

_SAMPLED = {6: "int32", 7: "int64"}
"""The types of samples by ONNX's numbers."""


@nnef("tract_onnx_ml_direct_lookup")
def direct_lookup(c: InferenceContext, input: Shape, values: Shape, fallback: Shape) -> TensorType:
    """[*S] indices -> [*S] in the type of the values."""
    return TensorType(c.dtype(1), input)


@nnef("tract_onnx_ml_reverse_lookup")
def reverse_lookup(c: InferenceContext, input: Shape, keys: Shape) -> TensorType:
    """[*S] -> [*S] positions among the keys."""
    return TensorType("int32", input)


@nnef("tract_onnx_ml_tree_ensemble_classifier")
def tree_ensemble(
    c: InferenceContext, input: Shape, trees: Shape, nodes: Shape, leaves: Shape, *, n_classes: int
) -> TensorType:
    """[N, features] -> [N, classes]."""
    (classes,) = read_ints(c, n_classes, "n_classes", 0)
    return TensorType("float32", Shape((c.require_rank(input, 2)[0], classes)))


@nnef("tract_onnx_multinomial")
def multinomial(c: InferenceContext, input: Shape, *, dtype: int = 6, sample_size: int = 1) -> TensorType:
    """[N, classes] -> [N, samples]."""
    if dtype not in _SAMPLED:
        c.fail("dtype must be 6 (int32) or 7 (int64)", dtype)
    (samples,) = read_ints(c, sample_size, "sample_size", 0)
    return TensorType(_SAMPLED[dtype], Shape((c.require_rank(input, 2)[0], samples)))
