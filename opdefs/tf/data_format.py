"""Vectors and axes of one data format, rearranged for another one."""

from __future__ import annotations

from opdefs.rules.contents.elements import element_array, known_ints
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import PartialTensor
from shapeinf.ops import Value


@tf("DataFormatDimMap")
def map_axes(c: TensorFlowContext, x: Value, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> PartialTensor:
    """[*S] -> [*S]: for each axis of the old format, its position in the new one."""
    order = _order(c, src_format, dst_format)
    axes = known_ints(x)
    if axes is None or any(not -len(order) <= axis < len(order) for axis in axes):
        return PartialTensor(x.dtype, x.shape, None)
    return PartialTensor(x.dtype, x.shape, [order[axis] for axis in axes])


@tf("DataFormatVecPermute")
def permute_vector(
    c: TensorFlowContext, x: Value, *, src_format: str = "NHWC", dst_format: str = "NCHW"
) -> PartialTensor:
    """[R] or [R, 2] -> the same: rows in the order of the new format, one for each axis or each spatial axis."""
    shape = c.with_rank_at_most(c.with_rank_at_least(x.shape, 1), 2)
    array = element_array(x)
    if array is None:
        return PartialTensor(x.dtype, shape, None)
    source, target = src_format, dst_format
    if len(array) == len(source) - 2:
        source, target = (text.replace("N", "").replace("C", "") for text in (source, target))
    order = _order(c, source, target)
    if len(array) != len(order):
        c.fail("the input must have a row for each axis, or for each spatial axis", x.shape, src_format)
    rows = array[[order.index(axis) for axis in range(len(order))]]
    return PartialTensor(x.dtype, shape, rows.reshape(-1).tolist())


def _order(c: TensorFlowContext, source: str, target: str) -> list[int]:
    """The position in the target of each letter of the source. Raises ShapeError unless both have the same letters."""
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        c.fail("both data formats must have the same letters", source, target)
    return [target.index(letter) for letter in source]
