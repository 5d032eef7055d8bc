"""Texts of files that nobody means: each is a dim or a name, and users get a typed error, after little work."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shapeinf.errors import DimSyntaxError
from shapeinf.expr import Dimension, Scope, is_unread_arithmetic, parse_dim, parse_dim_lenient, parse_known_dim
from shapeinf.expr.parsing import MAX_WORK

MOST_WORK = 2 * MAX_WORK
"""The limit is compared between operations: the last one may pass it."""

TOKENS = st.sampled_from(
    [
        *(
            "h",
            "w",
            "batch size",
            "a-b",
            "x.0",
            "日本",
            "٣",
            "²",
            "\0",
            "\u202e",
            "`",
            "``",
            " ",
            "\n",
            "'",
            '"',
            "#",
            "\\",
        ),
        *("0", "1", "2", "0.5", "0.333", "9" * 30, "1e9", "0x10", "1_000"),
        *("+", "-", "*", "/", "//", "%", "**", "^", "&", "/:", "(", ")", ",", "=", "[", "]", "<", "!"),
        *("floor(", "ceiling(", "Max(", "Min(", "Mod(", "mod(", "floordiv(", "CeilToInt(", "IntTrueDiv(", "abs("),
        *("let ", "in ", "(let p1 = ", " in ", "round(", "__import__(", "lambda: ", "h.shape[0]"),
    ]
)
TEXTS = st.one_of(st.lists(TOKENS, max_size=30).map("".join), st.text(max_size=40))


def read(text: str) -> None:
    """Read a text in every way."""
    scope = Scope()
    scope.symbol("h")
    scope.symbol("batch size")
    known = parse_known_dim(text, scope)
    assert not isinstance(known, int) or known >= 0
    is_unread_arithmetic(text, scope)
    assert scope.names() == ["h", "batch size"]  # reading the declared size of a node adds no dim
    dim, note = parse_dim_lenient(text, scope)
    assert note is None or len(note) < 400
    assert dim is None or isinstance(dim, int | Dimension)
    try:
        parse_dim(text, Scope())
    except DimSyntaxError as error:
        assert len(str(error)) < 400
    assert scope.work <= 3 * MOST_WORK


@given(TEXTS)
@example("(" * 500)
@example("h^2")
@example("4611686018427387904*" * 400 + "h")
@example("*".join(["4611686018427387904"] * 400))
def test_any_text_is_a_dim_or_a_name(text: str) -> None:
    read(text)


def nested(open_: str, close: str, count: int) -> str:
    return open_ * count + "h" + close * count


LARGE = {
    "many arguments": f"max({','.join(f'a{i}' for i in range(1600))})",
    "many minima": "&".join(f"a{i}" for i in range(1500)),
    "many quotients": "//".join(f"a{i}" for i in range(1500)),
    "many remainders": "+".join(f"(h % {i + 2})*{i + 3}" for i in range(500)),
    "many fractions": f"floor({'+'.join(f'a{i}/{i + 2}' for i in range(700))})",
    "products of fractions": f"floor({'*'.join(f'(a{i}/b{i} + 1)' for i in range(400))})",
    "product of sums": "*".join("(" + "+".join(f"a{i}" for i in range(60)) + ")" for _ in range(35)),
    "towers of powers": "(" * 10 + "(a + b)**8" + ")**8" * 10,
    "deep floors": nested("floor(", "/2)", 49),
    "deep remainders": "mod(" * 40 + "h" + "".join(f" + c, b{i})" for i in range(40)),
    "deep maxima": nested("max(", ", w)", 49),
    "deep magnitudes": nested("abs(w - ", ")", 48),
    "deep truncations": nested("trunc(", "/2 - w)", 24),
    "alternating": "".join(f"{'max' if i % 2 else 'min'}(a{i} + " for i in range(45)) + "h" + ", 7)" * 45,
    "squared parts": f"(let p0 = h + w, {', '.join(f'p{i} = p{i - 1}*p{i - 1}' for i in range(1, 300))} in p299)",
    "large numbers": "+".join(["4611686018427387904"] * 400),
    "coprime fractions": f"floor({'+'.join(f'h/{4611686018427387904 - i}' for i in range(1, 60))})",
    "signs": "-" * 9_999 + "h",
    "backquotes": "`" * 9_999,
    "axes": "h.shape[1].shape[0]" * 400,
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_take_little_work(name: str) -> None:
    read(LARGE[name])


@pytest.mark.parametrize(
    "text", ["h", "h+", "(", "h-", "a-b", " ", "h ", "\0", "日", "`", "9", "max(", "h.", "-", "h^"]
)
def test_texts_of_a_megabyte(text: str) -> None:
    read(text * (1_000_000 // len(text)))
