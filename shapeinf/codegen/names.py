"""Names of a model in source texts: unique identifiers, and for each language its escaped strings and comments."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from hashlib import sha256

from shapeinf.texts import escape_bytes

_SPECIAL = '"\\?'  # a question mark may begin a trigraph
MAX_PART = 80
"""Longer names are cut and get a hash of the full name."""
MAX_COMMENT = 1000
"""Characters of a text in a comment."""


def identifiers(names: Iterable[str], reserved: Collection[str] | None = None) -> dict[str, str]:
    """Identifiers of names, in C without the prefix.

    ASCII letters and digits stay, all else becomes `_`. Names that would become equal all get a hash of their text, so
    that identifiers do not depend on the order. Identifiers differ by more than case, which some tools ignore.
    `reserved` are the words of a language in which identifiers have no prefix: they, and those that begin with a digit,
    begin with `dim_`.

    >>> identifiers(["/layer.0/out", "x:0", "x.0"])
    {'/layer.0/out': 'layer_0_out', 'x:0': 'x_0_bb9a93e2', 'x.0': 'x_0_fc0fe34e'}
    >>> identifiers(["0", "for", "n"], {"for"})
    {'0': 'dim_0', 'for': 'dim_for', 'n': 'n'}
    """
    unique = list(dict.fromkeys(names))
    parts = {name: _plain(name) for name in unique}
    if reserved is not None:
        parts = {n: f"dim_{part}" if part in reserved or part[0].isdigit() else part for n, part in parts.items()}
    groups: dict[str, list[str]] = {}
    for name, part in parts.items():
        groups.setdefault(part.lower(), []).append(name)
    taken = {part for part, group in groups.items() if len(group) == 1}
    for part, group in groups.items():
        for name in group if len(group) > 1 else ():
            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            length = 8
            while (numbered := f"{part}_{digest[:length]}") in taken:
                length += 1
            taken.add(numbered)
            parts[name] = numbered
    return parts


def _plain(name: str) -> str:
    """An identifier without `_` at its ends or twice in a row, which C++ reserves."""
    part = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if len(part) > MAX_PART:
        part = f"{part[:MAX_PART].rstrip('_')}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return part or "unnamed"


def prefix_of(name: str) -> str:
    """The prefix of all names of a header; it begins with a letter, and not as parameters do (`dim_...`).

    >>> prefix_of("KV cache"), prefix_of("2nd"), prefix_of(""), prefix_of("dim")
    ('kv_cache', 'model_2nd', 'model', 'model_dim')
    """
    part = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_PART].rstrip("_")
    if not part:
        return "model"
    return part if part[0].isalpha() and not f"{part}_".startswith("dim_") else f"model_{part}"


def line_comment(text: str) -> str:
    r"""A text for a comment up to the end of the line: printable ASCII, cut where it is long.

    >>> line_comment("a\nb \u2028")
    'a<U+000A>b <U+2028>'
    """
    printable = "".join(c if " " <= c <= "~" else f"<U+{ord(c):04X}>" for c in text[: MAX_COMMENT + 1])
    return printable if len(printable) <= MAX_COMMENT else f"{printable[:MAX_COMMENT]}..."


def c_comment(text: str) -> str:
    r"""A text for a comment of C: printable ASCII, without comment delimiters and trigraphs.

    >>> c_comment("a*/b"), c_comment("\u202ex??/")
    ('a* /b', '<U+202E>x? ?/')
    """
    printable = line_comment(text)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", printable).replace("\\", "<U+005C>")


def c_string(text: str) -> str:
    r"""A text as a C string literal in UTF-8, cut where it is longer than compilers must accept.

    >>> print(c_string('say "ü"'))
    "say \"\303\274\""
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > 500:
        data = data[:440] + b"#" + sha256(data).hexdigest()[:32].encode()
    return f'"{escape_bytes(data, _SPECIAL)}"'


def js_string(text: str) -> str:
    r"""A text as a string literal of ECMAScript in ASCII.

    >>> print(js_string('say "ü"'))
    "say \"\u00fc\""
    """
    return json.dumps(text)


def py_string(text: str) -> str:
    r"""A text as a string literal of Python in ASCII.

    >>> print(py_string("it's \n ü"))
    "it's \n \xfc"
    """
    return ascii(text)


def rust_string(text: str) -> str:
    r"""A text as a string literal of Rust in ASCII; a lone surrogate, which Rust has not, is written as its escape.

    >>> print(rust_string('say "ü" \udc80'))
    "say \"\u{fc}\" \\udc80"
    """
    plain = (c if " " <= c <= "~" and c not in '"\\' else _rust_escape(c) for c in text)
    return f'"{"".join(plain)}"'


def _rust_escape(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return f"\\\\u{ord(char):04x}" if 0xD800 <= ord(char) < 0xE000 else f"\\u{{{ord(char):x}}}"


def c_literal(value: int) -> str | None:
    """An int64 constant of C; None for a number that does not fit.

    >>> c_literal(-3), c_literal(-(2**63)), c_literal(2**63)
    ('(-INT64_C(3))', '(-INT64_C(9223372036854775807) - 1)', None)
    """
    if not -(1 << 63) <= value < 1 << 63:
        return None
    if value == -(1 << 63):
        return "(-INT64_C(9223372036854775807) - 1)"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"
