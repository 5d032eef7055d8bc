"""Strings of known contents: conversions from and to numbers, joins, parts and cases.

A string with U+FFFD stands for bytes that are not UTF-8, and counts as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import isfinite

from opdefs.rules.contents.elements import map_elements
from shapeinf.lattice import Element, PartialTensor, Shape
from shapeinf.lattice.dtypes import INTEGER_RANGES

LOST = "\ufffd"
SPACE = " \t\n\v\f\r"
"""ASCII white space."""


def known_text(element: Element) -> str | None:
    """An element that is a string whose bytes are known; None for any other."""
    return element if isinstance(element, str) and LOST not in element else None


def known_texts(x: PartialTensor) -> list[str] | None:
    """The contents where all of them are known strings; else None."""
    texts = [known_text(element) for element in x.elements or ()]
    known = [text for text in texts if text is not None]
    return known if x.elements is not None and len(known) == len(texts) else None


def map_texts(dtype: str, shape: Shape, operation: Callable[..., Element], *values: PartialTensor) -> PartialTensor:
    """An operation on strings, applied to the broadcast of tensors of strings; unknown where one of them is."""

    def apply(*elements: Element) -> Element:
        texts = [known_text(e) for e in elements]
        return None if any(t is None for t in texts) else operation(*texts)

    return map_elements(dtype, shape, apply, *values)


def join_texts(shape: Shape, separator: str, *values: PartialTensor) -> PartialTensor:
    """The strings at each position, joined."""
    if not values:
        return PartialTensor("string", shape, None)
    return map_texts("string", shape, lambda *texts: separator.join(texts), *values)


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse_number(text: str, dtype: str) -> Element:
    """A decimal number as an element of a numeric type; None for other texts, and for integers out of range."""
    stripped = text.strip(SPACE)
    if dtype in INTEGER_RANGES:
        least, most = INTEGER_RANGES[dtype]
        integer = int(stripped) if _INTEGER.fullmatch(stripped) and len(stripped) < 40 else None
        return integer if integer is not None and least <= integer <= most else None
    if dtype not in ("float32", "float64") or not _DECIMAL.fullmatch(stripped):
        return None
    number = float(stripped)
    return number if dtype == "float64" else _nearest_float32(Fraction(stripped), number)


def _nearest_float32(exact: Fraction, number: float) -> float | None:
    """The float32 that is nearest to a number, which is `number` as a float64; None if it is infinite, or two are."""
    import numpy as np

    with np.errstate(all="ignore"):
        middle = np.float32(number)
        around = [float(n) for n in (np.nextafter(middle, np.float32(s * np.inf)) for s in (-1, 1))]
    nearest = float(middle)
    if not all(map(isfinite, (nearest, *around))):
        return None
    distance = abs(Fraction(nearest) - exact)
    return nearest if all(distance < abs(Fraction(other) - exact) for other in around) else None


def format_integer(element: Element) -> str | None:
    """The decimal text of an integer; None for other elements."""
    return str(element) if type(element) is int else None


def format_plain(element: Element) -> str | None:
    """The text of an integer, `true` or `false` for a bool, a string as it is; None for other elements."""
    if isinstance(element, bool):
        return "true" if element else "false"
    return known_text(element) if isinstance(element, str) else format_integer(element)


def strip(text: str) -> str:
    """The text without ASCII white space at its ends."""
    return text.strip(SPACE)


def ascii_part(text: Element, start: Element, length: Element) -> str | None:
    """`length` characters of an ASCII text from a position, counted from the end if negative; at most all others."""
    known = known_text(text)
    if known is None or not known.isascii() or type(start) is not int or type(length) is not int or length < 0:
        return None
    first = start + len(known) if start < 0 else start
    return known[first : first + length] if 0 <= first <= len(known) else None


def lower(text: str) -> str:
    """The text with small ASCII letters; other characters are unchanged."""
    return "".join(chr(ord(s) + 32) if "A" <= s <= "Z" else s for s in text)


def upper(text: str) -> str:
    """The text with capital ASCII letters; other characters are unchanged."""
    return "".join(chr(ord(s) - 32) if "a" <= s <= "z" else s for s in text)


def split_text(text: str, separator: str) -> list[str]:
    """The parts of a text as Python's `split`: without a separator, those between runs of ASCII white space."""
    return text.split(separator) if separator else re.findall(r"[^ \t\n\v\f\r]+", text)
