"""Export to a file; the suffix of the path selects the format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shapeinf.errors import ExportError
from shapeinf.formats.files import write_text
from shapeinf.memory.exports.c_header import c_header
from shapeinf.memory.exports.json_export import json_text
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.exports.tables import csv_text, write_parquet
from shapeinf.memory.planning import Plan

if TYPE_CHECKING:
    from shapeinf.memory.memory import Memory

SUFFIXES = (".csv", ".h", ".json", ".parquet")


def export(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    plan: Plan | None = None,
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Write the result of `Result.memory` to a `.json`, `.csv`, `.parquet` or `.h` file.

    Tables (CSV, Parquet) hold one binding, `sizes`. Raises ExportError for another suffix, and for tables the errors
    of a `ShapeProgram` for its sizes.
    """
    write(MemoryExport(memory.inference.compiled.graph.name, memory.peak, plan), path, sizes)


def write(subject: MemoryExport, path: str | os.PathLike[str], sizes: Mapping[str, int] | None = None) -> None:
    """Write an export to a file, as `export` does."""
    with subject.peak.store.scope.lock:
        _write(subject, Path(path), sizes)


def _write(subject: MemoryExport, target: Path, sizes: Mapping[str, int] | None) -> None:
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
        raise ExportError(f"{target.name}: the suffix must be one of {', '.join(SUFFIXES)}")
    write_text(target, text)
