"""The layout of an array: in which order its dims lie in memory, in which tiles, and with how many bits an element."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

from shapeinf.errors import LayoutError, LimitError

MAX_RANK = 64
"""Arrays of more dims are refused: numpy has the same limit."""

MAX_INT = (1 << 63) - 1
"""Sizes and counts are signed 64-bit numbers in every format that has this text form."""

MAX_MEMORY_SPACE = 127
"""XLA keeps the memory space in 8 bits, and turns larger numbers into others without a word; we refuse them."""

Tile = tuple[int | Literal["*"], ...]
"""Sizes of one tile, major to minor. `*` makes one dim of a dim and the next more minor one, before it is tiled."""


@attrs.frozen
class Split:
    """A dim that is cut at these indices into parts that are apart in memory."""

    dimension: int
    indices: tuple[int, ...]

    def __str__(self) -> str:
        """`(0:512)`."""
        return f"({self.dimension}:{','.join(map(str, self.indices))})"


def integer(value: object, what: str, low: int, high: int = MAX_INT) -> int:
    """The value as an int in `low..high`; LayoutError names `what` it is."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise LayoutError(f"{what} must be an int, not {value!r}") from None
    if not low <= number <= high:
        raise LayoutError(f"{what} must be in {low}..{high}, not {number}")
    return number


def permutation(values: Iterable[int], what: str, rank: int | None = None) -> tuple[int, ...]:
    """The values as a permutation of `0..rank-1`; LayoutError says what of that is not so.

    >>> permutation([1, 0], "minor_to_major")
    (1, 0)
    """
    if not isinstance(values, Iterable):
        raise LayoutError(f"{what} must be a list of dims, not {values!r}")
    found = tuple(values)
    if len(found) > MAX_RANK:
        raise LimitError(f"{what} has {len(found)} dims; at most {MAX_RANK} are read")
    rank = len(found) if rank is None else rank
    if len(found) != rank:
        raise LayoutError(f"{what} has {len(found)} dims, but the array has {rank}")
    numbers = tuple(integer(d, f"a dim in {what}", 0, rank - 1) for d in found)
    if len(set(numbers)) != rank:
        twice = next(d for d in numbers if numbers.count(d) > 1)
        raise LayoutError(f"{what} has dim {twice} twice")
    return numbers


def _tile(sizes: Sequence[int | Literal["*"]]) -> Tile:
    found: Tile = tuple(s if s == "*" else integer(s, "a size of a tile", 1) for s in sizes)
    if not found:
        raise LayoutError("a tile must have a size")
    if len(found) > MAX_RANK:
        raise LimitError(f"a tile has {len(found)} sizes; at most {MAX_RANK} are read")
    if found[-1] == "*":
        raise LayoutError("'*' makes one dim of two: it cannot be the last of a tile")
    return found


def _tiles(tiles: Iterable[Sequence[int | Literal["*"]]]) -> tuple[Tile, ...]:
    found = tuple(map(_tile, tiles))
    if len(found) > MAX_RANK:
        raise LimitError(f"a layout has {len(found)} tiles; at most {MAX_RANK} are read")
    return found


def _splits(splits: Iterable[Split]) -> tuple[Split, ...]:
    return tuple(splits)


def _minor_to_major(dims: Iterable[int]) -> tuple[int, ...]:
    return permutation(dims, "minor_to_major")


@attrs.frozen(repr=False)
class Layout:
    """How the dims of an array lie in memory.

    XLA itself takes layouts from texts without a check; here every layout that exists is a good one. The last two are
    kept and printed, but no function here looks at them.

    Args:
        minor_to_major: the dims, the one whose neighbours are next to each other in memory first.
        tiles: the array is cut into tiles (padded to whole ones), each tile into the next ones, and so on.
        element_size_in_bits: bits of one element where elements are packed; 0 where they are not.
        tail_padding_alignment_in_elements: the number of elements in memory is rounded up to a multiple of it.
        memory_space: the number of the memory that it is in; 0 is the ordinary one.
        splits: dims that are cut into parts.
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
        """What the text has after the dims: tiles, tail padding, element size, memory space, splits and prefix."""
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
