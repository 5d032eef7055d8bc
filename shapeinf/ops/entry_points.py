"""Entry points of installed packages, read without `importlib.metadata` where that is enough: its import takes longer.

A package has a folder next to it, `NAME-VERSION.dist-info` or `.egg-info`, whose file `entry_points.txt` lists them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_FILE = "entry_points.txt"
_METADATA = (".dist-info", ".egg-info")


class EntryPoint(Protocol):
    """A name that a package gives to one of its objects; those of `importlib.metadata` are such too."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def value(self) -> str:
        """The object: `acme.shapes:onnx`."""

    def load(self) -> Any:
        """Import the object."""


class InstalledEntryPoint(NamedTuple):
    """An entry point, with the folder of its package's metadata."""

    name: str
    value: str
    folder: str

    def load(self) -> Any:
        """Import the object. Raises what the import raises, and AttributeError where the module does not have it.

        >>> InstalledEntryPoint("join", "os:path.join [extra]", "").load() is os.path.join
        True
        """
        module, _, attributes = self.value.partition("[")[0].partition(":")
        loaded: Any = import_module(module.strip())
        for attribute in attributes.strip().split(".") if attributes.strip() else ():
            loaded = getattr(loaded, attribute)
        return loaded

    @property
    def dist(self) -> Distribution:
        """The package, with its name and version."""
        from importlib.metadata import PathDistribution
        from pathlib import Path

        return PathDistribution(Path(self.folder))


def installed_entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, of all packages that can be imported; of two versions of one only the first."""
    folders = _folders(sys.path)
    if folders is None:
        from importlib.metadata import entry_points

        return list(entry_points(group=group))
    return [entry for folder in folders for entry in _read(folder, group)]


def _folders(path: Sequence[str]) -> list[str] | None:
    """The folders of the metadata of all packages; None where some may be in archives, or found by other importers."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return None
    folders: dict[str, str] = {}
    for root in path:
        if root.endswith(".egg") or os.path.isfile(root):
            return None
        try:
            names = os.listdir(root or ".")
        except OSError:  # Python ignores folders that do not exist, too
            continue
        for name in names:
            stem, extension = os.path.splitext(name)
            if extension.lower() in _METADATA:
                package = stem.partition("-")[0].lower().replace("_", "-").replace(".", "-")
                folders.setdefault(package, os.path.join(root, name))
    return list(folders.values())


def _read(folder: str, group: str) -> Iterator[InstalledEntryPoint]:
    try:
        with open(os.path.join(folder, _FILE), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:  # most packages have none
        return
    if group not in text:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == group and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield InstalledEntryPoint(name.strip(), value.strip(), folder)
