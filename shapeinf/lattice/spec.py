"""The one grammar in which people give shapes, ranges and values of dims.

    spec   := [NAME (":" | "=")] [dtype ":"] shape
    shape  := "..." | ["[" | "("] dim (("," | "x") dim)* ["]" | ")"] [dtype]
    dim    := INT | "?" | "-1" | "None" | LO".."HI | LO".." | ".."HI | LO"~"HI | expression

`x` separates only when there is no comma and every piece is an int, `?` or a name without an x.
"""

from __future__ import annotations

import re

import attrs

from shapeinf.algebra import Dim, DimSyntaxError, Scope, parse_dim

_DTYPES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "bf16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bool": "bool",
    **{name: name for name in ("float16", "float32", "float64", "bfloat16", "string")},
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_DTYPE = "|".join(sorted(_DTYPES, key=len, reverse=True))
_LEAD = re.compile(rf"({_DTYPE})\s*:")
_TRAIL = re.compile(rf"(?<=[\])\dx?,])\s*({_DTYPE})$")
_NAME = re.compile(r"([^\s=\[(,`]+?)\s*(?:=|:(?!:))\s*(?=.)|([^\s=\[(,`:]+)(?=\[)")
_RANGE = re.compile(r"(\d*)\s*(?:\.\.|~)\s*(-?\d*)")
_TIMES_PIECE = re.compile(r"\d+|\?|[a-wyzA-WYZ_]\w*")


class SpecError(ValueError):
    """A shape, range or binding that cannot be read; says what was expected."""


@attrs.frozen
class DimRange:
    """Bounds given for a dim; None is no bound. `name` is None inside a shape."""

    lo: int | None
    hi: int | None
    name: str | None = None


@attrs.frozen
class InputSpec:
    """What a user says of an input; `dims` is None for `...` (nothing said), a dim None for `?`."""

    name: str | None
    dtype: str | None
    dims: tuple[Dim | DimRange | None, ...] | None


def parse_shape_spec(text: str, scope: Scope) -> InputSpec:
    """Read one spec. Raises SpecError.

    >>> spec = parse_shape_spec("data:f32:1x3xHx224", Scope())
    >>> spec.name, spec.dtype, spec.dims
    ('data', 'float32', (1, 3, H, 224))
    >>> parse_shape_spec("ids[1..8, ?]", Scope()).dims
    (DimRange(lo=1, hi=8, name=None), None)
    """
    rest = text.strip()
    name, rest = _take_name(rest)
    dtype, rest = _take_dtype(rest)
    rest = _unbracketed(rest, text)
    if rest == "...":
        return InputSpec(name, dtype, None)
    pieces = _pieces(rest)
    if len(pieces) > 1 and pieces[-1] in _DTYPES:
        dtype = _DTYPES[pieces.pop()]
    return InputSpec(name, dtype, tuple(_dim(piece, scope, text) for piece in pieces))


def _take_name(text: str) -> tuple[str | None, str]:
    match = _NAME.match(text)
    if match is None or _LEAD.match(text) or _RANGE.match(text):
        return None, text
    return match[1] or match[2], text[match.end() :]


def _take_dtype(text: str) -> tuple[str | None, str]:
    lead = _LEAD.match(text)
    if lead is not None:
        return _DTYPES[lead[1]], text[lead.end() :].strip()
    trail = _TRAIL.search(text)
    if trail is not None:
        return _DTYPES[trail[1]], text[: trail.start()].rstrip().removesuffix("x")
    return None, text


def _unbracketed(text: str, whole: str) -> str:
    for opening, closing in ("[]", "()"):
        if text.startswith(opening):
            if not text.endswith(closing):
                raise SpecError(f"{whole!r}: expected {closing!r} at the end of the shape")
            return text[1:-1].strip()
    return text.strip()


def _pieces(text: str) -> list[str]:
    if not text:
        return []
    if "," in text:
        return [piece.strip() for piece in _split_commas(text)]
    by_x = text.split("x")
    if len(by_x) > 1 and all(_TIMES_PIECE.fullmatch(piece.strip()) for piece in by_x):
        return [piece.strip() for piece in by_x]
    return [text]


def _split_commas(text: str) -> list[str]:
    """At commas outside of parentheses and backquotes."""
    pieces, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        quoted ^= char == "`"
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0 and not quoted:
            pieces.append(text[start:i])
            start = i + 1
    return [*pieces, text[start:]]


def _dim(text: str, scope: Scope, whole: str) -> Dim | DimRange | None:
    if text in ("?", "-1", "None"):
        return None
    match = _RANGE.fullmatch(text)
    if match is not None:
        return _range(match, whole)
    name, given, bounds = text.partition("=")
    ranged = _RANGE.fullmatch(bounds.strip()) if given else None
    if ranged is not None:
        found = _range(ranged, whole)
        return attrs.evolve(found, name=name.strip())
    try:
        return parse_dim(text, scope)
    except DimSyntaxError as error:
        raise SpecError(f"{whole!r}: {error}") from None


def _range(match: re.Match[str], whole: str) -> DimRange:
    lo = int(match[1]) if match[1] else None
    hi = int(match[2]) if match[2] and match[2] != "-1" else None
    if lo is not None and hi is not None and lo > hi:
        raise SpecError(f"{whole!r}: the range {match[0]} is empty")
    return DimRange(lo, hi)


def parse_dim_range(text: str) -> DimRange:
    """Read `NAME=LO..HI` (also `NAME=LO:HI`, `NAME=4`). Raises SpecError.

    >>> parse_dim_range("batch=1..8")
    DimRange(lo=1, hi=8, name='batch')
    """
    name, given, bounds = text.rpartition("=")
    if not given or not name:
        raise SpecError(f"{text!r}: expected NAME=LO..HI")
    bounds = bounds.strip()
    if bounds.isdigit():
        return DimRange(int(bounds), int(bounds), name)
    match = _RANGE.fullmatch(bounds.replace(":", ".."))
    if match is None:
        raise SpecError(f"{text!r}: expected LO..HI (or LO:HI, LO.., ..HI, or one number) after {name}=")
    return attrs.evolve(_range(match, text), name=name)


def parse_bindings(text: str) -> dict[str, int]:
    """Read `name=4,name2=8` (also `name:4`). Raises SpecError.

    >>> parse_bindings("batch=4,seq=128")
    {'batch': 4, 'seq': 128}
    """
    found = {}
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(.+?)\s*[=:]\s*(\d+)\s*", piece)
        if match is None:
            raise SpecError(f"{piece!r}: expected NAME=NUMBER")
        found[match[1]] = int(match[2])
    return found
