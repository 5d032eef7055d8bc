"""Element-wise operations (chapter 4.2), activations and quantizations (4.9, 4.11).

Contents of integers are inferred, since extents are computed from them; those of floats are not.
"""

from __future__ import annotations

from collections.abc import Callable

from opdefs.nnef.broadcasting import broadcast
from opdefs.nnef.dialect import nnef
from opdefs.rules.contents.conditions import select_by_condition
from opdefs.rules.contents.elements import (
    Verdict,
    compare_le,
    dim_operation,
    integer_operation,
    is_float,
    logical_and,
    logical_not,
    logical_or,
    map_elements,
)
from opdefs.rules.numbers import read_int
from opdefs.rules.operands import require_broadcast_size, require_broadcast_to
from shapeinf.expr import DimSize, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext, Operand, Value

OnDims = Callable[..., DimSize | None]


@nnef("copy", "idn", views={0: 0})
def identity(c: InferenceContext, x: Value) -> PartialTensor:
    """The input, with its contents."""
    return x


@nnef(
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"),
    *("rcp", "sqrt", "rsqr", "rsqrt", "log2"),
    *("sigmoid", "softabs", "softplus", "elu", "selu", "gelu", "silu", "leaky_relu"),
    in_place=(0,),
)
def same_shape(c: InferenceContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


def _map_dims(c: InferenceContext, operation: OnDims, *xs: PartialTensor) -> PartialTensor:
    """The broadcast, with contents where all operands are known integers."""
    shape = xs[0].shape if len(xs) == 1 else broadcast(c, *(x.shape for x in xs))
    dtype = _common_dtype(xs)
    if is_float(dtype):
        return PartialTensor(dtype, shape, None)
    return map_elements(dtype, shape, integer_operation(c, dtype, operation), *xs)


def _common_dtype(xs: tuple[PartialTensor, ...]) -> str | None:
    """The element type of the operands; a literal, which is a tensor of rank 0, adopts that of the others.

    Of int32 and int64, which tract mixes, int64.
    """
    own = [x.dtype for x in xs if x.dtype is not None and (x.shape.dims != () or not is_float(x.dtype))]
    return "int64" if own and own[0] == "int32" and "int64" in own else own[0] if own else xs[0].dtype


def _unary_rule(operation: OnDims) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, x: Operand) -> PartialTensor:
        """[*S] -> [*S]."""
        return _map_dims(c, operation, x)

    return rule


nnef("neg", in_place=(0,))(_unary_rule(lambda d: -d))
nnef("floor", "ceil", "round", in_place=(0,))(_unary_rule(lambda d: d))
nnef("sqr", in_place=(0,))(_unary_rule(lambda d: d * d))
nnef("relu", in_place=(0,))(_unary_rule(lambda d: maximum(d, 0)))


@nnef("abs", in_place=(0,))
def absolute(c: InferenceContext, x: Operand) -> PartialTensor:
    """`|x|`."""
    return _map_dims(c, lambda d: maximum(d, -d), x)


@nnef("sign", in_place=(0,))
def sign(c: InferenceContext, x: Operand) -> PartialTensor:
    """-1, 0 or 1, where that is known."""

    def operation(d: DimSize) -> DimSize | None:
        return 1 if c.prove_le(1, d) is True else -1 if c.prove_le(d, -1) is True else 0 if d == 0 else None

    return _map_dims(c, operation, x)


def _binary_rule(operation: OnDims) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, x: Operand, y: Operand) -> PartialTensor:
        """Broadcasting; contents where both are known."""
        return _map_dims(c, operation, x, y)

    return rule


nnef("add", in_place=(0, 1))(_binary_rule(lambda a, b: a + b))
nnef("sub", in_place=(0, 1))(_binary_rule(lambda a, b: a - b))
nnef("mul", in_place=(0, 1))(_binary_rule(lambda a, b: a * b))
nnef("min", in_place=(0, 1))(_binary_rule(minimum))
nnef("max", in_place=(0, 1))(_binary_rule(maximum))


