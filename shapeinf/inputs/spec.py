"""The grammar of shapes, ranges and bindings of dims that users write.

    spec   := [NAME (":" | "=")] [dtype ":"] shape        # also NAME[shape]
    shape  := "..." | ["[" | "("] dim (("," | "x") dim)* ["," "..."] ["]" | ")"] [dtype]
    dim    := INT | "?" | "-1" | "None" | "_" | LO".."HI | LO".." | ".."HI | LO"~"HI | expression | NAME"="LO".."HI

`_` is the declared size of its axis, and `...` those of the axes that follow, as in jax's `symbolic_shape`.

`x` separates dims only if there is no comma, every piece is an int, `?` or a word that begins with a letter, and one
piece is a number or `?`, or all are single letters: `1x3xHxW` and `hxw` are shapes, `context` and `max_len` are names.
A name with blanks, commas or brackets is written in backquotes. A text that is not in the grammar is a `SpecError`.
"""

from __future__ import annotations

import enum
import re

import attrs

from shapeinf.errors import DimSyntaxError, SpecError
from shapeinf.expr import DimSize, Scope, parse_dim
from shapeinf.expr.parsing import TOO_LARGE, is_too_large
from shapeinf.lattice.dtypes import SHORT_NAMES, TF_NAMES

_DTYPES = {alias: name for short, name in SHORT_NAMES.items() for alias in (short, name, TF_NAMES.get(name, name))}
"""Element types by the names that users write: `f32`, `float32`, `float`."""
_RANGE = re.compile(r"(\d*)\s*(?:\.\.|~)\s*(-1|\d*)")
_NAMED_RANGE = re.compile(r"(`(?:[^`]|``)+`|[^\W\d]\w*)\s*=\s*(.*)", re.DOTALL)
_TIMES_PIECE = re.compile(r"-?\d+|\?|[A-Za-z]\w*")
_NEXT_SPEC = re.compile(r"[^\s,;:=\[\]()`]+(?:::?[^\s,;:=\[\]()`]+)*(?=[:\[])|`(?:[^`]|``)+`(?=[:=\[])")


class Declared(enum.Enum):
    """What a spec takes from the declared shape: the size of an axis, or those of all axes that follow."""

    AXIS = "_"
    REST = "..."


DECLARED = frozenset(part.value for part in Declared)
"""The texts of what a spec takes from the declared shape."""


@attrs.frozen
class DimRange:
    """Bounds of a dim, None for no bound; `name` is None for a range without a name."""

    lo: int | None
    hi: int | None
    name: str | None = None


@attrs.frozen
class InputSpec:
    """A parsed spec of an input; `dims` is None for `...` (unchanged), and a dim is None for `?`."""

    name: str | None
    dtype: str | None
    dims: tuple[DimSize | DimRange | Declared | None, ...] | None

    @property
    def is_full(self) -> bool:
        """Whether it is a shape that takes nothing from the declared one."""
        return self.dims is not None and not any(isinstance(dim, Declared) for dim in self.dims)


def parse_shape_spec(text: str, scope: Scope, lo: int | None = 1) -> InputSpec:
    """Parse one spec; the symbols of new names are at least `lo`. Raises SpecError.

    >>> spec = parse_shape_spec("data:f32:1x3xHx224", Scope())
    >>> spec.name, spec.dtype, spec.dims
    ('data', 'float32', (1, 3, H, 224))
    >>> parse_shape_spec("ids[1..8, ?]", Scope()).dims
    (DimRange(lo=1, hi=8, name=None), None)
    """
    return _SpecReader(text, scope, lo).read()


def parse_axis(text: str, scope: Scope, lo: int | None = 1) -> DimSize | DimRange | Declared | None:
    """Parse one dim of a shape, or `...` for all that follow; None for an unknown size. Raises SpecError.

    >>> parse_axis("1..8", Scope()), parse_axis("2*seq + 1", Scope())
    (DimRange(lo=1, hi=8, name=None), 2*seq + 1)
    """
    return _SpecReader(text, scope, lo).dim(0, len(text))


def split_specs(text: str) -> list[str]:
    """The specs in a text, each with the name of its input; they are separated by blanks, `;` or commas.

    >>> split_specs("ids:1x128,mask:[1, 128] x:0[2]; y:3,4")
    ['ids:1x128', 'mask:[1, 128]', 'x:0[2]', 'y:3,4']
    """
    starts = [0]
    for at in _top_level(text, " \t\n,;"):
        begin = _skip_blanks(text, at + 1)
        if text[at] == ";" or (text[starts[-1] : at].strip(" ,;") and _NEXT_SPEC.match(text, begin)):
            starts.append(begin)
    ends = [*starts[1:], len(text)]
    pieces = [text[a:b].strip(" \t\n,;") for a, b in zip(starts, ends, strict=True)]
    return [piece for piece in pieces if piece]


