"""The result of a verification of memory: one record a run, with the predicted and the measured peak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import attrs

from shapeinf.runtime.records import sizes_line
from shapeinf.schemas import json_record
from shapeinf.texts import escape_lines, exact_bytes, format_count, qualify

PeakVerdict = Literal["exact", "within the bound", "less", "more", "not compared", "refused"]


@json_record(add=("verdict",))
@attrs.frozen
class MemoryRun:
    """One run of a model in a runtime: its peak as it is predicted and as it is measured, in bytes.

    Args:
        sizes: the sizes of the dims.
        chosen: those of them without a user value: small sizes that the graph can run with.
        values: the values of integer inputs, as text.
        predicted: the peak of a first run by `Memory` with the runtime; None where the runtime refused the run.
        at_least: the prediction is a lower bound: the size of some buffers is not known.
        at_most: the prediction is an upper bound: sizes that depend on data, or temporaries, have their upper bounds.
        measured: the most bytes that were in use besides those that the session holds; None where it refused the run.
        in_pages: only pages of memory were counted, not each allocation.
        notes: why the prediction is a bound, or may differ.
        refused: why the runtime did not load or run the model, mostly its own message; empty where it ran.
    """

    sizes: Mapping[str, int]
    chosen: Mapping[str, int] = attrs.Factory(dict)
    values: str = ""
    predicted: int | None = None
    at_least: bool = False
    at_most: bool = False
    measured: int | None = None
    in_pages: bool = False
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def verdict(self) -> PeakVerdict:
        """How the measured peak compares with the predicted one; "less" and "more" are not within a bound."""
        if self.predicted is None or self.measured is None:
            return "refused"
        if self.in_pages:
            return "not compared"
        if self.measured == self.predicted:
            return "exact"
        holds = self.at_least if self.measured > self.predicted else self.at_most
        return "within the bound" if holds else "more" if self.measured > self.predicted else "less"

    def __str__(self) -> str:
        """The sizes, both peaks, and the notes."""
        return escape_lines([sizes_line(self.sizes, self.chosen, self.values), *self._peak_lines()])

    def _peak_lines(self) -> Iterator[str]:
        if self.refused:
            yield f"  refused: {self.refused}"
        if self.predicted is None or self.measured is None:
            return
        verdict = {"less": "less than predicted", "more": "WRONG, more than predicted"}.get(self.verdict, self.verdict)
        yield f"  predicted  {qualify(exact_bytes(self.predicted), self.at_least, self.at_most)}"
        yield f"  measured   {'about ' if self.in_pages else ''}{exact_bytes(self.measured)}: {verdict}"
        yield from (f"  note       {note}" for note in self.notes)


@json_record("shapeinf.verify.memory/1", add=("ok", "verdict"))
@attrs.frozen
class MemoryVerification:
    """The memory of runs of a model in a runtime: the output of `shapeinf verify --memory --json`.

    Args:
        model: the path of the model on a command line; else empty.
        runtime: its name and version.
        optimize: the level at which the session optimizes the model.
        obstacle: why pages were counted in place of allocations; empty where each allocation was counted.
        runs: one for each binding.
    """

    model: str = attrs.field(default="", kw_only=True)
    runtime: str
    optimize: str
    obstacle: str
    runs: tuple[MemoryRun, ...]

    @property
    def ok(self) -> bool:
        """Whether every run ran, and none is known to take more than predicted."""
        return not self.refused and not self.mismatches

    @property
    def mismatches(self) -> tuple[MemoryRun, ...]:
        """The runs that take more than predicted."""
        return tuple(run for run in self.runs if run.verdict == "more")

    @property
    def refused(self) -> bool:
        """Whether the runtime refused to load or run the model in some run."""
        return any(run.refused for run in self.runs)

    @property
    def verdict(self) -> str:
        """The conclusion in one line."""
        verdicts = [run.verdict for run in self.runs]
        if self.mismatches:
            return f"{len(self.mismatches)} WRONG"
        if self.refused:
            return "not verified: a run was not measured"
        if "not compared" in verdicts:
            return "not verified: pages are too coarse to compare"
        less = verdicts.count("less")
        return f"verified; {format_count(less, 'run')} below the prediction" if less else "verified"

    def __str__(self) -> str:
        """The runtime, the runs and the verdict."""
        lines = [f"{self.runtime}, optimizations: {self.optimize}"]
        if self.obstacle:
            lines.append(f"pages of memory are counted: {self.obstacle}")
        return "\n".join([escape_lines(lines), *map(str, self.runs), self.verdict])