@nnef("div", in_place=(0, 1))
def divide(c: InferenceContext, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting; quotients of integers are rounded down."""
    return _map_dims(c, lambda a, b: a // b if c.prove_le(1, b) is True else None, x, y)


@nnef("pow", in_place=(0,))
def power(c: InferenceContext, x: Operand, y: Operand) -> PartialTensor:
    """Broadcasting; contents for small integer exponents."""

    def integer_power(a: DimSize, b: DimSize) -> DimSize | None:
        if not isinstance(b, int) or not 0 <= b <= 62:
            return None
        return a**b if isinstance(a, int) else (1, a, a * a)[b] if b <= 2 else None

    return _map_dims(c, integer_power, x, y)


@nnef("clamp", in_place=(0,))
def clamp(c: InferenceContext, x: Operand, a: Operand, b: Operand) -> PartialTensor:
    """Broadcasting of all three."""
    return _map_dims(c, lambda d, low, high: maximum(minimum(d, high), low), x, a, b)


def _comparison_rule(verdict: Callable[[InferenceContext, DimSize, DimSize], Verdict]) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, x: Operand, y: Operand) -> PartialTensor:
        """Broadcasting; each element is true, false or not decided."""
        operation = dim_operation(lambda a, b: verdict(c, a, b))
        return map_elements("bool", broadcast(c, x.shape, y.shape), operation, x, y)

    return rule


def _differ(c: InferenceContext, a: DimSize, b: DimSize) -> Verdict:
    equal = c.prove_eq(a, b)
    return None if equal is None else not equal


nnef("lt")(_comparison_rule(lambda c, a, b: compare_le(c, a + 1, b)))
nnef("gt")(_comparison_rule(lambda c, a, b: compare_le(c, b + 1, a)))
nnef("le")(_comparison_rule(compare_le))
nnef("ge")(_comparison_rule(lambda c, a, b: compare_le(c, b, a)))
nnef("eq")(_comparison_rule(lambda c, a, b: c.prove_eq(a, b)))
nnef("ne")(_comparison_rule(_differ))


def _connective_rule(operation: Callable[[Element, Element], Element]) -> Callable[..., PartialTensor]:
    def rule(c: InferenceContext, x: Operand, y: Operand) -> PartialTensor:
        """Broadcasting, in three values: true, false, not decided."""
        return map_elements("bool", broadcast(c, x.shape, y.shape), operation, x, y)

    return rule


nnef("and", in_place=(0, 1))(_connective_rule(logical_and))
nnef("or", in_place=(0, 1))(_connective_rule(logical_or))


@nnef("not", in_place=(0,))
def negation(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]."""
    return map_elements("bool", x.shape, logical_not, x)


@nnef("select", in_place=(1, 2))
def select(c: InferenceContext, condition: Operand, true_value: Operand, false_value: Operand) -> PartialTensor:
    """Broadcasting of all three; elements are known where the condition is."""
    shape = broadcast(c, condition.shape, true_value.shape, false_value.shape)
    dtype = _common_dtype((true_value, false_value))
    return select_by_condition(c, dtype, shape, condition, true_value, false_value)


@nnef("prelu", in_place=(0,))
def prelu(c: InferenceContext, x: Shape, alpha: Shape) -> Shape:
    """Broadcasting of both, as the formula of the operation does."""
    return broadcast(c, x, alpha)


@nnef("add_n", in_place=(0, 1))
def add_n(c: InferenceContext, *x: Operand) -> PartialTensor:
    """Broadcasting of any number of inputs; of none, a scalar."""
    return _map_dims(c, lambda *dims: sum(dims), *x) if x else PartialTensor("float32", Shape(()), None)


@nnef("copy_n")
def copy_n(c: InferenceContext, x: Value, *, times: int) -> tuple[PartialTensor, ...]:
    """The input, `times` times."""
    count = read_int(c, times, "times")
    if count < 1:
        c.fail("times must be at least 1", count)
    if count != c.num_outputs:
        c.fail("times must equal the number of results", count, c.num_outputs)
    return (x,) * count


@nnef("batch_normalization", in_place=(0,))
def batch_normalization(
    c: InferenceContext, input: Shape, mean: Shape, variance: Shape, offset: Shape, scale: Shape
) -> Shape:
    """[*S], four parameters that broadcast to it -> [*S].

    Khronos' exporter writes parameters with more axes than the input, which Khronos' tools ignore: a warning.
    """
    for name, shape in (("mean", mean), ("variance", variance), ("offset", offset), ("scale", scale)):
        if input.dims is not None and shape.dims is not None:
            for size in shape[len(input) :]:
                c.expect(size, 1, "no parameter of batch_normalization may have more axes than the input")
            shape = Shape(shape[: len(input)])
        _require_range(c, input, shape, name)
    return input


def _require_range(c: InferenceContext, target: Shape, shape: Shape, name: str) -> None:
    require_broadcast_to(c, shape, target, f"{name} must broadcast to the shape of the input", from_front=True)


@nnef("min_max_linear_quantize", "linear_quantize")
def linear_quantize(c: InferenceContext, x: Shape, min: Shape, max: Shape, *, bits: int) -> Shape:
    """[*S], two ends of a range that broadcast to it -> [*S]."""
    return _check_quantization(c, x, bits, min=min, max=max)


@nnef("zero_point_linear_quantize")
def zero_point_linear_quantize(c: InferenceContext, x: Shape, zero_point: Shape, scale: Shape, *, bits: int) -> Shape:
    """[*S], a zero point and a scale that broadcast to it -> [*S]."""
    return _check_quantization(c, x, bits, zero_point=zero_point, scale=scale)


@nnef("logarithmic_quantize")
def logarithmic_quantize(c: InferenceContext, x: Shape, max: Shape, *, bits: int) -> Shape:
    """[*S], an end of a range that broadcasts to it -> [*S]."""
    return _check_quantization(c, x, bits, max=max)


def _check_quantization(c: InferenceContext, x: Shape, bits: int, **ranges: Shape) -> Shape:
    if read_int(c, bits, "bits") < 1:
        c.fail("bits must be at least 1", bits)
    for name, shape in ranges.items():
        _require_range(c, x, shape, name)
    return x


@nnef("binary_quantize", "ternary_quantize")
def select_quantize(c: InferenceContext, x: Shape, *levels: Shape | None) -> Shape:
    """Provisional: broadcasting of all inputs, as the formula of the operation does."""
    return broadcast(c, x, *(level for level in levels if level is not None))


@nnef("quantized_by")
def quantized_by(c: InferenceContext, tensor: Shape, *, parameter: str, shape: tuple[int, ...]) -> tuple[()]:
    """No output; requires that a quantization parameter broadcasts to the tensor, from the first axis on (5.3)."""
    if tensor.dims is None:
        return ()
    rank = len(tensor.dims)
    message = f"the quantization parameter {parameter!r} of shape {list(shape)} must broadcast to the tensor"
    if len(shape) > rank:
        c.fail(f"{message}: its rank must be at most {rank}")
    for axis, extent in enumerate(shape):
        require_broadcast_size(c, extent, tensor[axis], message)
    return ()