def is_rest(value: object) -> bool:
    """Whether an element of a shape stands for the declared sizes of all axes that follow."""
    return value is ... or value is Declared.REST or (isinstance(value, str) and value.strip() == Declared.REST.value)


def keeps_declared(value: object) -> bool:
    """Whether an element of a shape stands for declared sizes: `_`, or `...`."""
    return value is ... or (isinstance(value, str) and value.strip() in DECLARED)


class _SpecReader:
    """Parses one spec; the position in an error is that in the whole text."""

    def __init__(self, text: str, scope: Scope, lo: int | None) -> None:
        self.text = text
        self.scope = scope
        self.lo = lo

    def read(self) -> InputSpec:
        """The spec."""
        brace = self.text.find("{")
        if brace >= 0 and "`" not in self.text[:brace] and any(quote in self.text for quote in "'\""):
            raise self._error(brace, "NAME:[1,3,224,224] instead of a dict in braces")
        name, dtype, start = self._head()
        start = _skip_blanks(self.text, start)
        begin, end, bracketed, trailing = self._body(start)
        if self.text[begin:end].strip() == "...":
            return InputSpec(name, trailing or dtype, None)
        pieces = _pieces(self.text, begin, end)
        if not bracketed and len(pieces) > 1 and self.text[slice(*pieces[-1])].strip() in _DTYPES:
            trailing = _DTYPES[self.text[slice(*pieces.pop())].strip()]
        if not pieces and not bracketed:
            raise self._error(begin, "a shape such as [1, 3, 224]")
        dims = tuple(self.dim(*piece) for piece in pieces)
        if Declared.REST in dims[:-1]:
            raise self._error(pieces[dims.index(Declared.REST)][0], "a dim ('...' is for the last axes)")
        return InputSpec(name, trailing or dtype, dims)

    def _error(self, position: int, expected: str) -> SpecError:
        return SpecError(self.text, position, expected)

    def _head(self) -> tuple[str | None, str | None, int]:
        """The name and dtype before the shape, and the start of the shape."""
        bracket = next(iter(_top_level(self.text, "[")), None)
        if bracket is not None:
            head = self.text[:bracket].strip()
            name = head[:-1].rstrip() if head.endswith((":", "=")) else head
            return *self._name_and_dtype(name, required=bool(head)), bracket
        colons = _top_level(self.text, ":")
        if colons:
            return *self._name_and_dtype(self.text[: colons[-1]].strip(), required=True), colons[-1] + 1
        equals = next(iter(_top_level(self.text, "=")), None)
        if equals is not None and "," not in self.text[:equals]:
            return *self._name_and_dtype(self.text[:equals].strip(), required=True), equals + 1
        return None, None, 0

    def _name_and_dtype(self, head: str, required: bool = False) -> tuple[str | None, str | None]:
        if head in _DTYPES:
            return None, _DTYPES[head]
        name, colon, last = head.rpartition(":")
        if colon and last.strip() in _DTYPES:
            return self._name(name.strip()), _DTYPES[last.strip()]
        return (self._name(head) if head or required else None), None

    def _name(self, text: str) -> str:
        if len(text) > 2 and text[0] == text[-1] == "`":
            return unquote_name(text)
        if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"":  # as trtexec and polygraphy quote names
            return text[1:-1]
        if not text or any(char in ",;[]`" or char.isspace() for char in text):
            raise self._error(self.text.find(text), "the name of an input (in backquotes if it has blanks or commas)")
        return text

    def _body(self, start: int) -> tuple[int, int, bool, str | None]:
        """The begin and end of the dims, whether they are in brackets, and the dtype after the brackets."""
        opening = self.text[start : start + 1]
        if opening not in ("[", "("):
            return start, len(self.text), False, None
        closing = "]" if opening == "[" else ")"
        end = _closing(self.text, start, opening, closing)
        if end is None:
            raise self._error(len(self.text), f"{closing!r}")
        rest = self.text[end + 1 :].strip().removeprefix("x")
        if rest and rest not in _DTYPES:
            if opening == "(":  # not brackets around the shape: an expression that starts with a parenthesis
                return start, len(self.text), False, None
            several = "[" in rest or re.match(r"\w*\s*[,;]", rest)
            single = "one shape (several need names: x:[1,3] y:[2])"
            raise self._error(end + 1, single if several else "an element type such as f32, or nothing,")
        return start + 1, end, True, _DTYPES.get(rest)

    def dim(self, begin: int, end: int) -> DimSize | DimRange | Declared | None:
        """The dim of text[begin:end]."""
        begin, piece = min(_skip_blanks(self.text, begin), end), self.text[begin:end].strip()
        if piece in ("?", "-1", "None"):
            return None
        if not piece:
            raise self._error(begin, "a dim (a size, a name, ?, LO..HI or an expression)")
        if piece in DECLARED:
            return Declared(piece)
        if _RANGE.fullmatch(piece):
            return _range(self.text, begin, piece)
        named = _NAMED_RANGE.fullmatch(piece)
        if named is not None:
            return attrs.evolve(_range(self.text, begin + named.start(2), named[2]), name=unquote_name(named[1]))
        return self._expression(begin, piece)

    def _expression(self, begin: int, piece: str) -> DimSize:
        try:
            dim = parse_dim(piece, self.scope, self.lo)
        except DimSyntaxError as error:
            raise self._error(begin + error.position, error.expected) from None
        if isinstance(dim, int) and dim < 0:
            raise self._error(begin, "a size of at least 0 (or -1 for an unknown one)")
        return dim


