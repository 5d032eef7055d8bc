"""Updates of variables by optimizers.

Inputs have the same names in all operators: a variable and its slots, a gradient, the indices of the rows of a sparse
gradient, and scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.schemas import names
from shapeinf.errors import ShapeError
from shapeinf.lattice import HandleType, Shape, TensorType

SLOTS = frozenset(
    (
        *("var", "accum", "accum_update", "linear"),
        *("m", "v", "vhat", "mg", "ms", "mom"),
        *("gradient_accumulator", "gradient_squared_accumulator"),
    )
)
"""The names of inputs that are variables."""

GRADIENTS = frozenset(("grad", "delta"))
"""The names of inputs that are gradients."""

OPERATORS = [
    name
    for name in names()
    if name.removeprefix("Resource").startswith(("Apply", "SparseApply")) and not name.endswith("Gradients")
]


@tf(*(name for name in OPERATORS if not name.startswith("Resource")))
def apply_gradient(c: TensorFlowContext, *operands: Shape) -> Shape:
    """A variable [*S] and its slots, a gradient [*S] or [n, *S[1:]] with indices [n], scalars -> [*S]."""
    return _updated_shape(c, operands)


@tf(*(name for name in OPERATORS if name.startswith("Resource")))
def apply_gradient_to_resource(c: TensorFlowContext, *operands: TensorType) -> tuple[()]:
    """As the operators on references, for handles of variables -> no outputs."""
    _updated_shape(c, [_variable_shape(operand) for operand in operands])
    return ()


def _variable_shape(operand: TensorType) -> Shape:
    """The shape of the variable behind a handle, or of an operand that is not a handle."""
    if isinstance(operand, HandleType):
        values = operand.values
        return values[0].shape if values is not None and len(values) == 1 else Shape.unknown()
    return Shape.unknown() if operand.dtype == "resource" else operand.shape


def _updated_shape(c: TensorFlowContext, operands: Sequence[Shape]) -> Shape:
    """The shape of the variable; constrains the shapes of all operands, by their names."""
    if len(operands) != len(c.op_def.inputs):
        raise ShapeError(f"Wrong number of inputs passed: {len(operands)} while {len(c.op_def.inputs)} expected")
    by_name = {arg.name: shape for arg, shape in zip(c.op_def.inputs, operands, strict=True)}
    shape = by_name["var"]
    for name, operand in by_name.items():
        if name in SLOTS:
            shape = c.merge(shape, operand)
        elif name not in GRADIENTS and name != "indices":
            c.with_rank(operand, 0)
    gradient = next(operand for name, operand in by_name.items() if name in GRADIENTS)
    if "indices" not in by_name:
        return c.merge(shape, gradient)
    return _merge_rows(c, shape, gradient, by_name["indices"])


def _merge_rows(c: TensorFlowContext, shape: Shape, gradient: Shape, indices: Shape) -> Shape:
    """Require a gradient [n, *S[1:]] for indices [n] and a variable [*S]."""
    indices, gradient = c.with_rank(indices, 1), c.with_rank_at_least(gradient, 1)
    if gradient.dims is None:
        return shape
    c.merge(indices[0], gradient[0])
    return c.merge(shape, c.replace_dim(gradient, 0, c.unknown_dim()))
