"""The timeline of a finished inference: its values as blocks of memory."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.engine.inference import Inference
from shapeinf.explain.causes import Roots
from shapeinf.explain.points import Frame as PointFrame
from shapeinf.explain.points import Point
from shapeinf.explain.unknowns import cause_of
from shapeinf.expr import Dim, maximum
from shapeinf.lattice import Shape, TensorType, Type
from shapeinf.memory.aliases import role_of, shared
from shapeinf.memory.liveness import Flat, LiveRange, flatten
from shapeinf.memory.sizes import Size, size_of
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.sharing import cached_property


class TimelineBuilder:
    """Makes timelines of one inference; sizes and causes are worked out once."""

    def __init__(self, inference: Inference, *, aliases: bool = False, in_place: bool = False) -> None:
        """Nothing is worked out yet."""
        self.inference = inference
        self.store = inference.store
        self.aliases = aliases
        self.in_place = in_place
        self._sizes: dict[int, Size] = {}
        self._merged: dict[tuple[int, ...], Size] = {}

    def timeline(self, order: Sequence[int] | None = None) -> Timeline:
        """The timeline of the nodes in the order of the program, or in another one."""
        return self.of(flatten(self.inference, order))

    def of(self, flat: Flat) -> Timeline:
        """The timeline of what was flattened."""
        live_ranges = flat.live_ranges
        roots = shared(
            flat, lambda live_range: self._steady(live_ranges[live_range]), aliases=self.aliases, in_place=self.in_place
        )
        members: dict[int, list[LiveRange]] = {}
        for live_range, root in zip(live_ranges, roots, strict=True):
            members.setdefault(root, []).append(live_range)
        return Timeline(tuple(flat.points), tuple([self._buffer(flat, them) for them in members.values()]))

    def size(self, live_range: LiveRange) -> Size:
        """The bytes of a value; those of the largest where it has several sizes, one for each trip of a loop."""
        if live_range.cause:
            return Size(None, live_range.cause)
        runs = live_range.frame.runs
        if len(runs) == 1:
            return self._size_of_number(runs[0], live_range.slot)
        return self._largest(tuple([self._number(run, live_range.slot) for run in runs]), runs[0])

    def _steady(self, live_range: LiveRange) -> Dim | None:
        """The bytes of a value; None where trips differ: of equal largest sizes those of one trip may still differ."""
        runs = live_range.frame.runs
        if not live_range.cause and len(runs) > 1 and len({self._number(run, live_range.slot) for run in runs}) > 1:
            return None
        return self.size(live_range).bytes

    def _number(self, run: Inference, slot: int) -> int:
        if run.table.epoch != self.store.epoch:
            run.table.refresh()
        return run.table.canonical[run.numbers[slot]]

    def _size_of_number(self, run: Inference, slot: int) -> Size:
        number = self._number(run, slot)
        found = self._sizes.get(number)
        if found is None:
            found = self._sizes[number] = size_of(self.store, run.table.types[number])
        return found

    def _largest(self, numbers: tuple[int, ...], run: Inference) -> Size:
        if numbers not in self._merged:
            sizes = [size_of(self.store, run.table.types[number]) for number in dict.fromkeys(numbers)]
            unsized = next((size for size in sizes if size.bytes is None), None)
            known: list[Dim] = [size.bytes for size in sizes if size.bytes is not None]
            self._merged[numbers] = unsized or Size(self.store.canon(maximum(*known)))
        return self._merged[numbers]

    def _buffer(self, flat: Flat, members: list[LiveRange]) -> Buffer:
        first, end = members[0], len(flat.points)
        role = role_of(members).role
        size = self.size(first)
        if size.bytes is None:  # the same elements, of which another value may know how many they are
            size = next((other for other in map(self.size, members) if other.bytes is not None), size)
        last = first.last if len(members) == 1 else max([live_range.last for live_range in members])
        death = end if role in ("weight", "output") else min(max(last, first.birth) + 1, end)
        dtype, shape = self._declared(first)
        values = (first.name,) if len(members) == 1 else tuple([live_range.name for live_range in members])
        cause = "" if size.bytes is not None else self._cause(first, size.cause)
        return Buffer(first.name, size.bytes, first.birth, death, role, dtype, shape, values, cause)

    def _declared(self, live_range: LiveRange) -> tuple[str | None, Shape]:
        """Element type and shape; no shape for what is no tensor, or has several."""
        found = self._tensor(live_range)
        return (None, Shape.unknown()) if found is None else (found.dtype, found.shape)

    def _tensor(self, live_range: LiveRange) -> TensorType | None:
        if live_range.cause:
            return None
        runs = live_range.frame.runs
        types: list[Type | None] = [run.table.types[self._number(run, live_range.slot)] for run in runs]
        first = types[0]
        if not isinstance(first, TensorType):
            return None
        if any(not isinstance(t, TensorType) or t.dtype != first.dtype for t in types[1:]):
            return None
        alike = all(isinstance(t, TensorType) and t.shape == first.shape for t in types[1:])
        return first if alike else TensorType(first.dtype, Shape.unknown())

    # -- causes ------------------------------------------------------------------------------------------------------

    @cached_property
    def _roots(self) -> tuple[PointFrame, Roots]:
        return PointFrame(self.inference), Roots()

    def _cause(self, live_range: LiveRange, cause: str) -> str:
        """Why a size is not known: for a rank of the model's own graph, who first did not know it."""
        found = None if live_range.cause or live_range.frame.inner else self._tensor(live_range)
        if found is None or found.shape.dims is not None:
            return cause
        frame, roots = self._roots
        point = Point(frame, live_range.slot, "rank", 0)
        told = "; ".join(str(cause_of(root)) for root in roots.of(point))
        return f"its rank is not known: {told}" if told else cause
