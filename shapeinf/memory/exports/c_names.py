"""Names of models in C: identifiers of which no two are alike, comments and strings that nothing can break out of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

MAX_PART = 80
"""Longer names are cut, and told apart from others by a number made of them."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """The parts of C identifiers that stand for names, to be put after a prefix.

    Letters and digits of ASCII are kept, all else becomes `_`. Names that would come out alike all get a number made of
    their text, so that what a name is called does not hang on the order. What case tells apart counts as alike: some
    compilers and file systems do not.

    >>> identifiers(["/layer.0/out", "x:0", "x.0"])
    {'/layer.0/out': 'layer_0_out', 'x:0': 'x_0_bb9a93e2', 'x.0': 'x_0_fc0fe34e'}
    """
    unique = list(dict.fromkeys(names))
    found = {name: _plain(name) for name in unique}
    groups: dict[str, list[str]] = {}
    for name, part in found.items():
        groups.setdefault(part.lower(), []).append(name)
    taken = {part for part, group in groups.items() if len(group) == 1}
    for part, group in groups.items():
        for name in group if len(group) > 1 else ():
            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            length = 8
            while (numbered := f"{part}_{digest[:length]}") in taken:
                length += 1
            taken.add(numbered)
            found[name] = numbered
    return found


def _plain(name: str) -> str:
    """One part without `_` at its ends or twice in a row, which C++ keeps for itself."""
    part = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if len(part) > MAX_PART:
        part = f"{part[:MAX_PART].rstrip('_')}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return part or "unnamed"


def prefix_of(name: str) -> str:
    """What all names of a header begin with: it begins with a letter, and no parameter (`dim_...`) begins so.

    >>> prefix_of("KV cache"), prefix_of("2nd"), prefix_of(""), prefix_of("dim")
    ('kv_cache', 'model_2nd', 'model', 'model_dim')
    """
    part = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_PART].rstrip("_")
    if not part:
        return "model"
    return part if part[0].isalpha() and not f"{part}_".startswith("dim_") else f"model_{part}"


def comment(text: str) -> str:
    r"""A text inside `/* */`: only printable ASCII, nothing that begins or ends a comment, no trigraph.

    >>> comment("a*/b"), comment("\u202ex??/")
    ('a* /b', '<U+202E>x? ?/')
    """
    shown = "".join(c if " " <= c <= "~" else f"<U+{ord(c):04X}>" for c in text)
    if len(shown) > 1000:
        shown = f"{shown[:1000]}..."
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", shown).replace("\\", "<U+005C>")


def string(text: str) -> str:
    r"""A text as a C string literal, in UTF-8; very long ones are cut, for no compiler must take them.

    >>> print(string('say "ü"'))
    "say \"\303\274\""
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > 500:
        data = data[:440] + b"#" + sha256(data).hexdigest()[:32].encode()
    return '"' + "".join(map(_escaped, data)) + '"'


def _escaped(byte: int) -> str:
    character = chr(byte)
    if character in '"\\?':
        return "\\" + character
    return character if " " <= character <= "~" else f"\\{byte:03o}"


def literal(value: int) -> str | None:
    """An int64 constant; None for a number that is none.

    >>> literal(-3), literal(-(2**63)), literal(2**63)
    ('(-INT64_C(3))', '(-INT64_C(9223372036854775807) - 1)', None)
    """
    if not -(1 << 63) <= value < 1 << 63:
        return None
    if value == -(1 << 63):
        return "(-INT64_C(9223372036854775807) - 1)"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"
