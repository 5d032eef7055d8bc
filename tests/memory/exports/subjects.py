"""Small subjects of exports."""

from __future__ import annotations

from collections.abc import Mapping

from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import Shape, ShapeStore
from shapeinf.memory import Buffer, ProgramPoint, Timeline
from shapeinf.memory.exports import MemoryExport
from shapeinf.memory.peak import Peak
from shapeinf.memory.planning import Plan


def subject(
    store: ShapeStore,
    sizes: Mapping[str, DimSize | None],
    *,
    name: str = "model",
    plan: Plan | None = None,
    labels: Mapping[Dimension, str] | None = None,
) -> MemoryExport:
    """Buffers of bytes: each is live at its own program point and the next, the last only at its own."""
    count = len(sizes)
    points = tuple(ProgramPoint(f"node{i}", "Step") for i in range(count))
    buffers = tuple(
        Buffer(n, d, i, min(i + 2, count), "activation", "uint8", Shape(None), (n,), "no idea")
        if d is None
        else Buffer(n, d, i, min(i + 2, count), "activation", "uint8", Shape((d,)), (n,))
        for i, (n, d) in enumerate(sizes.items())
    )
    if labels is None:
        labels = {store.scope.symbol(s): s for s in store.scope.names()}
    return MemoryExport(name, Peak(Timeline(points, buffers), store, labels=labels), plan)
