"""The tables of a dataset: their columns, and their parts as Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import attrs

from shapeinf.errors import DamagedPartError, MissingPackageError
from shapeinf.formats.files import replace_file
from shapeinf.scan.records import DiagnosticRow, ModelRow, OperatorRow, TensorRow

MODELS = "models"
RECORD_FIELDS = {"diagnostics": "diagnostics", "operators": "operators", "tensors": "tensor_rows"}
"""The fields of a row that are tables of their own, by table."""
RECORD_TABLES = tuple(RECORD_FIELDS)
_RECORDS = {"diagnostics": DiagnosticRow, "operators": OperatorRow, "tensors": TensorRow}
_ALIASES: Mapping[object, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}
"""The types of columns, by the types of fields."""


def import_arrow() -> Any:
    """The package pyarrow, with its module `parquet`. Raises MissingPackageError."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("shapeinf scan", "pyarrow", "scan") from None
    return pyarrow


def schema_of(table: str) -> Any:
    """The pyarrow schema of a table."""
    arrow = import_arrow()
    hints = {"path": str, **get_type_hints(ModelRow if table == MODELS else _RECORDS[table])}
    names = hints.keys() - RECORD_FIELDS.values() if table == MODELS else hints
    return arrow.schema([(name, _column_type(arrow, hint)) for name, hint in hints.items() if name in names])


def _column_type(arrow: Any, hint: Any) -> Any:
    """The type of a column for values of a type, or None."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return arrow.list_(_column_type(arrow, arguments[0]))
    if is_typeddict(hint):
        fields = get_type_hints(hint).items()
        return arrow.struct([(name, _column_type(arrow, kind)) for name, kind in fields])
    if origin is Literal:
        return arrow.string()
    return arrow.type_for_alias(_ALIASES[next((kind for kind in arguments if kind in _ALIASES), hint)])


def records_of(rows: Iterable[ModelRow], table: str) -> list[dict[str, Any]]:
    """The records of rows in a table, each with the path of its model."""
    if table == MODELS:
        return [row.columns() for row in rows]
    field = RECORD_FIELDS[table]
    return [{"path": row.path, **record} for row in rows for record in getattr(row, field)]


def write_part(file: str, table: str, records: list[dict[str, Any]]) -> None:
    """Write a part, entirely or not at all. Raises OSError."""
    arrow = import_arrow()
    data = arrow.Table.from_pylist(records, schema=schema_of(table))
    with replace_file(file) as stream:
        arrow.parquet.write_table(data, stream, compression="zstd")
        stream.flush()
        os.fsync(stream.fileno())


def remove_paths(file: str, paths: Collection[str]) -> None:
    """Rewrite a part without the records of some models; nothing is left of an empty one."""
    arrow = import_arrow()
    data = read_arrow(file, lambda: arrow.parquet.read_table(file))
    remaining = data.filter(arrow.array([path not in paths for path in data.column("path").to_pylist()]))
    if not remaining.num_rows:
        os.unlink(file)
    elif remaining.num_rows < data.num_rows:
        with replace_file(file) as stream:
            arrow.parquet.write_table(remaining, stream, compression="zstd")


def iterate_part(file: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The records of a part. Raises DamagedPartError where the file is damaged."""
    arrow = import_arrow()
    part = read_arrow(file, lambda: arrow.parquet.ParquetFile(file))
    with part:
        batches = part.iter_batches(batch_size=4096, columns=columns)
        while (batch := read_arrow(file, lambda: next(batches, None))) is not None:
            records = read_arrow(file, batch.to_pylist)
            yield from records


def read_arrow(file: str, read: Callable[[], Any]) -> Any:
    """The result of `read`, which reads a part. Raises DamagedPartError where it fails."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception as error:  # pyarrow's own, OSError, ValueError
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DamagedPartError(file, reason) from None


@attrs.frozen
class Part:
    """The name of the files of one part in all tables of a dataset."""

    folder: str
    name: str

    def file(self, table: str) -> str:
        """The file of a table."""
        return os.path.join(self.folder, table, f"{self.name}.parquet")

    @property
    def pending_file(self) -> str:
        """The rows of a part that is not written yet, as lines of JSON."""
        return os.path.join(self.folder, "journal", f"{self.name}.jsonl")
