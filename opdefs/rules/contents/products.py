"""Sums of products of known elements: matrix products and Einstein sums of small tensors.

Sums of integers do not depend on their order, since those that overflow wrap around. Sums of floats are known where
every order, and every fused multiplication, gives the same result: where no sum of some of the terms is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

from opdefs.rules.contents.elements import (
    Operation,
    dim_operation,
    is_float,
    is_listable,
    map_elements,
    to_dim,
    without_overflow,
)
from opdefs.rules.contents.floats import FloatArithmetic, arithmetic, float_operation, to_fraction
from opdefs.rules.contents.numpy_functions import numpy_function
from shapeinf.expr import Dim
from shapeinf.lattice import MAX_ELEMENTS, Element, PartialTensor, Shape
from shapeinf.ops import InferenceContext

Labels = Sequence[object]
"""The names of the axes of an operand or of the result of an Einstein sum."""


def element_operation(
    c: InferenceContext,
    dtype: str | None,
    concrete: Callable[..., object],
    symbolic: Callable[..., Dim | None],
    rounded: Callable[..., Element],
) -> Operation:
    """An operation on elements of any numeric type: of floats, `concrete` on numbers and else `rounded`."""
    if is_float(dtype):
        return float_operation(c, dtype, concrete, rounded)
    operation = dim_operation(symbolic)
    return lambda *elements: without_overflow(c, dtype, operation(*elements))


def multiplication(c: InferenceContext, dtype: str | None, *, exact: bool = False) -> Operation:
    """`a * b` of elements of a type; with `exact`, None where a float is rounded: fused operations do not round it."""
    floats = arithmetic(c, dtype) if exact else None
    if floats is not None:
        return lambda a, b: _exact_product(floats, a, b)
    return element_operation(c, dtype, numpy_function("multiply"), lambda a, b: a * b, FloatArithmetic.multiply)


def _exact_product(floats: FloatArithmetic, a: Element, b: Element) -> Element:
    product = floats.multiply(a, b)
    return None if floats.exact(product) is None else product


def addition(c: InferenceContext, dtype: str | None) -> Operation:
    """`a + b` of elements of a type."""
    return element_operation(c, dtype, numpy_function("add"), lambda a, b: a + b, FloatArithmetic.add)


def negation(c: InferenceContext, dtype: str | None) -> Operation:
    """`-a` of elements of a type."""
    return element_operation(c, dtype, numpy_function("negative"), lambda a: -a, FloatArithmetic.negate)


def sum_elements(c: InferenceContext, dtype: str | None, terms: Sequence[Element]) -> Element:
    """The sum of elements of a type, in any order."""
    if is_float(dtype):
        floats = arithmetic(c, dtype)
        return None if floats is None else sum_floats(floats, terms)
    dims = [to_dim(term) for term in terms]
    known = [d for d in dims if d is not None]
    return without_overflow(c, dtype, sum(known)) if len(known) == len(dims) else None


def sum_floats(floats: FloatArithmetic, terms: Sequence[Element]) -> Element:
    """The sum of floats where no sum of some of them is rounded, so that their order does not matter; else None."""
    positive: Element = 0.0
    negative: Element = 0.0
    for term in terms:
        parts = to_fraction(term)
        if parts is None or floats.exact(term) is None:
            return None
        if floats.c.prove_le(0, parts[0]) is True:
            positive = floats.add(positive, term)
        elif floats.c.prove_le(parts[0], 0) is True:
            negative = floats.add(negative, floats.negate(term))
        else:
            return None
    if len(terms) > 1 and floats.exact(floats.add(positive, negative)) is None:
        return None
    return floats.subtract(positive, negative)


def even_spacing(
    c: InferenceContext, dtype: str | None, first: Element, last: Element, shape: Shape
) -> list[Element] | None:
    """As many floats of equal distance as `shape` has, from the first to the last; None where one is rounded."""
    floats = arithmetic(c, dtype)
    if floats is None or not is_listable(shape) or first is None or last is None:
        return None
    count = prod(int(d) for d in shape if isinstance(d, int))
    step = floats.divide(floats.subtract(last, first), float(max(count - 1, 1)))
    elements = [sum_floats(floats, [first, _exact_product(floats, step, float(i))]) for i in range(count)]
    return None if None in elements else elements


def contract(
    c: InferenceContext,
    dtype: str | None,
    shape: Shape,
    result: Labels,
    operands: Sequence[tuple[PartialTensor, Labels]],
) -> PartialTensor:
    """The Einstein sum of operands with labelled axes, of `shape`; contents where those of all operands are known.

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
    is_sum = prod(sizes[label] for label in summed) > 1 or len(operands) > 2
    multiply = multiplication(c, dtype, exact=is_sum)
    readers = [_reader(operand, labels) for operand, labels in operands]
    elements = []
    for outer in product(*(range(sizes.get(label, 1)) for label in result)):
        position = dict(zip(result, outer, strict=True))
        terms = []
        for inner in product(*(range(sizes[label]) for label in summed)):
            position.update(zip(summed, inner, strict=True))
            terms.append(_product(multiply, [read(position) for read in readers]))
        elements.append(sum_elements(c, dtype, terms))
    return PartialTensor(dtype, shape, elements)


def _reader(operand: PartialTensor, labels: Labels) -> Callable[[Mapping[object, int]], Element]:
    """The element of an operand at a position of each label; axes of size 1 repeat."""
    strides: list[tuple[object, int]] = []
    stride = 1
    for label, size in zip(reversed(labels), reversed(operand.shape.require()), strict=True):
        assert isinstance(size, int)
        if size != 1:
            strides.append((label, stride))
        stride *= size
    elements = operand.elements or ()
    return lambda position: elements[sum(position[label] * step for label, step in strides)]


def _product(multiply: Operation, factors: Sequence[Element]) -> Element:
    result = factors[0]
    for factor in factors[1:]:
        result = multiply(result, factor)
    return result


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
    labelled = [(x, _labels(t, len(x.shape), spread)) for t, x in zip(terms, operands, strict=True)]
    return contract(c, dtype, shape, _labels(right, len(shape), spread), labelled)


def _labels(term: str, rank: int, spread: int) -> list[object]:
    """The labels of the axes of an operand of this rank: its letters, and numbers for the axes of the ellipsis."""
    head, _, tail = term.partition(ELLIPSIS)
    middle = range(spread - (rank - len(head) - len(tail)), spread)
    return [*head, *middle, *tail]
