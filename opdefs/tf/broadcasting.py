"""Broadcasting with TensorFlow's messages."""

from __future__ import annotations

from opdefs.rules.operands import is_unit, prove_unit
from opdefs.tf.common import align_dims, broadcast_binary_op_output_shape
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.lattice.broadcasting import quick_broadcast
from shapeinf.ops import InferenceContext


def broadcast(c: InferenceContext, *shapes: Shape) -> Shape:
    """The broadcast of any number of shapes; of unknown rank where a rank is."""
    result = shapes[0]
    for shape in shapes[1:]:
        quick = quick_broadcast((result, shape))
        result = broadcast_binary_op_output_shape(c, result, shape) if quick is None else quick
    return result


def broadcast_if_compatible(c: InferenceContext, first: Shape, second: Shape) -> Shape:
    """The broadcast of two shapes; a scalar for shapes that do not broadcast, as in comparisons.

    Of unknown rank where it is undecided: TensorFlow's shape function returns a rank for two unknown sizes.
    """
    a, b = c.store.canon_shape(first), c.store.canon_shape(second)
    if a.dims is None or b.dims is None:
        return c.unknown_shape()
    dims: list[DimSize | None] = []
    for x, y in align_dims(a.dims, b.dims):
        compatible = _are_compatible(c, x, y)
        if compatible is False:
            return Shape(())
        dims.append((y if is_unit(x) else x) if compatible else None)
    known = [d for d in dims if d is not None]
    return Shape(known) if len(known) == len(dims) else c.unknown_shape()


def _are_compatible(c: InferenceContext, x: DimSize, y: DimSize) -> bool | None:
    """Whether two sizes broadcast; None where that is undecided."""
    if is_unit(x) or is_unit(y):
        return True
    equal = c.prove_eq(x, y)
    if equal is not False:
        return equal
    return False if prove_unit(c, x) is False and prove_unit(c, y) is False else None
