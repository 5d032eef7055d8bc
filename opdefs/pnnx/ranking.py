"""The largest elements along an axis."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.operands import require_kind
from opdefs.rules.contents.ordering import top_elements
from opdefs.rules.numbers import read_dim
from opdefs.rules.unknowns import top_k_shape
from shapeinf.lattice import ChosenIndices, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@own_types("torch.topk")
def topk(
    c: InferenceContext, input: Value, *, k: object, dim: object = -1, largest: object = True, sorted_: object = True
) -> tuple[PartialTensor, PartialTensor]:
    """[*A, d, *B] -> the largest or smallest elements [*A, k, *B], and their indices."""
    require_kind(c, input.dtype, "the input must have integers or floats", "integer", "float")
    shape = _topk_shape(c, input.shape, k, dim)
    values, positions = None, None
    if input.elements is not None and input.shape.dims and isinstance(largest, bool) and sorted_ is True:
        axis = read_axis(c, dim, len(input.shape))
        values, positions = top_elements(c, input, axis, shape, largest=largest)
        if len(set(input.elements)) < len(input.elements):  # torch chooses among equal elements
            positions = None
    result = PartialTensor(input.dtype, shape, values)
    if positions is None and input.shape.dims:
        size = input.shape[read_axis(c, dim, len(input.shape))]
        return result, ChosenIndices("int64", shape, size)
    return result, PartialTensor("int64", shape, positions)


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
