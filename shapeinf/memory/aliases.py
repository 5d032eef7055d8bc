"""Values that share storage: views of another value, and results written in the place of one that nobody needs more.

Which outputs are views and which inputs may be overwritten is said by the operators (`OpDef.views`, `OpDef.in_place`).
"""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.expr import Dim
from shapeinf.memory.liveness import NO_VALUE, Event, Flat, LiveRange

SizeOfRange = Callable[[int], "Dim | None"]
"""The bytes of a life by its number."""


def shared(flat: Flat, size: SizeOfRange, *, aliases: bool, in_place: bool) -> list[int]:
    """For each life the one whose storage it has: itself, or an earlier one; a view of a weight has that."""
    storage = _Storage(flat, size)
    for point, event in enumerate(flat.events):
        if event.op_def is None:
            continue
        for output, source in event.op_def.views.items():
            storage.view(event, output, source, aliases)
        if in_place:
            for source in event.op_def.in_place:
                if storage.overwrite(event, source, point):
                    break
    return storage.root


class _Storage:
    """Which lives share storage, and until when each storage is needed. Roots are direct: a class grows at its end."""

    def __init__(self, flat: Flat, size: SizeOfRange) -> None:
        self.live_ranges = flat.live_ranges
        self.size = size
        self.root = list(range(len(flat.live_ranges)))
        self.last = [live_range.last for live_range in flat.live_ranges]
        self.pinned = [live_range.pinned for live_range in flat.live_ranges]
        self.output = [live_range.role == "output" for live_range in flat.live_ranges]

    def view(self, event: Event, output: int, source: int, aliases: bool) -> None:
        """An output that is a view has no storage of its own; without aliases only that of a weight.

        A model's output has: a view of an input, a weight or another output would be no memory that is handed out.
        """
        if output >= len(event.makes) or source >= len(event.reads):
            return
        made, read = event.makes[output], event.reads[source]
        if made == NO_VALUE or read == NO_VALUE or self.root[made] != made:
            return
        if not aliases and self.live_ranges[made].role != "weight":
            return
        root = self.root[read]
        if root == made or (self.output[made] and (self.output[root] or self.live_ranges[root].role != "activation")):
            return
        self._join(made, root)

    def overwrite(self, event: Event, source: int, point: int) -> bool:
        """Put the first output in the place of an input that ends here, if that is allowed."""
        reads = event.reads
        allowed = () if event.op_def is None else event.op_def.in_place
        if source >= len(reads) or not event.makes:
            return False
        made, read = event.makes[0], reads[source]
        if made == NO_VALUE or read == NO_VALUE or self.root[made] != made or self.output[made] or self.pinned[made]:
            return False
        root = self.root[read]
        if root == made or self.pinned[root] or self.last[root] != point:
            return False
        for place, other in enumerate(reads):  # the same storage may be read once more only in the same way
            if other != NO_VALUE and self.root[other] == root and (other != read or place not in allowed):
                return False
        bytes_made = self.size(made)
        if bytes_made is None or bytes_made != self.size(root):
            return False
        self._join(made, root)
        return True

    def _join(self, made: int, root: int) -> None:
        self.root[made] = root
        self.last[root] = max(self.last[root], self.last[made])
        self.pinned[root] |= self.pinned[made]
        self.output[root] |= self.output[made]


def role_of(members: list[LiveRange]) -> LiveRange:
    """The life whose role a storage has: the first one, unless the model hands out another."""
    first = members[0]
    return (
        first
        if first.role != "activation"
        else next((live_range for live_range in members if live_range.role == "output"), first)
    )
