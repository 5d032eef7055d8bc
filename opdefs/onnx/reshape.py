"""The same elements with other axes; the outputs of all but Transpose are views."""

from __future__ import annotations

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_ints, requested_dims
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.reshaping import (
    constrain_unit_axes,
    insert_axes,
    insert_unit_axes,
    remove_unit_axes,
    reshape_dims,
    squeeze_axes,
    squeeze_units,
    unit_axes,
)
from opdefs.rules.reshaping import transpose as transpose_axes
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext, Ints, Value


@onnx("Reshape", since=5, views={0: 0})
def reshape(c: InferenceContext, x: Value, shape: Value, *, allowzero: int = 0) -> PartialTensor:
    """The sizes in `shape`: 0 copies the size of the input (unless `allowzero`), -1 is inferred."""
    requested = requested_dims(c, shape)
    if allowzero and 0 in requested and -1 in requested:
        c.fail("with allowzero, shape must not contain both 0 and -1: any size would fit", list(requested))
    result = reshape_dims(c, x.shape, requested, not allowzero)
    return reshape_elements(x, result)


@onnx("Reshape", views={0: 0})
def reshape_by_attribute(c: InferenceContext, x: Value, *, shape: Ints) -> PartialTensor:
    """Opset 1: the sizes are an attribute."""
    return reshape_elements(x, reshape_dims(c, x.shape, shape, True))


@onnx("Flatten", views={0: 0})
def flatten(c: InferenceContext, x: Value, *, axis: int = 1) -> PartialTensor:
    """[*A, *B] -> [prod(A), prod(B)], where B begins at `axis`."""
    rank = len(x.shape)
    if not -rank <= axis <= rank:
        c.fail(f"axis {axis} is out of range for rank {rank}")
    at = axis + rank if axis < 0 else axis
    return reshape_elements(x, Shape((c.numel(x.shape[:at]), c.numel(x.shape[at:]))))


@onnx("Transpose")
def transpose(c: InferenceContext, x: Value, *, perm: Ints | None = None) -> PartialTensor:
    """The axes in the order of `perm`; without it, in reverse."""
    known = x.shape if perm is None or x.shape.dims is not None else c.require_rank(x.shape, len(perm))
    rank = len(known)
    order = tuple(range(rank))[::-1] if perm is None else c.axes(perm, rank)
    if len(order) != rank:
        c.fail(f"perm must name all {rank} axes once", order)
    return transpose_axes(x if x.shape.dims is not None else PartialTensor(x.dtype, known, None), order)


@onnx("Unsqueeze", since=13, views={0: 0})
def unsqueeze(c: InferenceContext, x: Value, axes: Value) -> PartialTensor:
    """Axes of size 1 inserted at the positions `axes` of the output."""
    if axes.shape.dims != ():  # runtimes accept a scalar too
        c.require_rank(axes.shape, 1, "`axes`")
    known = known_ints(axes)
    if known is None:
        return PartialTensor(x.dtype, insert_unit_axes(c, x.shape, len(requested_dims(c, axes, "axes"))), None)
    return insert_axes(c, x, known)


@onnx("Unsqueeze", views={0: 0})
def unsqueeze_by_attribute(c: InferenceContext, x: Value, *, axes: Ints) -> PartialTensor:
    """Before opset 13 the axes are an attribute."""
    return insert_axes(c, x, axes)


@onnx("Squeeze", since=13, views={0: 0})
def squeeze(c: InferenceContext, x: Value, axes: Value | None = None) -> PartialTensor:
    """Axes of size 1 removed; without `axes` all of them."""
    if axes is None:
        return squeeze_units(c, x)
    c.require_rank(axes.shape, 1, "`axes`")
    known = known_ints(axes)
    if known is None:
        constrain_unit_axes(c, x.shape, axes.shape[0])
        count = len(requested_dims(c, axes, "axes"))
        units = unit_axes(c, x.shape, count)
        if units is None:
            return PartialTensor(x.dtype, remove_unit_axes(c, x.shape, count), None)
        known = units
    return squeeze_axes(c, x, known)


@onnx("Squeeze", views={0: 0})
def squeeze_by_attribute(c: InferenceContext, x: Value, *, axes: Ints | None = None) -> PartialTensor:
    """Before opset 13 the axes are an attribute."""
    return squeeze_units(c, x) if axes is None else squeeze_axes(c, x, axes)
