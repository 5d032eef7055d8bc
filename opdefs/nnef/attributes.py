"""Attributes: axes, integers and lists of integers, which may contain contents of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.elements import to_dim
from shapeinf.errors import ShapeError
from shapeinf.expr import Dim
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.ops import InferenceContext

Listed = tuple[object, ...]
"""A list of integers in an attribute; an item may be the contents of a tensor of rank 0 or 1."""


def read_axis(c: InferenceContext, axis: object, rank: int, name: str = "axis") -> int:
    """An axis, from 0 to rank - 1: NNEF does not count from the end.

    Neither does tract, but its exporters write negative axes as in torch: a warning.
    """
    at = read_int(c, axis, name)
    if c.version == TRACT and -rank <= at < 0:
        message = f"{name} is {at} and counts from the end, as in torch; tract itself rejects it"
        c.warnings = (*c.warnings, ShapeError(message))
        return at + rank
    if not 0 <= at < rank:
        c.fail(f"{name} must lie in 0..{rank - 1}, but is {at}")
    return at


def read_axes(c: InferenceContext, axes: object, rank: int, name: str = "axes") -> tuple[int, ...]:
    """Several axes, without repetition."""
    if not isinstance(axes, tuple):
        axes = (axes,)
    indices = tuple(read_axis(c, axis, rank, f"an item of {name}") for axis in axes)
    if len(set(indices)) != len(indices):
        c.fail(f"{name} must not repeat an axis", indices)
    return indices


def read_dims(c: InferenceContext, values: object, name: str) -> tuple[Dim | None, ...]:
    """A list of integers, each known, symbolic, or None."""
    if not isinstance(values, tuple):
        values = (values,)
    elif c.version == TRACT:  # where a tensor of several integers gives them all
        values = flatten(values)
    return tuple(value if type(value) is int else _to_dim(c, value, name) for value in values)


def is_computed(c: InferenceContext, attribute: str, index: int) -> bool:
    """Whether an item of a list is the contents of a tensor, not a literal."""
    written = c.written.get(attribute)
    if not isinstance(written, tuple):
        return written is not None
    return index >= len(written) or not isinstance(written[index], int)


def flatten(values: Listed) -> Listed:
    """The items of nested lists, in order."""
    items: list[object] = []
    pending = list(reversed(values))
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending += reversed(item)
        else:
            items.append(item)
    return tuple(items)


def _to_dim(c: InferenceContext, value: object, name: str) -> Dim | None:
    while isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, tuple):
        c.fail(f"{name} must be a list of integers", value)
    return to_dim(value)  # type: ignore[arg-type]


def read_int(c: InferenceContext, value: object, name: str) -> int:
    """A known integer; raises NotKnown if it is symbolic."""
    if type(value) is int:
        return value
    dim = _to_dim(c, value, name)
    known = None if dim is None else c.concrete(dim)
    if known is None:
        raise c.unknowable(f"{name} is not known")
    return known


def read_ints(
    c: InferenceContext,
    values: object,
    name: str,
    least: int | None = None,
    count: int | None = None,
    each: str = "axis of the input",
) -> tuple[int, ...]:
    """A list of `count` known integers, each at least `least`; raises NotKnown if one is symbolic."""
    listed = values if isinstance(values, tuple) else (values,)
    numbers = tuple(read_int(c, value, f"an item of {name}") for value in listed)
    if count is not None:
        check_count(c, numbers, name, count, each)
    if least is not None and numbers and min(numbers) < least:
        c.fail(f"the items of {name} must be at least {least}", numbers)
    return numbers


def check_count(
    c: InferenceContext, values: Sequence[object], name: str, count: int, each: str = "axis of the input"
) -> None:
    """Require a list of `count` items."""
    if len(values) != count:
        c.fail(f"{name} must have {count} items, one for each {each}", tuple(values))


def check_choice(c: InferenceContext, value: str, choices: Sequence[str], name: str) -> None:
    """Require that an attribute is one of these words."""
    if value not in choices:
        c.fail(f"{name} must be one of {', '.join(choices)}", value)
