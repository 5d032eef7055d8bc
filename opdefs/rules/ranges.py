"""What a range of numbers requires: that its step leads from the start to the end."""

from __future__ import annotations

from opdefs.rules.contents.elements import to_dim
from shapeinf.lattice import Element
from shapeinf.ops import InferenceContext


def step_sign(c: InferenceContext, step: Element) -> int | None:
    """The sign of a step: -1, 0 or 1; None where it is undecided."""
    if isinstance(step, (int, float)):
        return (step > 0) - (step < 0)
    size = to_dim(step)
    if size is None:
        return None
    return 1 if c.prove_le(1, size) is True else -1 if c.prove_le(size, -1) is True else None


def require_order(
    c: InferenceContext, first: Element, last: Element, direction: int, message: str, *operands: object
) -> None:
    """Require that the end is not before the start, in the direction of the step. Errors show `operands`."""
    if isinstance(first, (int, float)) and isinstance(last, (int, float)):
        if (last - first) * direction < 0:
            c.fail(message, *operands)
        return
    low, high = (to_dim(e) for e in ((first, last) if direction > 0 else (last, first)))
    if low is not None and high is not None:
        c.at_most(low, high, message)
