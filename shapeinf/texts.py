"""Text for users: escaped and shortened names, hints at similar names, numbers with units, ticks of axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from unicodedata import combining, east_asian_width

MAX_LINE = 160
"""Characters of a line in the `repr` of an object."""

MAX_SIZES = 12
"""The most sizes of a binding that a message lists."""

DECIMAL_UNITS = ("M", "G", "T", "P", "E")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def escape_unprintable(text: str) -> str:
    r"""The text for a terminal, on one line: control characters, line ends and bidirectional marks as their escapes.

    Names come from untrusted files.

    >>> print(escape_unprintable("a\x1b[31m"))
    a\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def display_width(text: str) -> int:
    r"""The columns of a terminal that a printable text takes: wide characters take two, combining ones none.

    >>> display_width("conv"), display_width("\u7e70\u308a"), display_width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def escape_lines(lines: Iterable[str]) -> str:
    r"""Several lines as one text; a line end inside of a line is escaped.

    >>> print(escape_lines(["a\nb", "c"]))
    a\nb
    c
    """
    return "\n".join(map(escape_unprintable, lines))


def object_text(title: str, lines: Iterable[str] = (), limit: int = 8) -> str:
    """The `repr` of an object: its title, and at most `limit` indented lines.

    >>> print(object_text("Contract: 2 preconditions", ["height % 2 == 0", "width % 2 == 0"]))
    <Contract: 2 preconditions
      height % 2 == 0
      width % 2 == 0>
    """
    shortened = [shorten_text(line, MAX_LINE) for line in lines]
    more = [f"{len(shortened) - limit} more"] if len(shortened) > limit else []
    return "\n  ".join([f"<{shorten_text(title, MAX_LINE)}", *shortened[:limit], *more]) + ">"


def shorten_text(text: str, limit: int) -> str:
    """An escaped text of at most `limit` characters, without its middle or start: names differ at their ends.

    >>> shorten_text("encoder/layer/0/attention/output", 27), shorten_text("encoder/layer/0/attention/output", 12)
    ('encoder/laye...ntion/output', '...on/output')
    """
    text = escape_unprintable(text)
    if len(text) <= limit:
        return text
    head = (limit - 3) // 2 if limit > 20 else 0
    return f"{text[:head]}...{text[len(text) - (limit - 3 - head) :]}"


def shorten_end(text: str, limit: int) -> str:
    """A text of at most `limit` characters, without its end.

    >>> shorten_end("max(4*batch*height*width, 96*batch)", 20)
    'max(4*batch*heig ...'
    """
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def fit_text(text: str, columns: int) -> str:
    r"""A printable text that takes at most this many columns of a terminal, without its middle or start.

    >>> fit_text("encoder/layer/0/attention/output", 27), fit_text("\u7e70\u308a\u8fd4\u3057\u5c64", 7)
    ('encoder/laye...ntion/output', '...層')
    """
    if display_width(text) <= columns:
        return text
    cut = (shorten_text(text, limit) for limit in range(columns, 3, -1))
    return next((short for short in cut if display_width(short) <= columns), "...")


def break_text(text: str, columns: int) -> list[str]:
    """The lines of a printable text that take at most this many columns: broken after a comma, else at a blank.

    Further lines start with a blank. What has no blank is broken anywhere.

    >>> break_text("[batch, 8, 2*(height//2), (width + 1)//2]", 18)
    ['[batch, 8,', ' 2*(height//2),', ' (width + 1)//2]']
    """
    lines = []
    while (end := _fitting(text, columns)) < len(text):
        at = text.rfind(", ", 1, end + 1) + 1 or text.rfind(" ", 1, end + 1)
        if at <= 0:
            at = max(end, 2)
        lines.append(text[:at].rstrip())
        text = f" {text[at:].lstrip()}"
    return [*lines, text]


def _fitting(text: str, columns: int) -> int:
    """The number of characters of a text that fit into this many columns."""
    if text.isascii():
        return min(len(text), columns)
    for end, character in enumerate(text):
        columns -= display_width(character)
        if columns < 0:
            return end
    return len(text)


MAX_COMPARED, MAX_NAME = 10_000, 200
"""The most names that are compared with a misspelt one, and the characters of the longest.

