"""Equal nodes with equal inputs have equal outputs, unknowns included, where nothing random is computed.

A call that created unknowns is not in the memo of an inference, since unknowns have the name of their node. It is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from shapeinf.engine.compiled import Operation


class RepeatableCall(NamedTuple):
    """A call that created unknowns: the row, the operation, the types of the inputs, and the types of the outputs."""

    row: int
    operation: Operation
    inputs: tuple[Any, ...]
    outputs: Sequence[int]


RepeatedCalls = dict[tuple[str, tuple[int, ...]], RepeatableCall]
"""By operator and input slots: the last node whose outputs have unknowns of its own."""


def repeated_outputs(
    calls: RepeatedCalls, row: int, slots: tuple[int, ...], operation: Operation, inputs: tuple[Any, ...]
) -> Sequence[int] | None:
    """The outputs of an earlier node with an equal operation, the same inputs and the same types; else None."""
    first = calls.get((operation.kind.op, slots))
    if first is None or first.row >= row or first.inputs != inputs:
        return None
    return first.outputs if _is_same_operation(first.operation, operation) else None


def is_repeatable(operation: Operation, slots: tuple[int, ...]) -> bool:
    """Whether a later node with an equal operation and the same inputs has the same outputs, unknowns included."""
    return bool(slots) and operation.call is not None and not operation.call.op_def.stateful and not operation.bodies


def _is_same_operation(a: Operation, b: Operation) -> bool:
    """Whether two operations have the same rule and equal attributes: a reader need not share one among equal nodes."""
    if a is b or a.call is None or b.call is None:
        return a is b
    return a.op_def is b.op_def and a.call.wanted == b.call.wanted and a.kind.attrs == b.kind.attrs
