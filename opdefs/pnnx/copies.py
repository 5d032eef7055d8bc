"""Copies, changes of element type, and sizes as values."""

from __future__ import annotations

from opdefs.pnnx.axes import read_axis
from opdefs.pnnx.dialect import own_types, pnnx
from opdefs.pnnx.operands import read_type
from opdefs.rules.contents.conversion import convert
from opdefs.rules.operands import require_broadcast_to
from shapeinf.lattice import SCALAR, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Value


@own_types("Tensor.size")
def size(c: InferenceContext, input: Shape, *, dim: object = None) -> PartialTensor:
    """The size of the axis `dim` as a number; without `dim` the list of all sizes."""
    if dim is None and "dim" not in c.written:
        return PartialTensor("int64", Shape((len(input),)), input.require())
    if dim is None or input.dims is None:
        return PartialTensor("int64", SCALAR, None)
    if not input.dims:
        c.fail("with dim, the input must have rank 1 or more")
    return PartialTensor("int64", SCALAR, (input[read_axis(c, dim, len(input))],))


@own_types("Tensor.to", in_place=(0,))
def to(
    c: InferenceContext,
    input: Value,
    *,
    dtype: str | None = None,
    copy: object = False,
    non_blocking: object = False,
    memory_format: object = None,
) -> PartialTensor:
    """[*S] -> [*S] in the type `dtype`, by default that of the input."""
    return convert(c, input, read_type(c, dtype) or input.dtype)


@own_types("Tensor.type_as", in_place=(0,))
def type_as(c: InferenceContext, input: Value, other: Shape) -> PartialTensor:
    """[*S] -> [*S] in the type of `other`."""
    return convert(c, input, c.dtype(1))


@pnnx("Tensor.clone", "torch.clone")
def clone(c: InferenceContext, input: Value, *, memory_format: object = None) -> PartialTensor:
    """The input."""
    return input


@pnnx("torch.positive", views={0: 0})
def positive(c: InferenceContext, input: Value) -> PartialTensor:
    """The input, which must not be of booleans."""
    if input.dtype == "bool":
        c.fail("the input must have numbers, not booleans")
    return input


@pnnx("Tensor.copy")
def copy(c: InferenceContext, self: Shape, src: Value) -> PartialTensor:
    """[*S], a source that broadcasts to it -> [*S], with the elements of the source in the type of the first tensor."""
    require_broadcast_to(c, src.shape, self, "src must broadcast to the shape of self, which it overwrites")
    return PartialTensor(c.dtype(0), self, None)
