"""An index of the rows that a dataset has, 29 bytes per row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from shapeinf.scan.records import DONE, Candidate, clean_text

_ROW = np.dtype([("key", "S16"), ("stamp", "u8"), ("part", "i4"), ("repeat", "?")])


class DoneIndex:
    """The rows of a dataset by path. Rows of folders that could not be read are never done."""

    def __init__(self, *, retry: bool, checksum: bool) -> None:
        """An empty index; see `Dataset`."""
        self._retry = retry
        self._checksum = checksum
        self._parts: list[str] = []
        self._pieces: list[Any] = []
        self._rows = np.empty(0, _ROW)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def add(self, part: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of a part; `finish` must follow."""
        number = len(self._parts)
        self._parts.append(part)
        rows = [(_key(r["path"]), _stamp(r["size"], r["mtime_ns"]), number, self._repeats(r)) for r in records]
        self._pieces.append(np.array(rows, _ROW))

    def finish(self) -> None:
        """Sort the rows."""
        self._rows = np.concatenate([self._rows, *self._pieces])
        self._rows.sort(order="key", kind="stable")
        self._pieces = []

    def _repeats(self, record: Mapping[str, Any]) -> bool:
        outcome = record["outcome"]
        if outcome == "folder" or (self._retry and outcome not in DONE):
            return True
        return self._checksum and record["sha256"] is None and outcome in ("ok", "findings")

    def includes(self, candidate: Candidate) -> bool:
        """Whether a candidate has a row that need not be made again."""
        path = clean_text(candidate.path)
        stamp = _stamp(candidate.size, candidate.mtime_ns)
        return any(row["stamp"] == stamp and not row["repeat"] for row in self._matches(path))

    def parts_with(self, paths: Iterable[str]) -> dict[str, set[str]]:
        """The parts that have rows of these paths, each with these paths."""
        parts: dict[str, set[str]] = {}
        for path in paths:
            for row in self._matches(path):
                parts.setdefault(self._parts[row["part"]], set()).add(path)
        return parts

    def _matches(self, path: str) -> Any:
        key = _key(path)
        start = int(np.searchsorted(self._rows["key"], key))
        end = start
        while end < len(self._rows) and self._rows["key"][end] == key:
            end += 1
        return self._rows[start:end]


def _key(path: str) -> bytes:
    # An S16 of numpy ends before trailing zeros: the digest gets a last byte that is none.
    return blake2b(path.encode("utf-8", "backslashreplace"), digest_size=15).digest() + b"\1"


def _stamp(size: int, mtime_ns: int) -> int:
    return int.from_bytes(blake2b(f"{size} {mtime_ns}".encode(), digest_size=8).digest(), "little")
