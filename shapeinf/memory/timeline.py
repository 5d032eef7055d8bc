"""Which blocks of memory live when: what peaks, plans, exports and pictures are made of."""

from __future__ import annotations

from typing import Literal

import attrs

from shapeinf.expr import Dim
from shapeinf.lattice import Shape

Role = Literal["weight", "input", "output", "activation"]


@attrs.frozen
class ProgramPoint:
    """One node at its place in time; a node of a subgraph or function is named by its path."""

    node: str
    op: str


@attrs.frozen
class Buffer:
    """One block of memory and the moments at which it is in use: `birth <= t < death`.

    Args:
        name: the value that it was made for; one of a subgraph or function is named by its path.
        size: bytes; None where not known, and then `cause` says why. May hold symbols of data-dependent sizes.
        birth: the moment of the node that makes it (0 for inputs and weights).
        death: the moment after that of the last node that reads it (the number of moments for outputs and weights).
        role: what it is for.
        dtype: the element type, None where not known.
        shape: the shape of the value that it was made for.
        values: all values that it holds: with aliases it may be several.
        cause: why the size is not known.
    """

    name: str
    size: Dim | None
    birth: int
    death: int
    role: Role
    dtype: str | None
    shape: Shape
    values: tuple[str, ...]
    cause: str = ""


@attrs.frozen
class Timeline:
    """The nodes in the order in which they run, those of subgraphs before the node that holds them, and all buffers."""

    points: tuple[ProgramPoint, ...]
    buffers: tuple[Buffer, ...]
