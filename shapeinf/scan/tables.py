"""The tables of a dataset: their columns, and their parts as Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

from shapeinf.errors import DamagedPartError, MissingPackageError
from shapeinf.formats.files import replace_file
from shapeinf.scan.records import ROW_FIELDS, ModelRow

MODELS = "models"
RECORD_FIELDS = {"findings": "diagnostics", "operators": "operators", "tensors": "tensor_rows"}
"""The fields of a row that are tables of their own, by table."""
RECORD_TABLES = tuple(RECORD_FIELDS)

_INTS = (
    *("size", "mtime_ns", "nodes", "inner_nodes", "tensors", "ranked", "known", "parameters", "weight_bytes"),
    *("macs", "peak_bytes", "unknowns", "errors", "warnings", "notes"),
)
_LISTS = ("unknown_causes", "requirements")
_RECORD_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "findings": dict.fromkeys(("severity", "code", "message", "node", "op", "tensor", "location"), "string"),
    "operators": {"op": "string", "domain": "string", "nodes": "int64", "has_rule": "bool"},
    "tensors": {**dict.fromkeys(("name", "kind", "dtype", "shape", "producer", "node"), "string"), "output": "bool"},
}


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
    if table != MODELS:
        columns = {"path": "string", **_RECORD_COLUMNS[table]}
        return arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in columns.items()])
    versions = arrow.list_(arrow.struct([("domain", arrow.string()), ("version", arrow.int64())]))
    types = {
        **dict.fromkeys(_INTS, arrow.int64()),
        **dict.fromkeys(_LISTS, arrow.list_(arrow.string())),
        "seconds": arrow.float64(),
        "opsets": versions,
    }
    names = [name for name in ROW_FIELDS if name not in RECORD_FIELDS.values()]
    return arrow.schema([(name, types.get(name, arrow.string())) for name in names])


def records_of(rows: Iterable[ModelRow], table: str) -> list[dict[str, Any]]:
    """The records of rows in a table, each with the path of its model."""
    if table == MODELS:
        return [row.as_json() for row in rows]
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
