"""The Python packages of the page as one zip archive: this package, the operators and attrs, as installed here."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distribution
from types import ModuleType

from shapeinf import __version__
from shapeinf.formats.files import read_regular
from shapeinf.ops.registry import ENTRY_POINTS

PACKAGES = ("shapeinf", "opdefs", "attr", "attrs")
"""All that an inference, its contract, its checks and the report import."""

_OWN = "opdefs"
"""The package whose dialects are installed in the page."""

_SKIPPED = (".pyc", ".pyo", ".pyi", ".so", ".pyd", ".dylib")
"""Compiled files are for this machine."""

_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file: equal sources are equal archives."""


def bundle_packages() -> bytes:
    """The archive: the sources of the packages, their licences, and the entry points of the dialects."""
    files = dict(_files())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _TIME), files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _files() -> Iterator[tuple[str, bytes]]:
    for name in PACKAGES:
        yield from _package_files(import_module(name))
    entries = (
        e for e in distribution("shapeinf").entry_points if e.group == ENTRY_POINTS and e.module.startswith(_OWN)
    )
    lines = [f"[{ENTRY_POINTS}]", *sorted(f"{entry.name} = {entry.value}" for entry in entries)]
    info = f"shapeinf-{__version__}.dist-info"
    yield f"{info}/entry_points.txt", "\n".join(lines).encode()
    yield f"{info}/METADATA", f"Metadata-Version: 2.1\nName: shapeinf\nVersion: {__version__}\n".encode()
    yield from _attrs_licence()


def _package_files(package: ModuleType) -> Iterator[tuple[str, bytes]]:
    """The files of a package by their paths in the archive."""
    root = package.__path__[0]
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if not name.endswith(_SKIPPED):
                path = os.path.join(folder, name)
                inside = os.path.relpath(path, os.path.dirname(root)).replace(os.sep, "/")
                yield inside, read_regular(path)


def _attrs_licence() -> Iterator[tuple[str, bytes]]:
    """The licence of attrs, which its copies must contain, and its metadata."""
    installed = distribution("attrs")
    for file in installed.files or ():
        if file.name in ("LICENSE", "METADATA") and ".dist-info" in str(file):
            yield str(file).replace(os.sep, "/"), read_regular(os.fspath(file.locate()))