Comparing two names takes time quadratic in their length.
"""

MISSPELT = 0.8
"""The least ratio of `difflib` of names that may be one name with a typing error."""


def nearest_names(name: str, choices: Iterable[str], similarity: float = 0.5) -> list[str]:
    """Up to three choices that are similar to a name, the nearest first; `similarity` is a ratio of `difflib`.

    Names that are long are not compared, and neither are those behind `MAX_COMPARED` others.

    >>> nearest_names("logit", ["logits", "tokens"])
    ['logits']
    """
    from difflib import get_close_matches

    if len(name) > MAX_NAME:
        return []
    compared = islice((choice for choice in choices if len(choice) <= MAX_NAME), MAX_COMPARED)
    return get_close_matches(name, list(compared), n=3, cutoff=similarity)


def format_binding(binding: int, sizes: Mapping[str, int], count: int) -> str:
    """The text of one of `count` bindings in messages.

    >>> format_binding(3, {"batch": 1, "seq": 512}, 8), format_binding(0, {"batch": 1}, 1)
    ('binding 3 (batch=1, seq=512)', 'batch=1')
    """
    listed = ", ".join(f"{name}={size}" for name, size in islice(sizes.items(), MAX_SIZES))
    listed += ", ..." if len(sizes) > MAX_SIZES else ""
    if count == 1 and listed:
        return listed
    return f"binding {binding} ({listed})" if listed else f"binding {binding}"


_MOST_BITS = 1000
"""The bits of the largest number of bytes that is printed with its digits."""


def format_bytes(count: int) -> str:
    """A number of bytes in a suitable unit, with three digits.

    >>> [format_bytes(n) for n in (0, 1023, 1024, 1500, 3 << 20, 135266304)]
    ['0 B', '1023 B', '1 KiB', '1.46 KiB', '3 MiB', '129 MiB']
    >>> format_bytes(5 << 9999)  # no float is so large
    'at least 2**10001 B'
    """
    if count >> _MOST_BITS:
        return f"at least 2**{count.bit_length() - 1} B"
    unit = byte_unit(count)
    amount = count / 1024**unit
    return f"{amount:.0f} {UNITS[unit]}" if amount >= 100 or not unit else f"{amount:.3g} {UNITS[unit]}"


def exact_bytes(count: int) -> str:
    """A number of bytes in a suitable unit, and exactly.

    >>> exact_bytes(1536), exact_bytes(635)
    ('1.5 KiB (1,536 bytes)', '635 bytes')
    """
    if count < 1024:
        return f"{count} bytes"
    return format_bytes(count) if count >> _MOST_BITS else f"{format_bytes(count)} ({count:,} bytes)"


def exact_count(count: int) -> str:
    """A number with a decimal unit, and exactly.

    >>> exact_count(1536), exact_count(2_340_000_000)
    ('1,536', '2.34 G (2,340,000,000)')
    """
    power = min((len(str(abs(count))) - 1) // 3, len(DECIMAL_UNITS) + 1)
    return f"{count:,}" if power < 2 else f"{count / 1000**power:.3g} {DECIMAL_UNITS[power - 2]} ({count:,})"


def format_count(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> format_count(1, "slot"), format_count(2000, "slot")
    ('1 slot', '2,000 slots')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def byte_unit(count: int) -> int:
    """The index in `UNITS` of the unit for a number of bytes."""
    unit = 0
    while unit + 1 < len(UNITS) and count >= 1024 ** (unit + 1):
        unit += 1
    return unit


def byte_ticks(largest: int, wanted: int = 5) -> list[int]:
    """About `wanted` numbers of bytes for an axis from 0: a power of two apart, the last at or above `largest`.

    >>> byte_ticks(129 << 20) == [n << 20 for n in (0, 32, 64, 96, 128, 160)]
    True
    """
    step = 1
    while step * wanted < largest:
        step *= 2
    return list(range(0, max(largest, 1) + step, step))


def axis_ticks(window: range, wanted: int = 10) -> list[int]:
    """About `wanted` numbers for an axis: 1, 2 or 5 times a power of ten apart.

    >>> axis_ticks(range(6)), axis_ticks(range(7, 45))
    ([0, 1, 2, 3, 4, 5], [10, 15, 20, 25, 30, 35, 40])
    """
    step, factors = 1, (2, 5, 10)
    while step * wanted < len(window):
        power = 10 ** (len(str(step)) - 1)
        step = next(power * f for f in factors if power * f > step)
    return list(range(-(-window.start // step) * step, window.stop, step))


def shell_word(text: str) -> str:
    """A text as one word of a shell, for a command that a message suggests.

    >>> shell_word("batch"), shell_word("$(id)")
    ('batch', "'$(id)'")
    """
    from shlex import quote  # few messages suggest commands

    return quote(escape_unprintable(text))


AT_LEAST, AT_MOST, PARTLY = BOUNDS = ("at least", "at most", "without some parts at most")
"""Notes of amounts that are bounds: parts of unknown size are not counted, parts that depend on data count with their
upper bounds, or both, so that the amount is neither a lower nor an upper bound of the entire amount."""


def bound_note(at_least: bool, at_most: bool) -> str:
    """The note of an amount, empty for an exact one.

    >>> bound_note(False, True), bound_note(False, False)
    ('at most', '')
    """
    return (PARTLY if at_most else AT_LEAST) if at_least else AT_MOST if at_most else ""


def qualify(text: str, at_least: bool, at_most: bool) -> str:
    """The text of an amount with its note."""
    return f"{bound_note(at_least, at_most)} {text}".lstrip() if at_least or at_most else text


def escape_bytes(data: bytes, special: str) -> str:
    r"""Bytes for a quoted text of C or protobuf: printable ASCII, a backslash before special ones, the others in octal.

    >>> print(escape_bytes(b'say "\xff"', '"'))
    say \"\377\"
    """
    characters = map(chr, data)
    return "".join(f"\\{c}" if c in special else c if " " <= c <= "~" else f"\\{ord(c):03o}" for c in characters)
