"""From live ranges to the buffers of a timeline: which values share storage, and how many bytes each buffer has.

Operators declare which outputs are views of inputs (`OpDef.views`) and which inputs an output may overwrite
(`OpDef.in_place`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shapeinf.engine.inference import Inference
from shapeinf.explain.causes import Roots
from shapeinf.explain.points import GraphFrame, Point
from shapeinf.explain.unknowns import cause_of
from shapeinf.expr import DimSize, maximum
from shapeinf.lattice import HandleType, Shape, TensorType, Type
from shapeinf.layout import Layout, equal, reshape_is_bitcast
from shapeinf.memory.layouts import LayoutAssignment, physical_array
from shapeinf.memory.liveness import NO_VALUE, Event, Liveness, LiveRange, flatten
from shapeinf.memory.sizes import Size, size_in_layout, size_of, size_of_items, size_of_weight
from shapeinf.memory.timeline import Buffer, Timeline
from shapeinf.sharing import cached_property


class _Content(NamedTuple):
    """The bytes of a value, and its element type and shape, see `Buffer`."""

    size: Size
    dtype: str | None
    shape: Shape


class TimelineBuilder:
    """Builds timelines of one inference; sizes and causes are computed once for values of equal types."""

    def __init__(
        self,
        inference: Inference,
        *,
        aliases: bool = False,
        in_place: bool = False,
        layouts: LayoutAssignment | None = None,
    ) -> None:
        """Options as in `Result.memory`."""
        self.inference = inference
        self.store = inference.store
        self.aliases = aliases
        self.in_place = in_place
        self.layouts = layouts
        self._layouts: dict[str, Layout | None] = {}
        self._sizes: dict[tuple[int, Layout | None], Size] = {}
        self._merged: dict[tuple[tuple[int, ...], Layout | None], Size] = {}
        self._contents: dict[tuple[int, bool, bool], _Content] = {}

    def timeline(self, order: Sequence[int] | None = None) -> Timeline:
        """The timeline of the nodes in a topological order, by default that of the program."""
        return self.timeline_of(flatten(self.inference, order))

    def timeline_of(self, liveness: Liveness) -> Timeline:
        """The timeline of these live ranges."""
        members: dict[int, list[LiveRange]] = {}
        for live_range, root in zip(liveness.live_ranges, _Storage(self, liveness).roots(), strict=True):
            if liveness.live_ranges[root].owners is None:  # a tuple, or an item of one, has no storage
                members.setdefault(root, []).append(live_range)
        return Timeline(tuple(liveness.points), tuple([self._buffer(liveness, group) for group in members.values()]))

    # -- sizes -------------------------------------------------------------------------------------------------------

    def size(self, live_range: LiveRange) -> Size:
        """The bytes of a value; the largest of them where its size differs from trip to trip of a loop."""
        return self._content(live_range).size

    def _content(self, live_range: LiveRange) -> _Content:
        """The content of a value; it is computed once for the values of a type, unless they have layouts or owners."""
        runs = live_range.instance.runs
        if live_range.cause or len(runs) > 1 or live_range.owners is not None or self.layouts is not None:
            return self._compute_content(live_range)
        run = runs[0]
        key = (run.table.canonical[run.numbers[live_range.slot]], live_range.role == "weight", live_range.created)
        content = self._contents.get(key)
        if content is None:
            content = self._contents[key] = self._compute_content(live_range)
        return content

    def _compute_content(self, live_range: LiveRange) -> _Content:
        tensor = self._tensor(live_range)
        dtype, shape = (None, Shape.unknown()) if tensor is None else (tensor.dtype, tensor.shape)
        return _Content(self._compute_size(live_range), dtype, shape)

    def _compute_size(self, live_range: LiveRange) -> Size:
        if live_range.cause:
            return Size(None, live_range.cause)
        if live_range.owners is not None:
            return Size(0)
        runs = live_range.instance.runs
        handle = self._handle(live_range)
        if handle is not None and live_range.role == "weight":
            return size_of_weight(self.store, handle)
        if handle is not None and live_range.created:
            return size_of_items(self.store, handle)
        layout = self.layout(live_range)
        if len(runs) == 1:
            return self._size_of_type(runs[0], self._type_index(runs[0], live_range.slot), layout)
        return self._largest(tuple([self._type_index(run, live_range.slot) for run in runs]), runs[0], layout)

    def _handle(self, live_range: LiveRange) -> TensorType | None:
        """The type of a resource handle; None for any other value."""
        value = self._types(live_range)[0]
        return value if isinstance(value, TensorType) and value.dtype == "resource" else None

    def steady_size(self, live_range: LiveRange) -> DimSize | None:
        """The bytes of a value; None where the types of trips differ, even if their largest sizes are equal."""
        runs = live_range.instance.runs
        steady = live_range.cause or len(runs) == 1 or len({self._type_index(r, live_range.slot) for r in runs}) == 1
        return self.size(live_range).bytes if steady else None

    def layout(self, live_range: LiveRange) -> Layout | None:
        """The layout that the user assigns to a value, None for the default. Raises LayoutError for another rank."""
        if self.layouts is None:
            return None
        name = live_range.name
        if name not in self._layouts:
            types = [] if live_range.cause else self._types(live_range)
            tensors = [t for t in types if isinstance(t, TensorType)]
            layouts = [self.layouts.layout_of(name, t) for t in tensors]
            self._layouts[name] = layouts[0] if layouts and len(tensors) == len(types) else None
        return self._layouts[name]

    def _type_index(self, run: Inference, slot: int) -> int:
        return run.table.canonical[run.numbers[slot]]

    def _types(self, live_range: LiveRange) -> list[Type | None]:
        return [run.table.types[self._type_index(run, live_range.slot)] for run in live_range.instance.runs]

    def _size_of_type(self, run: Inference, index: int, layout: Layout | None) -> Size:
        key = (index, layout)
        size = self._sizes.get(key)
        if size is None:
            value = run.table.types[index]
            if layout is not None and isinstance(value, TensorType):
                size = size_in_layout(self.store, value, layout)
            else:
                size = size_of(self.store, value)
            self._sizes[key] = size
        return size

    def _largest(self, indices: tuple[int, ...], run: Inference, layout: Layout | None) -> Size:
        key = (indices, layout)
        if key not in self._merged:
            sizes = [self._size_of_type(run, index, layout) for index in dict.fromkeys(indices)]
            unsized = next((size for size in sizes if size.bytes is None), None)
            known: list[DimSize] = [size.bytes for size in sizes if size.bytes is not None]
            self._merged[key] = unsized or Size(self.store.canon(maximum(*known)))
        return self._merged[key]

    # -- storage -----------------------------------------------------------------------------------------------------

    def is_view(self, view: LiveRange, source: LiveRange) -> bool:
        """Whether a view needs no copy: neither has a layout, or the reshape is provably a bitcast."""
        layouts = self.layout(view), self.layout(source)
        if layouts == (None, None):
            return True
        a, b = self._tensor(source), self._tensor(view)
        if a is None or b is None or a.shape.dims is None or b.shape.dims is None:
            return False
        source_array, view_array = physical_array(a, layouts[1]), physical_array(b, layouts[0])
        return reshape_is_bitcast(source_array, view_array, store=self.store) is True

    def may_overwrite(self, result: LiveRange, source: LiveRange) -> bool:
        """Whether a result fits the storage of a value: as many bytes and, with layouts, each element at its index."""
        size = self.steady_size(result)
        if size is None or size != self.steady_size(source):
            return False
        layouts = self.layout(result), self.layout(source)
        if layouts == (None, None):
            return True
        a, b = self._tensor(result), self._tensor(source)
        if a is None or b is None or a.shape.dims is None or b.shape.dims is None:
            return False
        arrays = physical_array(a, layouts[0]), physical_array(b, layouts[1])
        return equal(*arrays, ignoring=["dtype"], store=self.store) is True

    def _buffer(self, liveness: Liveness, members: list[LiveRange]) -> Buffer:
        first, end = members[0], len(liveness.points)
        size, dtype, shape = self._content(first)
        values: tuple[str, ...] = (first.name,)
        role, last = first.role, first.last
        if len(members) > 1:
            values = tuple([member.name for member in members])
            role, last = _main_member(members).role, max([member.last for member in members])
            if size.bytes is None:  # the members have the same elements, so the size of any of them is the buffer's
                size = next((other for other in map(self.size, members) if other.bytes is not None), size)
        death = end if role in ("weight", "output") else min(max(last, first.birth) + 1, end)
        cause = "" if size.bytes is not None else self._cause(first, size.cause)
        return Buffer(first.name, size.bytes, first.birth, death, role, dtype, shape, values, cause, self.layout(first))

    def _tensor(self, live_range: LiveRange) -> TensorType | None:
        if live_range.cause:
            return None
        first, *others = self._types(live_range)
        if isinstance(first, HandleType) and live_range.role == "weight" and first.values:
            return first.values[0]
        if not isinstance(first, TensorType):
            return None
        if any(not isinstance(t, TensorType) or t.dtype != first.dtype for t in others):
            return None
        alike = all(isinstance(t, TensorType) and t.shape == first.shape for t in others)
        return first if alike else TensorType(first.dtype, Shape.unknown())

    # -- causes ------------------------------------------------------------------------------------------------------

    @cached_property
    def _roots(self) -> tuple[GraphFrame, Roots]:
        return GraphFrame(self.inference), Roots()

    def _cause(self, live_range: LiveRange, cause: str) -> str:
        """Why a size is not known; for an unknown rank in the main graph, the root cause of that."""
        tensor = None if live_range.cause or live_range.instance.inner else self._tensor(live_range)
        if tensor is None or tensor.shape.dims is not None:
            return cause
        frame, roots = self._roots
        point = Point(frame, live_range.slot, "rank", 0)
        causes = "; ".join(str(cause_of(root)) for root in roots.find(point))
        return f"its rank is not known: {causes}" if causes else cause


class _Storage:
    """Which live ranges share storage, and how long each storage is needed.

    `root` maps each live range to the first one of its storage.
    """

    def __init__(self, builder: TimelineBuilder, liveness: Liveness) -> None:
        self.builder = builder
        self.liveness = liveness
        self.live_ranges = liveness.live_ranges
        self.root = list(range(len(self.live_ranges)))
        self.last = [live_range.last for live_range in self.live_ranges]
        self.reserved = [live_range.reserved for live_range in self.live_ranges]
        self.output = [live_range.role == "output" for live_range in self.live_ranges]

    def roots(self) -> list[int]:
        """For each live range the index of the one whose storage it uses: its own, or an earlier one's."""
        for point, event in enumerate(self.liveness.events):
            if event.op_def is None:
                continue
            if event.op_def.stored:
                self._share_variables(event)
            for output, source in event.op_def.views.items():
                self._share_view(event, output, source)
            if self.builder.in_place:
                for source in event.op_def.in_place:
                    if self._overwrite(event, source, point):
                        break
        return self.root

    def _share_variables(self, event: Event) -> None:
        """Let a value that is read from a variable share the storage of the variable, which its handle has."""
        for read, handle in zip(event.writes, event.reads, strict=False):
            if NO_VALUE not in (read, handle) and self.root[read] == read != self.root[handle]:
                self._join(read, self.root[handle])

    def _share_view(self, event: Event, output: int, source: int) -> None:
        """Let an output that is a view share the storage of its source; without `aliases`, only a view of a weight.

        An output of the model never shares storage with an input, a weight or another output.
        """
        if output >= len(event.writes) or source >= len(event.reads):
            return
        view, read = event.writes[output], event.reads[source]
        if view == NO_VALUE or read == NO_VALUE or self.root[view] != view:
            return
        if not self.builder.aliases and self.live_ranges[view].role != "weight":
            return
        root = self.root[read]
        if root == view or (self.output[view] and (self.output[root] or self.live_ranges[root].role != "activation")):
            return
        if self.builder.is_view(self.live_ranges[view], self.live_ranges[read]):
            self._join(view, root)

    def _overwrite(self, event: Event, source: int, point: int) -> bool:
        """Write the first output over an input whose storage is not needed after this point, if that is allowed."""
        reads = event.reads
        allowed = () if event.op_def is None else event.op_def.in_place
        if source >= len(reads) or not event.writes:
            return False
        result, read = event.writes[0], reads[source]
        if result == NO_VALUE or read == NO_VALUE or self.root[result] != result:
            return False
        root = self.root[read]
        if self.output[result] or self.reserved[result] or root == result or self.reserved[root]:
            return False
        if self.last[root] != point:
            return False
        for position, other in enumerate(reads):  # another input with this storage must be the same value, and allowed
            if other != NO_VALUE and self.root[other] == root and (other != read or position not in allowed):
                return False
        if not self.builder.may_overwrite(self.live_ranges[result], self.live_ranges[root]):
            return False
        self._join(result, root)
        return True

    def _join(self, member: int, root: int) -> None:
        self.root[member] = root
        self._extend(root, self.last[member])
        self.reserved[root] |= self.reserved[member]
        self.output[root] |= self.output[member]

    def _extend(self, root: int, last: int) -> None:
        """Extend a storage, and those that its value refers to, to a program point."""
        if self.last[root] < last:
            self.last[root] = last
            for owner in self.live_ranges[root].owners or ():
                self.live_ranges[owner].last = max(self.live_ranges[owner].last, last)
                self._extend(self.root[owner], last)


def _main_member(members: list[LiveRange]) -> LiveRange:
    """The member that gives a storage its role: the first one, or an output of the model among activations."""
    first = members[0]
    if first.role != "activation":
        return first
    return next((live_range for live_range in members if live_range.role == "output"), first)
