"""The largest elements along an axis."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import require_kind
from opdefs.rules.numbers import read_dim
from opdefs.rules.unknowns import top_k_shape
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@own_types("torch.topk")
def topk(c: InferenceContext, input: Shape, *, k: object, dim: object = -1) -> tuple[TensorType, TensorType]:
    """[*A, d, *B] -> the largest or smallest elements [*A, k, *B], and their indices."""
    require_kind(c, c.dtype(0), "the input must have integers or floats", "integer", "float")
    shape = _topk_shape(c, input, k, dim)
    return TensorType(c.dtype(0), shape), TensorType("int64", shape)


def _topk_shape(c: InferenceContext, x: Shape, k: object, dim: object) -> Shape:
    """[*A, k, *B]; a tensor of rank 0 keeps its shape."""
    if x.dims is None:
        return x
    axis = read_axis(c, dim, len(x.dims))
    size = read_dim(c, k, "k")
    if not x.dims:
        if size is not None:
            c.at_most(size, 1, "k must be at most 1 for an input of rank 0")
        return x
    if size is None or c.prove_le(0, size) is None:
        size = c.fresh_at_most(x.dims[axis], "k")
    return top_k_shape(c, x, axis, size)
