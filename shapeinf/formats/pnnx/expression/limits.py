"""Limits of expressions, which come from untrusted files."""

from __future__ import annotations

from shapeinf.errors import LimitError

MAX_LENGTH = 1_000_000
"""The longest text, in characters."""

MAX_DEPTH = 1_000
"""The deepest nesting of calls and lists."""

MAX_DIGITS = 1_000
"""The longest number, in characters."""

MAX_NODES = 200_000
"""The largest number of nodes of a tree."""


def check_limit(value: int, limit: int, subject: str, position: int | None = None) -> None:
    """Raise LimitError where a value is above its limit; the message names both, and the position in the text."""
    if value > limit:
        where = "" if position is None else f" at position {position}"
        raise LimitError(f"the expression has {subject}{where}; the limit is {limit}")
