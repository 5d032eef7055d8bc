"""Dims in files as text: expressions of any tool, and names. A text that is not an expression is a name, with a note.

Two texts are ambiguous and therefore names: `a-b` where `a` or `b` is not known (exporters join words by hyphens), and
`h^2` (a power in jax, a maximum in a proposal for ONNX). Names with blanks or hyphens, which other tools do not quote,
are recognized where an input has declared them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from shapeinf.errors import DimSyntaxError
from shapeinf.expr.dimension import DimSize, Scope
from shapeinf.expr.parsing import MAX_LENGTH, Parser

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}")
"""The usual name of a dim, which needs no parser."""
_HAS_LETTERS = re.compile(r"[^\W\d]")
_HYPHENATED = re.compile(r"(?<![\w.])[^\W\d]\w*(?:-\w+)+")
_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:]+\w+)+")
"""Qualified names, as some exporters number dims; they are never expressions."""
_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_ARITHMETIC = re.compile(r"[-+*/%^&(]")
_WORD = re.compile(r"[^\W\d][\w.]*")


def parse_dim_lenient(text: str, scope: Scope, lo: int | None = 1) -> tuple[DimSize | None, str | None]:
    """Read a dim name of a file: the dim and a note on an unusual name, each or None. Never raises.

    The dim is None where the name declares no size.

    >>> s = Scope()
    >>> parse_dim_lenient("floor(H/2)", s)
    (H//2, None)
    >>> parse_dim_lenient("batch-size", s)[0].name
    'batch-size'
    >>> parse_dim_lenient("DynamicDimension.0", s)
    (`DynamicDimension.0`, None)
    """
    stripped = text.strip()
    if stripped in ("", "?", "None"):
        return None, f"the dim name {text[:60]!r} declares no size" if text != "" else None
    if scope.has(text):
        return scope.symbol(text), None
    if _PLAIN_NAME.fullmatch(text):
        return scope.symbol(text, lo), None
    if _HYPHENATED.fullmatch(stripped) and _joins_words(stripped, scope):
        return scope.symbol(text, lo), f"the dim name {text[:60]!r} is taken as one name, not as a difference"
    parser = _find_expression(stripped, scope, lo)
    dim = None if parser is None else _dim_of(parser)
    if dim is None:
        if _DOTTED.fullmatch(stripped):
            return scope.symbol(text, lo), None
        return scope.symbol(text, lo), f"the dim name {text[:60]!r} is not an expression: taken as one name"
    if isinstance(dim, int) and dim < 0:
        return None, f"the dim name {text[:60]!r} is a negative number"
    if isinstance(dim, int) and not _HAS_LETTERS.search(stripped):
        return scope.symbol(text, lo), f"the dim name {text[:60]!r} is taken as a name, not as the size {dim}"
    return dim, None


def parse_known_dim(text: str, scope: Scope) -> DimSize | None:
    """The dim of an expression whose names are symbols of the scope; None for any other text. Adds no symbol.

    >>> s = Scope()
    >>> h = s.symbol("H")
    >>> parse_known_dim("Max(1, H)", s), parse_known_dim("H + W", s)
    (H, None)
    """
    names = _names_in(text)
    if names and not scope.odd_names and not all(map(scope.has, names)):
        return None
    parser = _find_expression(text.strip(), scope, None)
    if parser is None or not parser.names or not _are_known(parser, scope):
        return None
    dim = _dim_of(parser)
    return None if isinstance(dim, int) and dim < 0 else dim


def is_unread_arithmetic(text: str, scope: Scope) -> bool:
    """Whether a text looks like arithmetic with a known symbol, but is not an expression with one certain meaning.

    >>> s = Scope()
    >>> h = s.symbol("H")
    >>> is_unread_arithmetic("H/2.7", s), is_unread_arithmetic("H//2", s), is_unread_arithmetic("onnx/Add_15", s)
    (True, False, False)
    """
    text = text.strip()
    start = text[:MAX_LENGTH]
    if scope.has(text) or not _ARITHMETIC.search(start) or not any(map(scope.has, _WORD.findall(start))):
        return False
    if _HYPHENATED.fullmatch(text):
        return False
    parser = _find_expression(text, scope, None)
    return parser is None or (_are_known(parser, scope) and _dim_of(parser) is None)


@lru_cache(maxsize=4096)
def _names_in(text: str) -> frozenset[str]:
    """The names in an expression; none in another text."""
    parser = None if _PLAIN_NAME.fullmatch(text) else _try_parse(text.strip(), Scope(), None)
    return frozenset() if parser is None else frozenset(parser.names)


def _find_expression(text: str, scope: Scope, lo: int | None) -> Parser | None:
    """The parser of a text that is an expression, also one with names that are not quoted; else None."""
    if len(text) > MAX_LENGTH:
        return None
    parser = _try_parse(text, scope, lo)
    hyphenated = _HYPHENATED.findall(_QUOTED.sub("", text)) if "-" in text else []
    if parser is not None and _are_known(parser, scope) and not any(map(scope.has, hyphenated)):
        return parser
    quoted = _quote_known_names(text, scope)
    with_names = None if quoted == text else _try_parse(quoted, scope, lo)
    if with_names is None:
        return None if any(_joins_words(words, scope, 2) for words in hyphenated) else parser
    ambiguous = parser is not None and _are_known(parser, scope)  # a difference of known names, and a known name
    return None if ambiguous else with_names


def _try_parse(text: str, scope: Scope, lo: int | None) -> Parser | None:
    try:
        return Parser(text, scope, lo)
    except DimSyntaxError:
        return None


def _dim_of(parser: Parser) -> DimSize | None:
    try:
        return parser.dim()
    except DimSyntaxError:
        return None


def _are_known(parser: Parser, scope: Scope) -> bool:
    return all(map(scope.has, parser.names))


def _joins_words(text: str, scope: Scope, least: int = 1) -> bool:
    """Whether `a-b` may be one name: of at least so many words, one of which is not a known name."""
    words = [part for part in text.split("-") if not part.isdigit()]
    return len(words) >= least and not all(map(scope.has, words))


def _quote_known_names(text: str, scope: Scope) -> str:
    """The text with backquotes around those names of symbols that are no plain names, such as `batch size`."""
    names = [] if "`" in text else [name for name in scope.odd_names if name in text and _HAS_LETTERS.search(name)]
    if not names:
        return text
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{alternatives})(?!\w)", lambda match: f"`{match[0]}`", text)
