"""Exports for other tools: JSON with a schema, CSV and Parquet tables, a C header."""

from shapeinf.memory.exports.c_header import c_header
from shapeinf.memory.exports.export import export, write
from shapeinf.memory.exports.json_export import MemoryDocument, json_text, memory_document
from shapeinf.memory.exports.memory_export import MemoryExport
from shapeinf.memory.exports.tables import COLUMNS, csv_text, rows, write_parquet

__all__ = [
    "COLUMNS",
    "MemoryDocument",
    "MemoryExport",
    "c_header",
    "csv_text",
    "export",
    "json_text",
    "memory_document",
    "rows",
    "write",
    "write_parquet",
]
