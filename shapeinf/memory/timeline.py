"""The timeline of a model: its program points, and the buffers in use at each. Peaks, plans and exports read it."""

from __future__ import annotations

from typing import Literal

import attrs

from shapeinf.expr import DimSize
from shapeinf.lattice import Shape
from shapeinf.layout import Layout

Role = Literal["weight", "input", "output", "activation", "scratch"]


@attrs.frozen
class ProgramPoint:
    """One node at its position in the order; a node of a body or function is named by its path."""

    node: str
    op: str


@attrs.frozen
class Buffer:
    """One block of memory and its live range: it is in use at the program points `birth <= t < death`.

    Args:
        name: the first value in it; a value of a body or function is named by its path.
        size: bytes; None where unknown, and then `cause` has the reason. May hold symbols of data-dependent sizes.
        birth: the program point of its producer (0 for inputs and weights).
        death: the program point after its last consumer (the number of points for outputs and weights).
        role: weight, input, output or activation.
        dtype: the element type of the first value, None where not known.
        shape: the shape of the first value.
        values: all values that share the buffer.
        cause: why the size is not known.
        layout: the layout of the first value, where the user assigns one; `size` then counts its padding.
        is_bound: a run may need less: the size is that of a formula's larger case, or data decide whether it is needed.
    """

    name: str
    size: DimSize | None
    birth: int
    death: int
    role: Role
    dtype: str | None
    shape: Shape
    values: tuple[str, ...]
    cause: str = ""
    layout: Layout | None = None
    is_bound: bool = False


@attrs.frozen
class Timeline:
    """The nodes in the order in which they run, those of a body before its owner, and all buffers."""

    points: tuple[ProgramPoint, ...]
    buffers: tuple[Buffer, ...]
