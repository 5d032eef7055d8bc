"""Which graphs run again with inputs of the same shapes, so that their buffers are in a block.

A session records the sizes of the buffers of a graph, or body, when it runs with new shapes of its inputs. It runs the
body of a loop once for each trip, so that trips of a first run have blocks too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.expr import Dimension, DimSize, substitute
from shapeinf.lattice import TensorType, Type


@attrs.frozen(eq=False)
class Block:
    """The block of one graph in a later run: its buffers are placed in it, and it is in use while the graph runs.

    Args:
        path: the path of the graph, empty for the model.
        birth: the program point of its first node.
        death: the program point after its last node.
        buffers: the names and births of the buffers in it.
        varying: those of them whose sizes differ from trip to trip: only the first trip has them in the block.
        is_repeated: whether the graph is in a loop, so that trips after the first one have the block in a first run.
    """

    path: str
    birth: int
    death: int
    buffers: frozenset[tuple[str, int]]
    varying: frozenset[tuple[str, int]] = frozenset()
    is_repeated: bool = False


def is_repeated(trips: Sequence[Inference]) -> bool:
    """Whether two trips of a loop may have inputs of the same shapes; `trips` are its runs, each of one or more."""
    return any(map(_stands_for_several, trips)) or any(True for _ in _alike(trips))


def varies(trips: Sequence[Inference], slot: int) -> bool:
    """Whether the size of a value differs in trips whose inputs have the same shapes."""
    return any(
        _stands_for_several(trip) and _depends(trip.type_of(slot), trip.repeated.number) for trip in trips
    ) or any(not _may_be_equal(trip.type_of(slot), other.type_of(slot)) for trip, other in _alike(trips))


def size_in_last_trip(size: DimSize | None, trips: Sequence[Inference]) -> DimSize | None:
    """A size in the last trip where it grows with the number of the trip: a bound for all trips is larger, rounded."""
    for trip in trips:
        count, number = trip.repeated
        if number is None or not isinstance(size, Dimension) or number not in size.symbols():
            continue
        change = trip.store.interval(substitute(size, {number: number + 1}) - size).lo
        if change is not None and change >= 0:
            size = substitute(size, {number: count - 1})
    return size


def _stands_for_several(trip: Inference) -> bool:
    """Whether a run of the body of a loop is that of several trips with inputs of the same shapes."""
    trips, number = trip.repeated
    return trips != 1 and not any(_depends(value, number, only=True) for value in _inputs(trip))


def _alike(trips: Sequence[Inference]) -> Iterator[tuple[Inference, Inference]]:
    """The pairs of successive runs whose inputs may have the same shapes."""
    for trip, other in pairwise(trips):
        if all(map(_may_be_equal, _inputs(trip), _inputs(other))):
            yield trip, other


def _inputs(trip: Inference) -> list[Type | None]:
    return [trip.type_of(trip.compiled.slots[name]) for name in trip.compiled.graph.inputs]


def _may_be_equal(a: Type | None, b: Type | None) -> bool:
    """Whether the shapes of two values may be equal."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType) or None in (a.shape.dims, b.shape.dims):
        return True
    pairs = zip(a.shape.require(), b.shape.require(), strict=False)
    return a.shape.rank == b.shape.rank and all(
        d == e or not isinstance(d, int) or not isinstance(e, int) for d, e in pairs
    )


def _depends(value: Type | None, number: Dimension | None, *, only: bool = False) -> bool:
    """Whether a dim of a tensor depends on the number of a trip; `only`: and on nothing else that may undo it."""
    if number is None or not isinstance(value, TensorType):
        return False
    symbols = [dim.symbols() for dim in value.shape.symbols()]
    return any(number in used and (not only or len(used) == 1) for used in symbols)
