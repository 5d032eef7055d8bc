"""The primitives of torch (`torch.ops.prims`) that no other function is: axes that are broadcast, joined or split.

The others are listed in `functions.txt`, or have the rule of the function of elements of the same name.
"""

from __future__ import annotations

from opdefs.pnnx.complex_numbers import real_type
from opdefs.pnnx.creation import read_shape
from opdefs.pnnx.operands import read_type, require_kind
from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.numbers import read_dim, read_int, read_ints
from opdefs.rules.operands import require_broadcast_to
from opdefs.torch.dialect import torch
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext


@torch("prims.broadcast_in_dim.default")
def broadcast_in_dim(c: InferenceContext, a: Shape, *, shape: object, broadcast_dimensions: object) -> TensorType:
    """[*S] -> the sizes in `shape`: axis i of S, of this size or 1, is the axis `broadcast_dimensions[i]` of them."""
    result, axes = read_shape(c, shape), read_ints(c, broadcast_dimensions, "broadcast_dimensions")
    if a.dims is not None and len(axes) != len(a.dims):
        c.fail("broadcast_dimensions must have an item for each axis of the input", axes, a)
    for at in axes:
        if not 0 <= at < len(result):
            c.fail("an item of broadcast_dimensions must be an axis of shape", at)
    for size, at in zip(a.dims or (), axes, strict=False):
        message = f"axis {at} must have the size of its axis of the input, which may be 1"
        require_broadcast_to(c, Shape((size,)), Shape((result[at],)), message)
    return TensorType(c.dtype(0), result)


@torch("prims.collapse.default", "prims.collapse_view.default")
def collapse(c: InferenceContext, a: Shape, *, start: object, end: object) -> TensorType:
    """[*A, *B, *C] -> [*A, n, *C]: the axes from `start` to `end`, both included, are one."""
    dims = a.require()
    if not dims:
        return TensorType(c.dtype(0), Shape((1,)))
    first, last = c.axis(read_int(c, start, "start"), len(dims)), c.axis(read_int(c, end, "end"), len(dims))
    if last < first:
        c.fail("end must be at least start", first, last)
    return TensorType(c.dtype(0), Shape((*dims[:first], c.numel(dims[first : last + 1]), *dims[last + 1 :])))


@torch("prims.split_dim.default")
def split_axis(c: InferenceContext, a: Shape, *, dim: object, outer_length: object) -> TensorType:
    """[*A, n, *B] -> [*A, outer_length, n / outer_length, *B]."""
    dims = a.require()
    axis = c.axis(read_int(c, dim, "dim"), len(dims))
    outer = read_int(c, outer_length, "outer_length")
    c.at_least(outer, 1, "outer_length must be at least 1")
    inner = dims[axis] // outer
    c.merge(dims[axis], outer * inner, "outer_length must divide the axis")
    return TensorType(c.dtype(0), Shape((*dims[:axis], outer, inner, *dims[axis + 1 :])))


@torch("prims.var.default")
def variance(c: InferenceContext, inp: Shape, *, dims: object = None, output_dtype: str | None = None) -> TensorType:
    """[*S] -> the variances of the axes `dims`, real numbers."""
    require_kind(c, c.dtype(0), "the input must have floats or complex numbers", "float", "complex")
    listed = inp.require()
    axes = set(range(len(listed)) if dims is None else c.axes(read_ints(c, dims, "dims"), max(len(listed), 1)))
    shape = Shape(size for axis, size in enumerate(listed) if axis not in axes)
    return TensorType(real_type(read_type(c, output_dtype) or c.dtype(0)), shape)


@torch("prims.frexp.default", "aten.frexp.Tensor")
def mantissa_and_exponent(c: InferenceContext, self: Shape) -> tuple[TensorType, TensorType]:
    """[*S] floats -> their mantissas [*S], and their exponents [*S] in int32."""
    require_kind(c, c.dtype(0), "the input must have floats", "float")
    return TensorType(c.dtype(0), self), TensorType("int32", self)


@torch("prims.iota.default")
def iota(c: InferenceContext, *, length: object, start: object, step: object, dtype: str) -> PartialTensor:
    """[length]: numbers from `start` on, `step` apart."""
    count, first, distance = (
        read_dim(c, value, name) for value, name in ((length, "length"), (start, "start"), (step, "step"))
    )
    kind = read_type(c, dtype)
    if count is None:
        count = c.fresh("length")
    c.at_least(count, 0, "length must be at least 0")
    if first is None or distance is None or distance == 0:
        return PartialTensor(kind, Shape((count,)), None)
    numbers = arithmetic_range(c, _scalar(first), _scalar(first + count * distance), _scalar(distance))
    return convert(c, PartialTensor("int64", Shape((count,)), numbers.elements), kind)


def _scalar(number: DimSize) -> PartialTensor:
    return PartialTensor("int64", SCALAR, (number,))
