r"""Tables of operators as text, which tools write: a diff shows what changed, and little is parsed on reading.

A section `[TITLE]` has lines of names, each with the first version if that is not 1, a tab, and JSON:

    [com.example]
    Blur Sharpen@3\t{"inputs": ["x"]}
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


class TableLine(NamedTuple):
    """One name of a line: the title of its section, the name, the first version, and the JSON."""

    section: str
    name: str
    since: int
    text: str


def table_lines(package: str, file: str) -> Iterator[TableLine]:
    """The lines of a file of a package, one for each name.

    >>> next(table_lines("opdefs.onnx", "signatures.txt"))[:3]
    ('classes', 'opdefs.onnx.recurrent:Cells', 1)
    """
    section = ""
    for line in _text(package, file).splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif line and line[0] != "#":
            names, _, text = line.partition("\t")
            for label in names.split(" "):
                name, _, since = label.partition("@")
                yield TableLine(section, name, int(since or 1), text)


def _text(package: str, file: str) -> str:
    """The text of a file of a package, without `importlib.resources`: its import takes longer than to read a file."""
    module = import_module(package)
    loader = cast("ResourceLoader", module.__loader__)
    return loader.get_data(os.path.join(os.path.dirname(module.__file__ or ""), file)).decode()
