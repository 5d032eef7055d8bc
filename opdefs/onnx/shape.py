"""Operators that turn shapes into values."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from shapeinf.lattice import SCALAR, PartialTensor, Shape
from shapeinf.ops import InferenceContext


@onnx("Shape")
def shape(c: InferenceContext, x: Shape, *, start: int = 0, end: int | None = None) -> PartialTensor | Shape:
    """The dims `start:end` of the input, as int64 elements."""
    if x.dims is None:
        return Shape((c.fresh("rank"),))
    dims = x.dims[slice(start, end)]
    return PartialTensor("int64", Shape((len(dims),)), dims)


@onnx("Size")
def size(c: InferenceContext, x: Shape) -> PartialTensor | Shape:
    """The number of elements, as an int64 scalar."""
    return SCALAR if x.dims is None else PartialTensor("int64", SCALAR, (c.numel(x),))
