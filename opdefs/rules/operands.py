"""Constraints on operands other than the data: scales, zero points, biases, lengths, states, masks."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import to_dim
from shapeinf.expr import Dim, ceildiv
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import InferenceContext


def require_vector(c: InferenceContext, v: Shape | None, size: Dim, message: str) -> None:
    """Require that an input is a vector of this size, if it is present."""
    if v is not None:
        c.merge(c.require_rank(v, 1, "a vector")[0], size, message)


def require_count(c: InferenceContext, v: Shape | None, count: Dim, message: str) -> None:
    """Require that an input has this number of elements, at any rank, if it is present."""
    if v is not None and v.dims is not None:
        c.merge(c.numel(v), count, message)


def require_single(c: InferenceContext, v: Shape | None, message: str) -> None:
    """Require that an input is a scalar or a vector of one element, which runtimes accept as one, if it is present."""
    if v is not None and v.dims is not None and v.dims != ():
        if len(v.dims) > 1:
            c.fail(message, v)
        c.merge(v.dims[0], 1, message)


def require_single_inputs(c: InferenceContext, values: Sequence[Shape | None], first: int) -> None:
    """Require one element of each of these consecutive inputs; `first` is the index of the first one."""
    for index, v in enumerate(values, first):
        require_single(c, v, f"{_input_name(c, index)} must have exactly one element")


def require_scalar(c: InferenceContext, v: Shape | None, name: str) -> None:
    """Require that an input is a scalar, if it is present."""
    if v is not None:
        c.require_rank(v, 0, name)


def require_scalar_inputs(c: InferenceContext, values: Sequence[Shape | None], first: int) -> None:
    """Require rank 0 of each of these consecutive inputs; `first` is the index of the first one."""
    for index, v in enumerate(values, first):
        require_scalar(c, v, _input_name(c, index))


def _input_name(c: InferenceContext, index: int) -> str:
    """The name of an input in the OpDef; of inputs behind its last one, that of the last one."""
    inputs = c.op_def.inputs
    return inputs[min(index, len(inputs) - 1)].name


def merge_optional(c: InferenceContext, a: Shape, b: Shape | None, message: str) -> Shape:
    """The common shape of two inputs; the second may be absent."""
    return a if b is None else c.merge(a, b, message)


def part_size(c: InferenceContext, size: Dim, parts: int, message: str) -> Dim:
    """The size of each of `parts` equal parts of an axis, such as the head size. Requires divisibility."""
    if parts < 1:
        c.fail("the number of heads or parts must be at least 1", parts)
    c.divisible(size, parts, message)
    return size // parts


def require_broadcast_to(c: InferenceContext, v: Shape | None, target: Shape, message: str) -> None:
    """Require that an input broadcasts to a shape without changing it (ONNX: unidirectional broadcasting)."""
    if v is None or v.dims is None or target.dims is None:
        return
    lead = len(target.dims) - len(v.dims)
    if lead < 0:
        c.fail(message, v, target)
    for size, extent in zip(v.dims, target.dims[lead:], strict=True):
        require_broadcast_size(c, size, extent, message)


def require_either(c: InferenceContext, size: Dim, choices: tuple[Dim, Dim], message: str) -> None:
    """Require that a size equals one of two."""
    first, second = choices
    verdicts = c.prove_eq(size, first), c.prove_eq(size, second)
    if True in verdicts:
        return
    if None not in verdicts:
        c.fail(message, size, first, second)
    if False in verdicts:
        c.merge(size, second if verdicts[0] is False else first, message)
    else:
        c.store.add_disjunction("{0} == {1} or {0} == {2}", c.source(message), size, first, second)


def require_broadcast_size(c: InferenceContext, size: Dim, extent: Dim, message: str) -> None:
    """Require that a size is 1 or equal to another."""
    if size == 1 or size is extent or size == extent:
        return
    if extent == 1 or c.prove_eq(size, 1) is False:
        c.merge(size, extent, message)
    elif c.prove_eq(size, 1) is None:
        c.store.add_disjunction("{0} == {1} or {0} == 1", c.source(message), size, extent)


def scalar_size(c: InferenceContext, value: PartialTensor) -> Dim | None:
    """The value of an input of one element as a size; None if it is unknown or may be negative."""
    size = to_dim(value.elements[0]) if value.elements else None
    return None if size is None or c.prove_le(0, size) is not True else size


def scalar_size_or_fresh(c: InferenceContext, value: PartialTensor, hint: str) -> Dim:
    """The value of an input of one element as a size; a fresh unknown if it is unknown or may be negative."""
    size = scalar_size(c, value)
    return c.fresh(hint) if size is None else size


def size_or_fresh(c: InferenceContext, size: Dim | None, hint: str) -> Dim:
    """A size; a new unknown named by `hint` if it is unknown or may be negative."""
    return c.fresh(hint) if size is None or c.prove_le(0, size) is not True else size


PER_AXIS = "the scale must have one element, or one per element of the quantized axis"
PER_BLOCK = "the scale must have the shape of the input, with one value per block along the quantized axis"
ZEROS = "the zero point must have the shape of the scale"


def constrain_scales(
    c: InferenceContext, x: Shape, scale: Shape, zero: Shape | None, axis: int | None, block_size: int = 0
) -> None:
    """Constrain the scale and zero point of [*P, n, *Q] that is quantized along `axis`, of size n.

    Both are [] or [1] without an axis, [n] with one, and [*P, ceil(n / block_size), *Q] with blocks.
    """
    if scale.dims is None:
        return
    if axis is None or (not block_size and scale.dims in ((), (1,))):
        require_single_scale(c, scale, zero, "the tensor")
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
        require_vector(c, scale, x.dims[at], PER_AXIS)


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
    c: InferenceContext, v: Shape | None, short: tuple[Dim, ...] | None, full: tuple[Dim, ...] | None, message: str
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
