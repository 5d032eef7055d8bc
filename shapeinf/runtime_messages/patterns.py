"""Patterns of error texts, and the parts that the texts of all runtimes share: shapes, amounts of bytes.

Texts may be hostile, and of a megabyte. Each pattern begins with a word or a rare character and has bounded
repetitions, so that a search takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from shapeinf.runtime_messages.records import MessageKind, PrintedShape, RuntimeMessage

WINDOW = 6000
"""The characters behind the start of a message that may belong to it."""

MAX_DIGITS = 19
MAX_AXES = 32

SHAPE = r"[\[({]\s?((?:-?\d{1,19}|\?|None)(?:\s?[,.x]\s?(?:-?\d{1,19}|\?|None)){0,31})?,?\s?[\])}]"
"""A shape in any brackets, such as `[2,3]`, `{2, 3}` or `(2.3)`; its sizes are the only group."""


class Pattern(NamedTuple):
    """A form of the texts of a runtime.

    Args:
        kind: what these texts are about.
        start: the text that a message of this form has, as a compiled pattern.
        read: makes the record of a match; None for a record of the kind alone.
    """

    kind: MessageKind
    start: re.Pattern[str]
    read: Callable[[re.Match[str], str], RuntimeMessage | None] | None = None


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled; its letters match in either case."""
    return re.compile(pattern, re.IGNORECASE)


def window(match: re.Match[str], length: int = WINDOW) -> str:
    """The text from the start of a match on, as far as it may belong to one message."""
    return match.string[match.start() : match.start() + length]


def first_lines(text: str, count: int = 4) -> str:
    """The first lines of a message that are not empty, on one line."""
    lines = (line.strip() for line in text[:WINDOW].split("\n"))
    listed = [line for line in lines if line]
    return " ".join(listed[:count])[:1000]


def read_shape(text: str | None) -> PrintedShape:
    """The sizes in the text of a shape; those that are no numbers are None.

    >>> read_shape("2, ?, 3"), read_shape("2.3"), read_shape("")
    ((2, None, 3), (2, 3), ())
    """
    parts = re.split(r"[\s,.x]{1,4}", (text or "").strip())[:MAX_AXES]
    return tuple(int(p) if p.isdecimal() and len(p) <= MAX_DIGITS else None for p in parts if p)


def read_shapes(text: str, *labels: str) -> tuple[PrintedShape, ...]:
    """The shapes behind the first match of each label, in the order of the labels; nothing where one is missing.

    >>> read_shapes("In[0]: [2,3], In[1]: [4,5]", r"In.0.: ", r"In.1.: ")
    ((2, 3), (4, 5))
    """
    searched = [re.search(label + SHAPE, text, re.IGNORECASE) for label in labels]
    matches = [match for match in searched if match is not None]
    return tuple([read_shape(match[1]) for match in matches]) if len(matches) == len(labels) else ()


def all_shapes(text: str) -> Iterator[PrintedShape]:
    """All shapes in a text."""
    return (read_shape(match[1]) for match in re.finditer(SHAPE, text[:WINDOW]))


_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def read_bytes(number: str, unit: str = "") -> int | None:
    """An amount of bytes; None for a number without meaning.

    >>> read_bytes("2.5", "GiB"), read_bytes("123")
    (2684354560, 123)
    """
    try:
        return (
            int(float(number) * _UNITS[unit[:1].lower()]) if "." in number else int(number) * _UNITS[unit[:1].lower()]
        )
    except (ValueError, OverflowError, KeyError):
        return None


def read_pair(match: re.Match[str] | None) -> tuple[int, int] | None:
    """Two sizes that differ: the first two groups of a match."""
    return None if match is None else (int(match[1]), int(match[2]))


def apply_patterns(runtime: str, patterns: tuple[Pattern, ...], text: str) -> Iterator[tuple[int, RuntimeMessage]]:
    """The messages of a runtime in a text, with their positions."""
    for pattern in patterns:
        for count, match in enumerate(pattern.start.finditer(text)):
            if count == MAX_MATCHES:
                break
            part = window(match)
            record = RuntimeMessage(runtime, pattern.kind, first_lines(part))
            message = record if pattern.read is None else pattern.read(match, part)
            if message is not None:
                yield match.start(), message


MAX_MATCHES = 200
"""The most matches of one pattern that are read; a log may repeat a message."""
