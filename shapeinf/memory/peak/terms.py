"""From a timeline to the totals of all moments, and from those to the terms of the peak."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from shapeinf.errors import LimitError
from shapeinf.expr import Dim, Dimension, Scope
from shapeinf.expr.dimension import Monomial, terms_of
from shapeinf.lattice import ShapeStore
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.solver.budget import Budget
from shapeinf.solver.dominance import find_undominated
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_sums import canonical_form, is_long

MAX_WORK = 2_000_000
"""Coefficients of all totals together: ten thousand nodes with hundreds of different products of dims; some seconds."""


@attrs.frozen
class PeakTerm:
    """A total that may be the largest.

    Args:
        size: bytes.
        moments: the moments, by number, at which just so much is in use; equal totals are one term.
    """

    size: Dim
    moments: tuple[int, ...]


@attrs.frozen
class Unbounded:
    """A buffer of which no upper bound is known, and why; it comes on top of what a peak says."""

    name: str
    cause: str

    def __str__(self) -> str:
        """Both."""
        return f"{self.name}: {self.cause}"


@attrs.frozen
class Sizes:
    """What each counted buffer takes at most, in symbols that can be asked about.

    Args:
        buffers: those that count.
        upper: their bytes, upper bounds of those that depend on data; lower bounds of those that have no upper one.
        bounded: the names of buffers that stand with an upper bound.
        unbounded: those that have none.
    """

    buffers: tuple[Buffer, ...]
    upper: tuple[Dim, ...]
    bounded: tuple[str, ...]
    unbounded: tuple[Unbounded, ...]


def sizes_of(buffers: Sequence[Buffer], store: ShapeStore, kept: Callable[[Dimension], bool], budget: Budget) -> Sizes:
    """The sizes of buffers without what depends on data."""
    without = Elimination(store, kept, budget)
    upper: list[Dim] = []
    bounded: list[str] = []
    unbounded: list[Unbounded] = []
    for buffer in buffers:
        size = None if buffer.size is None else without.upper(buffer.size)
        if size is None:
            unbounded.append(Unbounded(buffer.name, why_unbounded(buffer, without)))
            low = 0 if buffer.size is None else without.lower(buffer.size)
            size = low if low is not None and not is_long(low) and store.bounds(low)[0] >= 0 else 0
        elif buffer.size is not None and not without.stays(canonical_form(store, buffer.size)):
            bounded.append(buffer.name)
        upper.append(size)
    return Sizes(tuple(buffers), tuple(upper), tuple(bounded), tuple(unbounded))


def why_unbounded(buffer: Buffer, without: Elimination) -> str:
    """Why a buffer has no upper bound."""
    if buffer.size is None:
        return buffer.cause or "its size is not known"
    symbols = without.unbounded(buffer.size)
    if not symbols:
        return f"its size {buffer.size} has no upper bound"
    return (
        too_long(symbols) or f"{', '.join(map(str, symbols))} {'has' if len(symbols) == 1 else 'have'} no upper bound"
    )


def totals(timeline: Timeline, sizes: Sizes, store: ShapeStore) -> dict[Dim, list[int]]:
    """The different totals that can be the largest, with the moments that have them, in one walk over time.

    A moment before one at which buffers are only made is left out: the next total is that and more.
    """
    changes = _changes(timeline, sizes)
    running: dict[Monomial, int] = {}
    found: dict[Dim, list[int]] = {}
    work = 0
    total: Dim | None = 0
    for moment, changed in enumerate(changes):
        for size, sign in changed:
            _add(running, store.scope, size, sign)
        total = None if changed else total
        if moment + 1 < len(changes) and _only_grows(changes[moment + 1], store):
            continue
        if total is None:
            work += len(running)
            if work > MAX_WORK:
                raise LimitError("the sizes of its tensors are too many different expressions to find a symbolic peak")
            total = store.scope.make(running)
        found.setdefault(total, []).append(moment)
    return found


def _changes(timeline: Timeline, sizes: Sizes) -> list[list[tuple[Dim, int]]]:
    """For each moment the sizes that come (1) and go (-1)."""
    count = len(timeline.moments)
    changes: list[list[tuple[Dim, int]]] = [[] for _ in range(count)]
    for buffer, size in zip(sizes.buffers, sizes.upper, strict=True):
        first, end = max(buffer.birth, 0), min(buffer.death, count)
        if first < end:
            changes[first].append((size, 1))
            if end < count:
                changes[end].append((size, -1))
    return changes


def _only_grows(changed: Sequence[tuple[Dim, int]], store: ShapeStore) -> bool:
    """Whether a total is larger after these changes, and cannot be smaller."""
    made = [size for size, sign in changed if sign > 0 and size != 0]
    if not made or any(sign < 0 for _, sign in changed):
        return False
    return all(not is_long(size) and store.bounds(size)[0] >= 0 for size in made)


def _add(running: dict[Monomial, int], scope: Scope, size: Dim, sign: int) -> None:
    for monomial, coefficient in terms_of(scope, size):
        left = running.get(monomial, 0) + sign * coefficient
        if left:
            running[monomial] = left
        else:
            running.pop(monomial, None)


def terms_of_peak(found: Mapping[Dim, Sequence[int]], store: ShapeStore, budget: Budget) -> tuple[PeakTerm, ...]:
    """The totals that are not proved to be always at most another one, in the order of their first moments."""
    dims = list(found)
    kept = [PeakTerm(dims[place], tuple(found[dims[place]])) for place in find_undominated(store, dims, budget=budget)]
    return tuple(sorted(kept, key=lambda term: term.moments))
