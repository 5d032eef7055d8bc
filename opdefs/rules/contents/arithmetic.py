"""Element-wise arithmetic on known contents: numbers, sizes, and the fractions of sizes in float tensors.

The `*_rule` functions build rules: dialects differ in how shapes broadcast. `concrete` is an operation on numpy arrays,
`symbolic` the same one on dims, `rounded` the one on floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from opdefs.rules.contents.elements import (
    dim_operation,
    fold_dims,
    fold_elements,
    integer_operation,
    is_float,
    is_listable,
    map_dims,
    map_elements,
    to_dim,
    truncated_quotient,
)
from opdefs.rules.contents.float_formats import FLOAT64
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, float_operation, fold_floats
from opdefs.rules.contents.integers import fit_element
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import Dimension, DimSize, maximum, minimum
from shapeinf.lattice import Element, PartialTensor, Progression, Shape
from shapeinf.ops import InferenceContext, Operand

Broadcast = Callable[[InferenceContext, Shape, Shape], Shape]
"""The shape of a binary operation."""

OnElements = Callable[..., Element]
"""A method of `FloatArithmetic`."""

OnTensors = Callable[[PartialTensor, PartialTensor, Shape], PartialTensor]
"""An operation on contents that are progressions."""


def numpy_broadcast(c: InferenceContext, a: Shape, b: Shape) -> Shape:
    """Numpy's broadcasting."""
    return c.broadcast(a, b)


def unknown(_: DimSize) -> DimSize | None:
    """None: the operation has no symbolic result."""
    return None


def unary_rule(
    concrete: Callable[[Any], Any], symbolic: Callable[[DimSize], DimSize | None], rounded: OnElements | None = None
) -> Callable[..., PartialTensor]:
    """The rule of a unary operation."""

    def rule(c: InferenceContext, x: Operand) -> PartialTensor:
        """[*S] -> [*S], element by element."""
        return calculate(c, x.dtype, x.shape, concrete, symbolic, rounded, x)

    return rule


def approximate_rule(name: str) -> Callable[..., PartialTensor]:
    """The rule of a function of `float_intervals.APPROXIMATIONS`; contents of known floats are intervals."""

    def rule(c: InferenceContext, x: Operand) -> PartialTensor:
        """[*S] -> [*S], element by element."""
        return approximate(c, name, x)

    return rule


def approximate(c: InferenceContext, name: str, x: PartialTensor) -> PartialTensor:
    """[*S] -> [*S]: a function of `float_intervals.APPROXIMATIONS`; contents of known floats are intervals."""
    floats = arithmetic(c, x.dtype)
    if floats is None:
        return PartialTensor(x.dtype, x.shape, None)
    return map_elements(x.dtype, x.shape, lambda element: floats.approximate(name, element), x)


