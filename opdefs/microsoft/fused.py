"""Element-wise operators, fused with biases, gates and dropouts."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.onnx.elementwise import triangle
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.operands import merge_optional, part_size, require_scalar, require_single, require_vector
from shapeinf.expr import DimSize, ceildiv
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value

onnx("Trilu", domain=MS, in_place=(0,))(triangle)


@onnx("Gelu", "QuickGelu", domain=MS, in_place=(0,))
@onnx("SampleOp", domain=MS)
def same_shape(c: InferenceContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


@onnx("Inverse", domain=MS)
def inverse(c: InferenceContext, x: Shape) -> Shape:
    """[*B, N, N] -> [*B, N, N]."""
    if x.dims is None:
        return x
    if len(x.dims) < 2:
        c.fail("the input must have rank 2 or more", x)
    side = c.merge(x.dims[-1], x.dims[-2], "the matrices must be square")
    return Shape((*x.dims[:-2], side, side))


@onnx("ScaledSiLU", domain=MS, in_place=(0,))
def scaled_silu(c: InferenceContext, x: Shape, scale: Shape | None = None) -> Shape:
    """[*S], a scalar scale -> [*S]."""
    require_scalar(c, scale, "scale")
    return x


@onnx("BiasGelu", "FastGelu", domain=MS, in_place=(0,))
def bias_gelu(c: InferenceContext, x: Shape, bias: Shape | None = None) -> Shape:
    """[*S, C], [C] -> [*S, C]."""
    if x.dims:
        require_vector(c, bias, x[-1], "the bias must be as long as the last axis of the input")
    return x


@onnx("BiasAdd", domain=MS, in_place=(0, 2))
def bias_add(c: InferenceContext, x: Shape, bias: Shape, skip: Shape) -> Shape:
    """[N, S, C], [C], [N, S, C] -> [N, S, C]."""
    x = c.require_rank(x, 3, "X")
    require_vector(c, bias, x[2], "the bias must have one value per channel")
    return merge_optional(c, x, skip, "X and skip must have the same shape")


@onnx("BiasSplitGelu", domain=MS)
def bias_split_gelu(c: InferenceContext, x: Shape, bias: Shape) -> Shape:
    """[N, S, D], [D] -> [N, S, D/2]."""
    x = c.require_rank(x, 3, "X")
    require_vector(c, bias, x[2], "the bias must be as long as the last axis of the input")
    return Shape((x[0], x[1], part_size(c, x[2], 2, "the last axis of X must be even")))


@onnx("BiasSoftmax", domain=MS)
def bias_softmax(c: InferenceContext, x: Shape, bias: Shape) -> Shape:
    """[*S], a bias that broadcasts to it -> [*S]."""
    return x


@onnx("BiasDropout", domain=MS)
def bias_dropout(
    c: InferenceContext,
    x: Shape,
    bias: Shape,
    residual: Shape | None = None,
    ratio: Shape | None = None,
    training: Shape | None = None,
) -> tuple[Shape, TensorType]:
    """[*S], a bias, a residual [*S] -> [*S] and a mask [*S]."""
    x = merge_optional(c, x, residual, "data and residual must have the same shape")
    return x, TensorType("bool", x)


@onnx("BitmaskDropout", domain=MS)
def bitmask_dropout(
    c: InferenceContext, x: Shape, ratio: Shape | None = None, training: Shape | None = None
) -> tuple[Shape, TensorType]:
    """[*S] -> [*S], and a mask with one bit per element, in words of 32 bits."""
    words = c.fresh("words") if x.dims is None else ceildiv(c.numel(x), 32)
    return x, TensorType("uint32", Shape((words,)))


@onnx("BitmaskBiasDropout", domain=MS)
def bitmask_bias_dropout(
    c: InferenceContext,
    x: Shape,
    bias: Shape,
    residual: Shape | None = None,
    ratio: Shape | None = None,
    training: Shape | None = None,
) -> tuple[Shape, TensorType]:
    """[*S], a bias, a residual [*S] -> [*S], and a mask with one bit per element, in words of 32 bits."""
    return bitmask_dropout(c, merge_optional(c, x, residual, "data and residual must have the same shape"))


@onnx("ComplexMul", "ComplexMulConj", domain=MS)
def complex_product(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """[*A, 2], [*B, 2] -> [*broadcast(A, B), 2]: real and imaginary parts along the last axis."""
    for x in (a, b):
        c.merge(x[-1], 2, "the last axis of a complex tensor must have size 2")
    return Shape((*c.broadcast(Shape(a[:-1]), Shape(b[:-1])), 2))


@onnx("GatedAdd", domain=MS, in_place=(0, 1))
def gated_add(c: InferenceContext, x: Shape, y: Shape, gate: Shape, weight: Shape | None = None) -> Shape:
    """[*S, C], [*S, C], gates [*S, 1], or [*S, K] that weights [K, 1] project to gates -> [*S, C]."""
    x = c.merge(x, y, "X and Y must have the same shape")
    inner: DimSize = 1
    if weight is not None:
        inner, single = c.require_rank(weight, 2, "gate_weight")
        c.merge(single, 1, "gate_weight must have one column")
    if x.dims:
        size = "size 1" if weight is None else "the size of the rows of gate_weight"
        c.merge(Shape((*x[:-1], inner)), gate, f"gate must have the shape of X but for a last axis of {size}")
    return x


@onnx("SwiGLU", domain=MS)
def swiglu(c: InferenceContext, gate: Shape, up: Shape | None = None) -> Shape:
    """[*S, C], [*S, C] -> [*S, C]; without the second, [*S, 2*C], both side by side -> [*S, C]."""
    if up is not None:
        return c.merge(gate, up, "gate and up must have the same shape")
    if gate.dims is None:
        return gate
    if not gate.dims:
        c.fail("gate must have rank 1 or more", gate)
    return Shape((*gate.dims[:-1], part_size(c, gate.dims[-1], 2, "the last axis of gate must be two equal halves")))


@onnx("IsAllFinite", domain=MS)
def is_all_finite(c: InferenceContext, *xs: Shape) -> Shape:
    """Any inputs -> one bool."""
    return Shape(())


@onnx("MulInteger", domain=MS)
def mul_integer(c: InferenceContext, a: Shape, a_zero: Shape | None, b: Shape, b_zero: Shape | None = None) -> Shape:
    """Numpy broadcasting; products in int32."""
    for v, name in ((a_zero, "A_zero_point"), (b_zero, "B_zero_point")):
        require_scalar(c, v, name)
    return c.broadcast(a, b)


@onnx("ExpandDims", domain=MS, views={0: 0})
def expand_dims(c: InferenceContext, x: Value, axis: Value) -> PartialTensor:
    """[*A, *B] -> [*A, 1, *B] with the new axis at `axis`; the contents are unchanged."""
    require_single(c, axis.shape, "the axis must have exactly one element")
    known, rank = known_ints(axis), len(x.shape) + 1
    if not known:
        return PartialTensor(x.dtype, Shape(c.fresh("dim") for _ in range(rank)), None)
    at = c.axis(known[0], rank)
    return PartialTensor(x.dtype, Shape((*x.shape[:at], 1, *x.shape[at:])), x.elements)
