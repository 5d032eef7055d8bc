r"""Tables of operators as text files, which tools write: their diffs are readable, and only used lines are parsed.

A section `[TITLE]` has lines of names, each with the first version if that is not 1; a line may have a tab and JSON:

    [com.example]
    Blur Sharpen@3\t{"inputs": ["x"]}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from shapeinf.ops.package_data import read_package_text


class TableLine(NamedTuple):
    """One name of a line, with the title of its section, the first version, and the JSON."""

    section: str
    name: str
    since: int
    text: str


def table_lines(package: str, file: str) -> Iterator[TableLine]:
    """The lines of a file of a package, one for each name.

    >>> next(table_lines("opdefs.onnx", "rules.txt"))[:3]
    ('opdefs.onnx.attention', 'Attention', 1)
    """
    section = ""
    for line in read_package_text(package, file).splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif line and line[0] != "#":
            names, _, text = line.partition("\t")
            for label in names.split(" "):
                name, _, since = label.partition("@")
                yield TableLine(section, name, int(since or 1), text)
