"""Random tensors: the shapes of attributes or of an input, in the type that an attribute names."""

from __future__ import annotations

from opdefs.onnx.cast import dtype_name
from opdefs.onnx.dialect import onnx
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Ints


@onnx("RandomNormal", "RandomUniform")
def random(c: InferenceContext, *, shape: Ints, dtype: int = 1) -> TensorType:
    """A tensor of the attribute's shape."""
    for d in shape:
        if d < 0:
            c.fail("a dimension must be at least 0", d)
    return TensorType(dtype_name(dtype), Shape(shape))


@onnx("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(c: InferenceContext, x: Shape, *, dtype: int = 0) -> TensorType:
    """The shape of the input, and its type unless `dtype` names another."""
    return TensorType(dtype_name(dtype) or c.dtype(0), x)


@onnx("Multinomial")
def multinomial(c: InferenceContext, x: Shape, *, sample_size: int = 1, dtype: int = 6) -> TensorType:
    """[batch, classes] -> [batch, sample_size]."""
    return TensorType(dtype_name(dtype), Shape((c.require_rank(x, 2, "input")[0], sample_size)))
