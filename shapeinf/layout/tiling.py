"""From logical dims to physical ones, through the tiles of a layout, one tile after the other.

A tile applies to the most minor dims. `*` first joins its dim with the next one. Each tiled dim becomes two: the number
of tiles (rounded up), and the size of the tile; the second ones go to the minor end.
"""

from __future__ import annotations

from typing import Any

import attrs

from shapeinf.expr import DimSize, ceildiv
from shapeinf.layout.array_type import ArrayType, product
from shapeinf.layout.layout import Tile

Index = Any
"""An index along one dim: an int, a symbolic dimension, or a numpy array of ints."""


@attrs.frozen
class TileStep:
    """One tile, applied to physical dims.

    Args:
        dims: the physical dims before, major to minor; 1 where the tile is longer.
        groups: the dims that are joined, in order.
        tile: the size of the tile for each group; None for a group that is not tiled.
        added: the number of dims of size 1 added at the front where the tile is longer.
    """

    dims: tuple[DimSize, ...]
    groups: tuple[tuple[int, ...], ...]
    tile: tuple[int | None, ...]
    added: int

    @classmethod
    def from_tile(cls, tile: Tile, dims: tuple[DimSize, ...]) -> TileStep:
        """This tile, applied to these physical dims."""
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
    def group_sizes(self) -> list[DimSize]:
        """The sizes of the groups."""
        return [product(self.dims[i] for i in group) for group in self.groups]

    @property
    def result(self) -> tuple[DimSize, ...]:
        """The physical dims after it."""
        outer = [size if t is None else ceildiv(size, t) for size, t in zip(self.group_sizes, self.tile, strict=True)]
        return (*outer, *(t for t in self.tile if t is not None))

    def flat(self, index: list[Index], group: tuple[int, ...]) -> Index:
        """The index along a group, from the indices along its dims."""
        total: Index = 0
        for i, along in zip(group, index, strict=True):
            total = total * self.dims[i] + along
        return total

    def apply(self, index: list[Index]) -> list[Index]:
        """The physical index after the tile, from the one before."""
        index = [0] * self.added + index
        joined = [self.flat([index[i] for i in group], group) for group in self.groups]
        pairs = list(zip(joined, self.tile, strict=True))
        return [p if t is None else p // t for p, t in pairs] + [p % t for p, t in pairs if t is not None]

    def undo(self, index: list[Index]) -> list[Index]:
        """The index along the groups before the tile; it may be in the padding."""
        inner = iter(index[len(self.groups) :])
        return [p if t is None else p * t + next(inner) for p, t in zip(index, self.tile, strict=False)]

    def ungroup(self, joined: list[Index]) -> list[Index]:
        """The index along the dims, from the index along the groups."""
        index: list[Index] = []
        for group, along in zip(self.groups, joined, strict=True):
            digits = []
            for i in reversed(group[1:]):
                digits.append(along % self.dims[i])
                along = along // self.dims[i]
            index += [along, *reversed(digits)]
        return index[self.added :]


def physical_dims(array: ArrayType) -> tuple[DimSize, ...]:
    """The dims in the order of memory, major to minor, before any tile."""
    sizes = array.sizes
    return tuple(sizes[d] for d in array.layout.major_to_minor)


def tile_steps(array: ArrayType) -> tuple[list[TileStep], tuple[DimSize, ...]]:
    """The tiles one after the other, and the dims at the end, which are row-major in memory."""
    dims = physical_dims(array)
    steps = []
    for tile in array.layout.tiles:
        step = TileStep.from_tile(tile, dims)
        steps.append(step)
        dims = step.result
    return steps, dims
