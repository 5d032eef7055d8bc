"""Long formulas for a reader: repeated quotients get short names, and a formula ends after one of its terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase

SHORT = 72
"""Formulas of at most this many characters stay as they are."""
_QUOTIENT = re.compile(r"`[^`]*`|\((?:\([^()`]{1,60}\)|[A-Za-z_]\w*)//\d+\)")
"""`((height + 31)//32)` or `(height//2)`: a factor of a product; and names in backquotes, which stay."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def formula_lines(formula: str, limit: int, unit: str = "") -> list[str]:
    """A formula of at most `limit` characters with its unit, then the meaning of the names in it.

    >>> for line in formula_lines("96*n*((height + 31)//32)*((width + 31)//32) + 12*n*((height + 31)//32) + 8*n*n", 99):
    ...     print(line)
    96*n*a*b + 12*n*a + 8*n*n
      a = (height + 31)//32, b = (width + 31)//32
    """
    if len(formula) <= SHORT:
        return [formula + unit]
    taken = set(_WORD.findall(formula))
    names = (letter for letter in ascii_lowercase if letter not in taken)
    parts = _quotients(formula, names)
    short = _cut(_QUOTIENT.sub(lambda match: parts.get(match.group(), match.group()), formula), limit)
    named = set(_WORD.findall(short))
    meanings = [f"{name} = {part[1:-1]}" for part, name in parts.items() if name in named]
    return [short + unit, *([f"  {', '.join(meanings)}"] if meanings else [])]


def _quotients(formula: str, names: Iterator[str]) -> dict[str, str]:
    """The quotients with their names, in order; those for which no letter is free keep their text."""
    quotients = dict.fromkeys(part for part in _QUOTIENT.findall(formula) if part[0] == "(")
    return dict(zip(quotients, names, strict=False))


def _cut(formula: str, limit: int) -> str:
    """The first terms of a formula."""
    if len(formula) <= limit:
        return formula
    end = max(formula.rfind(" + ", 0, limit), formula.rfind(", ", 0, limit))
    return f"{formula[: end if end > 0 else limit]} ..."
