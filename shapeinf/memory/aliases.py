"""Values that share storage: views of another value, and results written in the place of one that nobody needs more.

Which outputs are views and which inputs may be overwritten is said by the operators (`OpDef.views`, `OpDef.in_place`).
"""

from __future__ import annotations

from collections.abc import Callable

from shapeinf.expr import Dim
from shapeinf.memory.liveness import NOBODY, Flat, Happening, LiveRange

SizeOfLife = Callable[[int], "Dim | None"]
"""The bytes of a life by its number."""


def shared(flat: Flat, size: SizeOfLife, *, aliases: bool, in_place: bool) -> list[int]:
    """For each life the one whose storage it has: itself, or an earlier one; a view of a weight has that."""
    storage = _Storage(flat, size)
    for moment, happening in enumerate(flat.happenings):
        if happening.op_def is None:
            continue
        for output, source in happening.op_def.views.items():
            storage.view(happening, output, source, aliases)
        if in_place:
            for source in happening.op_def.in_place:
                if storage.overwrite(happening, source, moment):
                    break
    return storage.root


class _Storage:
    """Which lives share storage, and until when each storage is needed. Roots are direct: a class grows at its end."""

    def __init__(self, flat: Flat, size: SizeOfLife) -> None:
        self.lives = flat.lives
        self.size = size
        self.root = list(range(len(flat.lives)))
        self.last = [life.last for life in flat.lives]
        self.pinned = [life.pinned for life in flat.lives]
        self.output = [life.role == "output" for life in flat.lives]

    def view(self, happening: Happening, output: int, source: int, aliases: bool) -> None:
        """An output that is a view has no storage of its own; without aliases only that of a weight.

        A model's output has: a view of an input, a weight or another output would be no memory that is handed out.
        """
        if output >= len(happening.makes) or source >= len(happening.reads):
            return
        made, read = happening.makes[output], happening.reads[source]
        if made == NOBODY or read == NOBODY or self.root[made] != made:
            return
        if not aliases and self.lives[made].role != "weight":
            return
        root = self.root[read]
        if root == made or (self.output[made] and (self.output[root] or self.lives[root].role != "activation")):
            return
        self._join(made, root)

    def overwrite(self, happening: Happening, source: int, moment: int) -> bool:
        """Put the first output in the place of an input that ends here, if that is allowed."""
        reads = happening.reads
        allowed = () if happening.op_def is None else happening.op_def.in_place
        if source >= len(reads) or not happening.makes:
            return False
        made, read = happening.makes[0], reads[source]
        if made == NOBODY or read == NOBODY or self.root[made] != made or self.output[made] or self.pinned[made]:
            return False
        root = self.root[read]
        if root == made or self.pinned[root] or self.last[root] != moment:
            return False
        for place, other in enumerate(reads):  # the same storage may be read once more only in the same way
            if other != NOBODY and self.root[other] == root and (other != read or place not in allowed):
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
    return first if first.role != "activation" else next((life for life in members if life.role == "output"), first)
