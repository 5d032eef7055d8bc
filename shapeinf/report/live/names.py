"""The texts and values of a page as numbers, so that each is in it once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shapeinf.texts import shorten_text

MAX_NAME = 400
"""Characters of a name; the middle of longer ones is omitted."""


class TextTable:
    """The texts of a file, each once and sorted, without the start that it shares with the previous one.

    >>> table = TextTable(["encoder/mul", "encoder/add", "encoder/mul"])
    >>> table["encoder/mul"], table.compact()
    (1, ([0, 8], ['encoder/add', 'mul']))
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Control characters and marks of direction become escapes; long texts are shortened."""
        printable = {text: shorten_text(text, MAX_NAME) for text in dict.fromkeys(texts)}
        self._sorted = sorted(set(printable.values()))
        numbers = {text: number for number, text in enumerate(self._sorted)}
        self._numbers = {text: numbers[short] for text, short in printable.items()}

    def __getitem__(self, text: str) -> int:
        """The number of a text."""
        return self._numbers[text]

    def compact(self) -> tuple[list[int], list[str]]:
        """The number of UTF-16 units that each text shares with the previous one, and the rest of each text."""
        shared, rest, last = [], [], ""
        for text in self._sorted:
            count = _shared_start(last, text)
            shared.append(len(text[:count].encode("utf-16-le")) // 2)
            rest.append(text[count:])
            last = text
        return shared, rest


class Numbers(dict[Any, int]):
    """The number of each value, in the order in which they are first used.

    >>> numbers = Numbers()
    >>> numbers["b"], numbers["a"], numbers["b"], list(numbers)
    (0, 1, 0, ['b', 'a'])
    """

    def __missing__(self, value: Any) -> int:
        """The next number."""
        number = self[value] = len(self)
        return number


def _shared_start(a: str, b: str) -> int:
    """The number of characters that two texts share at the start."""
    shared, end = 0, min(len(a), len(b))
    while shared < end:  # names of one module share much
        middle = (shared + end + 1) // 2
        shared, end = (middle, end) if a.startswith(b[shared:middle], shared) else (shared, middle - 1)
    return shared
