"""Scales and zero points: one for a tensor, one a slice of an axis, or one a block of it."""

from __future__ import annotations

from opdefs.rules.operands import one_or, one_value, vector
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

PER_AXIS = "there must be one scale, or one for each element of the quantized axis"
PER_BLOCK = "scales of blocks must have the shape of the input, but one a block along the quantized axis"
ZEROS = "the zero point must have the shape of the scale"


def tell_scales(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None, axis: int | None, block_size: int = 0
) -> None:
    """Tell what the scales of a tensor are like; without an axis there is one only, a scalar or a vector of one."""
    if scale.dims is None:
        return
    if axis is None or (not block_size and scale.dims in ((), (1,))):
        one_scale(c, scale, zero, "the tensor")
        return
    if zero is not None:
        c.merge(scale, zero, ZEROS)
    if x.dims is None:
        return
    at = c.axis(axis, len(x.dims))
    if block_size:
        blocks = ceildiv(x.dims[at], block_size)
        c.merge(scale, Shape((*x.dims[:at], blocks, *x.dims[at + 1 :])), PER_BLOCK)
    else:
        vector(c, scale, x.dims[at], PER_AXIS)


def tell_row_scales(c: InferenceContext, x: Shape, v: Shape | None, what: str) -> None:
    """One value for [*B, M, K], one a row [M], or [*B, M, 1]."""
    _tell_slices(
        c, v, x.dims and x.dims[-2:-1], x.dims and (*x.dims[:-1], 1), f"{what} must be one value, or one a row"
    )


def tell_column_scales(c: InferenceContext, x: Shape, v: Shape | None, what: str) -> None:
    """One value for [*B, K, N], one a column [N], or [*B, 1, N]."""
    whole = x.dims and (*x.dims[:-2], 1, x.dims[-1])
    _tell_slices(c, v, x.dims and x.dims[-1:], whole, f"{what} must be one value, or one a column")


def tell_filter_scales(c: InferenceContext, w: Shape, v: Shape | None, what: str) -> None:
    """One value for the filters [M, ...] of a convolution, or one a filter [M]."""
    if v is not None and v.dims:
        if len(v.dims) > 1:
            c.fail(f"{what} must be one value, or one an output channel", v)
        if w.dims is not None:
            one_or(c, v.dims[0], w.dims[0], f"{what} must be one value, or one an output channel")


def _tell_slices(
    c: InferenceContext, v: Shape | None, short: tuple[Dim, ...] | None, whole: tuple[Dim, ...] | None, message: str
) -> None:
    if v is None or v.dims is None or v.dims == () or short is None or whole is None:
        return
    if len(v.dims) == 1:
        one_or(c, v.dims[0], short[0] if short else 1, message)
    else:
        c.merge(v, Shape(whole), message)


def one_scale(c: InferenceContext, scale: Shape | None, zero: Shape | None, of_what: str) -> None:
    """Tell that an operand is quantized as a whole."""
    one_value(c, scale, f"the scale of {of_what} must be one value")
    one_value(c, zero, f"the zero point of {of_what} must be one value")
