"""Loops: the types of loop-carried values inside and after the loop.

First the growth per trip (of sizes and of known contents) is extrapolated from one iteration and checked on an
iteration of symbolic number, a proof by induction. Where that fails, a loop of few trips is unrolled, and any other
is relaxed to a fixpoint, with widening.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from opdefs.rules.elements import clamp_at_zero, is_float
from shapeinf.expr import Dim, Dimension, maximum, minimum, substitute
from shapeinf.lattice import Condition, Element, PartialTensor, SequenceType, Shape, TensorType, Type
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


@attrs.frozen
class _Trip:
    """A loop's body, and the shapes that the iteration number and the condition have in it."""

    body: Body
    number: Shape
    condition: Shape

    @classmethod
    def create(cls, body: Body, condition: Shape | None) -> _Trip:
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
        """See `Body.run`."""
        return self.body.run([*self._head(number, condition), *carried], certain=certain, accumulate=accumulate)

    def require_inputs(self, number: Element, carried: Sequence[Type]) -> None:
        """See `Body.require_inputs`."""
        self.body.require_inputs([*self._head(number, True), *carried])

    def _head(self, number: Element, condition: Element) -> tuple[PartialTensor, PartialTensor]:
        pairs = ("int64", self.number, number), ("bool", self.condition, condition)
        first, second = (PartialTensor(dtype, shape, None if e is None else (e,)) for dtype, shape, e in pairs)
        return first, second


def iterate(
    c: InferenceContext,
    body: Body,
    limit: Dim | None,
    go_on: Start,
    carried: Sequence[Type],
    condition: Shape | None = None,
) -> LoopResult:
    """A loop of at most `limit` trips that runs while the body's first output is true.

    Body inputs are the iteration number, the condition and the carried values. `go_on` is the condition before the
    first trip, `condition` the shape that it has.
    """
    trip = _Trip.create(body, condition)
    width = len(carried)
    if isinstance(limit, int) and limit >= ENDLESS:
        limit = None
    if go_on is False or limit == 0:
        return LoopResult(0, list(carried), _unknown_scans(c, body, width))
    number = c.fresh("iteration", 0) if limit is None else c.fresh_at_most(maximum(limit, 1) - 1, "iteration")
    before = len(c.store.scope.atoms)
    sure = go_on is True and (limit is None or c.prove_le(1, limit) is True)
    inductive = _prove_by_induction(trip, number, carried, sure)
    if inductive is not None:
        after, outputs = inductive
        trips = _trip_count(c, limit, go_on, outputs[0], number)
        if trips is not None:
            trips = _drop_body_unknowns(c, trips, before)
            c.limit(number, maximum(trips, 1) - 1)
            if c.prove_le(1, trips) is True:
                last = [after(trips - 1, i) for i in range(width)]
                trip.require_inputs(trips - 1, last)
            final = [after(trips, i) for i in range(width)]
            return LoopResult(trips, final, outputs[1 + width :])
    if isinstance(limit, int) and limit <= MAX_UNROLLED and go_on is True:
        unrolled = _unroll(trip, limit, carried)
        if unrolled is not None:
            return unrolled
        if inductive is not None:
            # again, so that the last run is that of a symbolic trip
            inductive = _prove_by_induction(trip, number, carried, sure)
    if inductive is not None:
        after, outputs = inductive
        trips = _fresh_trip_count(c, limit, int(sure))
        return LoopResult(trips, [after(trips, i) for i in range(width)], outputs[1 + width :])
    return _fixpoint(c, trip, number, limit, go_on, carried, sure)


def _fresh_trip_count(c: InferenceContext, limit: Dim | None, least: int) -> Dimension:
    return c.fresh("trips", least) if limit is None else c.fresh_at_most(maximum(limit, 0), "trips", least)


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


def _drop_body_unknowns(c: InferenceContext, trips: Dim, before: int) -> Dim:
    """The trip count without unknowns created in the body (atoms from `before` on), which differ per trip.

    Its bounds hold for the condition of every trip, hence also for the last one.
    """
    if isinstance(trips, int) or all(s.atom < before for s in trips.symbols()):
        return trips
    bounds = c.interval(trips)
    return c.fresh("trips", bounds.lo or 0, bounds.hi)


def _unknown_scans(c: InferenceContext, body: Body, width: int) -> list[Type]:
    return [TensorType(None, c.unknown_shape()) for _ in range(body.num_outputs - 1 - width)]


def _is_true(value: Type) -> bool:
    return isinstance(value, TensorType) and value.elements is not None and value.elements == (True,)


def _prove_by_induction(
    trip: _Trip, number: Dimension, carried: Sequence[Type], sure: bool
) -> tuple[Callable[[Dim, int], Type], list[Type]] | None:
    """The carried values per trip count, and the outputs of a symbolic trip; None if growth is not linear.

    `sure` means that there is a first trip: its requirements then hold.
    """
    first = trip.run(0, True, carried, certain=sure)
    guesses = [_extrapolate(old, new) for old, new in zip(carried, first[1:], strict=False)]
    extrapolations = [guess for guess in guesses if guess is not None]
    if len(extrapolations) < len(carried):
        return None

    def after(trips: Dim, index: int) -> Type:
        return extrapolations[index](trips)

    any_trip = [after(number, i) for i in range(len(carried))]
    outputs = trip.run(number, True, any_trip, certain=False)
    expected = [after(number + 1, i) for i in range(len(carried))]
    if outputs[1 : 1 + len(carried)] != expected:
        return None
    return after, outputs


