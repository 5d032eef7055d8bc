"""What a verification gives back: one record a run, with what differs and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from shapeinf.texts import escape_lines, format_count

SCHEMA = "shapeinf.verify/1"
MOST_LINES = 20
"""Lines of one kind that are printed: a wrong size goes on through all that is made of it."""


@attrs.frozen
class Mismatch:
    """A tensor that the run makes otherwise than we say.

    Args:
        tensor: its name; empty for what is about the whole run.
        node: the node that makes it.
        op: the operator of the node.
        said: what we say.
        real: what the runtime says.
        by: which inference said so: "bound" with the sizes put in, "symbolic" with the dims evaluated, "buffer" for
            what happened to a buffer of our size.
    """

    tensor: str
    node: str
    op: str
    said: str
    real: str
    by: str

    def __str__(self) -> str:
        """Read as "y (node 'n', op): float32[2, 3] in the runtime, float32[2, 4] by inference (bound)"."""
        maker = f" ({self.op} '{self.node}')" if self.op else ""
        return f"{self.tensor or 'the model'}{maker}: {self.real} in the runtime, {self.said} by inference ({self.by})"


@attrs.frozen
class Skipped:
    """A tensor that was not compared, or an output that was not bound, and why."""

    tensor: str
    reason: str


@attrs.frozen
class Run:
    """One set of sizes, run and compared.

    Args:
        sizes: the sizes of the dims.
        chosen: those of them that nobody gave: small sizes that the graph can run with.
        inputs: the type of each input in the run, as text.
        values: how integers of inputs were made.
        tensors: tensors compared.
        exact: those of which every size was said exactly.
        bounded: those with a size that depends on data, which lies within its bounds.
        unknown: those of which not even the rank, or not the element type, was said.
        bound: outputs that were written into buffers of exactly our sizes.
        bound_bytes: the bytes of these buffers.
        mismatches: where we are wrong.
        skipped: tensors that were not compared.
        unbound: outputs without a buffer of ours.
        refused: why the runtime did not load or run the model, in its own words; empty when it ran.
    """

    sizes: Mapping[str, int]
    chosen: Mapping[str, int] = attrs.Factory(dict)
    inputs: Mapping[str, str] = attrs.Factory(dict)
    values: str = ""
    tensors: int = 0
    exact: int = 0
    bounded: int = 0
    unknown: int = 0
    bound: int = 0
    bound_bytes: int = 0
    mismatches: tuple[Mismatch, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unbound: tuple[Skipped, ...] = ()
    refused: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ran and nothing differs."""
        return not self.refused and not self.mismatches

    def __str__(self) -> str:
        """The sizes, the counts, and a line for all that differs or was left out."""
        parts = [f"{name}={size}" + (" (chosen)" if name in self.chosen else "") for name, size in self.sizes.items()]
        lines = [", ".join(parts) or "no dims to bind"]
        if self.tensors:
            lines.append(
                f"  {format_count(self.tensors, 'tensor')} compared: {self.exact} exact, {self.bounded} within bounds "
                f"of sizes that depend on data, {self.unknown} not known"
            )
        if self.bound or self.unbound:
            lines.append(
                f"  {format_count(self.bound, 'output')} bound to buffers of our sizes ({self.bound_bytes} bytes)"
            )
        lines += _first(f"  not bound: {one.tensor} ({one.reason})" for one in self.unbound)
        lines += _first(f"  skipped: {one.tensor} ({one.reason})" for one in self.skipped)
        lines += _first(f"  WRONG {one}" for one in self.mismatches)
        if self.refused:
            lines.append(f"  refused: {self.refused}")
        return escape_lines(lines)


def _first(lines: Iterable[str]) -> list[str]:
    """The first lines, in the order of the nodes, and how many there are besides."""
    found = list(lines)
    left = len(found) - MOST_LINES
    return [*found[:MOST_LINES], f"  and {left} more (--json has all)"] if left > 0 else found


@attrs.frozen
class Verification:
    """All runs of a model."""

    runtime: str
    runs: tuple[Run, ...]

    @property
    def ok(self) -> bool:
        """Whether every run ran and nothing differs."""
        return all(run.ok for run in self.runs)

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """Where we are wrong, in all runs."""
        return tuple(one for run in self.runs for one in run.mismatches)

    @property
    def refused(self) -> bool:
        """Whether the runtime refused to load or run the model in some run."""
        return any(run.refused for run in self.runs)

    def __str__(self) -> str:
        """The runtime, every run, and the verdict."""
        return "\n".join([self.runtime, *map(str, self.runs), self.verdict])

    @property
    def verdict(self) -> str:
        """One line: what came of it."""
        if self.mismatches:
            return f"{len(self.mismatches)} WRONG"
        return "not verified: the runtime did not run it" if self.refused else "verified"

    def as_json(self) -> dict[str, Any]:
        """JSON-ready data; `schema` names the version of this form."""
        runs = [
            {**attrs.asdict(run), "sizes": dict(run.sizes), "chosen": dict(run.chosen), "inputs": dict(run.inputs)}
            for run in self.runs
        ]
        return {"schema": SCHEMA, "runtime": self.runtime, "ok": self.ok, "verdict": self.verdict, "runs": runs}
