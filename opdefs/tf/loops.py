"""Conditions of TensorFlow as truths, and the trip of a loop whose condition is a function of the loop variables."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.rules.branching import truth_of_number
from opdefs.rules.contents.elements import nonnegative_condition
from opdefs.rules.iteration import Trip
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape, TensorType, Type
from shapeinf.lattice.truths import Truth
from shapeinf.ops import Body, InferenceContext


def truth_of(c: InferenceContext, value: TensorType) -> Truth:
    """The truth of a condition: a scalar is true unless it is 0 or empty, any other tensor if it has elements."""
    dims = value.shape.dims
    if dims is None:
        return None
    if dims:
        return c.decide(nonnegative_condition(c.numel(dims) - 1))
    return truth_of_number(c, value.elements[0] if value.elements else None)


@attrs.frozen
class ConditionalTrip(Trip):
    """A trip of a loop whose condition is a function of the loop variables."""

    c: InferenceContext
    cond: Body

    def outputs(self, results: list[Type], trip: int | None, *, certain: bool, accumulate: bool) -> list[Type]:
        """See `Trip`."""
        following = None if trip is None else trip + 1
        again = self.test(results, following, certain=certain, accumulate=accumulate)
        return [PartialTensor("bool", Shape(()), None if again is None else (again,)), *results]

    def test(
        self, carried: Sequence[Type | None], trip: int | None, *, certain: bool, accumulate: bool = False
    ) -> Truth:
        """The condition before trip `trip` for these values."""
        tested = self.cond.run(carried, certain=certain, accumulate=accumulate, trip=trip)[0]
        return truth_of(self.c, tested) if isinstance(tested, TensorType) else None

    def preview_condition(self, carried: Sequence[Type]) -> Truth:
        """See `Trip`."""
        tested = self.cond.preview(carried)[0]
        return truth_of(self.c, tested) if isinstance(tested, TensorType) else None

    def repeat(self, trips: DimSize, number: Dimension) -> None:
        """See `Trip`; the condition runs as often as the body."""
        self.body.repeat(trips, number)
        self.cond.repeat(trips, number)
