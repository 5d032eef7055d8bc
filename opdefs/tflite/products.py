"""Products with weights and of matrices."""

from __future__ import annotations

from opdefs.rules.operands import require_count, require_elements
from opdefs.tf.context import TensorFlowContext
from opdefs.tflite.dialect import tflite
from opdefs.tflite.operands import require_rank_between
from shapeinf.lattice import PartialTensor, Shape

BIAS = "the bias must have one value for each unit"


@tflite("FULLY_CONNECTED")
def fully_connected(
    c: TensorFlowContext,
    x: Shape,
    weights: Shape,
    bias: Shape | None = None,
    *,
    keep_num_dims: bool = False,
    weights_format: str = "DEFAULT",
) -> tuple[PartialTensor, ...]:
    """[*S, K], [M, K], bias [M] -> [*S, M] with `keep_num_dims`, else [elements / K, M].

    The kernel does not compare K with the input in the second form: it rounds down. Shuffled weights add a workspace.
    """
    units, depth = c.require_rank(weights, 2, "the weights")
    require_count(c, bias, units, BIAS)
    if keep_num_dims:
        if not len(x):
            c.fail("the input must have rank 1 or more", x)
        c.merge(x[-1], depth, "the last axis of the input must have the size of a row of the weights")
        shape = Shape((*x[:-1], units))
    else:
        require_elements(c, [depth], "the rows of the weights must not be empty")
        shape = Shape((c.numel(x) // depth, units))
    return PartialTensor(None, shape, None), PartialTensor(None, x, None)


@tflite("BATCH_MATMUL")
def batch_matmul(c: TensorFlowContext, a: Shape, b: Shape, *, adj_x: bool = False, adj_y: bool = False) -> Shape:
    """[*A, M, K], [*B, K, N] -> [*broadcast(A, B), M, N]; `adj_x` and `adj_y` swap the axes of a matrix."""
    require_rank_between(c, a, 2, 5, "x")
    require_rank_between(c, b, 2, 5, "y")
    rows, depth = (a[-1], a[-2]) if adj_x else (a[-2], a[-1])
    other, columns = (b[-1], b[-2]) if adj_y else (b[-2], b[-1])
    c.merge(depth, other, "the inner sizes of the matrices must be equal")
    return Shape((*c.broadcast(Shape(a[:-2]), Shape(b[:-2])), rows, columns))
