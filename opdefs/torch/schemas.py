"""The schemas of torch's overloads: names, order, kinds and defaults of their arguments.

`schemas.txt` has those of torch itself, `own_schemas.txt` those of functions that torch has none for.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from shapeinf.errors import StaleTableError
from shapeinf.ops.package_data import read_package_text

COMMAND = "python tools/make_torch_schemas.py"

REQUIRED = object()
"""The default of an argument without a default."""

_ARGUMENT = re.compile(r"(?:(\S+(?: \S+)*?) )(\*?\w+)(?:=(.*))?")
_FILES = ("schemas.txt", "own_schemas.txt")


class Argument(NamedTuple):
    """An argument: `kind` is the type in torch's words, such as `SymInt[2]` or `Tensor?`.

    `rest`: it takes all further arguments. `keyword`: it is passed by name only.
    """

    name: str
    kind: str
    default: object = REQUIRED
    rest: bool = False
    keyword: bool = False


class Schema(NamedTuple):
    """The arguments of an overload in order, and the text of its results."""

    arguments: tuple[Argument, ...]
    returns: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(argument.name for argument in self.arguments)


@cache
def find_schema(overload: str) -> Schema | None:
    """The schema of an overload such as `aten.add.Tensor`; None for one that is not in the tables.

    >>> find_schema("aten.squeeze.dim").arguments[1]
    Argument(name='dim', kind='int', default=<object object at ...>, rest=False, keyword=False)
    """
    for file in _FILES:
        text = _text(file)
        at = text.find(f"\n{overload}(")
        if at >= 0:
            return parse_schema(text[at + 1 : text.index("\n", at + 1)])
    return None


def with_tensors(*names: str) -> list[str]:
    """Those of the names that are overloads of torch with a tensor among their arguments."""
    lines = (line.partition(" -> ")[0].partition("(") for line in _text(_FILES[0]).splitlines())
    known = {overload for overload, _, arguments in lines if "Tensor " in arguments}
    return [name for name in names if name in known]


@cache
def overloads() -> list[str]:
    """All overloads of the tables."""
    lines = (line for file in _FILES for line in _text(file).splitlines())
    return [line.partition("(")[0] for line in lines if line and not line.startswith("#")]


@cache
def _text(file: str) -> str:
    return read_package_text(__package__, file)


def parse_schema(line: str) -> Schema:
    """The schema of a line of a table.

    >>> parse_schema("aten.sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor").names
    ('self', 'dim', 'keepdim')
    """
    head, _, returns = line.rpartition(") -> ")
    arguments: list[Argument] = []
    keyword = False
    for text in _split(head.partition("(")[2]):
        if text in ("*", "..."):
            keyword = True
            continue
        match = _ARGUMENT.fullmatch(text)
        if match is None:
            raise StaleTableError(f"{text!r} is not an argument of a schema", COMMAND)
        kind, name, default = match.groups()
        parsed = REQUIRED if default is None else _parse_default(default)
        arguments.append(Argument(name.removeprefix("*"), kind, parsed, name.startswith("*"), keyword))
    return Schema(tuple(arguments), returns)


def _split(text: str) -> list[str]:
    """The arguments of a schema: commas in brackets and in quotes separate none."""
    parts: list[str] = []
    depth, quoted, start = 0, False, 0
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "([":
            depth += 1
        elif not quoted and character in ")]":
            depth -= 1
        elif not quoted and depth == 0 and character == ",":
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _parse_default(text: str) -> object:
    """A default as an attribute: a number, a text, None, or a tuple of numbers. Element types and layouts are texts."""
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("["):
        return tuple(_parse_default(item) for item in _split(text[1:-1]))
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.strip("\"'")


_WORDS: dict[str, object] = {"None": None, "True": True, "False": False}
