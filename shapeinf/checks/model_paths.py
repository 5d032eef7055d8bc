"""The models that paths, glob patterns and folders of a command line name."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator

import attrs

from shapeinf.checks.selection import matches_path
from shapeinf.errors import PathPatternError
from shapeinf.formats import FORMATS

STANDARD_INPUT = "-"


@attrs.frozen
class ModelPaths:
    """The models of some paths.

    Args:
        paths: of the models, each once, in the order of the paths; those of a folder or pattern are sorted.
        excluded: the number of models that a pattern excludes.
        single: whether one path names one model itself, rather than a folder or a pattern.
    """

    paths: tuple[str, ...]
    excluded: int = 0
    single: bool = False


def find_models(paths: Iterable[str], exclude: Iterable[str] = (), folder: str = "") -> ModelPaths:
    """The models that paths name: files, folders (searched to any depth) and glob patterns.

    A file that is named is a model, whatever its name. Of folders and patterns, the formats decide which files are;
    hidden files and folders are skipped. A folder that is one model itself, such as a SavedModel, is that model.
    Patterns of `exclude` are relative to `folder` and apply to all paths.

    Raises PathPatternError for a path that names no model.
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
    """The model files in a folder, without hidden ones; links to folders are not followed."""
    return (path for path in walk_files(folder) if FORMATS.is_model_path(path))


def walk_files(
    folder: str, *, on_error: Callable[[OSError], None] | None = None, follow_links: bool = False
) -> Iterator[str]:
    """The files in a folder and its folders, without hidden ones, in the order of their names.

    `on_error` is called for a folder that cannot be read; the walk goes on. With `follow_links`, a folder that is
    reached in several ways is walked once.
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
