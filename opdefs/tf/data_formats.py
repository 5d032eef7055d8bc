"""Axes and vectors of one data format in the order of another one."""

from __future__ import annotations

from opdefs.rules.elements import Elements, move_elements
from opdefs.tf.dialect import tf
from shapeinf.lattice import Element, PartialTensor
from shapeinf.ops import InferenceContext, Value

MOST_AXES = 8


def _order(c: InferenceContext, source: str, target: str) -> list[int]:
    """For each axis of the target format its position in the source format."""
    if sorted(source) != sorted(target) or len(set(source)) != len(source) or len(source) > MOST_AXES:
        c.fail("both data formats must have the same axes, each once", source, target)
    return [source.index(axis) for axis in target]


@tf("DataFormatDimMap")
def map_axes(c: InferenceContext, x: Value, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> PartialTensor:
    """Axes of the source format, or negative ones, as axes of the target format."""
    order = _order(c, src_format, dst_format)
    rank = len(order)

    def position(axis: Element) -> Element:
        if not isinstance(axis, int):
            return None
        if not -rank <= axis < rank:
            c.fail(f"an axis must be in [-{rank}, {rank})", axis)
        return order.index(axis % rank)

    return PartialTensor(x.dtype, x.shape, None if x.elements is None else map(position, x.elements))


@tf("DataFormatVecPermute")
def permute_rows(c: InferenceContext, x: Value, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> PartialTensor:
    """One value or row of two an axis, in the order of the target format; the spatial axes may be alone."""
    x_shape = c.with_rank_at_least(c.with_rank_at_most(x.shape, 2), 1)
    rows = None if x_shape.dims is None else c.concrete(x_shape[0])
    spatial = rows is not None and rows == len(src_format) - 2
    if spatial:
        src_format, dst_format = ("".join(d for d in name if d not in "NC") for name in (src_format, dst_format))
    order = _order(c, src_format, dst_format)
    if rows is not None and rows != len(order):
        c.fail(f"the input must have {len(order)} rows, one an axis, or those of the spatial axes", x_shape)

    def permute(values: Elements) -> Elements:
        return values[order]

    return move_elements(x, x_shape, permute)
