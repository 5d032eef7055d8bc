"""`Peak`: the maximum of the totals of all moments, and the questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import RLock

from shapeinf.expr import Dim, Dimension
from shapeinf.inputs.reader import RangeLike, as_sizes
from shapeinf.lattice import ShapeStore
from shapeinf.memory.peak.answers import Largest, PeakAt, PeakBound, Region, qualified
from shapeinf.memory.peak.largest import Search
from shapeinf.memory.peak.query import Asked, both
from shapeinf.memory.peak.regions import regions_of
from shapeinf.memory.peak.terms import PeakTerm, Sizes, Unbounded, sizes_of, terms_of_peak, totals
from shapeinf.memory.sizes import too_long
from shapeinf.memory.timeline import Role, Timeline
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK, Budget
from shapeinf.solver.long_sums import canonical_form
from shapeinf.solver.upper_bounds import UpperBound, largest_bound, narrow_ranges


@synchronized
class Peak:
    """The most memory that is in use at once, in bytes: a maximum of polynomials in the dims of the inputs.

    It is sound: a total is left out only where it is proved to be never more than another one. Sizes that depend on
    data stand with their upper bounds; buffers without one are in `unbounded`, and then every answer says "at least".

    Every question has a budget of work, in steps that are the same on every machine. Where it is reached the answer is
    right all the same, but another one may be sharper: terms that can never win (`cut`), a bound that may be less.

    >>> from shapeinf.lattice import Shape
    >>> from shapeinf.memory import Buffer, ProgramPoint
    >>> store = ShapeStore()
    >>> b, s = store.scope.symbol("batch"), store.scope.symbol("seq")
    >>> def buffer(name, size, birth, death):
    ...     return Buffer(name, size, birth, death, "activation", "uint8", Shape([size]), (name,))
    >>> moments = (ProgramPoint("project", "MatMul"), ProgramPoint("score", "MatMul"))
    >>> peak = Peak(Timeline(moments, (buffer("p", 512 * b, 0, 1), buffer("q", b * s * s, 1, 2))), store)
    >>> print(peak)
    max(512*batch, batch*seq*seq)
    >>> print(peak.at(batch=2, seq=100))
    20000 bytes at MatMul 'score'
      20000 q
    >>> print(peak.over(batch=(1, 4), seq="1..64"))
    16384 (exact, tight)
    >>> print(peak.largest("seq", budget="1 MiB", batch=4))
    seq = 512 needs 1048576 of 1048576 bytes
    """

    def __init__(
        self,
        timeline: Timeline,
        store: ShapeStore,
        roles: Iterable[Role] = ("activation", "output"),
        *,
        labels: Mapping[Dimension, str] | None = None,
        smaller: Callable[[Mapping[str, int]], Peak | None] | None = None,
        work: int = WORK,
    ) -> None:
        """Counts the buffers of these roles.

        `labels` are the symbols that users choose, the dims of inputs, with their names; all that have a name by
        default. Others depend on data, whatever a file calls them. `smaller` gives the same peak for dims that may be
        below the least sizes that the formulas hold for; without it, to ask for less is an error. `work` is the budget
        of each question.
        """
        self.work = work
        self._budget = Budget(work)
        """Of the terms."""
        self._smaller = smaller
        self.timeline = timeline
        self.store = store
        self.roles = tuple(roles)
        self._asked = Asked(store, labels)
        counted = [buffer for buffer in timeline.buffers if buffer.role in self.roles]
        self._sizes: Sizes = sizes_of(counted, store, self._asked.kept, self._budget)

    @property
    def lock(self) -> RLock:
        """The lock that all questions take: see `Result.lock`."""
        return self.store.scope.lock

    @property
    def labels(self) -> Mapping[Dimension, str]:
        """The symbols that users choose, with what they call them."""
        return self._asked.labels

    def _for(self, asked: Mapping[str, RangeLike]) -> Peak:
        """The peak that can be asked about these sizes: of dims that may be so small, where these may not."""
        lower = self._asked.below(asked) if self._smaller is not None else None
        return (self._smaller(lower) if lower is not None and self._smaller is not None else None) or self

    @cached_property
    def terms(self) -> tuple[PeakTerm, ...]:
        """The totals that can be the peak, in the order of their first moments; none for a model without nodes."""
        found = totals(self.timeline, self._sizes, self.store)
        return terms_of_peak(found, self.store, self._budget)

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The terms, as dims of bytes."""
        return tuple(term.size for term in self.terms)

    @property
    def cut(self) -> bool:
        """Whether the budget of work was reached: with more, there may be fewer terms, or lower upper bounds."""
        return bool(self.terms) and self._budget.cut

    @property
    def unbounded(self) -> tuple[Unbounded, ...]:
        """The buffers without an upper bound, with causes; they come on top of every answer."""
        return self._sizes.unbounded

    @property
    def bounded(self) -> tuple[str, ...]:
        """The buffers whose size depends on data, and stands with its upper bound."""
        return self._sizes.bounded

    @property
    def at_least(self) -> bool:
        """Whether buffers of unknown size come on top."""
        return bool(self._sizes.unbounded)

    @property
    def at_most(self) -> bool:
        """Whether sizes that depend on data stand with their upper bounds."""
        return bool(self._sizes.bounded)

    @property
    def exact(self) -> bool:
        """Whether the peak is just this for all sizes with which the model runs."""
        return not self.at_least and not self.at_most

    def __str__(self) -> str:
        """`max(...)` of the terms, in bytes."""
        texts = list(
            dict.fromkeys(self._asked.shown(canonical_form(self.store, term.size)) for term in self.terms)
        ) or ["0"]
        text = texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"
        return qualified(text, self.at_least, self.at_most)

    def at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> PeakAt:
        """The peak for these sizes; names that are no identifiers go into the mapping.

        Raises UnknownNameError for a dim that there is not, MissingSizeError for one that is needed and not given,
        Contradiction for a size with which the model does not run: it names the fact.
        """
        given = as_sizes(both(sizes, more))
        other = self._for(given)
        if other is not self:
            return other.at(given)
        store = self._asked.bound(given)
        values = self._asked.evaluate((term.size for term in self.terms), store)
        if not values:
            return PeakAt(0, None, 0, (), self.at_least, self.at_most)
        most = max(values)
        index = min(term.moments[0] for term, value in zip(self.terms, values, strict=True) if value == most)
        places = [i for i, b in enumerate(self._sizes.buffers) if b.birth <= index < b.death]
        bytes_of = self._asked.evaluate((self._sizes.upper[i] for i in places), store)
        alive = [(self._sizes.buffers[i], size) for i, size in zip(places, bytes_of, strict=True)]
        alive.sort(key=lambda pair: (-pair[1], pair[0].birth))
        return PeakAt(most, self.timeline.moments[index], index, tuple(alive), self.at_least, self.at_most)

    def over(
        self,
        ranges: Mapping[str, RangeLike] | None = None,
        /,
        *,
        assume: Iterable[str] | str = (),
        **more: RangeLike,
    ) -> PeakBound:
        """The least upper bound of the peak over ranges of dims, cut by assumed relations and by all facts.

        A range is an int, a pair, `"lo..hi"` or a NamedDim; dims that are not given have the bounds that they have. The
        value is None where a dim that matters has none. Raises as `at` does, and AssumptionSyntaxError.
        """
        given = both(ranges, more)
        other = self._for(given)
        if other is not self:
            return other.over(given, assume=assume)
        store = self._asked.ranged(given, assume)
        dims = [term.size for term in self.terms]
        budget = Budget(self.work)
        narrow_ranges(store, dims, budget)
        best, place = largest_bound(store, dims or [0], budget)
        return PeakBound(
            best.value,
            best.engine,
            best.tight,
            self._asked.sizes(given, best, store),
            tuple(map(self._asked.label, best.unbounded)),
            best.cut,
            moment=self.timeline.moments[self.terms[place].moments[0]] if self.terms else None,
            at_least=self.at_least,
            at_most=self.at_most,
            cause=self._past_a_limit(best, place),
        )

    def _past_a_limit(self, best: UpperBound, place: int) -> str:
        """Which formula passes which limit, where that is why there is no bound."""
        cause = too_long(map(self.store.scope.symbol, best.unbounded))
        if not cause:
            return ""
        moment = self.timeline.moments[self.terms[place].moments[0]]
        return f"of a value in use at {moment.op} '{moment.node}', {cause}"

    def largest(
        self,
        name: str,
        /,
        budget: int | str,
        sizes: Mapping[str, RangeLike] | None = None,
        *,
        assume: Iterable[str] | str = (),
        **more: RangeLike,
    ) -> Largest:
        """The largest size of a dim with which the peak fits into a budget such as `"64MiB"`, or an int of bytes.

        Other dims are given sizes, or ranges, and then the peak must fit for all of them; the dim itself may have a
        range. Dims that are called `budget`, `sizes` or `assume` go into the mapping.

        Sizes with which the model does not run are no answer. Raises as `over` does, BudgetError, and MissingSizeError
        where a dim needs a size or a range.
        """
        given = both(sizes, more)
        other = self._for(given)
        if other is not self:
            return other.largest(name, budget, given, assume=assume)
        store = self._asked.ranged(given, assume)
        return Search(self.terms, store, self._asked, name, self.at_least, Budget(self.work)).largest(budget)

    def regions(
        self, name: str, ranges: Mapping[str, RangeLike] | None = None, /, **more: RangeLike
    ) -> tuple[Region, ...]:
        """Which term is the largest where, along one dim: `name` has a range, all others have sizes.

        Sizes with which the model does not run are not left out. Raises as `at` does.
        """
        given = both(ranges, more)
        other = self._for(given)
        if other is not self:
            return other.regions(name, given)
        store = self._asked.ranged(given)
        return regions_of(self.terms, store, self._asked, name, self.timeline, Budget(self.work))
