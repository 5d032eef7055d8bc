"""A property of rules: a length or rank of an operand that a runtime refuses is never a "yes" of the contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shapeinf.errors import ShapeInferenceError
from shapeinf.inputs.options import InferenceOptions
from shapeinf.runtime import verify
from shapeinf.testing.differential import onnx_model
from shapeinf.testing.properties import bind_operands, legal_sizes
from shapeinf.testing.rules import Operand, RuleCase, contents_of
from shapeinf.texts import escape_lines

Array = np.ndarray[Any, Any]


def check_operands(case: RuleCase, *, runtime: str = "onnxruntime") -> None:
    """Raise AssertionError for what the contract of a case accepts and a runtime refuses; see `operand_violations`."""
    __tracebackhide__ = True
    violations = operand_violations(case, runtime=runtime)
    if violations:
        raise AssertionError(escape_lines([str(case), *(f"  {violation}" for violation in violations)]))


def operand_violations(case: RuleCase, *, runtime: str = "onnxruntime") -> list[str]:
    """The changes of integer operands that a runtime refuses, although the contract answers "yes".

    Each operand with integer contents becomes an input of unknown contents, whose sizes and rank are changed one after
    the other (`changed_arrays`). A change counts as refused if the runtime refuses it with all of `likely_contents`.

    Raises ShapeInferenceError for another dialect than ONNX, MissingPackageError where the runtime is not installed.

    >>> operand_violations(RuleCase("Tile", ["[2, 3]", [1, 2]], ["[2, 6]"]))
    []
    """
    if case.dialect != "onnx":
        raise ShapeInferenceError(f"{case}: only cases of ONNX can be run, not of {case.dialect}")
    bindings = legal_sizes(case)
    operands = bind_operands(case, bindings[0] if bindings else {})
    lines = []
    for position, operand in enumerate(operands):
        if operand is None or isinstance(operand, str) or contents_of(operand).dtype.kind not in "iub":
            continue
        for change, array in changed_arrays(contents_of(operand)):
            changed: list[Operand] = list(operands)
            changed[position] = f"{array.dtype.name}{list(array.shape)}"
            answer = case.infer(changed, min_dim=0).contract.check()
            if answer.verdict is True and _is_refused(case, changed, f"x{position}", array, runtime):
                lines.append(f"input {position}, {change}: {runtime} refuses it, but the contract answers {answer}")
    return lines


def _is_refused(case: RuleCase, operands: list[Operand], name: str, array: Array, runtime: str) -> bool:
    model, options = onnx_model(case, operands), InferenceOptions(registry=case.registry)
    return all(
        verify(model, arrays={name: contents}, runtime=runtime, options=options).refused
        for contents in likely_contents(array)
    )


def changed_arrays(array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays with one size changed (by one, to 1, doubled), or an axis removed or added, each with a description.

    >>> [(text, changed.shape) for text, changed in changed_arrays(np.zeros(3))]
    [('axis 0: 3 -> 4', (4,)), ('axis 0: 3 -> 2', (2,)), ('axis 0: 3 -> 1', (1,)), ('axis 0: 3 -> 6', (6,)), \
('without axis 0', ()), ('with a first axis', (1, 3)), ('with a last axis', (3, 1))]
    """
    for axis, size in enumerate(array.shape):
        for new in dict.fromkeys((size + 1, size - 1, 1, 2 * size)):
            if new > 0 and new != size and size > 0:
                yield f"axis {axis}: {size} -> {new}", np.take(array, np.arange(new) % size, axis=axis)
        if size:
            yield f"without axis {axis}", np.asarray(np.take(array, 0, axis=axis), dtype=array.dtype)
    yield "with a first axis", array[None]
    if not array.ndim:
        yield "of two elements", np.stack([array, array])
    else:
        yield "with a last axis", array[..., None]


def likely_contents(array: Array) -> Iterator[Array]:
    """An array, and contents of its shape that operators may accept: zeros, ones, distinct integers, a -1 and ones."""
    yield array
    yield np.zeros_like(array)
    yield np.full_like(array, 1)
    if array.dtype.kind in "iu":
        yield np.arange(array.size).reshape(array.shape).astype(array.dtype)
    if array.dtype.kind == "i" and array.size:
        rest = np.full_like(array, 1)
        rest.reshape(-1)[0] = -1
        yield rest
