"""Entry points of installed packages, read without `importlib.metadata` where possible: its import takes longer.

An installed package has a folder `NAME-VERSION.dist-info` or `.egg-info` next to it, with the file `entry_points.txt`.
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
    """An entry point: `InstalledEntryPoint`, or one of `importlib.metadata`."""

    @property
    def name(self) -> str:
        """The name, such as `onnx.acme`."""

    @property
    def value(self) -> str:
        """The object that it refers to: `acme.shapes:onnx`."""

    def load(self) -> Any:
        """Import the object and return it."""


class InstalledEntryPoint(NamedTuple):
    """An entry point that is read from a file, with the folder of that file."""

    name: str
    value: str
    folder: str

    def load(self) -> Any:
        """Import the object and return it. Raises what the import raises, AttributeError for a missing attribute.

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
        """The installed package, with its name and version."""
        from importlib.metadata import PathDistribution
        from pathlib import Path

        return PathDistribution(Path(self.folder))


def installed_entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group in all installed packages; of two versions of a package those of the first."""
    folders = _folders(sys.path)
    if folders is None:
        from importlib.metadata import entry_points

        return list(entry_points(group=group))
    return [entry for folder in folders for entry in _read(folder, group)]


def _folders(path: Sequence[str]) -> list[str] | None:
    """The metadata folders of all packages; None where packages may be in archives or have an importer of their own."""
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
    """The entry points of a group in the file of one folder."""
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
