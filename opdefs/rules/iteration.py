"""Loops: the types that values carried from one iteration to the next have inside and after the loop.

First the growth is guessed from one iteration (so much a trip, in sizes and in known contents) and checked on an
iteration of any number, which is a proof by induction. Where that fails a loop of few trips is unrolled, and any other
is relaxed to a fixpoint, with widening.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from opdefs.rules.elements import is_float
from shapeinf.expr import Dim, Dimension, maximum, minimum, substitute
from shapeinf.lattice import Condition, Element, PartialTensor, SequenceType, Shape, TensorType, Type
from shapeinf.ops import Body, InferenceContext

MAX_UNROLLED = 32
MAX_ROUNDS = 64

ENDLESS = 2**31 - 1
"""A limit that stands for none: exporters of `while` write the largest int32 or int64."""

Start = bool | Condition | None
"""The condition before the first trip: decided, kept as a condition, or not known."""


@attrs.frozen
class Iterated:
    """What is known after a loop: trips made, carried values, the type of one element of each scan output."""

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
    def of(cls, body: Body, condition: Shape | None) -> _Trip:
        """Scalars, or `[1]` where the body declares an axis; a condition that is given has as many axes as it has."""
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


def iterated(
    c: InferenceContext,
    body: Body,
    limit: Dim | None,
    go_on: Start,
    carried: Sequence[Type],
    condition: Shape | None = None,
) -> Iterated:
    """A loop of at most `limit` trips that runs while the body's first output is true.

    Body inputs are the iteration number, the condition and the carried values. `go_on` is the condition before the
    first trip, `condition` the shape that it has.
    """
    trip = _Trip.of(body, condition)
    width = len(carried)
    if isinstance(limit, int) and limit >= ENDLESS:
        limit = None
    if go_on is False or limit == 0:
        return Iterated(0, list(carried), _never(c, body, width))
    number = c.fresh("iteration", 0) if limit is None else c.fresh_at_most(maximum(limit, 1) - 1, "iteration")
    before = len(c.store.scope.atoms)
    sure = go_on is True and (limit is None or c.prove_le(1, limit) is True)
    grown = _by_induction(trip, number, carried, sure)
    if grown is not None:
        after, outputs = grown
        trips = _trips(c, limit, go_on, outputs[0], number)
        if trips is not None:
            trips = _of_no_trip(c, trips, before)
            c.limit(number, maximum(trips, 1) - 1)
            if c.prove_le(1, trips) is True:
                last = [after(trips - 1, i) for i in range(width)]
                trip.require_inputs(trips - 1, last)
            final = [after(trips, i) for i in range(width)]
            return Iterated(trips, final, outputs[1 + width :])
    if isinstance(limit, int) and limit <= MAX_UNROLLED and go_on is True:
        unrolled = _unrolled(trip, limit, carried)
        if unrolled is not None:
            return unrolled
        if grown is not None:
            grown = _by_induction(trip, number, carried, sure)  # the last run is one of any trip again
    if grown is not None:
        after, outputs = grown
        trips = _some_trips(c, limit, int(sure))
        return Iterated(trips, [after(trips, i) for i in range(width)], outputs[1 + width :])
    return _fixpoint(c, trip, number, limit, go_on, carried, sure)


def _some_trips(c: InferenceContext, limit: Dim | None, least: int) -> Dimension:
    return c.fresh("trips", least) if limit is None else c.fresh_at_most(maximum(limit, 0), "trips", least)


def _trips(c: InferenceContext, limit: Dim | None, go_on: Start, after: Type, number: Dimension) -> Dim | None:
    """How often the body runs, None when that is not known; `after` is the condition at the end of trip `number`."""
    again = after.elements[0] if isinstance(after, TensorType) and after.elements else None
    if again is True and go_on is True and limit is not None:
        return at_least_zero(c, limit)
    if again is False and go_on is True:
        return 1 if limit is None else minimum(1, at_least_zero(c, limit))
    if not isinstance(again, Condition) or go_on is None:
        return None
    first = substitute(again.expression, {number: 0})
    step = first - substitute(again.expression, {number: 1})
    if not isinstance(step, int) or step < 1 or first - number * step != again.expression:
        return None
    if isinstance(go_on, Condition):  # the condition before the first trip must be that after a trip before it
        if go_on.expression != first + step:
            return None
        count = at_least_zero(c, (first + step) // step + 1)
    else:
        rest = first // step + 1
        count = at_least_zero(c, rest) + 1
    return count if limit is None else minimum(count, at_least_zero(c, limit))


def _of_no_trip(c: InferenceContext, trips: Dim, before: int) -> Dim:
    """The number of trips without the unknowns that the body made (atoms from `before` on): each trip has its own.

    The condition of every trip is within the bounds of what any trip may make, and so is the trip that it ends.
    """
    if isinstance(trips, int) or all(s.atom < before for s in trips.symbols()):
        return trips
    bounds = c.interval(trips)
    return c.fresh("trips", bounds.lo or 0, bounds.hi)


def at_least_zero(c: InferenceContext, d: Dim) -> Dim:
    """The larger of a dim and 0."""
    return d if c.prove_le(0, d) is True else maximum(d, 0)


def _never(c: InferenceContext, body: Body, width: int) -> list[Type]:
    return [TensorType(None, c.unknown_shape()) for _ in range(body.num_outputs - 1 - width)]


def _is_true(found: Type) -> bool:
    return isinstance(found, TensorType) and found.elements is not None and found.elements == (True,)


def _by_induction(
    trip: _Trip, number: Dimension, carried: Sequence[Type], sure: bool
) -> tuple[Callable[[Dim, int], Type], list[Type]] | None:
    """The carried values after so many trips, and the body's outputs in any trip; None when growth is not linear.

    It is `sure` where there is a first trip: then what the body demands of it is demanded.
    """
    first = trip.run(0, True, carried, certain=sure)
    guesses = [_growth(old, new) for old, new in zip(carried, first[1:], strict=False)]
    widenings = [guess for guess in guesses if guess is not None]
    if len(widenings) < len(carried):
        return None

    def after(trips: Dim, index: int) -> Type:
        return widenings[index](trips)

    any_trip = [after(number, i) for i in range(len(carried))]
    outputs = trip.run(number, True, any_trip, certain=False)
    expected = [after(number + 1, i) for i in range(len(carried))]
    if outputs[1 : 1 + len(carried)] != expected:
        return None
    return after, outputs


Growth = Callable[[Dim], Type]
"""The type of a carried value after so many trips."""


def _growth(old: Type, new: Type) -> Growth | None:
    """What a value becomes if every trip adds as much as the first; None for a change that is no addition."""
    if isinstance(old, TensorType) and isinstance(new, TensorType):
        return _tensor_growth(old, new) if old.dtype == new.dtype else None
    if type(old) is SequenceType and type(new) is SequenceType:
        return _sequence_growth(old, new)
    return (lambda trips: old) if old == new else None


def _tensor_growth(old: TensorType, new: TensorType) -> Growth | None:
    if old.shape.dims is None or new.shape.dims is None or len(old.shape.dims) != len(new.shape.dims):
        return None
    start = old.shape.dims
    gains = [n - o for o, n in zip(start, new.shape.dims, strict=True)]
    contents = None if any(gains) else _gains(old, new)

    def grown(trips: Dim) -> Type:
        shape = Shape(d + gain * trips for d, gain in zip(start, gains, strict=True))
        if contents is None or old.elements is None:
            return PartialTensor(old.dtype, shape, None)
        pairs = zip(old.elements, contents, strict=True)
        elements = (e if g == 0 else e + g * trips for e, g in pairs)  # type: ignore[operator,arg-type]
        return PartialTensor(old.dtype, shape, elements)

    return grown


def _gains(old: TensorType, new: TensorType) -> list[Dim] | None:
    """What each known element gains; None where contents are not known or are no numbers that grow."""
    if old.elements is None or new.elements is None:
        return None
    if old.elements == new.elements:
        return [0] * len(old.elements)
    pairs = list(zip(old.elements, new.elements, strict=True))
    if is_float(old.dtype) or not all(_counts(o) and _counts(n) for o, n in pairs):
        return None  # floats that grow are rounded sooner or later
    return [n - o for o, n in pairs]  # type: ignore[operator,misc]


def _counts(element: Element) -> bool:
    return isinstance(element, (int, Dimension)) and not isinstance(element, bool)


def _sequence_growth(old: SequenceType, new: SequenceType) -> Growth | None:
    """More elements of the same type; an empty sequence says nothing of its elements."""
    start, end = old.length, new.length
    if start is None or end is None or (start != 0 and old.element != new.element):
        return None
    first, gain = start, end - start
    return lambda trips: SequenceType(new.element, first + gain * trips)


def _unrolled(trip: _Trip, limit: int, carried: Sequence[Type]) -> Iterated | None:
    """Every trip for itself; None when the condition of some trip is not known. All that are run are sure."""
    width = len(carried)
    state = list(carried)
    scanned: list[Type] = []
    for number in range(limit):
        outputs = trip.run(number, True, state, certain=True, accumulate=number > 0)
        state = outputs[1 : 1 + width]
        if number and outputs[1 + width :] != scanned:
            scanned = [_either(a, b) for a, b in zip(scanned, outputs[1 + width :], strict=True)]
        else:
            scanned = outputs[1 + width :]
        if not _is_true(outputs[0]) and number + 1 < limit:
            stopped = isinstance(outputs[0], TensorType) and outputs[0].elements == (False,)
            return Iterated(number + 1, state, scanned) if stopped else None
    return Iterated(limit, state, scanned)


def _either(a: Type, b: Type) -> Type:
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
) -> Iterated:
    """Relax the carried values until one more trip changes nothing; sound for any number of trips.

    It is `sure` where there is one.
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
        return _given_up(c, trip, outputs, width, limit)
    final = [
        out if sure else c.relax_type(old, out, f"after.{i}")
        for i, (old, out) in enumerate(zip(carried, outputs[1:], strict=False))
    ]
    always = go_on is True and _is_true(outputs[0]) and limit is not None
    trips: Dim = maximum(limit, 0) if always and limit is not None else _some_trips(c, limit, int(sure))
    return Iterated(trips, final, outputs[1 + width :])


def _given_up(c: InferenceContext, trip: _Trip, outputs: Sequence[Type], width: int, limit: Dim | None) -> Iterated:
    unknown: list[Type] = [TensorType(getattr(o, "dtype", None), c.unknown_shape()) for o in outputs[1:]]
    trip.run(None, None, unknown[:width], certain=False)  # what the body does in any trip is as little known
    return Iterated(_some_trips(c, limit, 0), unknown[:width], unknown[width:])
