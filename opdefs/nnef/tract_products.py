"""tract's products: einsum, the matrix products of older versions, the quantized convolution."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, read_front_axis
from opdefs.nnef.conv import conv
from opdefs.nnef.dialect import nnef
from opdefs.nnef.sliding import Sliding
from opdefs.nnef.tract_elementwise import read_dtype
from opdefs.rules.contraction import einsum
from opdefs.rules.numbers import check_count, read_ints
from opdefs.rules.operands import require_broadcast_size
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext


@nnef("tract_core_einsum")
def tract_einsum(c: InferenceContext, *inputs: Shape, expr: str, acc: str, output: str = "") -> TensorType:
    """The axes behind `->`, in the type `output`, else `acc`."""
    return TensorType(read_dtype(c, output or acc), einsum(c, expr, inputs, new_axes=True))


@nnef("tract_core_einsum_q")
def quantized_einsum(
    c: InferenceContext,
    bias: Shape | None = None,
    a0: Shape | None = None,
    a_scale: Shape | None = None,
    b0: Shape | None = None,
    b_scale: Shape | None = None,
    c0: Shape | None = None,
    c_scale: Shape | None = None,
    *inputs: Shape,
    expr: str,
    acc: str,
    output: str = "",
) -> TensorType:
    """The axes behind `->`; further terms of the expression are for the quantization parameters, which are scalars."""
    left, _, right = expr.partition("->")
    terms = left.split(",")
    parameters = (bias, a0, a_scale, b0, b_scale, c0, c_scale)
    scalars = [Shape(()) if parameter is None else parameter for parameter in parameters]
    operands = (*inputs, *scalars)[: len(terms)]
    shape = einsum(c, ",".join(terms[: len(operands)]) + "->" + right, operands, new_axes=True)
    return TensorType(read_dtype(c, output or acc), shape)


@nnef("tract_core_matmul")
def matmul(c: InferenceContext, A: Shape, B: Shape, *, axes: Listed) -> TensorType:  # noqa: N803  (tract's names)
    """The matrix product over the axes that `axes` names; all others broadcast."""
    return TensorType(c.dtype(0), _product(c, A, B, axes))


@nnef("tract_core_qmatmul")
def quantized_matmul(
    c: InferenceContext,
    A: Shape,  # noqa: N803  (tract's names)
    B: Shape,  # noqa: N803
    bias: Shape | None = None,
    *parameters: Shape | None,
    axes: Listed,
    output_type: str = "",
) -> TensorType:
    """As `tract_core_matmul`, in the type `output_type`."""
    return TensorType(read_dtype(c, output_type) if output_type else None, _product(c, A, B, axes))


def _product(c: InferenceContext, a: Shape, b: Shape, axes: Listed) -> Shape:
    """The product; `axes` are rows and inner axis of A, inner axis and columns of B, rows and columns of the result."""
    rank = c.same_rank(a, b)
    listed = read_ints(c, axes, "axes", 0)
    check_count(c, listed, "axes", 6, "axis of the three matrices")
    rows, sum_a, sum_b, columns, rows_out, columns_out = (read_front_axis(c, axis, rank) for axis in listed)
    if rows == sum_a or columns == sum_b or rows_out == columns_out:
        c.fail("axes must name two different axes of A, of B and of the result", axes)
    c.merge(a[sum_a], b[sum_b], "the inner dimensions of A and B must be equal")
    lead_a = (d for i, d in enumerate(a) if i not in (rows, sum_a))
    lead_b = (d for i, d in enumerate(b) if i not in (sum_b, columns))
    lead = iter([c.broadcast_dim(x, y) for x, y in zip(lead_a, lead_b, strict=True)])
    own: dict[int, DimSize] = {rows_out: a[rows], columns_out: b[columns]}
    return Shape(own[i] if i in own else next(lead) for i in range(rank))


@nnef("tract_core_qconv")
def quantized_conv(
    c: InferenceContext,
    input: Shape,
    filter: Shape,
    bias: Shape | None = None,
    *parameters: Shape | None,
    sliding: Sliding,
    group: int = 1,
    groups: int = 1,
    output_dt: str = "",
) -> TensorType:
    """[N, C, *S], [K, C/groups, *W] -> [N, K, *slide(S)] in `output_dt`; its bias is a vector or a scalar.

    Older versions of tract write `group` for `groups`.
    """
    (count,) = read_ints(c, group if groups == 1 else groups, "groups", 0)
    shape = conv(c, input, filter, sliding=sliding, groups=count)
    if bias is not None and bias.rank == 1:
        require_broadcast_size(c, bias[0], shape[1], "the bias must have one element, or one per output channel")
    return TensorType(read_dtype(c, output_dt) if output_dt else None, shape)
