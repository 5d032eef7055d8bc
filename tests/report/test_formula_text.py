"""Long formulas for a reader have the value of the formula, as far as they are shown."""

import re

from hypothesis import given
from hypothesis import strategies as st

from shapeinf.report.formula_text import SHORT, formula_lines

SYMBOLS = ("a", "batch", "height")
QUOTIENTS = st.builds("(({} + {})//{})".format, st.sampled_from(SYMBOLS), st.integers(1, 31), st.sampled_from([2, 32]))
FACTORS = st.one_of(QUOTIENTS, st.sampled_from(SYMBOLS), st.sampled_from(["(batch//2)", "(height//4)"]))
TERMS = st.builds(
    lambda number, factors: "*".join([str(number), *factors]), st.integers(1, 999), st.lists(FACTORS, max_size=4)
)
FORMULAS = st.lists(TERMS, min_size=1, max_size=12).map(" + ".join)


@given(FORMULAS, st.fixed_dictionaries(dict.fromkeys(SYMBOLS, st.integers(1, 99))))
def test_short_names_have_the_value_of_their_part(formula, sizes):
    first, *meanings = formula_lines(formula, 10_000)
    values = dict(sizes)
    for name, part in re.findall(r"(\w+) = ([^=]+?)(?=, \w+ = |$)", "".join(meanings).strip()):
        assert name not in formula.replace("batch", "").replace("height", "")
        values[name] = eval(part, {}, sizes)
    assert eval(first, {}, values) == eval(formula, {}, sizes)


@given(FORMULAS)
def test_a_formula_ends_after_a_term(formula):
    first, *_ = formula_lines(formula, SHORT, " bytes")
    complete, *_ = formula_lines(formula, 10_000)
    assert first.endswith(" bytes") and len(first) <= SHORT + len(" ... bytes")
    terms = first.removesuffix(" bytes").removesuffix(" ...").split(" + ")
    assert terms == complete.split(" + ")[: len(terms)] or len(terms) == 1
    assert (first.removesuffix(" bytes") == complete) or first.endswith(" ... bytes")


def test_names_in_backquotes_stay():
    formula = "8*`odd (name//2)`*((`odd (name//2)` + 1)//2) + " + " + ".join(["16*(width//2)*(height//2)"] * 4)
    first, meaning = formula_lines(formula, 10_000)
    assert first.startswith("8*`odd (name//2)`*((`odd (name//2)` + 1)//2) + 16*a*b") and "a = width//2" in meaning
