"""Values for the inputs of a run: random floats, and integers that are legal as indices and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shapeinf.engine.compiled import CompiledGraph
from shapeinf.errors import NotKnown
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Element, TensorType
from shapeinf.ops import CostContext
from shapeinf.result import Result
from shapeinf.runtime.array_types import has_arrays, numpy_type
from shapeinf.runtime.protocol import Refusal
from shapeinf.texts import exact_bytes

MAX_BYTES = 1 << 32
"""The most bytes of all inputs together."""

MAX_COMPARED = 8
"""The most numbers that are tried for an input of one integer."""

INTEGER_FILLS = {"0 and 1 at random": (0, 1), "all 0": (0, 0), "all 1": (1, 1)}
"""The least and the largest number of integer inputs; where the runtime refuses the first pair, the next is tried.

Small numbers are legal as indices, positions, lengths and masks; a scalar is 1 where others are random.
"""


def feeds(
    result: Result,
    shapes: Mapping[str, tuple[int, ...]],
    arrays: Mapping[str, Any],
    seed: int,
    elements: Mapping[str, tuple[Element, ...]] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arrays for all inputs, several times with other integers, each time with a description of these.

    `arrays` are those of the user, `elements` known elements of inputs; None is an unknown one.
    Raises Refusal for an input that cannot be filled or has too many axes, and for inputs of more than `MAX_BYTES`.
    """
    types = {name: _dtype(result, name, arrays) for name in _fed_inputs(result)}
    _check_ranks({name: shapes[name] for name in types})
    required = {name: (value,) * int(np.prod(shapes[name])) for name, value in required_values(result).items()}
    known = {**{name: values for name, values in required.items() if name not in arrays}, **(elements or {})}
    total = sum(int(np.prod(shapes[name], dtype=object)) * numpy_type(dtype).itemsize for name, dtype in types.items())
    if total > MAX_BYTES:
        raise Refusal(f"its inputs would take {exact_bytes(total)}: bind smaller sizes")
    drawn = [name for name, dtype in types.items() if name not in arrays and numpy_type(dtype).kind in "biu"]

    def make_arrays(integers: str, values: Mapping[str, tuple[Element, ...]]) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        return {
            name: arrays[name]
            if name in arrays
            else _set_elements(_array(rng, integers, dtype, shapes[name]), values.get(name))
            for name, dtype in types.items()
        }

    for integers in INTEGER_FILLS if drawn else ["as specified"]:
        yield integers, make_arrays(integers, known)
    single = [name for name in drawn if name not in known and np.prod(shapes[name], dtype=object) == 1]
    for name in single:
        for value in compared_values(result, name):
            yield f"{name}={value}", make_arrays(next(iter(INTEGER_FILLS)), {**known, name: (value,)})


def _check_ranks(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise Refusal for an input with more axes than an array may have: 64, before numpy 2 32."""
    for name, shape in shapes.items():
        try:
            np.empty((0,) * len(shape))
        except ValueError:
            raise Refusal(f"input {name} has {len(shape)} axes, more than an array may have") from None


def compared_values(result: Result, name: str) -> list[int]:
    """The constants that nodes combine an input with, such as those of a branch; at most `MAX_COMPARED`.

    The input may pass through nodes with a single operand first, such as a cast.
    """
    compiled, inference = result.engine.inference.compiled, result.engine.inference
    passed = {compiled.slots[name]}
    values: dict[int, None] = {}
    for _, inputs, outputs, _ in compiled.rows:
        others = [slot for slot in inputs if slot not in passed and slot != MISSING]
        if len(others) == len(inputs):
            continue
        if not others:
            passed.update(slot for slot in outputs if slot != UNUSED)
        for slot in others:
            value = inference.type_of(slot)
            contents = value.elements if isinstance(value, TensorType) and value.elements else ()
            if len(contents) == 1 and isinstance(contents[0], int):
                values.setdefault(int(contents[0]))
    return list(values)[:MAX_COMPARED]


def required_values(result: Result) -> dict[str, int]:
    """The number that all elements of an input have, by the value rules of the nodes that read it.

    The input may pass through nodes with a single operand first, such as a cast.
    """
    compiled, inference = result.engine.inference.compiled, result.engine.inference
    graph, inputs = compiled.graph, set(_fed_inputs(result))
    values: dict[str, int] = {}
    for step in compiled.steps:
        operation, kind = step.operation, step.operation.kind
        version = graph.opsets.get(kind.domain, 0)
        rule = compiled.registry.value_rule(graph.dialect, kind.domain, kind.op, version)
        if rule is None or operation.op_def is None:
            continue
        types = [None if slot == MISSING else inference.type_of(slot) for slot in step.arguments]
        try:
            context = CostContext(operation.op_def, types, [], kind.attrs, inference.store, version)
            required = rule(context)
        except NotKnown:
            continue
        for position, value in required.items():
            name = _source_name(compiled, step.arguments[position]) if position < len(step.arguments) else None
            if name in inputs:
                values.setdefault(name, value)
    return values


def _source_name(compiled: CompiledGraph, slot: int) -> str | None:
    """The value that a slot is computed from by nodes with a single operand; None where it is absent."""
    while slot != MISSING and (producer := compiled.producers[slot]) is not None:
        operands = compiled.step(producer).inputs
        if len(operands) != 1:
            return None
        (slot,) = operands
    return None if slot == MISSING else compiled.names[slot]


def _fed_inputs(result: Result) -> list[str]:
    return [name for name in result.graph.inputs if name not in result.graph.constants]


def _dtype(result: Result, name: str, arrays: Mapping[str, Any]) -> str:
    info = result.tensors[name]
    if info.kind != "tensor":
        raise Refusal(f"input {name} is a {info.kind}: values are generated for tensors only")
    if info.dtype is None:
        raise Refusal(f"the element type of input {name} is unknown")
    if not has_arrays(info.dtype):
        raise Refusal(f"input {name} is a {info.dtype}: values are generated for tensors of numbers and strings only")
    if name in arrays and info.dtype != "string" and arrays[name].dtype != numpy_type(info.dtype):
        raise Refusal(f"the array for input {name} is {arrays[name].dtype.name}, the model requires {info.dtype}")
    return info.dtype


def _set_elements(array: Any, elements: tuple[Element, ...] | None) -> Any:
    flat = array.reshape(-1)
    for i, element in enumerate(elements or ()):
        if element is not None:
            flat[i] = element
    return flat.reshape(array.shape)


def _array(rng: np.random.Generator, integers: str, dtype: str, shape: tuple[int, ...]) -> Any:
    kind = numpy_type(dtype)
    if dtype == "string":
        return np.full(shape, "a", dtype=object)
    if kind.kind in "iu" and not shape and INTEGER_FILLS[integers] == (0, 1):
        return np.ones(shape, kind)  # most likely a count: with 0 there is little to compare
    if kind.kind in "biu":
        return np.asarray(rng.integers(*INTEGER_FILLS[integers], shape, endpoint=True)).astype(kind)
    return np.asarray(rng.standard_normal(shape)).astype(kind)
