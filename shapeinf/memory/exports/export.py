"""One call for all formats: the suffix of the path says which."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shapeinf.errors import ShapeInferenceError
from shapeinf.lattice import ShapeFacts
from shapeinf.memory.exports.c_header import c_header
from shapeinf.memory.exports.json_export import json_text
from shapeinf.memory.exports.subject import PlanLike, Subject
from shapeinf.memory.exports.tables import csv_text, write_parquet
from shapeinf.memory.peak import Peak
from shapeinf.memory.timeline import Timeline

if TYPE_CHECKING:
    from shapeinf.driver import Result

SUFFIXES = (".csv", ".h", ".json", ".parquet")


class ExportError(ShapeInferenceError):
    """A path whose suffix is of no format that memory can be exported to."""


class MemoryLike(Protocol):
    """What `Result.memory` gives."""

    @property
    def result(self) -> Result: ...  # noqa: D102
    @property
    def timeline(self) -> Timeline: ...  # noqa: D102
    @property
    def facts(self) -> ShapeFacts: ...  # noqa: D102
    @property
    def peak(self) -> Peak: ...  # noqa: D102


def export(
    memory: MemoryLike,
    path: str | os.PathLike[str],
    *,
    plan: PlanLike | None = None,
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Write what `Result.memory` gives to a `.json`, `.csv`, `.parquet` or `.h` file.

    Tables (CSV, Parquet) are of one binding: `sizes` has the dims. Raises ExportError for another suffix, and for
    tables what a `ShapeProgram` raises for its sizes.
    """
    from shapeinf.contract.conditions import input_symbols

    result = memory.result
    labels = input_symbols(result.inference)
    write(Subject(result.graph.name, memory.timeline, memory.facts, labels, memory.peak, plan), path, sizes)


def write(subject: Subject, path: str | os.PathLike[str], sizes: Mapping[str, int] | None = None) -> None:
    """Write a subject to a file, as `export` does."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix == ".parquet":
        write_parquet(subject, target, sizes or {})
        return
    if suffix == ".json":
        text = json_text(subject)
    elif suffix == ".csv":
        text = csv_text(subject, sizes or {})
    elif suffix == ".h":
        text = c_header(subject)
    else:
        raise ExportError(f"{target.name}: the suffix says what is written: one of {', '.join(SUFFIXES)}")
    with target.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
        out.write(text)
