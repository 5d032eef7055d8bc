"""The buffers at one binding as a table: CSV by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shapeinf.csv_text import csv_text as format_csv
from shapeinf.errors import BindingError, MissingPackageError, NoSizeError, SizeOverflowError
from shapeinf.expr import Dimension, DimSize
from shapeinf.expr.exact_runs import INT64_MAX, run_exactly
from shapeinf.expr.straight_line import lower
from shapeinf.formats.files import replace_file
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.timeline import Buffer
from shapeinf.program.bindings import Bindings

COLUMNS = ("name", "role", "dtype", "shape", "bytes", "birth", "death", "offset", "cause")
"""`bytes` is empty where unknown, and an upper bound where it depends on data; `cause` has the reason. `shape` is sizes
joined by `x`, with `?` for a size that depends on data."""

Row = dict[str, Any]


def rows(subject: MemoryExport, sizes: Mapping[str, int]) -> list[Row]:
    """One row for each buffer.

    Raises UnknownNameError, MissingSizeError, IllegalSizeError, SizeOverflowError for the sizes.
    """
    bindings = subject.binder.bind(sizes, {})
    if bindings.count != 1:
        raise BindingError("a table holds one binding: bind each dim to an int")
    if bindings.errors:
        raise bindings.errors[0]
    evaluator = _Evaluator(bindings)
    table = []
    for buffer in subject.timeline.buffers:
        dims = subject.store.canon_shape(buffer.shape).dims
        size, cause = _bytes(subject, evaluator, buffer)
        slot = subject.slots.get(buffer.name)
        shape = None if dims is None else "x".join(evaluator.format(subject.store.canon(d)) for d in dims)
        values = (buffer.name, buffer.role, buffer.dtype, shape, size, buffer.birth, buffer.death)
        table.append(dict(zip(COLUMNS, (*values, None if slot is None else slot.offset, cause or None), strict=True)))
    return table


def csv_text(subject: MemoryExport, sizes: Mapping[str, int]) -> str:
    """The table as CSV, with a header line."""
    return format_csv([COLUMNS, *([row[column] for column in COLUMNS] for row in rows(subject, sizes))])


def write_parquet(subject: MemoryExport, path: str | os.PathLike[str], sizes: Mapping[str, int]) -> None:
    """The table as a Parquet file. Raises MissingPackageError without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("Parquet", "pyarrow", "parquet") from None
    numbers = ("bytes", "birth", "death", "offset")
    fields = [(name, pyarrow.int64() if name in numbers else pyarrow.string()) for name in COLUMNS]
    table = pyarrow.Table.from_pylist(rows(subject, sizes), schema=pyarrow.schema(fields))
    with replace_file(os.fspath(path)) as file:
        pyarrow.parquet.write_table(table, file)


class _Evaluator:
    """Evaluates dims exactly at one binding."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings

    def can_evaluate(self, d: DimSize) -> bool:
        return isinstance(d, int) or d.symbols() <= self.bindings.values.keys()

    def value(self, d: DimSize, subject: str) -> int:
        program = lower([d])
        arguments = [int(a) if isinstance(a, int) else int(a[0]) for a in self.bindings.arguments(program)]
        (value,) = run_exactly(program, arguments)
        if value is None:
            raise NoSizeError(subject, "it divides by zero")
        if not 0 <= value <= INT64_MAX:
            raise SizeOverflowError(subject, 0, self.bindings.sizes_at(0))
        return value

    def format(self, d: DimSize) -> str:
        return str(self.value(d, str(d))) if self.can_evaluate(d) else "?"


def _bytes(subject: MemoryExport, evaluator: _Evaluator, buffer: Buffer) -> tuple[int | None, str]:
    """The bytes of a buffer, and the cause where they are not exact."""
    quantity = f"the bytes of {buffer.name!r}"
    size = subject.size(buffer)
    if size is not None and evaluator.can_evaluate(size):
        return evaluator.value(size, quantity), ""
    upper = subject.upper_bound(buffer)
    if upper is None:
        return None, subject.why_unbounded(buffer)
    assert isinstance(size, Dimension)
    missing = sorted(subject.binder.labels[s] for s in size.symbols() - evaluator.bindings.values.keys())
    return evaluator.value(upper, quantity), f"at most: it depends on data ({', '.join(missing)})"
