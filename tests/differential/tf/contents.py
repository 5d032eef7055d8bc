"""Contents that the rules infer, compared with those that TensorFlow's kernels return.

Known contents of inputs are used as they are, with symbols for their elements, and with unknown elements.
`python -m tests.differential.tf.contents FAMILY...` records the outputs of kernels in `recorded_contents/FAMILY.json`.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from math import prod
from pathlib import Path

import numpy as np

from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice import Condition, FloatInterval, Progression, Quotient
from tests.differential.tf.case import _dim_problem, infer
from tests.differential.tf.record import outputs

RECORDED = Path(__file__).parent / "recorded_contents"
MAX_ELEMENTS = 64
KINDS = ("int32", "int64", "bool", "uint8", "float16", "float32", "float64", "string")
COMPLETE = ("math_contents", "evaluated")
"""Families whose contents are known where those of the inputs are; except sums and products of floats, whose order in
kernels is unspecified."""


def symbols(store, sizes, label, elements):
    """A symbol for each positive integer."""
    return [_symbol(store, sizes, f"{label}e{position}", e) for position, e in enumerate(elements)]


def _symbol(store, sizes, name, element):
    if isinstance(element, bool) or not isinstance(element, (int, float)) or not 1 <= element < 2**63:
        return element
    if element != int(element):
        return element
    sizes[name] = int(element)
    return store.scope.symbol(name, 1)


def symbols_of_the_first(store, sizes, label, elements):
    """A symbol for each positive integer of the first input; other inputs are axes, exponents, limits."""
    return symbols(store, sizes, label, elements) if label == "i0" else elements


def every_second(store, sizes, label, elements):
    """Every second element is unknown."""
    return [e if position % 2 else None for position, e in enumerate(elements)]


MODES = {"known": None, "symbolic": symbols, "first": symbols_of_the_first, "partial": every_second}


def problems(case, recorded, mode):
    """Sizes and elements that differ from the recorded ones; unknown ones do not count."""
    types, store, sizes = infer(case, len(recorded), symbolic=mode in ("symbolic", "first"), elements=MODES[mode])
    for index, (got, want) in enumerate(zip(types, recorded, strict=True)):
        if want is None or got.shape.dims is None:
            continue
        dims, values = want
        shape = store.canon_shape(got.shape)
        if len(shape) != len(dims):
            yield f"output {index}: {shape} is of another rank than {dims}"
            continue
        for dim, size in zip(shape, dims, strict=True):
            why = _dim_problem(store, dim, size, sizes, False)
            if why:
                yield f"output {index}: {dim} {why} {size}"
        yield from _element_problems(store, sizes, index, got, dims, values)


def _element_problems(store, sizes, index, got, dims, values):
    elements = _list_progression(got, dims) if isinstance(got, Progression) else got.elements
    for position, (element, value) in enumerate(zip(elements or (), values, strict=False)):
        if element is None:
            continue
        if isinstance(element, Condition):
            element = evaluate(element.expression, sizes) >= 0
        if isinstance(element, Quotient):
            element = _round(element, got.dtype, sizes)
        if element != element and value != value:  # NaN
            continue
        if isinstance(element, FloatInterval):
            why = not element.low <= value <= element.high
        elif isinstance(element, Dimension):
            why = _dim_problem(store, element, value, sizes, False)
        else:
            why = element != value
        if why:
            yield f"output {index}, element {position} is {element}, not {value}"
    if elements is not None and len(elements) != len(values):
        yield f"output {index} has {len(elements)} elements, not {len(values)}"


def _round(element, dtype, sizes):
    fraction = Fraction(evaluate(element.numerator, sizes), evaluate(element.denominator, sizes))
    return np.array(float(fraction), dtype).item()


def unknown_elements(case, recorded):
    """The outputs with an unknown element, although the contents of all inputs are known."""
    types, _, _ = infer(case, len(recorded), symbolic=False)
    for index, got in enumerate(types):
        summed = case.op in ("Prod", "Sum") and got.dtype.startswith("float")
        if not summed and (got.elements is None or None in got.elements):
            yield f"output {index} is {got}"


def _list_progression(got, dims):
    return [got.base + sum(i * s for i, s in zip(at, got.steps, strict=True)) for at in np.ndindex(*dims)]


def contents_of(case):
    """[sizes, elements] of each small output of the types in KINDS, None for other outputs."""
    return [
        [list(t.shape), _elements(t.numpy().reshape(-1).tolist())]
        if t.dtype.name in KINDS and prod(t.shape) <= MAX_ELEMENTS
        else None
        for t in outputs(case)
    ]


def _elements(values):
    return [value.decode() if isinstance(value, bytes) else value for value in values]


def main(families):
    from tests.differential.tf.families import FAMILIES

    for family in families:
        records = {str(case): contents_of(case) for case in FAMILIES[family]}
        known = {name: record for name, record in sorted(records.items()) if any(record)}
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in known.items())
        RECORDED.mkdir(exist_ok=True)
        (RECORDED / f"{family}.json").write_text("{\n" + lines + "\n}\n", encoding="utf8")
        print(family, len(known))


if __name__ == "__main__":
    main(sys.argv[1:])
