"""`LegalSizes`: the legal sizes of one dim, displayed as few ranges and arithmetic progressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import attrs

from shapeinf.pickling import versioned_pickle
from shapeinf.solver.budget import NEEDS_ISL, cut_text

Engine = Literal["solved", "evaluation"]

MAX_PROBES = 24
"""The most sizes around the ends of solved pieces that are tried, since some rules decide on numbers only."""


@versioned_pickle
@attrs.frozen
class LegalSizes:
    """The sizes of a dim with which the graph runs, among the requested ones.

    Args:
        name: the dim.
        values: the legal sizes, in order.
        engine: "solved" where the constraints were solved for them, "evaluation" where each size was tried.
        untried: the requested sizes that were not tried, since the budget was exhausted; with `needs_isl` also those
            that may be legal, where only isl, which is not installed, decides it.
        needs_isl: whether isl would solve for them.

    >>> print(LegalSizes("H", (32, 64, 96, 128), "solved"))
    H in 32, 64, ..., 128
    """

    name: str
    values: tuple[int, ...]
    engine: Engine
    untried: tuple[int, ...] = ()
    needs_isl: bool = False

    @property
    def pieces(self) -> tuple[range, ...]:
        """The legal sizes as ranges with steps; see `pieces`."""
        return tuple(pieces(self.values))

    def __contains__(self, size: object) -> bool:
        """Whether a size is legal."""
        return size in self.values

    def __len__(self) -> int:
        """The number of legal sizes."""
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        """The legal sizes, in order."""
        return iter(self.values)

    def __repr__(self) -> str:
        """The pieces as text."""
        return f"<LegalSizes {self}>"

    def __str__(self) -> str:
        """The pieces as text."""
        reason = f"not decided: {NEEDS_ISL}" if self.needs_isl else f"not tried: {cut_text('solve(work=...)')}"
        untried = f" ({', '.join(map(_format_piece, pieces(self.untried)))} {reason})" if self.untried else ""
        return f"{self.name} in " + (", ".join(map(_format_piece, self.pieces)) or "nothing") + untried


def pieces(values: Sequence[int]) -> Iterator[range]:
    """Sorted values as ranges, greedily from the first; a step other than 1 needs at least three values.

    >>> list(pieces([1, 2, 3, 8, 16, 24, 100]))
    [range(1, 4), range(8, 25, 8), range(100, 101)]
    """
    start = 0
    while start < len(values):
        stop = start + 1
        step = values[stop] - values[start] if stop < len(values) else 1
        while stop < len(values) and values[stop] - values[stop - 1] == step:
            stop += 1
        if stop - start < 3 and step != 1:
            stop, step = start + 1, 1
        yield range(values[start], values[stop - 1] + 1, step)
        start = stop


def _format_piece(piece: range) -> str:
    first, last = piece[0], piece[-1]
    if len(piece) == 1:
        return str(first)
    if piece.step == 1:
        return f"{first}..{last}"
    return ", ".join(map(str, piece)) if len(piece) <= 3 else f"{first}, {piece[1]}, ..., {last}"


def sort_sizes(values: Iterable[int]) -> list[int]:
    """The sizes in order, each once, without those below 0."""
    return sorted({v for v in values if v >= 0})


def probe_sizes(solved: LegalSizes, sizes: Sequence[int]) -> list[int]:
    """Some of the sorted sizes: those at the ends of solved pieces, and next to them."""
    ends = {
        v
        for piece in solved.pieces[:4] + solved.pieces[-2:]
        for end in (piece[0], piece[-1])
        for v in (end - 1, end, end + 1)
    }
    return sorted(ends.union((sizes[0], sizes[-1])).intersection(sizes))[:MAX_PROBES]
