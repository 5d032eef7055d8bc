"""The sizes of a run compared with inferred dims: an unknown has one size in all tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shapeinf.expr import Dimension, DimSize, evaluate
from shapeinf.lattice import Shape


def observed_sizes(shapes: Iterable[tuple[Shape, Sequence[int]]], binding: Mapping[str, int]) -> dict[str, int]:
    """A binding, with the sizes that unknowns have in a run; `shapes` are inferred and real ones."""
    sizes = dict(binding)
    for inferred, real in shapes:
        for dim, size in zip(inferred.dims or (), real, strict=False):
            if isinstance(dim, Dimension) and dim.is_symbol:
                sizes.setdefault(dim.name, int(size))
    return sizes


def agrees(result: Any, dim: DimSize, size: int, sizes: Mapping[str, int]) -> bool:
    """Whether a dim may be this size: it is, where all of its symbols have sizes."""
    if size not in result.interval(dim):
        return False
    if isinstance(dim, int) or not dim.is_anonymous or all(symbol.name in sizes for symbol in dim.symbols()):
        return evaluate(dim, sizes) == size
    return True
