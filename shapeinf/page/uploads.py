"""The files that a reader of the page drops: which of them are models, and what is in a zip archive."""

from __future__ import annotations

import os
from collections.abc import Iterable

from shapeinf.errors import LimitError, ModelError, PathPatternError
from shapeinf.formats.model_paths import find_models
from shapeinf.formats.zipped import zip_members

MAX_FILES = 20_000
"""The most files of an archive."""

MAX_UNPACKED = 1 << 28
"""The most bytes of all files of an archive: they are in memory, as the files of a folder are not."""

ARCHIVE = ".zip"
"""The suffix of archives that are unpacked."""


def list_models(folder: str, unpacked: str) -> tuple[str, list[str]]:
    """The models in a folder that holds what was dropped: a folder, and their paths in it.

    A `.zip` archive is unpacked into `unpacked`. A single file is a model, whatever its name: the reader of its format
    reports what it is instead. So is an archive of other files than models: some formats are archives. Raises
    PathPatternError for a folder without models, ModelError for an illegal archive, LimitError for one that is too
    large.
    """
    path = _only_entry(folder)
    if not path.lower().endswith(ARCHIVE) or os.path.isdir(path):
        return _relative(folder, [path] if os.path.isfile(path) else find_models([path]).paths)
    unpack(path, unpacked)
    try:
        return _relative(unpacked, find_models([_only_entry(unpacked)]).paths)
    except PathPatternError:
        return _relative(folder, [path])


def _relative(folder: str, paths: Iterable[str]) -> tuple[str, list[str]]:
    """Paths relative to a folder; relative to its parent where the folder itself is the model."""
    listed = list(paths)
    root = os.path.dirname(folder) if listed == [folder] else folder
    return root, [os.path.relpath(path, root) for path in listed]


def _only_entry(folder: str) -> str:
    """The only file or folder in a folder; the folder itself where it has several."""
    names = os.listdir(folder)
    return os.path.join(folder, names[0]) if len(names) == 1 else folder


def unpack(archive: str, folder: str) -> None:
    """Unpack a zip archive. Its names cannot lead out of the folder, and the sizes that it states are its limits.

    Raises ModelError for an illegal archive, LimitError for one of too many files or bytes.
    """
    name = os.path.basename(archive)
    total = 0

    def length_of(member: str, size: int) -> int:
        nonlocal total
        total += size
        if total > MAX_UNPACKED:
            text = f"its files have more than {MAX_UNPACKED >> 20} MiB: unpack it, and choose the folder instead"
            raise LimitError(text, node=name)
        return size

    os.makedirs(folder, exist_ok=True)
    with open(archive, "rb") as file:
        for member, _, content in zip_members(file, name, MAX_FILES, length_of):
            path = _inside(folder, member, name)
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "xb") as target:
                    target.write(content)
            except OSError as error:
                raise ModelError(
                    f"{member!r} of the archive cannot be unpacked: {error.strerror}", node=name
                ) from error


def _inside(folder: str, member: str, archive: str) -> str:
    """The path of a file of an archive. Raises ModelError for a name that is not that of a file below the folder."""
    parts = member.split("/")
    if "\\" in member or "\0" in member or not all(parts) or {".", ".."} & set(parts):
        raise ModelError(f"the archive holds {member!r}, which is not a path below its own folder", node=archive)
    return os.path.join(folder, *parts)
