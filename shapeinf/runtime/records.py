"""The result of a verification: one record a run, with the differences and the skipped tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.schemas import json_record
from shapeinf.texts import escape_lines, format_count

MAX_ALIKE = 4
"""The most tensors with the same reason that are listed one by one."""

MAX_LINES = 20
"""The most lines of one kind that are printed: a wrong size propagates to all consumers."""


@attrs.frozen
class Mismatch:
    """A tensor whose observed type is not the inferred one.

    Args:
        tensor: its name; empty for a mismatch of the full run.
        node: the node that produces it.
        op: the operator of the node.
        inferred: the inferred type.
        observed: the type in the runtime.
        by: which inference differs: "bound" with the sizes bound, "symbolic" with the dims evaluated, "buffer" for a
            buffer of the inferred size.
    """

    tensor: str
    node: str
    op: str
    inferred: str
    observed: str
    by: str

    def __str__(self) -> str:
        """`y (Relu 'n'): float32[2, 3] in the runtime, float32[2, 4] by inference (bound)`."""
        node = f" ({self.op} '{self.node}')" if self.op else ""
        sides = f"{self.observed} in the runtime, {self.inferred} by inference ({self.by})"
        return f"{self.tensor or 'the model'}{node}: {sides}"


@attrs.frozen
class Skipped:
    """A tensor that was not compared, or an output that was not bound, with the reason."""

    tensor: str
    reason: str


@json_record(add=("ok",))
@attrs.frozen
class Run:
    """One run of a model, compared with the inference.

    Args:
        sizes: the sizes of the dims.
        chosen: those of them without a user value: small sizes that the graph can run with.
        inputs: the type of each input in the run, as text.
        values: the values of integer inputs, as text.
        tensors: the number of tensors that were compared.
        exact: the number of those with all sizes inferred.
        bounded: the number of those with a size that depends on data and lies within its bounds.
        unknown: the number of those with an unknown rank or element type.
        bound: the number of outputs that were written into buffers of exactly the inferred size.
        bound_bytes: the bytes of these buffers.
        redeclared: bound outputs with another declared shape, run in a copy of the model with the inferred one.
        mismatches: tensors whose observed type is not the inferred one.
        skipped: tensors that were not compared.
        unbound: outputs without a buffer.
        refused: why the runtime did not load or run the model, mostly its own message; empty where it ran.
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
    redeclared: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unbound: tuple[Skipped, ...] = ()
    refused: str = ""

    @property
    def ok(self) -> bool:
        """Whether the model ran and nothing differs."""
        return not self.refused and not self.mismatches

    def __str__(self) -> str:
        """The sizes, the counts, and a line for each tensor that differs or was skipped."""
        lines = [sizes_line(self.sizes, self.chosen, self.values)]
        if self.tensors:
            lines.append(
                f"  {format_count(self.tensors, 'tensor')} compared: {self.exact} exact, {self.bounded} within bounds "
                f"of sizes that depend on data, {self.unknown} not known"
            )
        if self.bound or self.unbound:
            lines.append(
                f"  {format_count(self.bound, 'output')} bound to buffers of inferred sizes ({self.bound_bytes} bytes)"
            )
        lines += _first_lines(
            f"  {name}: the file declares another shape; bound in a copy of the model with the inferred one"
            for name in self.redeclared
        )
        lines += _first_lines(f"  not bound: {text}" for text in _group_by_reason(self.unbound, "output"))
        lines += _first_lines(f"  skipped: {text}" for text in _group_by_reason(self.skipped, "tensor"))
        lines += _first_lines(f"  WRONG {mismatch}" for mismatch in self.mismatches)
        if self.refused:
            lines.append(f"  refused: {self.refused}")
        return escape_lines(lines)


def sizes_line(sizes: Mapping[str, int], chosen: Mapping[str, int], values: str) -> str:
    """The sizes of a run, and the value that was found for an input of one integer."""
    parts = [f"{name}={size}" + (" (chosen)" if name in chosen else "") for name, size in sizes.items()]
    if "=" in values:
        parts.append(f"{values} (chosen)")
    return ", ".join(parts) or "no dims to bind"


def _group_by_reason(items: Iterable[Skipped], noun: str) -> Iterator[str]:
    """One text for each reason that more than `MAX_ALIKE` items share, and one for each other item."""
    groups: dict[str, list[str]] = {}
    for item in items:
        groups.setdefault(item.reason, []).append(item.tensor)
    for reason, names in groups.items():
        if len(names) > MAX_ALIKE:
            yield f"{format_count(len(names), noun)}, the first is {names[0]} ({reason})"
        else:
            yield from (f"{name} ({reason})" for name in names)


def _first_lines(lines: Iterable[str]) -> list[str]:
    """The first `MAX_LINES` lines, and a line with the number of the others."""
    lines = list(lines)
    others = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], f"  and {others} more (--json has all)"] if others > 0 else lines


@json_record("shapeinf.verify/1", add=("ok", "verdict"))
@attrs.frozen
class Verification:
    """All runs of a model in a runtime: the output of `shapeinf verify --json`.

    Args:
        model: the path of the model on a command line; else empty.
        runtime: its name and version.
        runs: one for each binding.
        assumptions: those of the inference, as texts.
    """

    model: str = attrs.field(default="", kw_only=True)
    runtime: str
    runs: tuple[Run, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every run ran and nothing differs."""
        return all(run.ok for run in self.runs)

    @property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """The mismatches of all runs."""
        return tuple(mismatch for run in self.runs for mismatch in run.mismatches)

    @property
    def refused(self) -> bool:
        """Whether the runtime refused to load or run the model in some run."""
        return any(run.refused for run in self.runs)

    def __str__(self) -> str:
        """The runtime, the runs and the verdict."""
        return "\n".join([self.runtime, *map(str, self.runs), self.verdict])

    @property
    def verdict(self) -> str:
        """The conclusion in one line."""
        if self.mismatches:
            only = f"; inference holds for {', '.join(self.assumptions)} only" if self.assumptions else ""
            return f"{len(self.mismatches)} WRONG{escape_lines([only])}"
        if self.refused:
            return "not verified: the runtime did not run the model"
        compared = any(run.tensors or run.bound for run in self.runs)
        return "verified" if compared else "not verified: no tensor was compared"
