"""The layout of an array: the order of its dims in memory, its tiles, and the bits of an element."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

from shapeinf.errors import LayoutError, LimitError

MAX_RANK = 64
"""Limit on the dims of an array, as in numpy."""

MAX_INT = (1 << 63) - 1
"""Sizes and counts are signed 64-bit numbers in every format that has this text form."""

MAX_MEMORY_SPACE = 127
"""XLA stores the memory space in 8 bits and truncates larger numbers silently; here they are refused."""

Tile = tuple[int | Literal["*"], ...]
"""Sizes of one tile, major to minor. `*` merges a dim and the next more minor one before it is tiled."""


@attrs.frozen
class Split:
    """A dim that is split at these indices into parts with separate memory."""

    dimension: int
    indices: tuple[int, ...]

    def __str__(self) -> str:
        """`(0:512)`."""
        return f"({self.dimension}:{','.join(map(str, self.indices))})"


def integer(value: object, name: str, low: int, high: int = MAX_INT) -> int:
    """The value as an int in `low..high`; LayoutError names it by `name`."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise LayoutError(f"{name} must be an int, not {value!r}") from None
    if not low <= number <= high:
        raise LayoutError(f"{name} must be in {low}..{high}, not {number}")
    return number


def permutation(values: Iterable[int], name: str, rank: int | None = None) -> tuple[int, ...]:
    """The values as a permutation of `0..rank-1`; LayoutError names the dim that is not.

    >>> permutation([1, 0], "minor_to_major")
    (1, 0)
    """
    if not isinstance(values, Iterable):
        raise LayoutError(f"{name} must be a list of dims, not {values!r}")
    dims = tuple(values)
    if len(dims) > MAX_RANK:
        raise LimitError(f"{name} has {len(dims)} dims; at most {MAX_RANK} are supported")
    rank = len(dims) if rank is None else rank
    if len(dims) != rank:
        raise LayoutError(f"{name} has {len(dims)} dims, but the array has {rank}")
    numbers = tuple(integer(d, f"a dim in {name}", 0, rank - 1) for d in dims)
    if len(set(numbers)) != rank:
        twice = next(d for d in numbers if numbers.count(d) > 1)
        raise LayoutError(f"{name} has dim {twice} twice")
    return numbers


def _tile(sizes: Sequence[int | Literal["*"]]) -> Tile:
    tile: Tile = tuple(s if s == "*" else integer(s, "a size of a tile", 1) for s in sizes)
    if not tile:
        raise LayoutError("a tile must have a size")
    if len(tile) > MAX_RANK:
        raise LimitError(f"a tile has {len(tile)} sizes; at most {MAX_RANK} are supported")
    if tile[-1] == "*":
        raise LayoutError("'*' makes one dim of two: it cannot be the last of a tile")
    return tile


def _tiles(tiles: Iterable[Sequence[int | Literal["*"]]]) -> tuple[Tile, ...]:
    parsed = tuple(map(_tile, tiles))
    if len(parsed) > MAX_RANK:
        raise LimitError(f"a layout has {len(parsed)} tiles; at most {MAX_RANK} are supported")
    return parsed


def _splits(splits: Iterable[Split]) -> tuple[Split, ...]:
    return tuple(splits)


def _minor_to_major(dims: Iterable[int]) -> tuple[int, ...]:
    return permutation(dims, "minor_to_major")


@attrs.frozen(repr=False)
class Layout:
    """How the dims of an array are stored in memory.

    XLA reads layouts without a check; here every `Layout` is valid. No size and no index depends on the memory space,
    the splits and the prefix.

    Args:
        minor_to_major: the dims, the one whose neighbors are adjacent in memory first.
        tiles: the array is cut into tiles, padded to full ones; each tile is cut into the next ones.
        element_size_in_bits: bits of one element where elements are packed; 0 where they are not.
        tail_padding_alignment_in_elements: the number of elements in memory is rounded up to a multiple of it.
        memory_space: the number of the memory; 0 is the default.
        splits: dims that are split into parts.
        metadata_prefix_in_bytes: room before the elements for the true sizes of dynamic dims.

    >>> Layout((1, 0), tiles=[(8, 128)], element_size_in_bits=4)
    {1,0:T(8,128)E(4)}
    """

    minor_to_major: tuple[int, ...] = attrs.field(converter=_minor_to_major)
    tiles: tuple[Tile, ...] = attrs.field(default=(), converter=_tiles)
    element_size_in_bits: int = 0
    tail_padding_alignment_in_elements: int = 1
    memory_space: int = 0
    splits: tuple[Split, ...] = attrs.field(default=(), converter=_splits)
    metadata_prefix_in_bytes: int = 0

    def __attrs_post_init__(self) -> None:
        """Check the numbers."""
        integer(self.element_size_in_bits, "element_size_in_bits", 0)
        integer(self.tail_padding_alignment_in_elements, "tail_padding_alignment_in_elements", 1)
        integer(self.memory_space, "memory_space", 0, MAX_MEMORY_SPACE)
        integer(self.metadata_prefix_in_bytes, "metadata_prefix_in_bytes", 0)
        for split in self.splits:
            integer(split.dimension, "the dim of a split", 0, self.rank - 1)
            for index in split.indices:
                integer(index, "a split", 1)
            if not split.indices or any(a >= b for a, b in zip(split.indices, split.indices[1:], strict=False)):
                raise LayoutError(f"a split needs rising indices, not {split}")
        if len({split.dimension for split in self.splits}) != len(self.splits):
            raise LayoutError("a dim is split twice")

    @classmethod
    def descending(cls, rank: int) -> Layout:
        """The default layout: row-major, the last dim minor.

        >>> Layout.descending(3)
        {2,1,0}
        """
        return cls(range(integer(rank, "rank", 0, MAX_RANK) - 1, -1, -1))

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.minor_to_major)

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """The dims, the one that varies slowest in memory first."""
        return self.minor_to_major[::-1]

    @property
    def suffix(self) -> str:
        """The text after the dims: tiles, tail padding, element size, memory space, splits and prefix."""
        tail, bits, space = self.tail_padding_alignment_in_elements, self.element_size_in_bits, self.memory_space
        text = "T" + "".join(f"({','.join(map(str, tile))})" for tile in self.tiles) if self.tiles else ""
        text += f"L({tail})" if tail != 1 else ""
        text += f"E({bits})" if bits else ""
        text += f"S({space})" if space else ""
        text += "SC" + "".join(map(str, self.splits)) if self.splits else ""
        return text + (f"M({self.metadata_prefix_in_bytes})" if self.metadata_prefix_in_bytes else "")

    def __str__(self) -> str:
        """`{1,0:T(8,128)}`."""
        return "{" + ",".join(map(str, self.minor_to_major)) + (f":{self.suffix}" if self.suffix else "") + "}"

    __repr__ = __str__
