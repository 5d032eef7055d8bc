"""Names of a model in C: unique identifiers, and escaped comments and strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from shapeinf.texts import escape_bytes

_SPECIAL = '"\\?'  # a question mark may begin a trigraph
MAX_PART = 80
"""Longer names are cut and get a hash of the full name."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """C identifiers of names, without the prefix.

    ASCII letters and digits stay, all else becomes `_`. Names that would become equal all get a hash of their text, so
    that identifiers do not depend on the order. Identifiers differ by more than case, which some tools ignore.

    >>> identifiers(["/layer.0/out", "x:0", "x.0"])
    {'/layer.0/out': 'layer_0_out', 'x:0': 'x_0_bb9a93e2', 'x.0': 'x_0_fc0fe34e'}
    """
    unique = list(dict.fromkeys(names))
    parts = {name: _plain(name) for name in unique}
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


def comment(text: str) -> str:
    r"""A text for a comment: printable ASCII, without comment delimiters and trigraphs.

    >>> comment("a*/b"), comment("\u202ex??/")
    ('a* /b', '<U+202E>x? ?/')
    """
    printable = "".join(c if " " <= c <= "~" else f"<U+{ord(c):04X}>" for c in text)
    if len(printable) > 1000:
        printable = f"{printable[:1000]}..."
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", printable).replace("\\", "<U+005C>")


def string(text: str) -> str:
    r"""A text as a C string literal in UTF-8, cut where it is longer than compilers must accept.

    >>> print(string('say "ü"'))
    "say \"\303\274\""
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > 500:
        data = data[:440] + b"#" + sha256(data).hexdigest()[:32].encode()
    return f'"{escape_bytes(data, _SPECIAL)}"'


def literal(value: int) -> str | None:
    """An int64 constant; None for a number that does not fit.

    >>> literal(-3), literal(-(2**63)), literal(2**63)
    ('(-INT64_C(3))', '(-INT64_C(9223372036854775807) - 1)', None)
    """
    if not -(1 << 63) <= value < 1 << 63:
        return None
    if value == -(1 << 63):
        return "(-INT64_C(9223372036854775807) - 1)"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"
