"""Slices and indices in torch: the arguments of `Tensor.slice` and `Tensor.index` as Python indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shapeinf.runtime.protocol import Refusal

OPEN = 2**31 - 1
"""The number that stands for an absent end or index."""


def slice_index(rank: int, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """The index of `Tensor.slice` and `Tensor.slice_copy`: numbers select, all other axes are sliced.

    The arguments are those of one axis (`dim`, `start`, `end`, `step`, `select`) or lists of them (`dims`, ...).
    Raises Refusal for lists of different lengths, and for axes that the tensor does not have.
    """
    dims = _values_by_axis(arguments, "dim", [])
    index: list[Any] = [slice(None)] * rank
    columns = [_values_by_axis(arguments, name, [None] * len(dims)) for name in ("select", "start", "end", "step")]
    if any(len(column) != len(dims) for column in columns):
        raise Refusal(f"a slice of {len(dims)} axes has lists of other lengths")
    for k, dim in enumerate(dims):
        if not isinstance(dim, int) or not -rank <= dim < rank:
            raise Refusal(f"there is no axis {dim} in a tensor of rank {rank}")
        select, start, end, step = (_number(column[k]) for column in columns)
        index[dim] = slice(start, end, step) if select is None else select
    return tuple(index)


def _values_by_axis(arguments: Mapping[str, Any], name: str, default: list[Any]) -> list[Any]:
    """The values of an argument by axis: the single value, or the list under its plural; else the default."""
    if name in arguments:
        return [arguments[name]]
    listed = arguments.get(f"{name}s")
    return default if listed is None else list(listed)


def _number(value: Any) -> int | None:
    """A position as a number; None for an open one."""
    number = None if value is None else int(value)
    return None if number == OPEN else number


def advanced_index(torch: Any, indices: Any) -> tuple[Any, ...]:
    """The index of `Tensor.index`, of tensors and lists of numbers; None is a whole axis."""
    items: Sequence[Any] = indices if isinstance(indices, (list, tuple)) else [indices]
    return tuple(
        slice(None) if item is None else torch.tensor(item) if isinstance(item, (list, int)) else item for item in items
    )
