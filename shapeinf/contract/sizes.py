"""Legal sizes of one dim, in as few ranges and arithmetic progressions as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import attrs

from shapeinf.solver.budget import cut_text

Engine = Literal["isl", "evaluation"]

MAX_PROBES = 24
"""Sizes at the ends of the solved pieces that are tried, for rules that only break with numbers."""


@attrs.frozen
class LegalSizes:
    """The sizes of a dim with which the graph runs, of those in question.

    Args:
        name: the dim.
        values: the legal sizes, in order.
        engine: "isl" when they were solved for, "evaluation" when each size was tried.
        untried: sizes in question that were not tried: the work budget was reached.

    >>> print(LegalSizes("H", (32, 64, 96, 128), "isl"))
    H in 32, 64, ..., 128
    """

    name: str
    values: tuple[int, ...]
    engine: Engine
    untried: tuple[int, ...] = ()

    @property
    def pieces(self) -> tuple[range, ...]:
        """The sizes as ranges with steps, as few as a walk from the least to the greatest finds."""
        return tuple(pieces(self.values))

    def __contains__(self, size: object) -> bool:
        """Whether a size is legal."""
        return size in self.values

    def __len__(self) -> int:
        """How many there are."""
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        """All of them."""
        return iter(self.values)

    def __repr__(self) -> str:
        """The pieces, of which there are few: there may be many sizes."""
        return f"<LegalSizes {self}>"

    def __str__(self) -> str:
        """The pieces as text."""
        left = (
            f" ({', '.join(map(_format_piece, pieces(self.untried)))} not tried: {cut_text('solve(work=...)')})"
            if self.untried
            else ""
        )
        return f"{self.name} in " + (", ".join(map(_format_piece, self.pieces)) or "nothing") + left


def pieces(values: Sequence[int]) -> Iterator[range]:
    """Sorted values as ranges with steps; a step counts from three values on.

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
    """The sizes in order, each once, none below 0."""
    return sorted({v for v in values if v >= 0})


def probe_sizes(solved: LegalSizes, sizes: Sequence[int]) -> list[int]:
    """Of sorted sizes, a few at the ends of the solved pieces and next to them."""
    ends = {
        v
        for piece in solved.pieces[:4] + solved.pieces[-2:]
        for end in (piece[0], piece[-1])
        for v in (end - 1, end, end + 1)
    }
    return sorted(ends.union((sizes[0], sizes[-1])).intersection(sizes))[:MAX_PROBES]
