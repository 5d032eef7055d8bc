"""`PickledMemory`, which a pickle of a `Memory` contains, and the texts that both show in a console and a notebook."""

from __future__ import annotations

from typing import ClassVar, Protocol

import attrs

from shapeinf.expr import DimSize
from shapeinf.html import html_block, html_rows
from shapeinf.memory.peak.pickled import PickledPeak
from shapeinf.memory.timeline import Buffer, Role
from shapeinf.pickling import Pickled, versioned_pickle
from shapeinf.texts import exact_bytes, format_count, object_text


@versioned_pickle
@attrs.frozen
class PickledMemory(Pickled):
    """The totals of a `Memory` that was pickled; `plan` and `verify_plan` need the inference, and raise.

    Args:
        peak: the peak as a formula.
        weights: the bytes of all constants of known size.
        inputs: those of all inputs.
        outputs: those of all outputs that nodes compute.
        activations: those of all other computed values.
        bodies: those of the activations inside bodies and functions.
        unsized: the buffers of unknown size.
        upper_bounds: the upper bounds of the totals by role; None for one without.
        chosen_at: the sizes for which `order="least"` was chosen; None for the order of the file.
        planned: the roles of the buffers that the peak counts.
    """

    peak: PickledPeak
    weights: DimSize
    inputs: DimSize
    outputs: DimSize
    activations: DimSize
    bodies: DimSize
    unsized: tuple[Buffer, ...]
    upper_bounds: dict[Role, int | None]
    chosen_at: dict[str, int] | None
    planned: tuple[Role, ...]

    kind: ClassVar[str] = "memory"

    def __repr__(self) -> str:
        """The peak and the totals."""
        return memory_text("PickledMemory", self)

    def _repr_html_(self) -> str:
        """The same as a table."""
        return memory_html("PickledMemory", self)


class MemoryTotals(Protocol):
    """The attributes that `Memory` and `PickledMemory` share."""

    @property
    def peak(self) -> object:
        """The peak, whose `str` is its formula."""

    @property
    def weights(self) -> DimSize:
        """Bytes of constants."""

    @property
    def inputs(self) -> DimSize:
        """Bytes of inputs."""

    @property
    def outputs(self) -> DimSize:
        """Bytes of outputs."""

    @property
    def activations(self) -> DimSize:
        """Bytes of all other values."""

    @property
    def unsized(self) -> tuple[Buffer, ...]:
        """The buffers of unknown size."""


def memory_text(title: str, memory: MemoryTotals, with_peak: bool = True) -> str:
    """The `repr` of memory."""
    return object_text(f"{title}, in bytes", [f"{name:12}{text}" for name, text, _ in _rows(memory, with_peak)])


def memory_html(title: str, memory: MemoryTotals, with_peak: bool = True) -> str:
    """The HTML that a notebook shows."""
    return html_block(title, html_rows(["", "bytes", "counted"], _rows(memory, with_peak)))


def _rows(memory: MemoryTotals, with_peak: bool) -> list[tuple[str, str, str]]:
    """Name, bytes and what is counted: the peak, the totals by role, and how many buffers have no size."""
    rows = [
        ("peak", str(memory.peak) if with_peak else "not computed yet", "activations and outputs in use at once"),
        ("weights", _bytes(memory.weights), "all constants"),
        ("inputs", _bytes(memory.inputs), "all inputs"),
        ("outputs", _bytes(memory.outputs), "all outputs"),
        ("activations", _bytes(memory.activations), "all other values, whether or not they are in use at once"),
    ]
    if memory.unsized:
        rows.append(("not counted", format_count(len(memory.unsized), "buffer"), "of unknown size"))
    return rows


def _bytes(total: DimSize) -> str:
    return exact_bytes(total) if isinstance(total, int) else str(total)
