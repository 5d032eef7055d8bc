"""Casts, and sequences of numbers."""

from __future__ import annotations

from opdefs.rules.contents.conversion import convert
from opdefs.rules.contents.elements import name_scalar, to_dim
from opdefs.rules.contents.products import even_spacing
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.ranges import require_order, step_sign
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import ShapeError
from shapeinf.lattice import HandleType, PartialTensor, Shape
from shapeinf.ops import Value


@tf("Cast", in_place=(0,))
def cast(
    c: TensorFlowContext,
    x: Value,
    *,
    DstT: str,  # noqa: N803
    Truncate: bool = False,  # noqa: N803
) -> PartialTensor:
    """[*S] -> [*S], in the type `DstT`; sizes stay known where both types represent them."""
    if DstT == x.dtype:
        return x
    if isinstance(x, HandleType) or Truncate:
        return PartialTensor(DstT, x.shape, None)
    return name_scalar(c, convert(c, x, DstT, saturate=False))


@tf("RiscCast", in_place=(0,))
def risc_cast(c: TensorFlowContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


@tf("Range")
def range_(c: TensorFlowContext, start: Value, limit: Value, delta: Value) -> PartialTensor:
    """[], [], [] -> [ceil((limit - start) / delta)]. A limit before the start is an error."""
    _require_named_scalars(c, start=start, limit=limit, delta=delta)
    first, last, step = (v.elements[0] if v.elements else None for v in (start, limit, delta))
    direction = step_sign(c, step)
    if direction == 0:
        raise ShapeError("Requires delta != 0")
    if direction is not None:
        relation, sign = ("<=", ">") if direction > 0 else (">=", "<")
        message = f"Requires start {relation} limit when delta {sign} 0: {first}/{last}"
        require_order(c, first, last, direction, message)
    scalars = (PartialTensor(v.dtype, Shape(()), v.elements) for v in (start, limit, delta))
    return arithmetic_range(c, *scalars)


def _require_named_scalars(c: TensorFlowContext, **operands: PartialTensor) -> None:
    """Require scalars; errors name the operand, as in TensorFlow."""
    for name, value in operands.items():
        try:
            c.with_rank(value.shape, 0)
        except ShapeError as error:
            raise ShapeError(f"{error.message} for '{name}'") from None


@tf("LinSpace")
def lin_space(c: TensorFlowContext, start: Value, stop: Value, num: Value) -> PartialTensor:
    """[], [], num [] -> [num]; contents where no step is rounded."""
    shape = _num_shape(c, start, stop, num)
    first, last = (v.elements[0] if v.elements else None for v in (start, stop))
    return PartialTensor(start.dtype, shape, even_spacing(c, start.dtype, first, last, shape))


def _num_shape(c: TensorFlowContext, start: Value, stop: Value, num: Value) -> Shape:
    _require_named_scalars(c, start=start, stop=stop, num=num)
    size = to_dim(num.elements[0]) if num.elements else None
    if size is None:
        return c.vector(c.fresh("num", 1))
    c.at_least(size, 1, f"Requires num > 0: {size}")
    return c.vector(size)
