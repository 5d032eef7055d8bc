"""From a timeline to the totals at all program points, and from those to the terms of the peak."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs

from shapeinf.errors import LimitError
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.dimension import Monomial, Terms, terms_of
from shapeinf.lattice import ShapeStore
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.solver.budget import Budget
from shapeinf.solver.dominance import find_undominated
from shapeinf.solver.elimination import Elimination
from shapeinf.solver.long_dims import canonical_form, is_long

MAX_WORK = 2_000_000
"""Limit on the coefficients of all totals together: ten thousand nodes with hundreds of distinct products of dims."""


@attrs.frozen
class PeakTerm:
    """A total that may be the largest one.

    Args:
        size: bytes.
        points: the indices of the program points with this total; equal totals are one term.
    """

    size: DimSize
    points: tuple[int, ...]


@attrs.frozen
class Unbounded:
    """A buffer without a known upper bound, and the cause; a peak does not count it."""

    name: str
    cause: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.name}: {self.cause}"


@attrs.frozen
class CountedBuffers:
    """The buffers that a peak counts, with their bytes in symbols that users bind.

    Args:
        buffers: all of them.
        upper: their bytes: upper bounds where they depend on data, lower bounds where no upper one is known.
        bounded: the names of the buffers counted with an upper bound, or of which a run may need less.
        unbounded: the buffers without one.
    """

    buffers: tuple[Buffer, ...]
    upper: tuple[DimSize, ...]
    bounded: tuple[str, ...]
    unbounded: tuple[Unbounded, ...]


def count_buffers(
    buffers: Sequence[Buffer], store: ShapeStore, bindable: Callable[[Dimension], bool], budget: Budget
) -> CountedBuffers:
    """The bytes of buffers, with symbols that are not bindable eliminated."""
    elimination = Elimination(store, bindable, budget)
    known: dict[DimSize | None, tuple[DimSize | None, bool]] = {None: (None, False)}
    upper: list[DimSize] = []
    bounded: list[str] = []
    unbounded: list[Unbounded] = []
    for buffer in buffers:
        if buffer.size not in known:
            known[buffer.size] = _eliminate(buffer.size or 0, elimination)
        size, is_retained = known[buffer.size]
        if size is None:
            unbounded.append(Unbounded(buffer.name, why_unbounded(buffer, elimination)))
            low = 0 if buffer.size is None else elimination.lower(buffer.size)
            size = low if low is not None and not is_long(low) and store.bounds(low)[0] >= 0 else 0
        elif buffer.is_bound or not is_retained:
            bounded.append(buffer.name)
        upper.append(size)
    return CountedBuffers(tuple(buffers), tuple(upper), tuple(bounded), tuple(unbounded))


def _eliminate(size: DimSize, elimination: Elimination) -> tuple[DimSize | None, bool]:
    """The upper bound of a size, and whether the size has no symbol to eliminate."""
    upper = elimination.upper(size)
    return upper, upper is not None and elimination.is_retained(canonical_form(elimination.store, size))


def why_unbounded(buffer: Buffer, elimination: Elimination) -> str:
    """Why a buffer has no upper bound."""
    if buffer.size is None:
        return buffer.cause or "its size is not known"
    symbols = elimination.unbounded_symbols(buffer.size)
    if not symbols:
        return f"its size {buffer.size} has no upper bound"
    return (
        too_long(symbols) or f"{', '.join(map(str, symbols))} {'has' if len(symbols) == 1 else 'have'} no upper bound"
    )


def totals(timeline: Timeline, sizes: CountedBuffers, store: ShapeStore) -> dict[DimSize, list[int]]:
    """The distinct totals that may be the largest, with the indices of their program points.

    A point is omitted where the next one only adds buffers, since the next total is no smaller.
    """
    changes = _changes(timeline, sizes)
    terms = {size: terms_of(store.scope, size) for size in dict.fromkeys(sizes.upper)}
    positive = {size for size in terms if not is_long(size) and store.bounds(size)[0] >= 0}
    running: dict[Monomial, int] = {}
    points_of: dict[frozenset[tuple[Monomial, int]], list[int]] = {}
    work = 0
    total: frozenset[tuple[Monomial, int]] | None = frozenset()
    for point, changed in enumerate(changes):
        for size, sign in changed:
            _add(running, terms[size], sign)
        total = None if changed else total
        if point + 1 < len(changes) and _only_grows(changes[point + 1], positive):
            continue
        if total is None:
            work += len(running)
            if work > MAX_WORK:
                raise LimitError("the sizes of its tensors are too many distinct expressions for a symbolic peak")
            total = frozenset(running.items())
        points_of.setdefault(total, []).append(point)
    return {store.scope.make(dict(total)): points for total, points in points_of.items()}


def _changes(timeline: Timeline, sizes: CountedBuffers) -> list[list[tuple[DimSize, int]]]:
    """For each program point the sizes that become live (1) and dead (-1)."""
    count = len(timeline.points)
    changes: list[list[tuple[DimSize, int]]] = [[] for _ in range(count)]
    for buffer, size in zip(sizes.buffers, sizes.upper, strict=True):
        first, end = max(buffer.birth, 0), min(buffer.death, count)
        if first < end:
            changes[first].append((size, 1))
            if end < count:
                changes[end].append((size, -1))
    return changes


def _only_grows(changed: Sequence[tuple[DimSize, int]], positive: Collection[DimSize]) -> bool:
    """Whether these changes can only make a total larger; `positive` are the sizes that are not negative."""
    grows = False
    for size, sign in changed:
        if sign < 0 or size not in positive:
            return False
        grows |= size != 0
    return grows


def _add(running: dict[Monomial, int], terms: Terms, sign: int) -> None:
    for monomial, coefficient in terms:
        total = running.get(monomial, 0) + sign * coefficient
        if total:
            running[monomial] = total
        else:
            running.pop(monomial, None)


def terms_of_peak(
    points_of: Mapping[DimSize, Sequence[int]], store: ShapeStore, budget: Budget
) -> tuple[PeakTerm, ...]:
    """The totals that are not provably at most another one, in the order of their first program points."""
    dims = list(points_of)
    terms = [PeakTerm(dims[i], tuple(points_of[dims[i]])) for i in find_undominated(store, dims, budget=budget)]
    return tuple(sorted(terms, key=lambda term: term.points))
