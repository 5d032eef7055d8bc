"""Loops: the types of loop-carried values inside and after the loop.

First the growth per trip (of sizes and of known contents) is extrapolated from one trip and checked on a trip of
symbolic number: a proof by induction. Where that fails, a loop of few trips is unrolled. In all other loops, the values
that do not grow evenly are relaxed to a fixpoint, with widening.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from opdefs.rules.contents.elements import clamp_at_zero
from opdefs.rules.extrapolation import Extrapolation, confirm, extrapolate
from shapeinf.constraints.conditions import excludes, try_condition
from shapeinf.errors import Source
from shapeinf.expr import Dimension, DimSize, maximum, minimum, substitute
from shapeinf.expr.extremum import expand_maximum
from shapeinf.lattice import (
    Alternatives,
    Condition,
    Element,
    PartialTensor,
    Shape,
    ShapeStore,
    TensorType,
    Type,
    map_dims,
    type_symbols,
)
from shapeinf.lattice.truths import Truth, logical_and, logical_not, nonnegative_condition
from shapeinf.ops import Body, InferenceContext

MAX_UNROLLED = 32
"""Loops of more trips are not unrolled."""

MAX_ROUNDS = 64
"""The most rounds of a fixpoint, besides one for each carried value."""

ENDLESS = 2**31 - 1
"""Trip limits from here on mean no limit: exporters of `while` write the largest int32 or int64."""


@attrs.frozen
class LoopResult:
    """The trip count of a loop, its carried values after the last trip, and the element type of each scan output."""

    trips: DimSize
    carried: list[Type]
    scanned: list[Type]


@attrs.frozen
class Trip:
    """One trip of a loop: a body that takes the carried values and returns them; subclasses add to both."""

    body: Body

    def inputs(self, number: Element, condition: Element, carried: Sequence[Type | None]) -> list[Type | None]:
        """The inputs of the body in trip `number`, counted from 0, where `condition` is the value before the trip."""
        return [*carried]

    def outputs(self, results: list[Type], trip: int | None, *, certain: bool, accumulate: bool) -> list[Type]:
        """The condition after the trip, the carried values and the scan outputs, of the outputs of the body.

        `trip` is the number of the trip, None for a symbolic or unknown one, which stands for any trip.
        """
        return results

    def count_scans(self, width: int) -> int:
        """The number of scan outputs, for `width` carried values."""
        return 0

    def run(
        self,
        number: Element,
        condition: Element,
        carried: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
        known: Truth = None,
    ) -> list[Type]:
        """Run the body for trip `number`; returns what `outputs` does. See `Body.run`.

        `known` holds before the trip; it is used unless the trip is certain.
        """
        trip = number if isinstance(number, int) else None
        values = self.inputs(number, condition, carried)
        holds = known if isinstance(known, Condition) else None
        results = self.body.run(values, certain=certain, accumulate=accumulate, trip=trip, condition=holds)
        return self.outputs(results, trip, certain=certain, accumulate=accumulate)

    def preview_condition(self, carried: Sequence[Type]) -> Truth:
        """The condition for these carried values; None where it is unknown before a trip has run."""
        return None

    def require_inputs(self, number: Element, carried: Sequence[Type]) -> None:
        """Add the constraints of the body in trip `number`. See `Body.require_inputs`."""
        self.body.require_inputs(self.inputs(number, True, carried))

    def repeat(self, trips: DimSize, number: Dimension) -> None:
        """Note that the last run stands for `trips` trips, of which `number` is the symbol. See `Body.repeat`."""
        self.body.repeat(trips, number)


@attrs.frozen
class NumberedTrip(Trip):
    """A body that takes the trip number and the condition before the carried values, and returns the condition first.

    `number` and `condition` are the shapes of these inputs: scalars, or vectors of one element.
    """

    number: Shape
    condition: Shape

    @classmethod
    def create(cls, body: Body, condition: Shape | None) -> NumberedTrip:
        """Scalars, or `[1]` where the body declares an axis; the condition has the rank of the condition input."""
        number, alone = (Shape((1,) if body.declared_rank(index) else ()) for index in (0, 1))
        return cls(body, number, alone if condition is None or condition.dims is None else Shape((1,) * len(condition)))

    def inputs(self, number: Element, condition: Element, carried: Sequence[Type | None]) -> list[Type | None]:
        """See `Trip`."""
        pairs = ("int64", self.number, number), ("bool", self.condition, condition)
        head = [PartialTensor(dtype, shape, None if e is None else (e,)) for dtype, shape, e in pairs]
        return [*head, *carried]

    def count_scans(self, width: int) -> int:
        """See `Trip`."""
        return self.body.num_outputs - 1 - width


def iterate(
    c: InferenceContext, trip: Trip, limit: DimSize | None, condition: Truth, carried: Sequence[Type]
) -> LoopResult:
    """The result of a loop of at most `limit` trips (None: no limit) that runs while its condition is true.

    `condition` is its value before the first trip, `carried` are the values that enter that trip.
    """
    if isinstance(limit, int) and limit >= ENDLESS:
        limit = None
    condition = c.decide(condition)
    if condition is False or (limit is not None and c.prove_le(limit, 0) is True):
        return LoopResult(0, list(carried), _scans_without_trips(trip, carried))
    number = c.fresh("iteration", 0) if limit is None else c.fresh_at_most(maximum(limit, 1) - 1, "iteration")
    certain = condition is True and (limit is None or c.prove_le(1, limit) is True)
    loop = _Loop(c, trip, limit, condition, list(carried), number, certain, len(c.store.scope.atoms))
    return loop.run()


@attrs.define
class _Loop:
    """A loop that may have trips; it is `certain` to have at least one where that is proven.

    `number` is the symbol for the number of any trip; `outer_atoms` is how many atoms existed before the body ran.
    """

    c: InferenceContext
    trip: Trip
    limit: DimSize | None
    condition: Truth
    carried: list[Type]
    number: Dimension
    certain: bool
    outer_atoms: int

    def run(self) -> LoopResult:
        """The result of the loop."""
        first = self.trip.run(0, True, self.carried, certain=self.certain, known=self._known_before_first())
        formulas = [self._extrapolate(old, new) for old, new in zip(self.carried, first[1:], strict=False)]
        outputs = self._prove(formulas, self._condition_before_any(first[0]))
        trips = None if outputs is None else self._count_trips(outputs[0])
        if outputs is not None and trips is not None:
            if self.c.prove_le(1, trips) is True:
                self.trip.require_inputs(trips - 1, _types_after(formulas, trips - 1))
            return self._result(formulas, outputs, trips)
        if self.condition is True and self._may_be_short(first[0]):
            unrolled = self._unroll()
            if unrolled is not None:
                return unrolled
            # once more, so that the last run of the body is that of a symbolic trip
            outputs = None if outputs is None else self._prove(formulas)
        if outputs is not None:
            return self._end(self._result(formulas, outputs, self._fresh_trip_count(outputs[0])))
        return self._relax(formulas)

    def _known_before_first(self) -> Truth:
        """What holds if there is a first trip."""
        some = None if self.limit is None else nonnegative_condition(self.limit - 1)
        known = logical_and(self.condition, True if some is None else some)
        return known if isinstance(known, Condition) and not excludes(self.c.store, known.expression) else None

    def _condition_before_any(self, after: Type) -> Condition | None:
        """The condition before trip `number`, if each trip changes it as the first one does; None for other loops.

        `after` is the condition after the first trip.
        """
        again = _condition_of(after)
        if not isinstance(again, Condition) or not isinstance(self.condition, Condition):
            return None
        step = again.expression - self.condition.expression
        before = self.condition.expression + step * self.number
        if not isinstance(step, int) or isinstance(before, int) or excludes(self.c.store, before):
            return None
        return Condition(before)

    def _end(self, result: LoopResult) -> LoopResult:
        """The result, when it is known that the condition does not hold for the values behind the loop."""
        if self.limit is None:
            holds = self.trip.preview_condition(result.carried)
            self._add_known(logical_not(holds))
        return result

    def _add_known(self, known: Truth) -> None:
        """Add what holds by definition: no node requires it."""
        if isinstance(known, Condition):
            try_condition(self.c.store, known.expression, Source("", "the loop has ended"))

    def _result(self, formulas: Sequence[Extrapolation | None], outputs: list[Type], trips: DimSize) -> LoopResult:
        """The result where all carried values grow evenly."""
        self.trip.repeat(trips, self.number)
        return LoopResult(trips, _types_after(formulas, trips), outputs[1 + len(self.carried) :])

    def _extrapolate(self, old: Type, new: Type) -> Extrapolation | None:
        """`extrapolate`; None where the new type has symbols that may differ between trips."""
        return None if old != new and self._varying(type_symbols(new)) else extrapolate(old, new)

    def _varying(self, symbols: Iterable[Dimension]) -> set[Dimension]:
        """The symbols that may differ between trips: the trip number, unknowns of the body, and joins."""
        joined = self.c.joined_symbols()
        return {s for s in symbols if s is self.number or s.atom >= self.outer_atoms or s in joined}

    # -- induction ---------------------------------------------------------------------------------------------------

    def _prove(self, formulas: Sequence[Extrapolation | None], before: Condition | None = None) -> list[Type] | None:
        """The outputs of a symbolic trip if all carried values grow evenly, else None.

        `before` is the supposed condition before the trip: the condition after it must then be that of the next trip.
        """
        if None in formulas or len(formulas) < len(self.carried):
            return None
        outputs = self.trip.run(self.number, True, _types_after(formulas, self.number), certain=False, known=before)
        if before is not None and _condition_of(outputs[0]) != _next_condition(before, self.number):
            return self._prove(formulas)
        expected = _types_after(formulas, self.number + 1)
        return outputs if outputs[1 : 1 + len(expected)] == expected else None

    def _count_trips(self, after: Type) -> DimSize | None:
        """The number of trips, None if unknown; `after` is the condition at the end of trip `number`."""
        trips = _trip_count(self.c, self.limit, self.condition, after, self.number)
        if trips is None:
            return None
        trips = self._drop_body_unknowns(trips)
        self.c.limit(self.number, maximum(trips, 1) - 1)
        return trips

    def _drop_body_unknowns(self, trips: DimSize) -> DimSize:
        """The trip count, replaced by an unknown with its bounds where it has symbols that differ between trips.

        The bounds hold for the condition of every trip, hence also for the last one.
        """
        if isinstance(trips, int):
            return trips
        if not self._varying(trips.symbols()):
            return trips
        bounds = self.c.interval(trips)
        return self.c.fresh("trips", bounds.lo or 0, bounds.hi)

    def _fresh_trip_count(self, after: Type | None) -> Dimension:
        """An unknown number of trips, limited by the known parts of the condition `after` a trip."""
        limits = [] if self.limit is None else [maximum(self.limit, 0)]
        limits += [] if after is None else _trip_limits(self.c, self.condition, after, self.number)
        known = [limit for limit in limits if isinstance(limit, int) or not self._varying(limit.symbols())]
        if not known:
            return self.c.fresh("trips", int(self.certain))
        trips = self.c.fresh_at_most(minimum(*known), "trips", int(self.certain))
        self.c.limit(self.number, maximum(minimum(*known), 1) - 1)
        return trips

    # -- trips one by one --------------------------------------------------------------------------------------------

    def _may_be_short(self, again: Type) -> bool:
        """Whether few trips are possible; `again` is the condition after the first one."""
        if self.limit is None:
            return _known_condition(again) is not None
        return isinstance(self.limit, int) and self.limit <= MAX_UNROLLED

    def _unroll(self) -> LoopResult | None:
        """The result of all trips, run one by one; None if a condition is unknown or there are too many trips."""
        width, state = len(self.carried), list(self.carried)
        most = self.limit if isinstance(self.limit, int) else MAX_UNROLLED
        scanned: list[Type] = []
        for number in range(most):
            outputs = self.trip.run(number, True, state, certain=True, accumulate=number > 0)
            state = outputs[1 : 1 + width]
            if number and outputs[1 + width :] != scanned:
                scanned = [self._join_elements(a, b) for a, b in zip(scanned, outputs[1 + width :], strict=True)]
            else:
                scanned = outputs[1 + width :]
            again = _known_condition(outputs[0])
            if again is not True and number + 1 != self.limit:
                return LoopResult(number + 1, state, scanned) if again is False else None
        return None if self.limit is None else LoopResult(most, state, scanned)

    def _join_elements(self, a: Type, b: Type) -> Type:
        """The element type of a scan output from two trips.

        Its shape must be the same in all trips. Runtimes check the number of elements only, so only that is required:
        sizes that differ are unknown.
        """
        dtype = a.dtype if isinstance(a, TensorType) else None
        if not isinstance(a, TensorType) or not isinstance(b, TensorType):
            return PartialTensor(dtype, Shape.unknown(), None)
        if a.shape == b.shape:
            return PartialTensor(dtype, a.shape, None)
        if a.shape.dims is not None and b.shape.dims is not None:
            counts = self.c.numel(a.shape), self.c.numel(b.shape)
            self.c.same_count(*counts, "a scan output must have the same number of elements in every iteration")
        return PartialTensor(dtype, Shape.unknown(), None)

    # -- fixpoint ----------------------------------------------------------------------------------------------------

    def _relax(self, formulas: Sequence[Extrapolation | None]) -> LoopResult:
        """Relax values that do not grow evenly until one more trip changes nothing: sound for any number of trips.

        A value with a formula is assumed to grow evenly until a trip contradicts that.
        """
        width = len(self.carried)
        formulas = [*formulas, *[None] * (width - len(formulas))]
        state = list(self.carried)
        outputs: list[Type] = []
        for _ in range(MAX_ROUNDS + width):
            widenings = self.c.widenings
            values = [
                old if formula is None else formula(self.number) for old, formula in zip(state, formulas, strict=True)
            ]
            known = self.c.decide(self.trip.preview_condition(values))
            outputs = self.trip.run(self.number, None, values, certain=False, known=known)
            confirmed = self._confirm(formulas, outputs[1 : 1 + width])
            if confirmed != formulas:
                formulas = confirmed
                continue  # the other outputs may depend on a formula that does not hold
            new = self._join(state, outputs[1 : 1 + width], formulas)
            if new == state and self.c.widenings == widenings:
                return self._relaxed_result(formulas, outputs)
            state = new
        return self._unknown_result(outputs)

    def _confirm(self, formulas: Sequence[Extrapolation | None], after: Sequence[Type]) -> list[Extrapolation | None]:
        """The formulas that hold after one more trip as well."""
        pairs = zip(formulas, after, strict=True)
        return [None if formula is None else confirm(formula, self.number + 1, out) for formula, out in pairs]

    def _join(
        self, state: Sequence[Type], after: Sequence[Type], formulas: Sequence[Extrapolation | None]
    ) -> list[Type]:
        """The join of the values before and after a trip that have no formula."""
        rows = enumerate(zip(state, after, formulas, strict=True))
        sides = Alternatives((self.c.store,), (self.trip.body.store,), _never, same_iteration=False)
        return [
            old if formula else self.c.relax_type(old, out, f"carried.{i}", alternatives=sides)
            for i, (old, out, formula) in rows
        ]

    def _relaxed_result(self, formulas: Sequence[Extrapolation | None], outputs: Sequence[Type]) -> LoopResult:
        trips = self._count_trips(outputs[0])
        trips = self._fresh_trip_count(outputs[0]) if trips is None else trips
        self.trip.repeat(trips, self.number)
        last = self._rename_varying(outputs)
        behind = self._store_behind_last(last[0])
        final = [
            self._after(i, last[1 + i], behind) if formula is None else formula(trips)
            for i, formula in enumerate(formulas)
        ]
        return self._end(LoopResult(trips, final, list(outputs[1 + len(formulas) :])))

    def _rename_varying(self, outputs: Sequence[Type]) -> list[Type]:
        """The outputs of the last trip, of the `outputs` of any trip, with symbols of their own.

        Constraints on the value of the last trip do not hold for other trips.
        """
        inside, renamed = self.trip.body.store, dict[Dimension, DimSize]()
        for out in outputs[: 1 + len(self.carried)]:
            for symbol in sorted(self._varying(type_symbols(out)) - renamed.keys(), key=lambda s: s.atom):
                bounds = inside.interval(symbol)
                renamed[symbol] = self.c.fresh("last", bounds.lo, bounds.hi)
        return [_substitute_all(out, renamed) for out in outputs]

    def _store_behind_last(self, condition: Type) -> ShapeStore:
        """What holds behind a last trip, which ends with this condition; it is added where there is a trip."""
        ended = logical_not(_condition_of(condition)) if self.limit is None else None
        if not isinstance(ended, Condition):
            return self.c.store
        if self.certain:
            self._add_known(ended)
            return self.c.store
        return self.c.store.under(ended.expression, Source("", "the loop has ended"))

    def _after(self, index: int, last: Type, behind: ShapeStore) -> Type:
        """The relaxed value after the loop, `last` after its last trip; or the first value if there may be no trip."""
        if self.certain:
            return last
        store = self.c.store
        without = logical_not(self.condition) if self.limit is None else None
        if isinstance(without, Condition):
            store = store.under(without.expression, Source("", "the loop has no trip"))
        sides = Alternatives((store,), (behind,), _never, same_iteration=False)
        return self.c.relax_type(self.carried[index], last, f"after.{index}", alternatives=sides)

    def _unknown_result(self, outputs: Sequence[Type]) -> LoopResult:
        width = len(self.carried)
        unknown: list[Type] = [TensorType(getattr(o, "dtype", None), self.c.unknown_shape()) for o in outputs[1:]]
        self.trip.run(None, None, unknown[:width], certain=False)  # so that tensors of the body are unknown as well
        trips = self._fresh_trip_count(None)
        self.trip.repeat(trips, self.number)
        return LoopResult(trips, unknown[:width], unknown[width:])


def _substitute_all(value: Type, values: dict[Dimension, DimSize]) -> Type:
    return map_dims(value, lambda d: substitute(d, values))


def _types_after(formulas: Sequence[Extrapolation | None], trips: DimSize) -> list[Type]:
    """The carried values after `trips` trips, where all grow evenly."""
    return [formula(trips) for formula in formulas if formula is not None]


def _never(symbol: Dimension) -> bool:
    return False


def _condition_of(value: Type) -> Truth:
    """The value of a condition."""
    known = value.elements if isinstance(value, TensorType) else None
    return known[0] if known and isinstance(known[0], (bool, Condition)) else None


def _next_condition(before: Condition, number: Dimension) -> Truth:
    """The condition before the next trip, of that before trip `number`."""
    return nonnegative_condition(substitute(before.expression, {number: number + 1}))


def _known_condition(condition: Type) -> bool | None:
    """The value of a condition, None where it is not decided."""
    known = _condition_of(condition)
    return known if isinstance(known, bool) else None


def _trip_count(
    c: InferenceContext, limit: DimSize | None, condition: Truth, after: Type, number: Dimension
) -> DimSize | None:
    """The number of trips, None if unknown; `after` is the condition at the end of trip `number`."""
    again = after.elements[0] if isinstance(after, TensorType) and after.elements else None
    if again is True and condition is True and limit is not None:
        return clamp_at_zero(c, limit)
    if again is False and condition is True:
        return 1 if limit is None else minimum(1, clamp_at_zero(c, limit))
    if not isinstance(again, Condition) or condition is None:
        return None
    first = substitute(again.expression, {number: 0})
    step = first - substitute(again.expression, {number: 1})
    if not isinstance(step, int) or step < 1 or first - number * step != again.expression:
        return None
    if isinstance(condition, Condition):  # it must be the condition after a trip that precedes the first one
        if condition.expression != first + step:
            return None
        count = clamp_at_zero(c, (first + step) // step + 1)
    else:
        rest = first // step + 1
        count = clamp_at_zero(c, rest) + 1
    return count if limit is None else minimum(count, clamp_at_zero(c, limit))


def _trip_limits(c: InferenceContext, condition: Truth, after: Type, number: Dimension) -> list[DimSize]:
    """Upper bounds of the number of trips: for each part of a conjunction, the trips after which it is false."""
    again = after.elements[0] if isinstance(after, TensorType) and after.elements else None
    if not isinstance(again, Condition):
        return []
    starts = [-part for part in expand_maximum(-condition.expression)] if isinstance(condition, Condition) else []
    limits: list[DimSize] = []
    for negated in expand_maximum(-again.expression):
        first = substitute(-negated, {number: 0})
        step = first - substitute(-negated, {number: 1})
        if not isinstance(step, int) or step < 1 or first - number * step != -negated:
            continue
        if any(start == first + step for start in starts):
            limits.append(clamp_at_zero(c, (first + step) // step + 1))
        else:
            limits.append(clamp_at_zero(c, first // step + 1) + 1)
    return limits


def _scans_without_trips(trip: Trip, carried: Sequence[Type]) -> list[Type]:
    """The scan outputs of a first trip that does not take place: the element types of empty outputs."""
    count = trip.count_scans(len(carried))
    if not count:
        return []
    outputs = trip.body.preview(trip.inputs(0, None, carried))
    return outputs[len(outputs) - count :]
