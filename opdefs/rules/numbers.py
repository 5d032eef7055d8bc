"""Attributes that are numbers or lists of numbers, each a literal or the contents of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import to_dim
from shapeinf.expr import DimSize
from shapeinf.ops import InferenceContext


def read_dim(c: InferenceContext, value: object, name: str) -> DimSize | None:
    """An integer attribute as a dim, None where it is unknown. A list of one item stands for the item."""
    if type(value) is int:
        return value
    while isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, (tuple, str)):
        c.fail(f"{name} must be an integer", value)
    return to_dim(value)  # type: ignore[arg-type]


def read_int(c: InferenceContext, value: object, name: str) -> int:
    """An integer attribute as an int. Raises NotKnown if it is unknown or symbolic."""
    dim = read_dim(c, value, name)
    known = None if dim is None else c.concrete(dim)
    if known is None:
        raise c.unknowable(f"{name} is unknown")
    return known


def read_dims(c: InferenceContext, values: object, name: str) -> tuple[DimSize | None, ...]:
    """A list attribute of integers as dims, None for each that is unknown; one integer stands for a list of one.

    Raises NotKnown if the list is unknown.
    """
    if values is None:
        raise c.unknowable(f"{name} is unknown")
    listed = values if isinstance(values, tuple) else (values,)
    return tuple(read_dim(c, value, f"an item of {name}") for value in listed)


def read_ints(
    c: InferenceContext,
    values: object,
    name: str,
    least: int | None = None,
    count: int | None = None,
    each: str = "axis of the input",
) -> tuple[int, ...]:
    """A list attribute of `count` integers as ints, each at least `least`; one integer is a list of one.

    Raises NotKnown if any is not an int.
    """
    items = values if isinstance(values, tuple) else (values,)
    listed = tuple(read_int(c, value, f"an item of {name}") for value in items)
    if count is not None:
        check_count(c, listed, name, count, each)
    if least is not None and listed and min(listed) < least:
        c.fail(f"the items of {name} must be at least {least}", listed)
    return listed


def check_count(
    c: InferenceContext, values: Sequence[object], name: str, count: int, each: str = "axis of the input"
) -> None:
    """Require a list of `count` items."""
    if len(values) != count:
        c.fail(f"{name} must have {count} items, one for each {each}", tuple(values))
