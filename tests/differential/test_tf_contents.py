"""Known contents through our rules of TensorFlow's operators, against what its kernels compute.

Each case is inferred with its numbers, and with a symbol for each number of one input that is a size.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice import Condition, PartialTensor, Quotient, Shape, ShapeStore
from tests.differential.tf.case import call_of, dtype_name
from tests.differential.tf.contents import CASES, RECORDED

NAMED = [pytest.param(case, id=str(case)) for case in CASES]


@pytest.fixture(scope="module")
def records():
    return json.loads(RECORDED.read_text(encoding="utf8"))


def infer(case, symbolic_input=None):
    """The output of our rule, its store, and the sizes behind the symbols."""
    store, sizes, types = ShapeStore(), {}, []
    for index, array in enumerate(case.arrays()):
        elements = array.reshape(-1).tolist()
        if index == symbolic_input:
            elements = [symbol(store, sizes, element, len(sizes)) for element in elements]
        types.append(PartialTensor(dtype_name(array), Shape(array.shape), elements))
    (result,) = call_of(case, 1).run(types, store, "node").types
    return result, store, sizes


def symbol(store, sizes, element, count):
    """A symbol for a number that is a size, else the number."""
    if isinstance(element, bool) or element != int(element) or element < 0:
        return element
    name = f"s{count}"
    sizes[name] = int(element)
    return store.scope.symbol(name, min(1, int(element)))


def value(element, dtype, sizes):
    """The number that an element stands for."""
    if isinstance(element, Condition):
        return evaluate(element.expression, sizes) >= 0
    if isinstance(element, Quotient):
        fraction = Fraction(evaluate(element.numerator, sizes), evaluate(element.denominator, sizes))
        return np.array(float(fraction), dtype).item()
    return evaluate(element, sizes) if isinstance(element, Dimension) else element


def differences(result, store, sizes, kernel):
    """Elements that differ from the kernel's; unknown ones are not compared."""
    for element, number in zip(result.elements or (), np.reshape(kernel, -1).tolist(), strict=bool(result.elements)):
        if isinstance(element, Dimension) and element.is_anonymous:
            low, high = store.bounds(element)
            if not low <= number <= high:
                yield element, number
        elif element is not None and value(element, result.dtype, sizes) != number:
            yield element, number


@pytest.mark.parametrize("case", NAMED)
def test_numbers(records, case):
    result, store, sizes = infer(case)
    assert result.elements is not None
    negative = case.op in ("Prod", "Sum") and result.dtype == "float32"  # the order in which kernels add is not known
    assert None not in result.elements or negative
    assert not list(differences(result, store, sizes, records[str(case)]))


@pytest.mark.parametrize("case", NAMED)
def test_symbols(records, case):
    for index in range(len(case.arrays())):
        result, store, sizes = infer(case, index)
        assert not list(differences(result, store, sizes, records[str(case)])), index


def test_every_record_has_a_case(records):
    assert set(records) == set(map(str, CASES))
