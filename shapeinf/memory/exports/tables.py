"""The buffers at one binding as a table: CSV by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shapeinf.errors import MissingPackageError, NoSizeError, SizeOverflowError
from shapeinf.expr import Dim, Dimension
from shapeinf.expr.many_bindings import INT64_MAX, run_exactly
from shapeinf.expr.straight_line import lower
from shapeinf.memory.csv_lines import csv_text as csv_of
from shapeinf.memory.exports.subject import Subject
from shapeinf.memory.timeline import Buffer
from shapeinf.program.bindings import Bindings

COLUMNS = ("name", "role", "dtype", "shape", "bytes", "birth", "death", "offset", "cause")
"""`bytes` is empty where it is not known, `cause` then says why; sizes that depend on data stand with upper bounds, and
`cause` says so too. `shape` has its sizes with `x` between, `?` for what depends on data."""

Row = dict[str, Any]


def rows(subject: Subject, sizes: Mapping[str, int]) -> list[Row]:
    """One row a buffer.

    Raises UnknownNameError, MissingSizeError, IllegalSizeError, SizeOverflowError for the sizes.
    """
    bindings = subject.binder.bind(sizes, {})
    if bindings.count != 1:
        raise ValueError("a table is of one binding: give an int for each dim")
    if bindings.errors:
        raise bindings.errors[0]
    numbers = _Numbers(bindings)
    found = []
    for buffer in subject.timeline.buffers:
        dims = subject.store.canon_shape(buffer.shape).dims
        size, cause = _bytes(subject, numbers, buffer)
        slot = subject.slots.get(buffer.name)
        shown = None if dims is None else "x".join(numbers.shown(subject.store.canon(d)) for d in dims)
        values = (buffer.name, buffer.role, buffer.dtype, shown, size, buffer.birth, buffer.death)
        found.append(dict(zip(COLUMNS, (*values, None if slot is None else slot.offset, cause or None), strict=True)))
    return found


def csv_text(subject: Subject, sizes: Mapping[str, int]) -> str:
    """The table as CSV, with a line of the names of its columns."""
    return csv_of([COLUMNS, *([row[column] for column in COLUMNS] for row in rows(subject, sizes))])


def write_parquet(subject: Subject, path: str | os.PathLike[str], sizes: Mapping[str, int]) -> None:
    """The table as a Parquet file. Raises MissingPackageError without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("Parquet", "pyarrow", "parquet") from None
    numbers = ("bytes", "birth", "death", "offset")
    fields = [(name, pyarrow.int64() if name in numbers else pyarrow.string()) for name in COLUMNS]
    table = pyarrow.Table.from_pylist(rows(subject, sizes), schema=pyarrow.schema(fields))
    pyarrow.parquet.write_table(table, os.fspath(path))


class _Numbers:
    """The values of dims at one binding, exact."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings

    def known(self, d: Dim) -> bool:
        return isinstance(d, int) or d.symbols() <= self.bindings.values.keys()

    def value(self, d: Dim, what: str) -> int:
        program = lower([d])
        arguments = [int(a) if isinstance(a, int) else int(a[0]) for a in self.bindings.arguments(program)]
        (found,) = run_exactly(program, arguments)
        if found is None:
            raise NoSizeError(what, "it divides by zero")
        if not 0 <= found <= INT64_MAX:
            raise SizeOverflowError(what, 0, self.bindings.at(0))
        return found

    def shown(self, d: Dim) -> str:
        return str(self.value(d, str(d))) if self.known(d) else "?"


def _bytes(subject: Subject, numbers: _Numbers, buffer: Buffer) -> tuple[int | None, str]:
    """The bytes of a buffer, and what is to be said of them."""
    what = f"the bytes of {buffer.name!r}"
    size = subject.size(buffer)
    if size is not None and numbers.known(size):
        return numbers.value(size, what), ""
    upper = subject.at_most(buffer)
    if upper is None:
        return None, subject.why_unbounded(buffer)
    assert isinstance(size, Dimension)
    missing = sorted(subject.binder.labels[s] for s in size.symbols() - numbers.bindings.values.keys())
    return numbers.value(upper, what), f"at most: it depends on data ({', '.join(missing)})"
