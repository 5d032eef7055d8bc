"""Exports for other tools: JSON with a schema, CSV and Parquet tables, a C header."""

from shapeinf.memory.exports.c_header import c_header
from shapeinf.memory.exports.export import export, write
from shapeinf.memory.exports.json_export import as_json, json_text, schema
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.exports.tables import COLUMNS, csv_text, rows, write_parquet

__all__ = [
    "COLUMNS",
    "MemoryExport",
    "as_json",
    "c_header",
    "csv_text",
    "export",
    "json_text",
    "rows",
    "schema",
    "write",
    "write_parquet",
]