Extrapolation = Callable[[Dim], Type]
"""The type of a carried value as a function of the trip count."""


def _extrapolate(old: Type, new: Type) -> Extrapolation | None:
    """The type of a value if every trip adds as much as the first; None for a change that is not an addition."""
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        return _extrapolate_tensor(old, new) if old.dtype == new.dtype else None
    if type(old) is SequenceType and type(new) is SequenceType:
        return _extrapolate_sequence(old, new)
    return (lambda trips: old) if old == new else None


def _extrapolate_tensor(old: TensorType, new: TensorType) -> Extrapolation | None:
    if old.shape.dims is None or new.shape.dims is None or len(old.shape.dims) != len(new.shape.dims):
        return None
    start = old.shape.dims
    increments = [n - o for o, n in zip(start, new.shape.dims, strict=True)]
    element_increments = None if any(increments) else _element_increments(old, new)

    def extrapolate(trips: Dim) -> Type:
        shape = Shape(d + increment * trips for d, increment in zip(start, increments, strict=True))
        if element_increments is None or old.elements is None:
            return PartialTensor(old.dtype, shape, None)
        pairs = zip(old.elements, element_increments, strict=True)
        elements = (e if increment == 0 else e + increment * trips for e, increment in pairs)  # type: ignore[operator,arg-type]
        return PartialTensor(old.dtype, shape, elements)

    return extrapolate


def _element_increments(old: TensorType, new: TensorType) -> list[Dim] | None:
    """The increment of each known element; None where contents are unknown or not integers."""
    if old.elements is None or new.elements is None:
        return None
    if old.elements == new.elements:
        return [0] * len(old.elements)
    pairs = list(zip(old.elements, new.elements, strict=True))
    if is_float(old.dtype) or not all(_is_number(o) and _is_number(n) for o, n in pairs):
        return None  # floats that grow are rounded sooner or later
    return [n - o for o, n in pairs]  # type: ignore[operator,misc]


def _is_number(element: Element) -> bool:
    return isinstance(element, (int, Dimension)) and not isinstance(element, bool)


def _extrapolate_sequence(old: SequenceType, new: SequenceType) -> Extrapolation | None:
    """More elements of the same type; the element type of an empty sequence is open."""
    start, end = old.length, new.length
    if start is None or end is None or (start != 0 and old.element != new.element):
        return None
    first, increment = start, end - start
    return lambda trips: SequenceType(new.element, first + increment * trips)


def _unroll(trip: _Trip, limit: int, carried: Sequence[Type]) -> LoopResult | None:
    """Each trip on its own; None if the condition of some trip is unknown."""
    width = len(carried)
    state = list(carried)
    scanned: list[Type] = []
    for number in range(limit):
        outputs = trip.run(number, True, state, certain=True, accumulate=number > 0)
        state = outputs[1 : 1 + width]
        if number and outputs[1 + width :] != scanned:
            scanned = [_join_elements(a, b) for a, b in zip(scanned, outputs[1 + width :], strict=True)]
        else:
            scanned = outputs[1 + width :]
        if not _is_true(outputs[0]) and number + 1 < limit:
            stopped = isinstance(outputs[0], TensorType) and outputs[0].elements == (False,)
            return LoopResult(number + 1, state, scanned) if stopped else None
    return LoopResult(limit, state, scanned)


def _join_elements(a: Type, b: Type) -> Type:
    """The element type of a scan whose elements differ: contents dropped, sizes that differ unknown."""
    if isinstance(a, TensorType) and isinstance(b, TensorType) and a.shape == b.shape:
        return PartialTensor(a.dtype, a.shape, None)
    return PartialTensor(a.dtype if isinstance(a, TensorType) else None, Shape.unknown(), None)


def _fixpoint(
    c: InferenceContext,
    trip: _Trip,
    number: Dimension,
    limit: Dim | None,
    go_on: Start,
    carried: Sequence[Type],
    sure: bool,
) -> LoopResult:
    """Relax the carried values until one more trip changes nothing; sound for any number of trips.

    `sure` means that there is at least one.
    """
    width = len(carried)
    state = list(carried)
    outputs: list[Type] = []
    for _ in range(MAX_ROUNDS):
        widenings = c.widenings
        outputs = trip.run(number, None, state, certain=False)
        new = [
            c.relax_type(old, out, f"carried.{i}") for i, (old, out) in enumerate(zip(state, outputs[1:], strict=False))
        ]
        if new == state and c.widenings == widenings:
            break
        state = new
    else:
        return _unknown_result(c, trip, outputs, width, limit)
    final = [
        out if sure else c.relax_type(old, out, f"after.{i}")
        for i, (old, out) in enumerate(zip(carried, outputs[1:], strict=False))
    ]
    always = go_on is True and _is_true(outputs[0]) and limit is not None
    trips: Dim = maximum(limit, 0) if always and limit is not None else _fresh_trip_count(c, limit, int(sure))
    return LoopResult(trips, final, outputs[1 + width :])


def _unknown_result(
    c: InferenceContext, trip: _Trip, outputs: Sequence[Type], width: int, limit: Dim | None
) -> LoopResult:
    unknown: list[Type] = [TensorType(getattr(o, "dtype", None), c.unknown_shape()) for o in outputs[1:]]
    trip.run(None, None, unknown[:width], certain=False)  # the body's tensors are unknown as well
    return LoopResult(_fresh_trip_count(c, limit, 0), unknown[:width], unknown[width:])
