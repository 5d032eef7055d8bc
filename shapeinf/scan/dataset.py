"""The results of a scan: a folder with a Parquet dataset, which grows part by part and survives a kill at any moment.

A part has one file per table, all with the same name. Rows go to a journal as they come; a full part is written table
by table, that of `models` last, and then its journal is removed. A part is complete if it has a file of `models`; the
rows of any other part are still in its journal.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from shapeinf.errors import DamagedPartError, ScanError
from shapeinf.scan.done import DoneIndex
from shapeinf.scan.records import Candidate, ModelRow
from shapeinf.scan.tables import (
    MODELS,
    RECORD_TABLES,
    Part,
    import_arrow,
    iterate_part,
    records_of,
    remove_paths,
    write_part,
)

PART_ROWS = 2000
PART_CHARACTERS = 32 << 20
"""A part is written when it has this number of rows, or of characters in them."""
PART_SECONDS = 60.0
"""An older part is written with the next row, so that readers see the results of a running scan."""
_INDEX_COLUMNS = ["path", "size", "mtime_ns", "sha256", "outcome"]


class Dataset:
    """The dataset of a scan, open for writing by one process at a time."""

    def __init__(self, folder: str, *, retry: bool = False, checksum: bool = False, repair: bool = False) -> None:
        """Open a dataset or create one, and recover what an interrupted scan has left.

        `retry` repeats models without a result, `checksum` those whose rows have no SHA-256; `repair` sets damaged
        files aside. Raises ScanError where the folder is not that of a dataset, is in use, or has a damaged file;
        OSError where it cannot be written.
        """
        import_arrow()
        self.folder = folder
        self.damaged: list[str] = []
        """The files that were set aside."""
        self._repair = repair
        self._create_folders()
        self._lock = _lock(os.path.join(folder, ".lock"))
        try:
            self._remove_unfinished()
            self.done = self._read_index(retry, checksum)
            self._part = self._new_part()
            self._rows: list[ModelRow] = []
            self._characters = 0
            self._started = time.monotonic()
            self._pending: IO[str] | None = None
            self._recover()
        except BaseException:
            self._lock.close()
            raise

    def add(self, row: ModelRow) -> None:
        """Add a row; it survives a kill of this process from now on. Raises ScanError where the disk is full."""
        text = json.dumps(row.columns())
        with self._writing():
            if self._pending is None:
                self._pending = open(self._part.pending_file, "w", encoding="utf-8")  # noqa: SIM115
                self._started = time.monotonic()
            self._pending.write(text + "\n")
            self._pending.flush()
        self._rows.append(row)
        self._characters += len(text)
        old = time.monotonic() - self._started > PART_SECONDS
        if len(self._rows) >= PART_ROWS or self._characters >= PART_CHARACTERS or old:
            self.flush()

    def flush(self) -> None:
        """Write the rows since the last part as a part. Raises ScanError where the disk is full: nothing is lost."""
        if self._rows:
            with self._writing():
                self._supersede([row.path for row in self._rows])
                self._write(self._part, self._rows)
                if self._pending is not None:
                    self._pending.close()
                    self._pending = None
                with suppress(FileNotFoundError):
                    os.unlink(self._part.pending_file)
        self._part, self._rows, self._characters = self._new_part(), [], 0

    def close(self) -> None:
        """Unlock the dataset. Rows since the last `flush` stay in the journal."""
        if self._pending is not None:
            with suppress(OSError):
                self._pending.close()
            self._pending = None
        self._lock.close()

    # -- opening -------------------------------------------------------------------------------------------------------

    def _create_folders(self) -> None:
        tables = (MODELS, *RECORD_TABLES, "journal")
        if os.path.isdir(self.folder):
            foreign = [name for name in os.listdir(self.folder) if name not in tables and not name.startswith(".")]
            if foreign and not os.path.isdir(os.path.join(self.folder, MODELS)):
                raise ScanError(f"{self.folder} is not the folder of a scan: it has {sorted(foreign)[0]!r}")
        for name in tables:
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)

    def _remove_unfinished(self) -> None:
        """Remove temporary files, and files of other tables whose part is not complete."""
        finished = {part.name for part in list_parts(self.folder)}
        for table in (MODELS, *RECORD_TABLES):
            folder = os.path.join(self.folder, table)
            for name in os.listdir(folder):
                stem, suffix = os.path.splitext(name)
                orphan = suffix == ".parquet" and table != MODELS and stem not in finished
                if orphan or (name.startswith(".part-") and suffix == ".part"):
                    os.unlink(os.path.join(folder, name))

    def _read_index(self, retry: bool, checksum: bool) -> DoneIndex:
        done = DoneIndex(retry=retry, checksum=checksum)
        for part in list_parts(self.folder):
            try:
                for table in RECORD_TABLES:
                    if os.path.exists(part.file(table)):
                        _check_part(part.file(table))
                records = list(iterate_part(part.file(MODELS), _INDEX_COLUMNS))
            except DamagedPartError as error:
                if not self._repair:
                    raise
                self._set_aside(part, error)
            else:
                readable = {r["path"] for r in records if r["outcome"] == "folder" and os.access(r["path"], os.R_OK)}
                if readable:  # its models have rows of their own from now on
                    remove_paths(part.file(MODELS), readable)
                done.add(part.name, records)
        done.finish()
        return done

    def _set_aside(self, part: Part, error: DamagedPartError) -> None:
        """Rename the files of a damaged part, `models` first; the models of the part are then scanned again."""
        self.damaged.append(error.file)
        for table in (MODELS, *RECORD_TABLES):
            if os.path.exists(part.file(table)):
                os.replace(part.file(table), f"{part.file(table)}.damaged")

    def _recover(self) -> None:
        """Write the parts whose rows are only in a journal; the last line of one may be incomplete."""
        finished = {part.name for part in list_parts(self.folder)}
        for name in sorted(os.listdir(os.path.join(self.folder, "journal"))):
            part = Part(self.folder, name.removesuffix(".jsonl"))
            rows = [] if part.name in finished else list(_pending_rows(part.pending_file))
            if rows:
                self._supersede([row.path for row in rows])
                self._write(part, rows)
                self.done.add(part.name, [row.columns() for row in rows])
                self.done.finish()
            os.unlink(part.pending_file)
        self._part = self._new_part()

    # -- writing -------------------------------------------------------------------------------------------------------

    def _new_part(self) -> Part:
        numbers = [int(name) for part in list_parts(self.folder) if (name := part.name.split("-")[1]).isdecimal()]
        return Part(self.folder, f"part-{max(numbers, default=0) + 1:06d}-{secrets.token_hex(3)}")

    def _supersede(self, paths: list[str]) -> None:
        """Remove earlier rows of these paths: those of other tables first, so that each record has its model."""
        for name, stale in self.done.parts_with(paths).items():
            part = Part(self.folder, name)
            for table in (*RECORD_TABLES, MODELS):
                if os.path.exists(part.file(table)):
                    remove_paths(part.file(table), stale)

    def _write(self, part: Part, rows: list[ModelRow]) -> None:
        for table in (*RECORD_TABLES, MODELS):
            records = records_of(rows, table)
            if records:
                write_part(part.file(table), table, records)

    def _writing(self) -> _Writing:
        return _Writing(self.folder)

    def includes(self, candidate: Candidate) -> bool:
        """Whether the dataset has a row of a candidate that is unchanged and not to be repeated."""
        return self.done.includes(candidate)


class _Writing:
    """Turn errors of the disk into a ScanError with the way to go on."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise ScanError(
                f"{self._folder} cannot be written: {reason}; all earlier rows are saved: "
                "the same command continues from there once this is repaired"
            ) from None


def list_parts(folder: str) -> list[Part]:
    """The complete parts of a dataset, in the order of their names. Raises ScanError where there is no dataset."""
    try:
        names = sorted(os.listdir(os.path.join(folder, MODELS)))
    except OSError:
        raise ScanError(f"{folder} has no results of a scan") from None
    return [
        Part(folder, name.removesuffix(".parquet")) for name in names if name.endswith(".parquet") and name[0] != "."
    ]


def _check_part(file: str) -> None:
    """Raise DamagedPartError for a file that has no readable footer."""
    for _ in iterate_part(file, []):
        break


def _pending_rows(file: str) -> Iterator[ModelRow]:
    with open(file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                yield ModelRow(**json.loads(line))
            except (ValueError, TypeError):  # the line that was being written; its model is scanned again
                return


def _lock(file: str) -> IO[str]:
    """A lock that ends with this process, where the platform has such locks. Raises ScanError where it is taken."""
    stream = open(file, "w", encoding="utf-8")  # noqa: SIM115  (it is open as long as the dataset)
    try:
        import fcntl
    except ImportError:
        return stream
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise ScanError(f"{os.path.dirname(file)} is in use: another scan writes to it") from None
    return stream
