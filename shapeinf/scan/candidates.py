"""The paths that a scan visits: the models of files, folders, glob patterns and URLs, each path once.

They are visited as they are listed: only an 8-byte digest of each path stays in memory.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from shapeinf.errors import PathPatternError
from shapeinf.formats import FORMATS
from shapeinf.formats.model_paths import matches_path, walk_files
from shapeinf.formats.registry import HEAD
from shapeinf.scan.copies import base_name, is_url, open_file_system
from shapeinf.scan.records import Candidate, clean_text

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz", ".tar.zst", ".7z", ".rar")
_ARCHIVE = "an archive, which is not unpacked: unpack it to scan its models"


def find_candidates(
    paths: Iterable[str], exclude: Iterable[str] = (), *, follow_links: bool = False
) -> Iterator[Candidate]:
    """The candidates that paths name, each path once. Raises PathPatternError for a path that does not exist.

    A file that is named is a model, whatever its name; of folders and patterns, the formats decide. Links that lead out
    of the named folders are not followed, unless `follow_links`. Patterns of `exclude` are those of `shapeinf check`.
    """
    requested, patterns = list(paths), tuple(exclude)
    for path in requested:
        if not is_url(path) and not os.path.lexists(path) and not glob.has_magic(path):
            raise PathPatternError(path, "there is no such file or folder")
    roots = tuple(os.path.realpath(path) for path in requested if not is_url(path) and os.path.isdir(path))
    walk = _Walk(roots, follow_links)
    seen: set[bytes] = set()
    for path in requested:
        for candidate in walk.candidates(path):
            digest = blake2b(clean_text(candidate.path).encode(), digest_size=8).digest()
            if digest not in seen and not any(matches_path(candidate.path, pattern) for pattern in patterns):
                seen.add(digest)
                yield candidate


class _Walk:
    """Lists the candidates of paths."""

    def __init__(self, roots: tuple[str, ...], follow_links: bool) -> None:
        self._roots = roots
        self._follow_links = follow_links

    def candidates(self, path: str) -> Iterator[Candidate]:
        """The candidates of a path."""
        if is_url(path):
            yield from _remote_candidates(path)
        elif os.path.isdir(path):
            yield from self._folder(os.path.abspath(path))
        elif not os.path.lexists(path) and glob.has_magic(path):
            for match in glob.iglob(path, recursive=True):
                absolute = os.path.abspath(match)
                yield from self._folder(absolute) if os.path.isdir(absolute) else self._file(absolute)
        else:
            yield _local_candidate(os.path.abspath(path))

    def _folder(self, folder: str) -> Iterator[Candidate]:
        """The models of a folder; the folder itself where it is one and has at most one model file."""
        problems: list[OSError] = []
        walked = (
            candidate
            for path in walk_files(folder, on_error=problems.append, follow_links=self._follow_links)
            for candidate in self._file(path)
        )
        if FORMATS.is_model_path(folder):
            first = [candidate for candidate, _ in zip(walked, range(2), strict=False)]
            yield from first if len(first) > 1 else [_local_candidate(folder)]
        for candidate in walked:
            yield from _unreadable(problems)
            yield candidate
        yield from _unreadable(problems)

    def _file(self, path: str) -> Iterator[Candidate]:
        if not self._follow_links and os.path.islink(path) and not self._is_inside(os.path.realpath(path)):
            return
        if FORMATS.is_model_path(path):
            yield _local_candidate(path)
        elif path.lower().endswith(_ARCHIVES):
            archive = _local_candidate(path)
            yield Candidate(path, archive.size, archive.mtime_ns, "archive", _ARCHIVE)

    def _is_inside(self, path: str) -> bool:
        return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in self._roots)


def _unreadable(problems: list[OSError]) -> Iterator[Candidate]:
    """A candidate for each folder that could not be read; empties the list."""
    while problems:
        error = problems.pop(0)
        reason = error.strerror or str(error)
        yield Candidate(os.path.abspath(error.filename or ""), outcome="folder", message=f"cannot be read: {reason}")


def _local_candidate(path: str) -> Candidate:
    try:
        status = os.stat(path)
    except OSError:  # the reader of the format reports it
        return Candidate(path)
    return Candidate(path, 0 if os.path.isdir(path) else status.st_size, status.st_mtime_ns)


def _remote_candidates(url: str) -> Iterator[Candidate]:
    """The models behind a URL: a file, a folder or a pattern."""
    try:
        file_system, path = open_file_system(url)
        matches = file_system.glob(path, detail=True) if glob.has_magic(path) else {path: file_system.info(path)}
    except (OSError, ValueError, ImportError) as error:
        raise PathPatternError(url, f"cannot be listed: {error}") from None
    if not matches:
        raise PathPatternError(url, "the pattern matches no file")
    with tempfile.TemporaryDirectory(prefix="shapeinf-scan-") as folder:
        for name, info in sorted(matches.items()):
            if info.get("type") == "directory":
                for _, _, files in file_system.walk(name, detail=True):
                    for _, inside in sorted(files.items()):
                        yield from _remote_file(file_system, inside, folder)
            elif name == path:
                yield _remote_candidate(file_system, info)
            else:
                yield from _remote_file(file_system, info, folder)


def _remote_file(file_system: Any, info: dict[str, Any], folder: str) -> Iterator[Candidate]:
    """A file of a folder behind a URL, if its name and first bytes are those of a model."""
    name = base_name(info["name"])
    candidate = _remote_candidate(file_system, info)
    head = os.path.join(folder, name)
    try:
        with open(head, "wb") as file:
            file.write(file_system.cat_file(info["name"], start=0, end=min(HEAD, candidate.size)))
        if FORMATS.is_model_path(head):
            yield candidate
        elif name.lower().endswith(_ARCHIVES):
            yield Candidate(candidate.path, candidate.size, candidate.mtime_ns, "archive", _ARCHIVE)
    except OSError as error:
        yield Candidate(candidate.path, candidate.size, candidate.mtime_ns, "unreadable", error.strerror or str(error))
    finally:
        if os.path.exists(head):
            os.unlink(head)


def _remote_candidate(file_system: Any, info: dict[str, Any]) -> Candidate:
    changed = next((info[key] for key in ("mtime", "LastModified", "updated", "created") if info.get(key)), 0)
    seconds = changed.timestamp() if hasattr(changed, "timestamp") else changed
    mtime = int(seconds * 1e9) if isinstance(seconds, (int, float)) else 0
    return Candidate(file_system.unstrip_protocol(info["name"]), int(info.get("size") or 0), mtime)
