"""Concatenation."""

from __future__ import annotations

from opdefs.pnnx.dialect import own_types
from opdefs.pnnx.promotion import promote
from opdefs.rules.repetition import concat
from shapeinf.lattice import TensorType
from shapeinf.ops import InferenceContext, Operand


@own_types("torch.cat")
def cat(c: InferenceContext, *tensors: Operand, dim: int = 0) -> TensorType:
    """[*A, n, *B], [*A, m, *B], ... -> [*A, n + m + ..., *B], of the promoted element type.

    torch also skips vectors without elements, whatever the rank of the others is.
    """
    if not tensors:
        c.fail("at least one tensor is required")
    joined = concat(c, tensors, dim)
    return joined.with_type(promote(*tensors), joined.shape)
