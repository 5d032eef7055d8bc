"""The results of queries about a peak."""

from __future__ import annotations

from typing import ClassVar

import attrs

from shapeinf.memory.peak.terms import PeakTerm
from shapeinf.memory.timeline import Buffer, ProgramPoint
from shapeinf.solver.budget import NEEDS_ISL, cut_text
from shapeinf.solver.upper_bounds import UpperBound
from shapeinf.texts import object_text, qualify

REMEDY = "memory(work=...) or --work"


@attrs.frozen
class PeakAt:
    """The peak for given sizes.

    Args:
        bytes: the most in use at once.
        point: the first node with this many bytes in use; None for a model without nodes.
        index: the index of that program point.
        alive: the buffers in use there with their bytes, largest first.
        at_least: buffers of unknown size are not counted.
        at_most: buffers are counted with upper bounds: their size depends on data, or a run may need less.
    """

    bytes: int
    point: ProgramPoint | None
    index: int
    alive: tuple[tuple[Buffer, int], ...]
    at_least: bool = False
    at_most: bool = False

    def __repr__(self) -> str:
        """The bytes, the node, and the largest buffers."""
        title, *lines = str(self).split("\n")
        return object_text(f"PeakAt: {title}", map(str.strip, lines))

    def __str__(self) -> str:
        """The bytes, the node, and one line for each buffer."""
        where = f" at {self.point.op} '{self.point.node}'" if self.point else ""
        lines = [f"{qualify(str(self.bytes), self.at_least, self.at_most)} bytes{where}"]
        return "\n".join([*lines, *(f"  {size} {buffer.name}" for buffer, size in self.alive)])


@attrs.frozen(kw_only=True)
class PeakBound(UpperBound):
    """The least upper bound of the peak over ranges; `sizes` and `unbounded` hold labels.

    Args:
        point: the first node of the term that has this bound.
        at_least: buffers of unknown size are not counted.
        at_most: buffers are counted with upper bounds: their size depends on data, or a run may need less.
        cause: the formula that passes a limit, where that is why no bound is known.
    """

    point: ProgramPoint | None = None
    at_least: bool = False
    at_most: bool = False
    cause: str = ""
    remedy: ClassVar[str] = REMEDY

    def __str__(self) -> str:
        """The bound, and how it was computed."""
        if self.cause:
            return f"no bound ({self.cause})"
        return ("at least " if self.at_least else "") + super().__str__()


@attrs.frozen
class Region:
    """A range of sizes of one dim, `first` to `last`, on which one term of the peak is the largest."""

    first: int
    last: int
    term: PeakTerm
    point: ProgramPoint


@attrs.frozen
class Largest:
    """The largest size of a dim with which the peak fits into a limit.

    Args:
        name: the dim.
        value: its largest size; None where no size fits, or where every size does (`unlimited`).
        limit: bytes.
        bytes: the peak at that size: the upper bound over the other dims.
        unlimited: every size fits.
        proven: no larger size fits; False where the bound over the other dims, or of a buffer, may be too large.
        at_least: buffers of unknown size are not counted, so that even this size may not fit.
        cut: the work budget was reached; a larger size may fit.
        needs_isl: isl, which is not installed, may prove that a larger size fits, or that none does.
    """

    name: str
    value: int | None
    limit: int
    bytes: int | None = None
    unlimited: bool = False
    proven: bool = True
    at_least: bool = False
    cut: bool = False
    needs_isl: bool = False

    def __str__(self) -> str:
        """One line."""
        notes = [cut_text(REMEDY)] * self.cut + [NEEDS_ISL] * self.needs_isl
        reached = f" ({'; '.join(notes)})" if notes else ""
        caveat = " (without the buffers of unknown size)" if self.at_least else ""
        if self.unlimited:
            return f"every size of {self.name} fits into {self.limit} bytes{caveat}"
        if self.value is None:
            known = "fits" if self.proven else "is known to fit"
            return f"no size of {self.name} {known} into {self.limit} bytes{reached}"
        more = "" if self.proven else f"; a larger one may fit as well{reached}"
        return f"{self.name} = {self.value} needs {self.bytes} of {self.limit} bytes{caveat}{more}"
