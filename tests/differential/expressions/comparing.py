"""Inferred contents and sizes of expressions, compared with runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from opdefs.rules.contents.float_formats import float_format
from shapeinf import Result
from shapeinf.expr import Dimension, evaluate
from shapeinf.lattice import Condition, FloatInterval, Quotient


def differences(result: Result, computed: Mapping[str, Any], binding: Mapping[str, int]) -> Iterator[str]:
    """The differences of one inference from a run; `computed` has a number by value, or a size by tensor `t...`."""
    if not _as_assumed(result, binding):
        return
    for name, real in computed.items():
        tensor = result.tensors[name]
        if name.startswith("t"):
            (element,) = tensor.shape
        else:
            elements = _elements(result, name)
            element = elements[0] if elements else None
        if real is not None and not _may_be(result, element, real, binding, tensor.dtype):
            yield f"{name} is {element}, not {real}"


def _elements(result: Result, name: str) -> Any:
    inference = result.engine.inference
    return getattr(inference.type_of(inference.compiled.slots[name]), "elements", None)


def _as_assumed(result: Result, binding: Mapping[str, int]) -> bool:
    """Whether sizes satisfy the assumptions of the contract: others are not compared."""
    assumed = [p.clauses for p in result.contract if p.kind == "assumption"]
    return all(any(clause.holds(binding) is True for clause in clauses) for clauses in assumed if clauses)


def _may_be(result: Result, element: Any, real: Any, binding: Mapping[str, int], dtype: str | None) -> bool:
    """Whether an inferred element, or a size, may have a computed value."""
    if element is None:
        return True
    if isinstance(element, float) and math.isnan(element):
        return math.isnan(real)
    if isinstance(element, FloatInterval):
        return bool(element.low <= real <= element.high)
    if isinstance(element, Condition):
        known = _is_bound(element.expression, binding)
        return not known or (evaluate(element.expression, binding) >= 0) == real
    if isinstance(element, Quotient):
        parts = element.numerator, element.denominator
        if not all(_is_bound(part, binding) for part in parts):
            return True
        numerator, denominator = (evaluate(part, binding) for part in parts)
        exact, kind = float(Fraction(numerator, denominator)), float_format(dtype)
        assert kind is not None
        return real in {other.round(exact) for other in kind.computed_in}
    if isinstance(element, Dimension):
        if not (math.isfinite(real) and int(real) in result.interval(element)):
            return False
        return not _is_bound(element, binding) or evaluate(element, binding) == real
    return bool(element == real)


def _is_bound(d: Any, binding: Mapping[str, int]) -> bool:
    return not isinstance(d, Dimension) or all(str(symbol) in binding for symbol in d.symbols())
