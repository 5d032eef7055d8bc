"""Loops: the types of loop-carried values inside and after the loop.

First the growth per trip (of sizes and of known contents) is extrapolated from one iteration and checked on an
iteration of symbolic number, a proof by induction. Where that fails, a loop of few trips is unrolled. In any other the
values that do not grow evenly are relaxed to a fixpoint, with widening.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import attrs

from opdefs.rules.elements import clamp_at_zero
from opdefs.rules.extrapolation import Extrapolation, confirm, extrapolate
from shapeinf.expr import Dim, Dimension, maximum, minimum, substitute
from shapeinf.expr.extremum import expand_maximum
from shapeinf.lattice import Condition, Element, PartialTensor, Shape, TensorType, Type, map_dims, type_symbols
from shapeinf.ops import Body, InferenceContext

MAX_UNROLLED = 32
MAX_ROUNDS = 64

ENDLESS = 2**31 - 1
"""A trip limit that means no limit: exporters of `while` write the largest int32 or int64."""

Start = bool | Condition | None
"""The condition before the first trip: decided, symbolic, or unknown."""


@attrs.frozen
class LoopResult:
    """The result of a loop: trip count, carried values, the element type of each scan output."""

    trips: Dim
    carried: list[Type]
    scanned: list[Type]


class Trip(Protocol):
    """One trip of a loop: its body, and the condition after it."""

    def run(
        self,
        number: Element,
        condition: Element,
        carried: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
    ) -> list[Type]:
        """The condition after trip `number` (from 0), the carried values and the scan outputs; see `Body.run`."""

    def require_inputs(self, number: Element, carried: Sequence[Type]) -> None:
        """See `Body.require_inputs`."""

    def count_scans(self, width: int) -> int:
        """The number of scan outputs, for `width` carried values."""

    def repeat(self, trips: Dim, number: Dimension) -> None:
        """Note that the last run stands for this many; see `Body.repeat`."""


@attrs.frozen
class NumberedTrip:
    """A body with the iteration number and the condition as first inputs, and the condition as first output."""

    body: Body
    number: Shape
    condition: Shape

    @classmethod
    def create(cls, body: Body, condition: Shape | None) -> NumberedTrip:
        """Scalars, or `[1]` where the body declares an axis; the condition has the rank of the condition input."""
        number, alone = (Shape((1,) if body.declared_rank(index) else ()) for index in (0, 1))
        return cls(body, number, alone if condition is None or condition.dims is None else Shape((1,) * len(condition)))

    def run(
        self,
        number: Element,
        condition: Element,
        carried: Sequence[Type | None],
        *,
        certain: bool,
        accumulate: bool = False,
    ) -> list[Type]:
        """See `Trip`."""
        values = [*self._head(number, condition), *carried]
        return self.body.run(values, certain=certain, accumulate=accumulate, trip=trip_number(number))

    def require_inputs(self, number: Element, carried: Sequence[Type]) -> None:
        """See `Trip`."""
        self.body.require_inputs([*self._head(number, True), *carried])

    def count_scans(self, width: int) -> int:
        """See `Trip`."""
        return self.body.num_outputs - 1 - width

    def repeat(self, trips: Dim, number: Dimension) -> None:
        """See `Trip`."""
        self.body.repeat(trips, number)

    def _head(self, number: Element, condition: Element) -> tuple[PartialTensor, PartialTensor]:
        pairs = ("int64", self.number, number), ("bool", self.condition, condition)
        first, second = (PartialTensor(dtype, shape, None if e is None else (e,)) for dtype, shape, e in pairs)
        return first, second


def trip_number(number: Element) -> int | None:
    """The number of a single trip; None for a symbolic or unknown one, which stands for any trip."""
    return number if isinstance(number, int) else None


def iterate(c: InferenceContext, trip: Trip, limit: Dim | None, go_on: Start, carried: Sequence[Type]) -> LoopResult:
    """A loop of at most `limit` trips that runs while the condition is true; `go_on` is it before the first trip."""
    if isinstance(limit, int) and limit >= ENDLESS:
        limit = None
    if go_on is False or limit == 0:
        return LoopResult(0, list(carried), _unknown_scans(c, trip, len(carried)))
    number = c.fresh("iteration", 0) if limit is None else c.fresh_at_most(maximum(limit, 1) - 1, "iteration")
    sure = go_on is True and (limit is None or c.prove_le(1, limit) is True)
    loop = _Loop(c, trip, limit, go_on, list(carried), number, sure, len(c.store.scope.atoms))
    return loop.run()


@attrs.define
class _Loop:
    """A loop whose number of trips is not 0; `sure` where there is at least one.

    `number` stands for the number of any trip, `before` counts the atoms that existed before the body ran.
    """

    c: InferenceContext
    trip: Trip
    limit: Dim | None
    go_on: Start
    carried: list[Type]
    number: Dimension
    sure: bool
    before: int

    def run(self) -> LoopResult:
        """The result of the loop."""
        first = self.trip.run(0, True, self.carried, certain=self.sure)
        formulas = [self._extrapolate(old, new) for old, new in zip(self.carried, first[1:], strict=False)]
        outputs = self._prove(formulas)
        trips = None if outputs is None else self._count_trips(outputs[0])
        if outputs is not None and trips is not None:
            if self.c.prove_le(1, trips) is True:
                self.trip.require_inputs(trips - 1, _types_after(formulas, trips - 1))
            return self._result(formulas, outputs, trips)
        if self.go_on is True and self._may_be_short(first[0]):
            unrolled = self._unroll()
            if unrolled is not None:
                return unrolled
            # again, so that the last run is that of a symbolic trip
            outputs = None if outputs is None else self._prove(formulas)
        if outputs is not None:
            return self._result(formulas, outputs, self._fresh_trip_count(outputs[0]))
        return self._relax(formulas)

    def _result(self, formulas: Sequence[Extrapolation | None], outputs: list[Type], trips: Dim) -> LoopResult:
        """The result for values that all grow evenly."""
        self.trip.repeat(trips, self.number)
        return LoopResult(trips, _types_after(formulas, trips), outputs[1 + len(self.carried) :])

    def _extrapolate(self, old: Type, new: Type) -> Extrapolation | None:
        """See `extrapolate`; what the body itself creates differs between trips."""
        return None if old != new and self._varying(type_symbols(new)) else extrapolate(old, new)

    def _varying(self, symbols: Iterable[Dimension]) -> set[Dimension]:
        """The symbols that may differ between trips: the number, unknowns of the body, and joins."""
        joined = self.c.joined_symbols()
        return {s for s in symbols if s is self.number or s.atom >= self.before or s in joined}

    # -- induction ---------------------------------------------------------------------------------------------------

    def _prove(self, formulas: Sequence[Extrapolation | None]) -> list[Type] | None:
        """The outputs of a symbolic trip if all carried values grow evenly, else None."""
        if None in formulas or len(formulas) < len(self.carried):
            return None
        outputs = self.trip.run(self.number, True, _types_after(formulas, self.number), certain=False)
        expected = _types_after(formulas, self.number + 1)
        return outputs if outputs[1 : 1 + len(expected)] == expected else None

    def _count_trips(self, after: Type) -> Dim | None:
        """The number of trips, None if unknown; `after` is the condition at the end of trip `number`."""
        trips = _trip_count(self.c, self.limit, self.go_on, after, self.number)
        if trips is None:
            return None
        trips = self._drop_body_unknowns(trips)
        self.c.limit(self.number, maximum(trips, 1) - 1)
        return trips

    def _drop_body_unknowns(self, trips: Dim) -> Dim:
        """The trip count without unknowns of the body, which differ per trip.

        Its bounds hold for the condition of every trip, hence also for the last one.
        """
        if isinstance(trips, int):
            return trips
        if not self._varying(trips.symbols()):
            return trips
        bounds = self.c.interval(trips)
        return self.c.fresh("trips", bounds.lo or 0, bounds.hi)

    def _fresh_trip_count(self, after: Type | None) -> Dimension:
        """An unknown number of trips, limited by the parts of the condition `after` a trip that are not unknown."""
        limits = [] if self.limit is None else [maximum(self.limit, 0)]
        limits += [] if after is None else _trip_limits(self.c, self.go_on, after, self.number)
        known = [limit for limit in limits if isinstance(limit, int) or not self._varying(limit.symbols())]
        if not known:
            return self.c.fresh("trips", int(self.sure))
        trips = self.c.fresh_at_most(minimum(*known), "trips", int(self.sure))
        self.c.limit(self.number, maximum(minimum(*known), 1) - 1)
        return trips

    # -- trips one by one --------------------------------------------------------------------------------------------

    def _may_be_short(self, again: Type) -> bool:
        """Whether few trips are possible; `again` is the condition after the first one."""
        if self.limit is None:
            return _decided(again) is not None
        return isinstance(self.limit, int) and self.limit <= MAX_UNROLLED

    def _unroll(self) -> LoopResult | None:
        """Each trip on its own; None if the condition of some trip is unknown, or there are too many."""
        width, state = len(self.carried), list(self.carried)
        most = self.limit if isinstance(self.limit, int) else MAX_UNROLLED
        scanned: list[Type] = []
        for number in range(most):
            outputs = self.trip.run(number, True, state, certain=True, accumulate=number > 0)
            state = outputs[1 : 1 + width]
            if number and outputs[1 + width :] != scanned:
                scanned = [_join_elements(a, b) for a, b in zip(scanned, outputs[1 + width :], strict=True)]
            else:
                scanned = outputs[1 + width :]
            again = _decided(outputs[0])
            if again is not True and number + 1 != self.limit:
                return LoopResult(number + 1, state, scanned) if again is False else None
        return None if self.limit is None else LoopResult(most, state, scanned)

    # -- fixpoint ----------------------------------------------------------------------------------------------------

    def _relax(self, formulas: Sequence[Extrapolation | None]) -> LoopResult:
        """Relax the values that do not grow evenly until one more trip changes nothing; sound for any number of trips.

        A value is assumed to grow evenly until a trip contradicts that.
        """
        width = len(self.carried)
        formulas = [*formulas, *[None] * (width - len(formulas))]
        state = list(self.carried)
        outputs: list[Type] = []
        for _ in range(MAX_ROUNDS + width):
            widenings = self.c.widenings
            values = [old if guess is None else guess(self.number) for old, guess in zip(state, formulas, strict=True)]
            outputs = self.trip.run(self.number, None, values, certain=False)
            confirmed = self._confirm(formulas, outputs[1 : 1 + width])
            if confirmed != formulas:
                formulas = confirmed
                continue  # the other outputs may depend on what was assumed
            new = self._join(state, outputs[1 : 1 + width], formulas)
            if new == state and self.c.widenings == widenings:
                return self._relaxed_result(formulas, outputs)
            state = new
        return self._unknown_result(outputs)

    def _confirm(self, formulas: Sequence[Extrapolation | None], after: Sequence[Type]) -> list[Extrapolation | None]:
        """The formulas that hold after one more trip as well."""
        pairs = zip(formulas, after, strict=True)
        return [None if guess is None else confirm(guess, self.number + 1, out) for guess, out in pairs]

    def _join(
        self, state: Sequence[Type], after: Sequence[Type], formulas: Sequence[Extrapolation | None]
    ) -> list[Type]:
        """The join of the values before and after a trip that have no formula."""
        rows = enumerate(zip(state, after, formulas, strict=True))
        return [old if guess else self.c.relax_type(old, out, f"carried.{i}") for i, (old, out, guess) in rows]

    def _relaxed_result(self, formulas: Sequence[Extrapolation | None], outputs: Sequence[Type]) -> LoopResult:
        trips = self._count_trips(outputs[0])
        trips = self._fresh_trip_count(outputs[0]) if trips is None else trips
        self.trip.repeat(trips, self.number)
        renamed: dict[Dimension, Dim] = {}
        final = [
            self._last(i, out, renamed) if guess is None else guess(trips)
            for i, (guess, out) in enumerate(zip(formulas, outputs[1:], strict=False))
        ]
        return LoopResult(trips, final, list(outputs[1 + len(formulas) :]))

    def _last(self, index: int, out: Type, renamed: dict[Dimension, Dim]) -> Type:
        """A relaxed value after the loop, where it is `out` after each trip, or the first value.

        What holds of the last trip says nothing of the others, so it has symbols of its own.
        """
        for symbol in self._varying(type_symbols(out)) - renamed.keys():
            bounds = self.c.interval(symbol)
            renamed[symbol] = self.c.fresh("last", bounds.lo, bounds.hi)
        last = _substitute_all(out, renamed)
        return last if self.sure else self.c.relax_type(self.carried[index], last, f"after.{index}")

    def _unknown_result(self, outputs: Sequence[Type]) -> LoopResult:
        width = len(self.carried)
        unknown: list[Type] = [TensorType(getattr(o, "dtype", None), self.c.unknown_shape()) for o in outputs[1:]]
        self.trip.run(None, None, unknown[:width], certain=False)  # the body's tensors are unknown as well
        trips = self._fresh_trip_count(None)
        self.trip.repeat(trips, self.number)
        return LoopResult(trips, unknown[:width], unknown[width:])


def _substitute_all(value: Type, values: dict[Dimension, Dim]) -> Type:
    return map_dims(value, lambda d: substitute(d, values))


def _types_after(formulas: Sequence[Extrapolation | None], trips: Dim) -> list[Type]:
    """The carried values after some trips; for values that all grow evenly."""
    return [guess(trips) for guess in formulas if guess is not None]


def _decided(condition: Type) -> bool | None:
    """A condition that is known, else None."""
    known = condition.elements if isinstance(condition, TensorType) else None
    return known[0] if known and isinstance(known[0], bool) else None


def _trip_count(c: InferenceContext, limit: Dim | None, go_on: Start, after: Type, number: Dimension) -> Dim | None:
    """The number of trips, None if unknown; `after` is the condition at the end of trip `number`."""
    again = after.elements[0] if isinstance(after, TensorType) and after.elements else None
    if again is True and go_on is True and limit is not None:
        return clamp_at_zero(c, limit)
    if again is False and go_on is True:
        return 1 if limit is None else minimum(1, clamp_at_zero(c, limit))
    if not isinstance(again, Condition) or go_on is None:
        return None
    first = substitute(again.expression, {number: 0})
    step = first - substitute(again.expression, {number: 1})
    if not isinstance(step, int) or step < 1 or first - number * step != again.expression:
        return None
    if isinstance(go_on, Condition):  # the condition before the first trip must be that after a trip before it
        if go_on.expression != first + step:
            return None
        count = clamp_at_zero(c, (first + step) // step + 1)
    else:
        rest = first // step + 1
        count = clamp_at_zero(c, rest) + 1
    return count if limit is None else minimum(count, clamp_at_zero(c, limit))


def _trip_limits(c: InferenceContext, go_on: Start, after: Type, number: Dimension) -> list[Dim]:
    """The numbers of trips after which a part of a condition, of which all parts have to hold, is false."""
    again = after.elements[0] if isinstance(after, TensorType) and after.elements else None
    if not isinstance(again, Condition):
        return []
    starts = [-part for part in expand_maximum(-go_on.expression)] if isinstance(go_on, Condition) else []
    limits: list[Dim] = []
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


def _unknown_scans(c: InferenceContext, trip: Trip, width: int) -> list[Type]:
    return [TensorType(None, c.unknown_shape()) for _ in range(trip.count_scans(width))]


def _join_elements(a: Type, b: Type) -> Type:
    """The element type of a scan whose elements differ: contents dropped, sizes that differ unknown."""
    if isinstance(a, TensorType) and isinstance(b, TensorType) and a.shape == b.shape:
        return PartialTensor(a.dtype, a.shape, None)
    return PartialTensor(a.dtype if isinstance(a, TensorType) else None, Shape.unknown(), None)
