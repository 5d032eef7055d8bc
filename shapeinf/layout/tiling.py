"""From dims to places in memory, through the tiles of a layout, one tile after the other.

A tile acts on the most minor dims. `*` first makes one dim of its dim and the next. Each dim that a tile acts on
becomes two: how many tiles there are (rounded up), and the size of the tile; the second ones go to the minor end.
"""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.expr import Dim, ceildiv
from shapeinf.layout.array_type import ArrayType, product
from shapeinf.layout.layout import Tile

Place = Any
"""An index along one dim: an int, a symbolic dimension, or a numpy array of ints."""


@attrs.frozen
class Step:
    """One tile on the dims that it found.

    Args:
        dims: the physical dims before, major to minor; 1 where the tile is longer.
        groups: which of them become one dim, in order.
        tile: the size of the tile for each group; None where the tile does not reach.
        added: how many dims of size 1 are at the front because the tile is longer.
    """

    dims: tuple[Dim, ...]
    groups: tuple[tuple[int, ...], ...]
    tile: tuple[int | None, ...]
    added: int

    @classmethod
    def of(cls, tile: Tile, dims: tuple[Dim, ...]) -> Step:
        """This tile on these physical dims."""
        added = max(len(tile) - len(dims), 0)
        dims = (1,) * added + dims
        outside = len(dims) - len(tile)
        groups: list[tuple[int, ...]] = [(i,) for i in range(outside)]
        sizes: list[int | None] = [None] * outside
        joined: tuple[int, ...] = ()
        for i, size in enumerate(tile, outside):
            joined = (*joined, i)
            if not isinstance(size, str):
                groups.append(joined)
                sizes.append(size)
                joined = ()
        return cls(dims, tuple(groups), tuple(sizes), added)

    @property
    def joined(self) -> list[Dim]:
        """The sizes of the groups."""
        return [product(self.dims[i] for i in group) for group in self.groups]

    @property
    def result(self) -> tuple[Dim, ...]:
        """The physical dims after it."""
        outer = [size if t is None else ceildiv(size, t) for size, t in zip(self.joined, self.tile, strict=True)]
        return (*outer, *(t for t in self.tile if t is not None))

    def flat(self, index: list[Place], group: tuple[int, ...]) -> Place:
        """The index along a group of the indices along its dims."""
        total: Place = 0
        for i, place in zip(group, index, strict=True):
            total = total * self.dims[i] + place
        return total

    def apply(self, index: list[Place]) -> list[Place]:
        """The index after it of the index before."""
        index = [0] * self.added + index
        places = [self.flat([index[i] for i in group], group) for group in self.groups]
        pairs = list(zip(places, self.tile, strict=True))
        return [p if t is None else p // t for p, t in pairs] + [p % t for p, t in pairs if t is not None]

    def undo(self, index: list[Place]) -> list[Place]:
        """The index along the groups before it; it may be in the padding."""
        inner = iter(index[len(self.groups) :])
        return [p if t is None else p * t + next(inner) for p, t in zip(index, self.tile, strict=False)]

    def ungroup(self, places: list[Place]) -> list[Place]:
        """The index along the dims of the index along the groups."""
        index: list[Place] = []
        for group, place in zip(self.groups, places, strict=True):
            digits = []
            for i in reversed(group[1:]):
                digits.append(place % self.dims[i])
                place = place // self.dims[i]
            index += [place, *reversed(digits)]
        return index[self.added :]


def physical_dims(array: ArrayType) -> tuple[Dim, ...]:
    """The dims in the order of memory, major to minor, before any tile."""
    sizes = array.sizes
    return tuple(sizes[d] for d in array.layout.major_to_minor)


def steps(array: ArrayType) -> tuple[list[Step], tuple[Dim, ...]]:
    """The tiles one after the other, and the dims at the end, which are row-major in memory."""
    dims = physical_dims(array)
    found = []
    for tile in array.layout.tiles:
        step = Step.of(tile, dims)
        found.append(step)
        dims = step.result
    return found, dims
