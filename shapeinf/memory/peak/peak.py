"""`Peak`: the maximum of the totals at all program points, and the queries on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import RLock

import attrs

from shapeinf.engine.garbage import pause_garbage_collection
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.reader import RangeLike, as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Largest, PeakAt, PeakBound, Region
from shapeinf.memory.peak.largest import LargestSearch
from shapeinf.memory.peak.pickled import PickledPeak
from shapeinf.memory.peak.query import SizeQuery, merge_specs
from shapeinf.memory.peak.regions import regions_of
from shapeinf.memory.peak.terms import CountedBuffers, PeakTerm, Unbounded, count_buffers, terms_of_peak, totals
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Buffer, Role, Timeline
from shapeinf.pickling import Reduced, reduce_record
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK, Budget
from shapeinf.solver.long_dims import canonical_form
from shapeinf.solver.upper_bounds import UpperBound, largest_bound, narrow_ranges
from shapeinf.texts import object_text, qualify


@synchronized
class Peak:
    """The most memory in use at once, in bytes: a maximum of polynomials in the dims of the inputs.

    It is sound: a total is omitted only where it is provably never more than another one. Sizes that depend on data
    are counted with their upper bounds; buffers without one are in `unbounded`, and every result is then "at least".

    Every query has a work budget, in steps that are the same on every machine. Where it is reached the result is still
    sound but may be less sharp: terms that never win remain (`cut`), a bound may be larger than the least one.

    >>> from shapeinf.lattice import Shape
    >>> from shapeinf.memory import Buffer, ProgramPoint
    >>> store = ShapeStore()
    >>> b, s = store.scope.symbol("batch"), store.scope.symbol("seq")
    >>> def buffer(name, size, birth, death):
    ...     return Buffer(name, size, birth, death, "activation", "uint8", Shape([size]), (name,))
    >>> points = (ProgramPoint("project", "MatMul"), ProgramPoint("score", "MatMul"))
    >>> peak = Peak(Timeline(points, (buffer("p", 512 * b, 0, 1), buffer("q", b * s * s, 1, 2))), store)
    >>> print(peak)
    max(512*batch, batch*seq*seq)
    >>> print(peak.at(batch=2, seq=100))
    20000 bytes at MatMul 'score'
      20000 q
    >>> print(peak.over(batch=(1, 4), seq="1..64"))
    16384 (exact, tight)
    >>> print(peak.largest("seq", limit="1 MiB", batch=4))
    seq = 512 needs 1048576 of 1048576 bytes
    """

    def __init__(
        self,
        timeline: Timeline,
        store: ShapeStore,
        roles: Iterable[Role] = ("activation", "output", "scratch"),
        *,
        labels: Mapping[Dimension, str] | None = None,
        peak_for: Callable[[Mapping[str, RangeLike]], Peak] | None = None,
        work: int = WORK,
    ) -> None:
        """The peak of the buffers of these roles.

        `labels` are the symbols that users bind, the dims of inputs, with their names; by default all that have a name.
        Other symbols depend on data, whatever their name in the file. `peak_for` returns the peak that holds for
        some sizes, this one included; without it other sizes are an error. `work` is the budget of each query.
        """
        self.work = work
        self._budget = Budget(work)
        """The budget of the terms."""
        self._find_peak = peak_for
        self.timeline = timeline
        self.store = store
        self.roles = tuple(roles)
        self._query = SizeQuery(store, labels)
        counted = [buffer for buffer in timeline.buffers if buffer.role in self.roles]
        self._sizes: CountedBuffers = count_buffers(counted, store, self._query.is_bindable, self._budget)

    @property
    def _lock(self) -> RLock:
        return self.store.scope.lock

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols that users bind, with their names."""
        return self._query.labels

    def _peak_for(self, ranges: Mapping[str, RangeLike]) -> Peak:
        """The peak that holds for these sizes or ranges."""
        return self if self._find_peak is None else self._find_peak(ranges)

    @cached_property
    @pause_garbage_collection()
    def terms(self) -> tuple[PeakTerm, ...]:
        """The totals that can be the peak, in the order of their first points; none for a model without nodes."""
        return terms_of_peak(totals(self.timeline, self._sizes, self.store), self.store, self._budget)

    @property
    def sizes(self) -> tuple[DimSize, ...]:
        """The terms, as dims of bytes."""
        return tuple(term.size for term in self.terms)

    @property
    def cut(self) -> bool:
        """Whether the work budget was reached: with more, there may be fewer terms, or lower upper bounds."""
        return bool(self.terms) and self._budget.cut

    @property
    def unbounded(self) -> tuple[Unbounded, ...]:
        """The buffers without an upper bound, with causes; no result counts them."""
        return self._sizes.unbounded

    @property
    def bounded(self) -> tuple[str, ...]:
        """The buffers that are counted with an upper bound: their size depends on data, or a run may need less."""
        return self._sizes.bounded

    @property
    def at_least(self) -> bool:
        """Whether buffers of unknown size are not counted."""
        return bool(self._sizes.unbounded)

    @property
    def at_most(self) -> bool:
        """Whether buffers are counted with upper bounds."""
        return bool(self._sizes.bounded)

    @property
    def exact(self) -> bool:
        """Whether this is the exact peak at all legal sizes."""
        return not self.at_least and not self.at_most

    def __str__(self) -> str:
        """`max(...)` of the terms, in bytes."""
        texts = list(
            dict.fromkeys(self._query.format(canonical_form(self.store, term.size)) for term in self.terms)
        ) or ["0"]
        text = texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"
        return qualify(text, self.at_least, self.at_most)

    def __repr__(self) -> str:
        """The formula."""
        return object_text(f"Peak: {self}")

    def __copy__(self) -> Peak:
        """Itself: queries do not change it."""
        return self

    def __deepcopy__(self, memo: object) -> Peak:
        """Itself."""
        return self

    def __reduce__(self) -> Reduced:
        """A pickle has the formula."""
        return reduce_record(PickledPeak(str(self), self.sizes, self.unbounded, self.bounded, self.cut))

    def at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> PeakAt:
        """The peak for these sizes; names that are no identifiers go into the mapping.

        Raises UnknownNameError for an unknown dim, MissingSizeError for a dim without a size, and Contradiction, which
        names the constraint, for a size with which the model does not run.
        """
        sizes = as_sizes(merge_specs(sizes, more))
        peak = self._peak_for(sizes)
        if peak is not self:
            return peak.at(sizes)
        store = self._query.bind(sizes)
        values = self._query.evaluate((term.size for term in self.terms), store)
        if not values:
            return PeakAt(0, None, 0, (), self.at_least, self.at_most)
        most = max(values)
        index = min(term.points[0] for term, value in zip(self.terms, values, strict=True) if value == most)
        alive = self._bytes_of(store, lambda buffer: buffer.birth <= index < buffer.death)
        alive.sort(key=lambda pair: (-pair[1], pair[0].birth))
        return PeakAt(most, self.timeline.points[index], index, tuple(alive), self.at_least, self.at_most)

    def buffers_at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> list[tuple[Buffer, int]]:
        """All counted buffers in the order of the timeline, with their bytes at these sizes. Raises as `at` does."""
        sizes = as_sizes(merge_specs(sizes, more))
        peak = self._peak_for(sizes)
        if peak is not self:
            return peak.buffers_at(sizes)
        return self._bytes_of(self._query.bind(sizes), lambda buffer: True)

    def _bytes_of(self, store: ShapeStore, wanted: Callable[[Buffer], bool]) -> list[tuple[Buffer, int]]:
        """The counted buffers that are wanted, with their bytes where the store fixes all sizes."""
        pairs = zip(self._sizes.buffers, self._sizes.upper, strict=True)
        chosen = [(buffer, upper) for buffer, upper in pairs if wanted(buffer)]
        sizes = self._query.evaluate((upper for _, upper in chosen), store)
        return [(buffer, size) for (buffer, _), size in zip(chosen, sizes, strict=True)]

    def over(
        self,
        ranges: Mapping[str, RangeLike] | None = None,
        /,
        *,
        assume: Iterable[str] | str = (),
        **more: RangeLike,
    ) -> PeakBound:
        """The least upper bound of the peak over ranges of dims, under all constraints and assumed relations.

        A range is an int, a pair, `"lo..hi"` or a Dim; other dims keep their bounds. The value is None where a dim
        of the peak is unbounded. Raises as `at` does, and AssumptionSyntaxError.
        """
        ranges = merge_specs(ranges, more)
        peak = self._peak_for(ranges)
        if peak is not self:
            return peak.over(ranges, assume=assume)
        store = self._query.restrict(ranges, assume)
        dims = [term.size for term in self.terms]
        budget = Budget(self.work)
        narrow_ranges(store, dims, budget)
        best, index = largest_bound(store, dims or [0], budget)
        return PeakBound(
            best.value,
            best.engine,
            best.tight,
            self._query.attaining_sizes(ranges, best, store),
            tuple(map(self._query.label, best.unbounded)),
            best.cut,
            best.needs_isl,
            point=self.timeline.points[self.terms[index].points[0]] if self.terms else None,
            at_least=self.at_least,
            at_most=self.at_most,
            cause=self._exceeded_limit(best, index),
        )

    def _exceeded_limit(self, best: UpperBound, index: int) -> str:
        """The formula that passes a limit, where that is why no bound is known."""
        cause = too_long(map(self.store.scope.symbol, best.unbounded))
        if not cause:
            return ""
        point = self.timeline.points[self.terms[index].points[0]]
        return f"of a value in use at {point.op} '{point.node}', {cause}"

    def largest(
        self,
        name: str,
        /,
        limit: int | str,
        sizes: Mapping[str, RangeLike] | None = None,
        *,
        assume: Iterable[str] | str = (),
        **more: RangeLike,
    ) -> Largest:
        """The largest size of a dim with which the peak fits into a limit such as `"64MiB"`, or an int of bytes.

        Other dims have sizes, or ranges over all of which the peak must fit; the dim itself may have a range. Dims
        named `limit`, `sizes` or `assume` go into the mapping.

        The result is a legal size. Raises as `over` does, BytesError, and MissingSizeError where a dim needs a size
        or a range.
        """
        ranges = merge_specs(sizes, more)
        peak = self._peak_for(ranges)
        if peak is not self:
            return peak.largest(name, limit, ranges, assume=assume)
        store = self._query.restrict(ranges, assume)
        search = LargestSearch(self.terms, store, self._query, name, self.at_least, Budget(self.work))
        largest = search.largest(limit)
        return attrs.evolve(largest, proven=largest.proven and not self.at_most)

    def regions(
        self, name: str, ranges: Mapping[str, RangeLike] | None = None, /, **more: RangeLike
    ) -> tuple[Region, ...]:
        """The largest term along one dim: `name` has a range, all others have sizes.

        Sizes with which the model does not run are included. Raises as `at` does.
        """
        ranges = merge_specs(ranges, more)
        peak = self._peak_for(ranges)
        if peak is not self:
            return peak.regions(name, ranges)
        store = self._query.restrict(ranges)
        return regions_of(self.terms, store, self._query, name, self.timeline, Budget(self.work))
