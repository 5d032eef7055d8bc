"""Sums of products of known elements: matrix products and Einstein sums of small tensors.

Sums of integers do not depend on their order, since those that overflow wrap around. Sums of floats are known where
every order, and every fused multiplication, gives the same result: where no sum of some of the terms is rounded. Other
sums of known floats are intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import inf, isfinite, nextafter, prod

from opdefs.rules.contents.elements import Operation, integer_operation, is_float, is_listable, map_elements, to_dim
from opdefs.rules.contents.float_intervals import float_ends, hull
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, float_operation
from opdefs.rules.contents.integers import wrap_element
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.operands import is_unit
from shapeinf.expr import DimSize
from shapeinf.lattice import MAX_ELEMENTS, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext

Labels = Sequence[object]
"""The names of the axes of an operand or of the result of an Einstein sum."""


def element_operation(
    c: InferenceContext,
    dtype: str | None,
    concrete: Callable[..., object],
    symbolic: Callable[..., DimSize | None],
    rounded: Callable[..., Element],
) -> Operation:
    """An operation on elements of any numeric type: of floats, `concrete` on numbers and else `rounded`."""
    if is_float(dtype):
        return float_operation(c, dtype, concrete, rounded)
    return integer_operation(c, dtype, symbolic)


def multiplication(c: InferenceContext, dtype: str | None) -> Operation:
    """`a * b` of elements of a type."""
    return element_operation(c, dtype, numpy_function("multiply"), lambda a, b: a * b, FloatArithmetic.multiply)


def addition(c: InferenceContext, dtype: str | None) -> Operation:
    """`a + b` of elements of a type."""
    return element_operation(c, dtype, numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add)


def negation(c: InferenceContext, dtype: str | None) -> Operation:
    """`-a` of elements of a type."""
    return element_operation(c, dtype, numpy_function("negative"), lambda a: -a, FloatArithmetic.negate)


def sum_elements(c: InferenceContext, dtype: str | None, terms: Sequence[Element]) -> Element:
    """The sum of elements of a type, in any order."""
    return sum_products(c, dtype, [[term] for term in terms])


def sum_products(c: InferenceContext, dtype: str | None, terms: Sequence[Sequence[Element]]) -> Element:
    """The sum of products of elements of a type, in any order, by fused operations or others."""
    if not is_float(dtype):
        dims = [[to_dim(factor) for factor in factors] for factors in terms]
        known = [[d for d in factors if d is not None] for factors in dims]
        return wrap_element(c, dtype, sum(map(c.numel, known))) if known == dims else None
    floats = arithmetic(c, dtype)
    if floats is None:
        return None
    if len(terms) == 1 and len(terms[0]) <= 2:  # a single rounding
        return terms[0][0] if len(terms[0]) == 1 else floats.multiply(*terms[0])
    exact = _exact_sum(floats, [exact_product(floats, factors) for factors in terms])
    return _bounded_sum(floats, terms) if exact is None else exact


def _exact_sum(floats: FloatArithmetic, terms: Sequence[Element]) -> Element:
    """The sum of floats where that of the positive and that of the negative ones are exact in their type; else None.

    Then no sum of some of them is rounded.
    """
    parts: dict[bool, list[tuple[DimSize, DimSize]]] = {True: [], False: []}
    for term in terms:
        fraction = floats.exact(term)
        if fraction is None:
            return None
        sign = floats.c.prove_le(0, fraction[0])
        if sign is None:
            return None
        parts[sign].append(fraction)
    positive, negative = (_total(parts[sign]) for sign in (True, False))
    spread = _total([positive, (-negative[0], negative[1])])
    if floats.exact(floats.element(*spread)) is None:
        return None
    return floats.element(*_total([positive, negative]))


def _total(fractions: Sequence[tuple[DimSize, DimSize]]) -> tuple[DimSize, DimSize]:
    """The sum of fractions whose denominators are powers of two."""
    numerator: DimSize = 0
    denominator: DimSize = 1
    for n, d in fractions:
        common = max(d, denominator) if isinstance(d, int) and isinstance(denominator, int) else d * denominator
        numerator, denominator = numerator * (common // denominator) + n * (common // d), common
    return numerator, denominator


def exact_product(floats: FloatArithmetic, factors: Sequence[Element]) -> Element:
    """The product of floats where no product of some of them is rounded; None where one may be."""
    numbers = [Fraction(e) for e in factors if isinstance(e, (int, float)) and isfinite(e) and e]
    large, small = (prod(n for n in map(abs, numbers) if (n > 1) == wanted) for wanted in (True, False))
    if large > floats.format.largest or small < floats.format.least_normal:
        return None
    numerator: DimSize = 1
    denominator: DimSize = 1
    for factor in factors:
        parts = floats.exact(factor)
        if parts is None:
            return None
        numerator, denominator = numerator * parts[0], denominator * parts[1]
    result = floats.element(numerator, denominator)
    return None if floats.exact(result) is None else result


def _exact_number(factors: Sequence[float]) -> Fraction:
    """The exact product of floats."""
    result = Fraction(1)
    for factor in factors:
        result *= Fraction(factor)
    return result


def _bounded_sum(floats: FloatArithmetic, terms: Sequence[Sequence[Element]]) -> Element:
    """An interval of the sum of products of known floats, with the largest error of all orders of operations."""
    low = high = size = Fraction(0)
    for factors in terms:
        ends = [float_ends(factor) for factor in factors]
        if any(e is None or not isfinite(e[0]) or not isfinite(e[1]) for e in ends):
            return None
        corners = [_exact_number(corner) for corner in product(*(set(e) for e in ends if e is not None))]
        low, high, size = low + min(corners), high + max(corners), size + max(map(abs, corners))
    roundings = len(terms) + max(map(len, terms), default=0)
    share = Fraction(roundings, floats.format.max_exact)
    if share >= 1 or size * 2 > floats.format.largest:
        return None
    error = size * share / (1 - share) + roundings * floats.format.least_normal
    return hull([nextafter(float(low - error), -inf), nextafter(float(high + error), inf)])


def even_spacing(
    c: InferenceContext, dtype: str | None, first: Element, last: Element, shape: Shape
) -> list[Element] | None:
    """As many floats of equal distance as `shape` has, from the first to the last; None where one is rounded."""
    floats = arithmetic(c, dtype)
    if floats is None or not is_listable(shape) or first is None or last is None:
        return None
    count = prod(int(d) for d in shape if isinstance(d, int))
    step = floats.divide(_exact_sum(floats, [last, floats.negate(first)]), float(max(count - 1, 1)))
    elements = [_exact_sum(floats, [first, exact_product(floats, [step, float(i)])]) for i in range(count)]
    return None if None in elements or exact_product(floats, [step, float(max(count - 1, 1))]) is None else elements


def contract(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    result: Labels,
    operands: Sequence[tuple[PartialTensor, Labels]],
) -> PartialTensor:
    """The Einstein sum of operands with labeled axes, of `shape`; contents where those of all operands are known.

    Axes with one label have one size, or size 1, which repeats. Labels that are not in the result are summed over.
    """
    sizes: dict[object, int] = {}
    for operand, labels in operands:
        if operand.elements is None:
            return PartialTensor(dtype, shape, None)
        for label, size in zip(labels, operand.shape, strict=True):
            assert isinstance(size, int)  # contents are listed
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    summed = [label for label in sizes if label not in result]
    if not is_listable(shape) or prod(sizes.values()) > MAX_ELEMENTS:
        return PartialTensor(dtype, shape, None)
    readers = [_reader(operand, labels) for operand, labels in operands]
    elements = []
    for outer in product(*(range(sizes.get(label, 1)) for label in result)):
        position = dict(zip(result, outer, strict=True))
        terms = []
        for inner in product(*(range(sizes[label]) for label in summed)):
            position.update(zip(summed, inner, strict=True))
            terms.append([read(position) for read in readers])
        elements.append(sum_products(c, dtype, terms))
    return PartialTensor(dtype, shape, elements)


def _reader(operand: PartialTensor, labels: Labels) -> Callable[[Mapping[object, int]], Element]:
    """The element of an operand at a position of each label; axes of size 1 repeat."""
    strides: list[tuple[object, int]] = []
    stride = 1
    for label, size in zip(reversed(labels), reversed(operand.shape.require()), strict=True):
        assert isinstance(size, int)
        if not is_unit(size):
            strides.append((label, stride))
        stride *= size
    elements = operand.elements or ()
    return lambda position: elements[sum(position[label] * step for label, step in strides)]


def matrix_product(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    a: PartialTensor,
    b: PartialTensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> PartialTensor:
    """[*A, M, K], [*B, K, N] -> [*broadcast(A, B), M, N] as `numpy.matmul`: the `shape`, with the contents if known.

    The axis of a vector [K] is removed; a transposed operand is [*A, K, M] or [*B, N, K].
    """
    if a.elements is None or b.elements is None:
        return PartialTensor(dtype, shape, None)
    rows, columns = ["inner"], ["inner"]
    if len(a.shape) > 1:
        rows = ["inner", "row"] if transpose_a else ["row", "inner"]
    if len(b.shape) > 1:
        columns = ["column", "inner"] if transpose_b else ["inner", "column"]
    result: list[object] = [label for label in ("row", "column") if label in rows or label in columns]
    lead = len(shape) - len(result)
    operands = [
        (operand, [*range(lead - (len(operand.shape) - len(labels)), lead), *labels])
        for operand, labels in ((a, rows), (b, columns))
    ]
    return contract(c, dtype, shape, [*range(lead), *result], operands)


def add_term(c: InferenceContext, product: PartialTensor, term: PartialTensor) -> PartialTensor:
    """A product plus a term that broadcasts to it; runtimes may begin the sums of the product with the term."""

    def add(a: Element, b: Element) -> Element:
        return sum_elements(c, product.dtype, [a, b])

    return map_elements(product.dtype, product.shape, add, product, term)


ELLIPSIS = "..."
"""Stands for any number of axes in a term of an equation."""


def einstein_sum(
    c: InferenceContext, dtype: str | None, equation: str, shape: Shape, operands: Sequence[PartialTensor]
) -> PartialTensor:
    """The Einstein sum of an equation whose shape is checked: `shape`, with the contents where all are known."""
    if any(x.elements is None for x in operands) or not operands:
        return PartialTensor(dtype, shape, None)
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        every = "".join(terms).replace(ELLIPSIS, "")
        right = ELLIPSIS * (ELLIPSIS in left) + "".join(sorted(s for s in set(every) if every.count(s) == 1))
    spread = max(len(x.shape) - len(t.replace(ELLIPSIS, "")) for t, x in zip(terms, operands, strict=True))
    labeled = [(x, _labels(t, len(x.shape), spread)) for t, x in zip(terms, operands, strict=True)]
    return contract(c, dtype, shape, _labels(right, len(shape), spread), labeled)


def _labels(term: str, rank: int, spread: int) -> list[object]:
    """The labels of the axes of an operand of this rank: its letters, and numbers for the axes of the ellipsis."""
    head, _, tail = term.partition(ELLIPSIS)
    middle = range(spread - (rank - len(head) - len(tail)), spread)
    return [*head, *middle, *tail]
