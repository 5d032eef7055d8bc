"""`PickledPeak`, which a pickle of a `Peak` contains."""

from __future__ import annotations

from typing import ClassVar

import attrs

from shapeinf.expr import DimSize
from shapeinf.memory.peak.terms import Unbounded
from shapeinf.pickling import Pickled, versioned_pickle
from shapeinf.texts import object_text


@versioned_pickle
@attrs.frozen
class PickledPeak(Pickled):
    """The formula of a `Peak` that was pickled; `at`, `over`, `largest` and `regions` raise NotPickledError.

    Args:
        text: the formula, as `str(peak)`.
        sizes: its terms, as dims of bytes.
        unbounded: the buffers without an upper bound, which it does not count.
        bounded: the names of the buffers that it counts with an upper bound.
        cut: the work budget was reached.
    """

    text: str
    sizes: tuple[DimSize, ...]
    unbounded: tuple[Unbounded, ...]
    bounded: tuple[str, ...]
    cut: bool

    kind: ClassVar[str] = "peak"

    @property
    def at_least(self) -> bool:
        """Whether buffers of unknown size are not counted."""
        return bool(self.unbounded)

    @property
    def at_most(self) -> bool:
        """Whether sizes that depend on data are counted with their upper bounds."""
        return bool(self.bounded)

    @property
    def exact(self) -> bool:
        """Whether it is the exact peak at all legal sizes."""
        return not self.at_least and not self.at_most

    def __str__(self) -> str:
        """The formula."""
        return self.text

    def __repr__(self) -> str:
        """The formula."""
        return object_text(f"PickledPeak: {self}")
