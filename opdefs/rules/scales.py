"""What operators require of scales and zero points: one for all of a tensor, or one for each slice or block of it."""

from __future__ import annotations

from opdefs.rules.operands import is_single, require_broadcast_size, require_single
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext

PER_AXIS = "the scale must have one element, or one per element of the quantized axis"
PER_BLOCK = "the scale must have the shape of the input, with one value per block along the quantized axis"
ZEROS = "the zero point must have the shape of the scale"


def constrain_scales(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None, axis: int | None, block_size: int = 0
) -> None:
    """Constrain the scale and zero point of [*P, n, *Q] that is quantized along `axis`, of size n.

    Both are [] or [1] without an axis, these or [n] with one, and [*P, ceil(n / block_size), *Q] with blocks.
    """
    if scale.dims is None:
        return
    if axis is None or (not block_size and is_single(scale)):
        require_single_scale(c, scale, zero, "the tensor")
        return
    if zero is not None and zero.dims == () and not block_size:
        require_single_scale(c, scale, zero, "the tensor")
    elif zero is not None:
        c.merge(scale, zero, ZEROS)
    if x.dims is None:
        return
    at = c.axis(axis, len(x.dims))
    if block_size:
        blocks = ceildiv(x.dims[at], block_size)
        c.merge(scale, Shape((*x.dims[:at], blocks, *x.dims[at + 1 :])), PER_BLOCK)
    else:
        require_broadcast_size(c, c.require_rank(scale, 1, "the scale")[0], x.dims[at], PER_AXIS)


def constrain_row_scales(c: InferenceContext, x: Shape, v: Shape | None, name: str) -> None:
    """Constrain scales of [*B, M, K] to one element, one per row [M], or [*B, M, 1]."""
    _constrain_slice_scales(
        c,
        v,
        x.dims and x.dims[-2:-1],
        x.dims and (*x.dims[:-1], 1),
        f"{name} must have exactly one element, or one per row",
    )


def constrain_column_scales(c: InferenceContext, x: Shape, v: Shape | None, name: str) -> None:
    """Constrain scales of [*B, K, N] to one element, one per column [N], or [*B, 1, N]."""
    full = x.dims and (*x.dims[:-2], 1, x.dims[-1])
    _constrain_slice_scales(
        c, v, x.dims and x.dims[-1:], full, f"{name} must have exactly one element, or one per column"
    )


def constrain_filter_scales(c: InferenceContext, w: Shape, v: Shape | None, name: str) -> None:
    """Constrain scales of the filters [M, ...] of a convolution to one element, or one per filter [M]."""
    message = f"{name} must have exactly one element, or one per output channel"
    if v is not None and v.dims:
        if len(v.dims) > 1:
            c.fail(message, v)
        if w.dims is not None:
            require_broadcast_size(c, v.dims[0], w.dims[0], message)


def _constrain_slice_scales(
    c: InferenceContext,
    v: Shape | None,
    short: tuple[DimSize, ...] | None,
    full: tuple[DimSize, ...] | None,
    message: str,
) -> None:
    if v is None or v.dims is None or v.dims == () or short is None or full is None:
        return
    if len(v.dims) == 1:
        require_broadcast_size(c, v.dims[0], short[0] if short else 1, message)
    else:
        c.merge(v, Shape(full), message)


def require_single_scale(c: InferenceContext, scale: Shape | None, zero: Shape | None, operand: str) -> None:
    """Require one scale and one zero point for all of an operand."""
    require_single(c, scale, f"the scale of {operand} must have exactly one element")
    require_single(c, zero, f"the zero point of {operand} must have exactly one element")