def absolute(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: `|x|`."""

    def operation(d: DimSize) -> DimSize:
        return d if c.prove_le(0, d) is True else -d if c.prove_le(d, 0) is True else maximum(d, -d)

    if is_float(x.dtype):
        return fold_floats(c, x.dtype, x.shape, numpy_function("abs"), FloatArithmetic.absolute, x)
    return fold_dims(c, x.dtype, x.shape, numpy_function("abs"), operation, x)


def sign(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: -1, 0 or 1."""

    def operation(d: DimSize) -> DimSize:
        if c.prove_le(1, d) is True:
            return 1
        return -1 if c.prove_le(d, -1) is True else maximum(minimum(d, 1), -1)

    return fold_dims(c, x.dtype, x.shape, numpy_function("sign"), operation, x)


def calculate(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    concrete: Callable[..., Any],
    symbolic: Callable[..., DimSize | None],
    rounded: OnElements | None,
    *values: PartialTensor,
) -> PartialTensor:
    """An operation on tensors of any numeric type: a tensor of `shape`, with contents where those of all are known.

    Integers wrap around as their type does, floats are rounded. `rounded` is None where results on floats are exact.
    """
    if values[0].elements is None:  # as of most tensors
        return PartialTensor(dtype, shape, None)
    sizes = map_dims(c, dtype, shape, symbolic, *values)
    if sizes is not None:
        return sizes
    source = values[0].dtype
    if is_float(source) and rounded is not None:
        return fold_floats(c, dtype, shape, concrete, rounded, *values)
    return fold_elements(dtype, shape, concrete, integer_operation(c, source, symbolic), *values)


def binary_rule(
    broadcast: Broadcast,
    concrete: Callable[[Any, Any], Any],
    symbolic: Callable[[DimSize, DimSize], DimSize],
    rounded: OnElements,
    even: OnTensors,
) -> Callable[..., PartialTensor]:
    """The rule of an arithmetic operation of two operands; `even` is the operation on progressions."""

    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]; contents where both are known."""
        shape = broadcast(c, a.shape, b.shape)
        if shape.dims is not None and (a.__class__ is Progression or b.__class__ is Progression):
            return even(a, b, shape)
        if a.contents is not None and b.contents is not None and shape.dims is not None and not is_listable(shape):
            return even(a, b, shape)
        return calculate(c, None, shape, concrete, symbolic, rounded, a, b)

    return rule


def integer_quotient(a: Any, b: Any) -> Any:
    """The quotients of two arrays of integers, rounded towards zero."""
    quotient = a // b
    return (quotient + ((quotient < 0) & (quotient * b != a))).astype(a.dtype)


def float_quotient(c: InferenceContext, shape: Shape, a: PartialTensor, b: PartialTensor) -> PartialTensor:
    """The quotients of floats; fractions of sizes stay known until they are rounded."""
    if any([isinstance(e, (int, float)) and e == 0 for e in b.elements or ()]):
        return map_elements(
            None, shape, float_operation(c, a.dtype, numpy_function("divide"), FloatArithmetic.divide), a, b
        )
    return fold_floats(c, None, shape, numpy_function("divide"), FloatArithmetic.divide, a, b)


def reciprocal(c: InferenceContext, x: Operand) -> PartialTensor:
    """[*S] -> [*S]: `1 / x`, rounded once."""
    numerator = PartialTensor(x.dtype, Shape(()), (1.0,))
    return PartialTensor(x.dtype, x.shape, float_quotient(c, x.shape, numerator, x).elements)


def division_rule(broadcast: Broadcast) -> Callable[..., PartialTensor]:
    """The rule of a division that rounds integers towards zero."""

    def rule(c: InferenceContext, a: Operand, b: Operand) -> PartialTensor:
        """[*A], [*B] -> [*broadcast(A, B)]; integer quotients round towards zero, fractions of sizes stay known."""
        shape = broadcast(c, a.shape, b.shape)
        if a.elements is None and b.elements is None:
            return PartialTensor(None, shape, None)
        if is_float(a.dtype):
            return float_quotient(c, shape, a, b)
        return integer_division(c, shape, integer_quotient, truncated_quotient(c), a, b)

    return rule


def integer_division(
    c: InferenceContext,
    shape: Shape,
    concrete: Callable[[Any, Any], Any],
    symbolic: Callable[[DimSize, DimSize], DimSize | None],
    a: PartialTensor,
    b: PartialTensor,
) -> PartialTensor:
    """A quotient or remainder of integers; an element is unknown where its divisor may be 0."""
    if may_have_zero(c, b):
        return map_elements(None, shape, dim_operation(symbolic), a, b)
    return fold_dims(c, None, shape, concrete, symbolic, a, b)


def may_have_zero(c: InferenceContext, divisors: PartialTensor) -> bool:
    """Whether a known divisor may be 0. Each symbolic one is advised to be at least 1: runtimes may abort on 0."""
    zeros = [d for d in divisors.elements or () if d == 0 or (isinstance(d, Dimension) and c.store.bounds(d)[0] == 0)]
    for d in zeros:
        if isinstance(d, (int, Dimension)):
            c.advise_at_most(1, d, "some runtimes abort on integer division by 0")
    return bool(zeros)


def floored_quotient(c: InferenceContext) -> Callable[[DimSize, DimSize], DimSize | None]:
    """Integer division rounded down, for a divisor of known sign."""

    def divide(a: DimSize, b: DimSize) -> DimSize | None:
        if c.prove_le(1, b) is True:
            return a // b
        return (-a) // (-b) if c.prove_le(b, -1) is True else None

    return divide


def floored_remainder(c: InferenceContext) -> Callable[[DimSize, DimSize], DimSize | None]:
    """The remainder with the sign of the divisor, for a divisor of known sign."""

    def remainder(a: DimSize, b: DimSize) -> DimSize | None:
        if c.prove_le(1, b) is True:
            return a % b
        return -((-a) % (-b)) if c.prove_le(b, -1) is True else None

    return remainder


def truncated_remainder(c: InferenceContext) -> Callable[[DimSize, DimSize], DimSize | None]:
    """The remainder with the sign of the dividend, for a dividend of at least 0 and a divisor of at least 1."""

    def remainder(a: DimSize, b: DimSize) -> DimSize | None:
        return a % b if c.prove_le(1, b) is True and c.prove_le(0, a) is True else None

    return remainder


def integer_power(x: DimSize, y: DimSize) -> DimSize | None:
    """`x ** y` for a known exponent of 0..64, or 0..4 where `x` is symbolic; else None."""
    if not isinstance(y, int) or not 0 <= y <= (4 if isinstance(x, Dimension) else 64):
        return None
    result: DimSize = 1
    for _ in range(y):
        result = result * x
    return result


def power(
    c: InferenceContext, shape: Shape, a: PartialTensor, b: PartialTensor, rounded: OnElements = FloatArithmetic.power
) -> PartialTensor:
    """`a ** b` as a tensor of `shape`, typed as the base; contents for known operands and small integer exponents.

    Runtimes compute powers of integers in float64 (onnxruntime squares and cubes only of tensors by products), so that
    a power is known where float64 represents it: proven or assumed.
    """
    if is_float(a.dtype):
        return map_elements(a.dtype, shape, float_operation(c, a.dtype, numpy_function("power"), rounded), a, b)
    wide = FloatArithmetic(c, FLOAT64)

    def operation(x: Element, y: Element) -> Element:
        base, exponent = to_dim(x), to_dim(y)
        if base is not None and isinstance(exponent, int) and 0 <= exponent <= 64:
            result = integer_power(base, exponent)
            return fit_element(c, a.dtype, result) if result is not None and wide.is_exact(result) else None
        if type(x) is int and x > 0 and isinstance(y, (int, float)):
            known = wide.truncate(rounded(wide, x, y))
            return fit_element(c, a.dtype, to_dim(known))
        return None

    return map_elements(a.dtype, shape, operation, a, b)


def extreme(c: InferenceContext, name: str, shape: Shape, *xs: PartialTensor) -> PartialTensor:
    """The maximum or minimum (`name` is `Max` or `Min`) of the elements at each position."""
    concrete = numpy_function("maximum") if name == "Max" else numpy_function("minimum")
    pick = maximum if name == "Max" else minimum
    if not is_float(xs[0].dtype):
        return fold_dims(c, None, shape, lambda *arrays: _reduce(concrete, arrays), pick, *xs)
    pick_float = FloatArithmetic.maximum if name == "Max" else FloatArithmetic.minimum

    def on_floats(floats: FloatArithmetic, *elements: Element) -> Element:
        return reduce(lambda a, b: pick_float(floats, a, b), elements)

    return fold_floats(c, None, shape, lambda *arrays: _reduce(concrete, arrays), on_floats, *xs)


def total(c: InferenceContext, shape: Shape, xs: Sequence[PartialTensor]) -> PartialTensor:
    """The sum of the elements at each position."""

    def sum_arrays(*arrays: Any) -> Any:
        return _reduce(numpy_function("add"), arrays)

    def sum_floats(floats: FloatArithmetic, *elements: Element) -> Element:
        return reduce(floats.add, elements)

    return calculate(c, None, shape, sum_arrays, lambda *dims: sum(dims), sum_floats, *xs)


def limit_elements(
    c: InferenceContext, x: PartialTensor, low: PartialTensor | None, high: PartialTensor | None
) -> PartialTensor:
    """The elements clipped to the limits; unknown where a limit is not a single number."""
    result = x
    for bound, name in ((low, "Max"), (high, "Min")):
        if bound is not None and bound.shape.dims in ((), (1,)):
            result = PartialTensor(x.dtype, x.shape, extreme(c, name, x.shape, result, bound).elements)
        elif bound is not None:
            result = PartialTensor(x.dtype, x.shape, None)  # a limit of each element
    return result


def _reduce(operation: Callable[[Any, Any], Any], arrays: tuple[Any, ...]) -> Any:
    result = arrays[0]
    for array in arrays[1:]:
        result = operation(result, array)
    return result
