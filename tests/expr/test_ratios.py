"""Dim texts of other tools: exact ratios inside roundings, compared with Python's fractions, and with sympy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.expr import Dimension, Scope, evaluate, parse_dim_lenient

Value = Callable[[dict[str, int]], Fraction]
Text = tuple[str, Value]

LEAVES = st.one_of(
    st.sampled_from("hw").map(lambda name: (name, lambda b: Fraction(b[name]))),
    st.integers(1, 9).map(lambda n: (str(n), lambda b: Fraction(n))),
    st.tuples(st.sampled_from("hw"), st.integers(2, 9)).map(
        lambda t: (f"{t[0]}/{t[1]}", lambda b: Fraction(b[t[0]], t[1]))
    ),
    st.tuples(st.integers(1, 9), st.integers(2, 9)).map(lambda t: (f"{t[0]}/{t[1]}", lambda b: Fraction(*t))),
    st.just(("0.5*h", lambda b: Fraction(b["h"], 2))),
    st.just(("w**2", lambda b: Fraction(b["w"] ** 2))),
)


def combine(inner: st.SearchStrategy[Text]) -> st.SearchStrategy[Text]:
    def sums(pair: tuple[Text, Text]) -> list[Text]:
        (a, f), (b, g) = pair
        return [
            (f"{a} + {b}", lambda v: f(v) + g(v)),
            (f"{a} - ({b})", lambda v: f(v) - g(v)),
            (f"({a})*({b})", lambda v: f(v) * g(v)),
            (f"({a})/4", lambda v: f(v) / 4),
            (f"Max({a}, {b})", lambda v: max(f(v), g(v))),
            (f"Min({a}, {b})", lambda v: min(f(v), g(v))),
            (f"floor({a})", lambda v: Fraction(math.floor(f(v)))),
            (f"ceiling({a})", lambda v: Fraction(math.ceil(f(v)))),
        ]

    return st.tuples(inner, inner).flatmap(lambda pair: st.sampled_from(sums(pair)))


@given(text=st.recursive(LEAVES, combine, max_leaves=5), rounding=st.sampled_from(["floor", "ceiling"]))
def test_a_rounded_text_has_the_value_of_exact_arithmetic(text: Text, rounding: str) -> None:
    """Or it is a name, never another size."""
    inner, value = text
    dim, _ = parse_dim_lenient(f"{rounding}({inner})", Scope())
    if dim is None:  # a negative number declares no size
        assert value({"h": 1, "w": 1}) < 0
        return
    if isinstance(dim, Dimension) and not {symbol.name for symbol in dim.symbols()} <= {"h", "w"}:
        return
    for h in (1, 2, 3, 7, 16, 61):
        for w in (1, 5, 32):
            rounded = {"floor": math.floor, "ceiling": math.ceil}[rounding](value({"h": h, "w": w}))
            assert evaluate(dim, {"h": h, "w": w}) == rounded


SYMPY = [
    "floor(h/2 - 1/2) + 1",
    "floor(h/2) + 1",
    "floor(floor(h/2 - 1/2)/2 + 1/2) + 1",
    "floor(-h/3 + w/2 + 5/6)",
    "ceiling(h/16)*ceiling(w/16)",
    "Max(1, floor(h/2 - 1/2) + 1)",
    "Min(h, 2*w)",
    "Mod(h, 4) + h",
    "h**2 + 2*h*w",
    "16*floor(h/16 - 1/16)**2",
    "floor(2*h/3)",
    "floor(h*w/8)",
    "4*(h + w)/4",
]


@pytest.mark.parametrize("text", SYMPY)
def test_sympy_agrees(text) -> None:
    sympy = pytest.importorskip("sympy")
    names = {name: sympy.Symbol(name, integer=True, positive=True) for name in "hw"}
    expected = sympy.sympify(text, locals=names)
    dim, lint = parse_dim_lenient(text, Scope())
    assert lint is None
    for h, w in ((1, 1), (2, 7), (5, 3), (16, 31), (61, 40)):
        assert evaluate(dim, {"h": h, "w": w}) == expected.subs({names["h"]: h, names["w"]: w})


OTHER_TOOLS = [
    # torch.export and its exporter to ONNX
    ("FloorDiv(h - 1, 2) + 1", lambda h, w: (h - 1) // 2 + 1),
    ("2*((h - 1)//2) + 2", lambda h, w: (h - 1) // 2 * 2 + 2),
    ("PythonMod(h - w, 3)", lambda h, w: (h - w) % 3),
    ("Mod(h, 4)", lambda h, w: h % 4),
    ("CleanDiv(4*h*w, 2*w)", lambda h, w: 2 * h),
    ("CeilToInt(IntTrueDiv(h, 3))", lambda h, w: -(-h // 3)),
    ("FloorToInt(IntTrueDiv(h - w, 3))", lambda h, w: (h - w) // 3),
    ("TruncToInt(IntTrueDiv(h - w, 3))", lambda h, w: math.trunc(Fraction(h - w, 3))),
    ("TruncToInt(FloatTrueDiv(ToFloat(h), 2.0))", lambda h, w: h // 2),
    ("PowByNatural(h, 2) + Identity(w)", lambda h, w: h * h + w),
    ("Max(1, Min(h, w, 5))", lambda h, w: max(1, min(h, w, 5))),
    ("Abs(h - w)", lambda h, w: abs(h - w)),
    # jax.export
    ("floordiv(h + w, 2) + mod(h, 3)", lambda h, w: (h + w) // 2 + h % 3),
    ("max(floordiv(h, 2), 1)*w", lambda h, w: max(h // 2, 1) * w),
    # the proposal for symbolic dims of ONNX
    ("CeilToInt(h, 4)", lambda h, w: -(-h // 4)),
    ("h ^ w", max),
    ("h & w", min),
    ("h + 1 ^ w & h - 1", lambda h, w: max(h + 1, min(w, h - 1))),
    ("(h // 2) ^ 1", lambda h, w: max(h // 2, 1)),
    ("h*w*6 /: (3*w)", lambda h, w: 2 * h),
    ("Max(h, w)//2", lambda h, w: max(h, w) // 2),
    # names that are no identifiers
    ("h.1_dim + 2*h", None),
]


@pytest.mark.parametrize(("text", "value"), OTHER_TOOLS)
def test_functions_and_operators_of_other_tools(text: str, value: Callable[[int, int], int] | None) -> None:
    """The values are those of Python for the definition that each tool gives."""
    dim, lint = parse_dim_lenient(text, Scope())
    assert lint is None and dim is not None
    if value is None:
        assert isinstance(dim, Dimension) and {symbol.name for symbol in dim.symbols()} == {"h.1_dim", "h"}
        return
    for h, w in ((1, 1), (2, 7), (5, 3), (16, 31), (61, 40)):
        assert evaluate(dim, {"h": h, "w": w}) == value(h, w)


def test_names_of_inputs_need_no_quotes() -> None:
    """onnxruntime's tool writes the names of dims as they are."""
    scope = Scope()
    batch, size = scope.symbol("batch size"), scope.symbol("size")
    dim, lint = parse_dim_lenient("2*batch size + size", scope)
    assert dim == 2 * batch + size and lint is None
    assert parse_dim_lenient("batch sizes", scope)[0] == scope.symbol("batch sizes")


@pytest.mark.parametrize(
    "text",
    [
        "h^2",
        "2 ^ h",
        "h // 2 ^ 1",
        "RoundToInt(h)",
        "CeilToInt(h, 2, 3)",
        "PowByNatural(h, w)",
        "h/2",
        "h/2*2",
        "floor(h",
        "floor(0.333333333333333*h)",
        "2.5*h",
        "floor(Max(h/w, 1))",
        "h**17",
        "h**w",
        "Mod(h/2, 2)",
    ],
)
def test_what_has_no_certain_meaning_is_a_name(text) -> None:
    dim, lint = parse_dim_lenient(text, Scope())
    assert isinstance(dim, Dimension)
    assert dim.name == text
    assert lint is not None
