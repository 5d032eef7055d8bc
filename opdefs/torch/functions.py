"""The table of overloads that are functions of PNNX, which has torch's functions by their names in Python.

A line of `functions.txt` is `OVERLOADS... = FUNCTION CHANGES...`; the function `.` is a rule of this package, and an
overload such as `aten.abs.default` has the rule of that one, which is the same function under another name. A change
`size=shape` names the parameter of an argument whose name differs, `-memory_format` is an argument without influence on
types and contents. The line `* = CHANGES...` lists those for all overloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import attrs

from shapeinf.ops.package_data import read_package_text

FILE = "functions.txt"
OWN = "."
"""Instead of a function of PNNX: the overload has a rule of this package."""


class FunctionEntry(NamedTuple):
    """What an overload is: a function of PNNX, the parameters of its arguments, and the arguments to omit."""

    function: str
    renamed: Mapping[str, str]
    omitted: frozenset[str]

    @property
    def overload(self) -> str:
        """The overload that is the same function; empty where there is none."""
        return self.function if self.function.startswith("aten.") else ""


@attrs.frozen
class FunctionTable:
    """The entries by overload, and the arguments that have no influence in any operator."""

    entries: Mapping[str, FunctionEntry]
    omitted: frozenset[str]


@cache
def function_table() -> FunctionTable:
    """The table in `functions.txt`."""
    entries: dict[str, FunctionEntry] = {}
    omitted: frozenset[str] = frozenset()
    for line in read_package_text(__package__, FILE).splitlines():
        names, equal, rest = line.partition(" = ")
        if not equal or line.startswith("#"):
            continue
        words = rest.split()
        dropped = frozenset(word[1:] for word in words if word.startswith("-"))
        if names == "*":
            omitted |= dropped
            continue
        renamed = dict(word.split("=") for word in words[1:] if "=" in word)
        for name in names.split():
            entries[name] = FunctionEntry(words[0], renamed, dropped)
    return FunctionTable(entries, omitted)
