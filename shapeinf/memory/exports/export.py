"""One call for all formats: the suffix of the path says which."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shapeinf.errors import ShapeInferenceError
from shapeinf.memory.exports.c_header import c_header
from shapeinf.memory.exports.json_export import json_text
from shapeinf.memory.exports.subject import Subject
from shapeinf.memory.exports.tables import csv_text, write_parquet
from shapeinf.memory.planning import Plan
from shapeinf.sharing import hold_locks

if TYPE_CHECKING:
    from shapeinf.memory.memory import Memory

SUFFIXES = (".csv", ".h", ".json", ".parquet")


class ExportError(ShapeInferenceError):
    """A path whose suffix is of no format that memory can be exported to."""


def export(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    plan: Plan | None = None,
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Write what `Result.memory` gives to a `.json`, `.csv`, `.parquet` or `.h` file.

    Tables (CSV, Parquet) are of one binding: `sizes` has the dims. Raises ExportError for another suffix, and for
    tables what a `ShapeProgram` raises for its sizes.
    """
    write(Subject(memory.inference.program.graph.name, memory.peak, plan), path, sizes)


def write(subject: Subject, path: str | os.PathLike[str], sizes: Mapping[str, int] | None = None) -> None:
    """Write a subject to a file, as `export` does."""
    with hold_locks(subject.peak):
        _write(subject, Path(path), sizes)


def _write(subject: Subject, target: Path, sizes: Mapping[str, int] | None) -> None:
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