def _skip_blanks(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip())


def unquote_name(name: str) -> str:
    """A name without the backquotes of `quote_name`."""
    name = name.strip()
    return name[1:-1].replace("``", "`") if len(name) > 2 and name[0] == name[-1] == "`" else name


def _top_level(text: str, chars: str, begin: int = 0, end: int | None = None) -> list[int]:
    """The positions of these characters outside of brackets, parentheses and backquotes; an opening one is outside."""
    positions, depth, quoted = [], 0, False
    for i in range(begin, len(text) if end is None else end):
        char = text[i]
        quoted ^= char == "`"
        if quoted:
            continue
        depth -= char in ")]"
        if depth == 0 and char in chars:
            positions.append(i)
        depth += char in "(["
    return positions


def _closing(text: str, start: int, opening: str, closing: str) -> int | None:
    """The position of the bracket that closes the bracket at `start`."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        quoted ^= text[i] == "`"
        if not quoted:
            depth += (text[i] == opening) - (text[i] == closing)
            if depth == 0 and text[i] == closing:
                return i
    return None


def _pieces(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The dims of text[begin:end], each as (begin, end)."""
    if not text[begin:end].strip():
        return []
    commas = _top_level(text, ",", begin, end)
    if commas:
        if not text[commas[-1] + 1 : end].strip():  # a trailing comma, as Python writes (3,)
            end = commas.pop()
        return list(zip([begin, *(i + 1 for i in commas)], [*commas, end], strict=True))
    crosses = [i for i in range(begin, end) if text[i] == "x"]
    pieces = list(zip([begin, *(i + 1 for i in crosses)], [*crosses, end], strict=True))
    words = [text[a:b].strip() for a, b in pieces]
    known = any(word == "?" or word.lstrip("-").isdigit() for word in words) or all(len(word) == 1 for word in words)
    if known and all(_TIMES_PIECE.fullmatch(word) for word in words):
        return pieces
    return [(begin, end)]


def _range(text: str, begin: int, piece: str) -> DimRange:
    """`LO..HI`, `LO..`, `..HI`, `LO~HI` or one number; `begin` is its position in the text."""
    number = piece.strip()
    match = re.fullmatch(r"(\d+)", number) or _RANGE.fullmatch(number)
    if match is None or number in ("..", "~"):
        raise SpecError(text, begin, "LO..HI, LO.., ..HI or one number")
    if any(is_too_large(bound or "") for bound in match.groups() if bound != "-1"):
        raise SpecError(text, begin, TOO_LARGE)
    lo = int(match[1]) if match[1] else None
    upper = match[match.lastindex or 1]
    hi = int(upper) if upper and upper != "-1" else None
    if lo is not None and hi is not None and lo > hi:
        raise SpecError(text, begin, f"a range that is not empty ({lo} is more than {hi})")
    return DimRange(lo, hi)


def parse_dim_range(text: str) -> DimRange:
    """Parse `NAME=LO..HI`, `NAME=LO:HI` or `NAME=4`. Raises SpecError.

    >>> parse_dim_range("batch=1..8")
    DimRange(lo=1, hi=8, name='batch')
    """
    name, equals, bounds = text.rpartition("=")
    if not equals or not name.strip():
        raise SpecError(text, 0, "NAME=LO..HI")
    begin = len(name) + 1
    return attrs.evolve(_range(text, begin, re.sub(r"\s*:\s*", "..", bounds, count=1)), name=unquote_name(name))


def parse_bindings(text: str) -> dict[str, int]:
    """Parse `name=4,name2=8`, also with colons. Raises SpecError.

    >>> parse_bindings("batch=4,seq=128")
    {'batch': 4, 'seq': 128}
    """
    values: dict[str, int] = {}
    commas = _top_level(text, ",")
    for begin, end in zip([0, *(i + 1 for i in commas)], [*commas, len(text)], strict=True):
        match = re.fullmatch(r"\s*(.+?)\s*[=:]\s*(\d+)\s*", text[begin:end])
        if match is None:
            raise SpecError(text, begin, "NAME=NUMBER, with a size of at least 0")
        if is_too_large(match[2]):
            raise SpecError(text, begin + match.start(2), TOO_LARGE)
        name = unquote_name(match[1])
        if values.setdefault(name, int(match[2])) != int(match[2]):
            raise SpecError(text, begin, f"one value for {name}, not two")
    return values
