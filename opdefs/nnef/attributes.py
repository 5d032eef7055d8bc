"""Attributes: axes, integers and lists of integers, whose items may be the contents of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules import numbers
from opdefs.rules.numbers import read_int
from shapeinf.errors import ShapeError
from shapeinf.expr import DimSize
from shapeinf.formats.nnef.versions import TRACT
from shapeinf.ops import InferenceContext

Listed = tuple[object, ...]
"""A list of integers in an attribute; an item may be the contents of a tensor of rank 0 or 1."""


def read_front_axis(c: InferenceContext, axis: object, rank: int, name: str = "axis") -> int:
    """An axis from 0 to rank - 1: neither NNEF nor tract counts from the end.

    Exporters for tract write negative axes as in torch; these are accepted with a warning.
    """
    at = read_int(c, axis, name)
    if c.version == TRACT and -rank <= at < 0:
        message = f"{name} is {at} and counts from the end, as in torch; tract itself rejects it"
        c.warnings = (*c.warnings, ShapeError(message))
        return at + rank
    if not 0 <= at < rank:
        c.fail(f"{name} must lie in 0..{rank - 1}, but is {at}")
    return at


def read_front_axes(c: InferenceContext, axes: object, rank: int, name: str = "axes") -> tuple[int, ...]:
    """Several distinct axes."""
    if not isinstance(axes, tuple):
        axes = (axes,)
    indices = tuple(read_front_axis(c, axis, rank, f"an item of {name}") for axis in axes)
    if len(set(indices)) != len(indices):
        c.fail(f"{name} must not repeat an axis", indices)
    return indices


def read_flat_dims(c: InferenceContext, values: object, name: str) -> tuple[DimSize | None, ...]:
    """A list of integers, each known, symbolic, or None if it is unknown."""
    if isinstance(values, tuple) and c.version == TRACT:  # where an item may be a tensor of several integers
        values = flatten(values)
    return numbers.read_dims(c, values, name)


def is_computed(c: InferenceContext, attribute: str, index: int) -> bool:
    """Whether an item of a list attribute is the contents of a tensor, not a literal."""
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


def check_choice(c: InferenceContext, value: str, choices: Sequence[str], name: str) -> None:
    """Require that the attribute `name` is one of the choices."""
    if value not in choices:
        c.fail(f"{name} must be one of {', '.join(choices)}", value)
