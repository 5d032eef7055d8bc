"""Operators whose result has the elements of constants at other positions, evaluated on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

Array = npt.NDArray[Any]


def move(node: ir.Node, inputs: Sequence[Array | None], shape: tuple[int, ...]) -> Array | None:
    """The result of a node, of a known shape; None for other operators, and where the inputs do not fit."""
    rule = _MOVES.get(node.op_type)
    data = inputs[0] if inputs else None
    if rule is None or data is None:
        return None
    try:
        result = rule(node, data, inputs)
    except (ValueError, IndexError, TypeError):  # a malformed node, which stays as it is
        return None
    if result is None:
        return None
    if node.op_type in _VIEWS and result.size == np.prod(shape, dtype=object):
        result = result.reshape(shape)
    return result if result.shape == shape else None


def _view(_: ir.Node, data: Array, __: Sequence[Array | None]) -> Array:
    return data


def _transpose(node: ir.Node, data: Array, _: Sequence[Array | None]) -> Array:
    return data.transpose(node.attributes.get_ints("perm", None))


def _concat(node: ir.Node, _: Array, inputs: Sequence[Array | None]) -> Array:
    return np.concatenate([part for part in inputs if part is not None], axis=node.attributes.get_int("axis", 1))


def _gather(node: ir.Node, data: Array, inputs: Sequence[Array | None]) -> Array | None:
    """Indices count from the end where they are negative; one out of range is an error."""
    indices = inputs[1]
    return None if indices is None else data.take(indices.astype(np.int64), axis=node.attributes.get_int("axis", 0))


def _slice(node: ir.Node, data: Array, inputs: Sequence[Array | None]) -> Array | None:
    starts, ends, axes, steps = (_numbers(node, inputs, at, name) for at, name in enumerate(_SLICE, 1))
    if starts is None or ends is None:
        return None
    index = [slice(None)] * data.ndim
    for at, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis, step = at if axes is None else axes[at], 1 if steps is None else steps[at]
        stop = None if step < 0 and end < -data.shape[axis] else end
        index[axis] = slice(start, stop, step)
    return data[tuple(index)]


_SLICE = ("starts", "ends", "axes", "steps")


def _numbers(node: ir.Node, inputs: Sequence[Array | None], at: int, name: str) -> list[int] | None:
    """An operand of a Slice, an attribute before opset 10."""
    operand = inputs[at] if at < len(inputs) else None
    if operand is not None:
        return [int(number) for number in operand.reshape(-1)]
    numbers = node.attributes.get_ints(name, None)
    return None if numbers is None else list(numbers)


_VIEWS = frozenset(["Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity"])
"""Operators whose result has the elements of the first input in the same order."""

_MOVES: dict[str, Callable[[ir.Node, Array, Sequence[Array | None]], Array | None]] = {
    **dict.fromkeys(_VIEWS, _view),
    "Concat": _concat,
    "Gather": _gather,
    "Slice": _slice,
    "Transpose": _transpose,
}
