"""Paths of models: files, folders and glob patterns, as a command line has them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase

import attrs

from shapeinf.errors import PathPatternError
from shapeinf.formats import FORMATS

STANDARD_INPUT = "-"
"""The path that stands for standard input."""


@attrs.frozen
class ModelPaths:
    """The models of some paths.

    Args:
        paths: of the models, each once, in the order of the requested paths; those of a folder or pattern are sorted.
        excluded: the number of models that a pattern excludes.
        single: whether a single path was requested, that of a model, not of a folder or a pattern.
    """

    paths: tuple[str, ...]
    excluded: int = 0
    single: bool = False


def find_models(paths: Iterable[str], exclude: Iterable[str] = (), folder: str = "") -> ModelPaths:
    """The models at paths of files, folders (searched to any depth) and glob patterns.

    A path of a file is a model, whatever its name. In folders, and among the matches of a pattern, the formats decide
    which files are models; hidden files and folders are skipped. A folder that is a model, such as a SavedModel, is
    one path. Patterns of `exclude` are relative to `folder` and apply to all paths.

    Raises PathPatternError for a folder or a pattern without models.
    """
    requested = list(paths)
    patterns = tuple(exclude)
    models: dict[str, str] = {}
    excluded = 0
    for path in requested:
        named = list(_models_of(path))
        remaining = [model for model in named if not any(matches_path(model, p, folder) for p in patterns)]
        excluded += len(named) - len(remaining)
        for model in remaining:
            models.setdefault(os.path.normpath(model), model)
    listed = tuple(models.values())
    return ModelPaths(listed, excluded, single=len(requested) == 1 and listed == tuple(requested))


def _models_of(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        inside = sorted(_walk(path))
        if not inside and not FORMATS.is_model_path(path):
            raise PathPatternError(path, "the folder has no models")
        yield from [path] if FORMATS.is_model_path(path) and len(inside) <= 1 else inside
    elif path != STANDARD_INPUT and not os.path.lexists(path) and glob.has_magic(path):
        yield from _matches_of(path)
    else:
        yield path


def _matches_of(pattern: str) -> Iterator[str]:
    matches = sorted(glob.glob(pattern, recursive=True))
    models: set[str] = set()
    for match in matches:
        models.update(_walk(match) if os.path.isdir(match) else [match] if FORMATS.is_model_path(match) else [])
    if not models:
        raise PathPatternError(pattern, "the pattern matches no model" if matches else "the pattern matches no file")
    yield from sorted(models)


def _walk(folder: str) -> Iterator[str]:
    """The models in a folder, without hidden ones; links to folders are not followed."""
    return (path for path in walk_files(folder) if FORMATS.is_model_path(path))


def walk_files(
    folder: str, *, on_error: Callable[[OSError], None] | None = None, follow_links: bool = False
) -> Iterator[str]:
    """The files in a folder, to any depth, without hidden ones, in the order of their names.

    `on_error` is called for a folder that cannot be read; the walk goes on. With `follow_links`, links to folders are
    followed, and a folder is visited once.
    """
    visited: set[tuple[int, int]] = set()
    for parent, folders, files in os.walk(folder, onerror=on_error, followlinks=follow_links):
        if follow_links:
            status = os.stat(parent)
            if (status.st_dev, status.st_ino) in visited:
                folders.clear()
                continue
            visited.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.normpath(os.path.join(parent, name))
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def matches_path(path: str, pattern: str, folder: str = "") -> bool:
    """Whether a pattern matches a path, a folder above it, or the name of either.

    A pattern is relative to `folder`. `*` stands for any characters, also for `/`.

    >>> [matches_path("zoo/old/a.onnx", pattern) for pattern in ("zoo/*.onnx", "old", "a.onnx", "b*")]
    [True, True, True, False]
    """
    relative = relative_path(path, folder)
    plain = pattern.removeprefix("./").removeprefix("**/").rstrip("/")
    parts = relative.split("/")
    folders = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(fnmatchcase(name, plain) for name in (*folders, *parts))


def relative_path(path: str, folder: str = "") -> str:
    """A path relative to a folder, with `/`; one on another drive stays absolute."""
    try:
        relative = os.path.relpath(path, folder or os.curdir)
    except ValueError:
        relative = os.path.abspath(path)
    return relative.replace(os.sep, "/")
