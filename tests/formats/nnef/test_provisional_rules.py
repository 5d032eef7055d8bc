"""The rules of the provisional specification of 2017, chapter 3, each with documents that keep and break it.

A broken rule is an error at its line (marked `#!`), or the warning N408 where the examples of that time break it, too.
The numbers of the rules are those of the table in `docs/nnef.md`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from shapeinf import infer_shapes
from shapeinf.diagnostics import text_position
from shapeinf.errors import NnefError

PAGE = Path(__file__).resolve().parents[3] / "docs" / "nnef.md"
HALF = "fragment half(a: tensor, ratio: scalar = 0.5) -> (b: tensor) { b = a * ratio }"
BOTH = "fragment both(a: tensor) -> (b: tensor, c: tensor) { b = relu(a) c = tanh(a) }"


class Rule(NamedTuple):
    """Documents of a rule: those that are read, those that are read with a warning, those with an error."""

    read: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def document(body: str, fragments: str = "", parameters: str = "x", results: str = "y") -> str:
    return f"version 1.0\n{fragments}\ngraph g({parameters}) -> ({results}) {{\nx = external(shape = [2,6])\n{body}\n}}"


def fragment(body: str, signature: str = "(a: tensor) -> (b: tensor)", call: str = "y = f(x)") -> str:
    return document(call, f"{HALF}\n{BOTH}\nfragment f{signature} {{\n{body}\n}}")


def declared(signature: str, call: str = "y = relu(x)") -> str:
    return document(call, f"fragment f{signature}")


Y = "y = relu(x)"
TOTAL = "fragment total(v: scalar[]) -> (s: scalar) { s = v[0] + total(v[1:]) if length_of(v) > 0 else 0.0 }"
RECURSIVE = fragment("b = half(a, ratio = total([1.0, 2.0]))").replace("\nfragment half", f"\n{TOTAL}\nfragment half")
"""The example of the specification passes an array by position."""

RULES: dict[str, Rule] = {
    "1 identifiers": Rule((document("_a1 = relu(x) y = relu(_a1)"),), (), (document("1a = relu(x) #!"),)),
    "2 numeric literals": Rule(
        (fragment("b = half(a, ratio = 1.5e-1)"),), (), (fragment("b = half(a, ratio = .5) #!"),)
    ),
    "3 logical literals": Rule((fragment("b = a if true else tanh(a)"),), (), (fragment("b = a if True else a #!"),)),
    "4 keywords": Rule((), (), tuple(document(f"{word} = relu(x) #!") for word in ("extent", "shape_of", "fragment"))),
    "5 operators": Rule((fragment("b = -a + a * a / a ^ 2.0"),), (), (fragment("b = a % a #!"),)),
    "6 signs": Rule((document("y = concat([x, x], axis = 1)"),), (), (document("y = relu(x}; #!"),)),
    "7 white space": Rule((document("y\t=\n\nrelu ( x )"),)),
    "8 comments": Rule((document("# y = 1\ny = relu(x) # the end"),)),
    "9 declarations": Rule(
        (declared("(a: tensor[], p: (extent, scalar[][])) -> (b: tensor)"), declared("(a: tensor) -> (b: tensor);")),
        (),
        (declared("(a: tensor, p: (extent)) -> (b: tensor) #!"), declared("(a: number) -> (b: tensor) #!")),
    ),
    "10 graphs": Rule(
        (document("y = relu(x);"), document("z = relu(x) y = relu(z)")),
        (document("y = x + x"), document("y = relu(tanh(x))"), document("z = 2.0 y = relu(x)")),
        ("version 1.0\ngraph g(x: tensor) -> (y) { #!\nx = external(shape = [1]) y = relu(x) }",),
    ),
    "11 left sides": Rule(
        (
            document("z = relu(x)\n[a, b] = split(z, axis = 1, ratios = [1,1])\ny = add(a, b)"),
            document("[] = split(x, axis = 1, ratios = [])\ny = relu(x)"),
            document("(a, b) = both(x)\ny = add(a, b)", BOTH),
            document("a, b = both(x)\ny = add(a, b)", BOTH),
        ),
        (),
        (document("f(z) = relu(x) #!"), document("3 = relu(x) #!"), document("(a) = relu(x) #!")),
    ),
    "12 arguments": Rule(
        (document("y = reshape(x, shape = [3,4])"),), (document("y = reshape(x, shape = [2 + 1, 4])"),), ()
    ),
    "13 expressions of fragments": Rule(
        (
            fragment("t = [a, tanh(a)]\nb = t[0] if length_of(t[0:1]) == 1 else t[1]"),
            fragment("b = half(a, ratio = scalar(length_of([i for i in [1,2,3] if i > 1])))"),
        ),
        (),
        (fragment("b = a[] #!"),),
    ),
    "14 built-in names": Rule(
        (fragment("b = reshape(a, shape = [extent(2.7), extent('3') * extent(true) * 2])"),),
        (),
        (fragment("b = half(a, ratio = real(2)) #!"), fragment("b = reshape(a, shape = [integer(2.7), 6]) #!")),
    ),
    "15 documents": Rule((document(Y),), (), ("version 2.0 #!\ngraph g(x) -> (y) { x = external(shape = [1]) }",)),
    "16 names of fragments": Rule(
        (), (), (document(Y, f"{HALF}\n{HALF} #!"), document(Y, HALF.replace("half", "relu") + " #!"))
    ),
    "17 names of parameters and results": Rule(
        (),
        (),
        (
            declared("(a: tensor, a: scalar) -> (b: tensor) #!"),
            declared("(a: tensor) -> (b: tensor, b: tensor) #!"),
            declared("(a: tensor) -> (a: tensor) #!"),
        ),
    ),
    "18 defaults": Rule(
        (declared("(a: tensor, s: scalar = 1.0, t: string = 'k') -> (b: tensor)"),),
        (),
        (
            declared("(a: tensor, s: scalar = 1) -> (b: tensor) #!"),
            declared("(a: tensor, s: extent = 'k') -> (b: tensor) #!"),
        ),
    ),
    "19 called operations": Rule((), (), (document("y = rellu(x) #!"),)),
    "20 number of arguments": Rule((), (), (document("y = relu(x, x) #!"),)),
    "21 missing arguments": Rule((document("y = half(x)", HALF),), (), (document("y = half(ratio = 1.0) #!", HALF),)),
    "22 positional arguments": Rule(
        (document("y = half(x, ratio = 1.0)", HALF),),
        (document("y = half(x, 1.0)", HALF),),
        (document("y = half(ratio = 1.0, x) #!", HALF),),
    ),
    "23 named arguments": Rule(
        (document("y = half(ratio = 1.0, a = x)", HALF),),
        (),
        (
            document("y = half(x, rate = 1.0) #!", HALF),
            document("y = half(x, ratio = 1.0, ratio = 2.0) #!", HALF),
            document("y = half(x, a = x) #!", HALF),
        ),
    ),
    "24 right sides": Rule(
        (fragment("t, [u, v] = both(a)[0], [a, a]\nb = t + u + v"),), (), (fragment("b, 2 = both(a) #!"),)
    ),
    "25 parameters are not assigned": Rule((), (), (fragment("a = relu(a) #!\nb = a"),)),
    "26 external": Rule(
        (),
        (),
        (
            document("z = relu(x)\ny = relu(z)\nw = relu(x) #!", parameters="x, w"),
            fragment("b = external(shape = [1]) #!"),
        ),
    ),
    "27 results are assigned once": Rule(
        (),
        (),
        (
            document("y = f(x)", "fragment f(a: tensor) -> (b: tensor) { c = relu(a) } #!"),
            fragment("b = a\nb = relu(a) #!"),
        ),
    ),
    "28 use before assignment": Rule((), (), (fragment("b = t #!\nt = relu(a)"),)),
    "29 one assignment": Rule(
        (), (), (document("y = relu(x)\ny = tanh(x) #!"), fragment("t = a\nt = relu(a) #!\nb = t"))
    ),
    "30 names of the graph": Rule(
        (),
        (),
        (
            document("z = both(x) #!\ny = relu(x)", BOTH),
            document("z = split(x, axis = 1, ratios = [1,1]) #!\ny = relu(x)"),
        ),
    ),
    "31 order": Rule(
        (document("z = relu(x)\nw = tanh(x)\ny = add(w, z)"),), (), (document("y = add(x, z) #!\nz = relu(x)"),)
    ),
    "33 primitive types": Rule((fragment("b = a", "(a: tensor, e: extent = -1, s: scalar = 2.0) -> (b: tensor)"),)),
    "34 arrays and tuples": Rule(
        (fragment("b = a", "(a: tensor, r: scalar[][] = [[1.0], [], [2.0, 3.0]]) -> (b: tensor)"),),
        (),
        (fragment("b = half(a, ratio = [1.0, 'k'][0]) #!"),),
    ),
    "35 element types of tensors": Rule(
        (
            document("c = lt(x, x)\nd = and(c, c)\ny = select(d, x, x)"),
            document("m, i = max_pool_with_index(x, size = [1,1])\ny = desample(m, i, size = [1,1])"),
        ),
        (),
        (
            document("c = lt(x, x)\ny = relu(c) #!"),
            document("y = select(x, x, x) #!"),
            document("c = lt(x, x)\ny = add(c, x) #!"),
            document("m, i = max_pool_with_index(x, size = [1,1])\ny = relu(i) #!"),
            document("y = desample(x, x, size = [1,1]) #!"),
        ),
    ),
    "36 literals": Rule(
        (fragment("b = reshape(a, shape = [3,4])"),), (), (fragment("b = reshape(a, shape = [3.0,4.0]) #!"),)
    ),
    "37 conversions": Rule(
        (
            document("y = add(x, 2.0)"),
            document("c = lt(x, x)\ny = select(c, x, 0.0)"),
        ),
        (document("y = half(x, ratio = 2)", HALF),),
        (
            document("y = add(x, 'k') #!"),
            document("y = concat([x, 'k'], axis = 1) #!"),
            document("y = add(x, true) #!"),
        ),
    ),
    "38 types of arguments and results": Rule((), (), (fragment("b = both(a) #!"), document("y = relu(x, x = x) #!"))),
    "39 arithmetic": Rule(
        (fragment("b = half(a, ratio = 1.0 + 2.0 * 3.0)"),),
        (),
        (
            fragment("b = half(a, ratio = 1 + 2.0) #!"),
            fragment("b = a if 1 < 2.0 else a #!"),
        ),
    ),
    "40 items of arrays": Rule((), (), (fragment("b = reshape(a, shape = [1, 2.0]) #!"),)),
    "41 operators on arrays": Rule(
        (fragment("b = reshape(a, shape = [3] + [2] * 2)"),), (), (fragment("b = reshape(a, shape = [3] - [2]) #!"),)
    ),
    "42 items and ranges": Rule(
        (fragment("b = reshape(a, shape = [[3,4,9][0], 4] + [1,2][2:] + [7][5:])"),),
        (),
        (fragment("b = reshape(a, shape = [[3,4][2], 4]) #!"), fragment("b = reshape(a, shape = [3,4][-1:]) #!")),
    ),
    "43 tuples": Rule(
        (fragment("t = both(a)\nb = t[1]"), fragment("t, u = (a, a)\nb = u")),
        (),
        (
            fragment("t = (a, a)\nb = t[0 + 0] #!"),
            fragment("t = (a, a)\nb = t[0:1] #!"),
            fragment("t, u = (a, a, a) #!\nb = t"),
        ),
    ),
    "44 strings": Rule(
        (
            fragment("b = half(a, ratio = scalar(('1' + '2' * 2)[0:2]))"),
            fragment("b = half(a, ratio = scalar('15'[0]))"),
        ),
        (),
        (fragment("b = half(a, ratio = '15'[0]) #!"),),
    ),
    "45 built-ins of arrays": Rule(
        (
            fragment("b = reshape(a, shape = shape_of(1.0) + [12])"),
            fragment("b = reshape(a, shape = [i + 3 for i in range_of('ab')])"),
        ),
        (),
        (fragment("b = half(a, ratio = scalar(length_of(3))) #!"),),
    ),
    "46 casts": Rule(
        (
            fragment("b = reshape(a, shape = [extent(-1.5) + 5, extent(scalar('4.0'))])"),
            fragment("b = reshape(a, shape = [extent(logical('x')) * 3, extent(string(4))])"),
        ),
        (),
        (fragment("b = half(a, ratio = scalar('k')) #!"), fragment("b = reshape(a, shape = [extent('2.5'), 6]) #!")),
    ),
    "47 selection": Rule(
        (fragment("b = a if length_of([1]) == 1 else half(a, ratio = scalar('k'))"),),
        (RECURSIVE,),
        (fragment("b = a if 1 else a #!"),),
    ),
    "48 comprehensions": Rule(
        (fragment("b = concat([relu(i) for i in [a, a] if true], axis = 1)"),),
        (),
        (fragment("b = concat([i for i in 3], axis = 1) #!"),),
    ),
    "49 chained calls": Rule(
        (fragment("b = relu(tanh(a))"), fragment("b = add(both(a)[0], a)")), (), (fragment("b = relu(both(a)) #!"),)
    ),
    "51 open dims": Rule((document("y = relu(x)").replace("[2,6]", "[0,6]"),)),
    "52 variables": Rule(
        (document("v = variable(shape = [2,6], label = 'v')\ny = add(x, v)"),),
        (),
        (document("v = variable(shape = [0,6], label = 'v') #!\ny = add(x, v)"),),
    ),
    "53 labels": Rule(
        (
            document(
                "v = variable(shape = [2,6], label = 'v')\nw = variable(shape = [2,6], label = 'v')\ny = add(v, w)"
            ),
        ),
        (),
        (
            document(
                "v = variable(shape = [2,6], label = 'v')\nw = variable(shape = [2,7], label = 'v') #!\ny = add(v, v)"
            ),
        ),
    ),
}
"""Rules 32, 50 and 54 are those of the operations (other tests), of the order of inference, and rule 30 again."""


def wrong_line(text: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.endswith("#!"))


def cases(kind: str) -> list[object]:
    return [
        pytest.param(text, id=f"{rule} {i}") for rule, r in RULES.items() for i, text in enumerate(getattr(r, kind))
    ]


@pytest.mark.parametrize("text", cases("read"))
def test_what_keeps_the_rule_is_read(text: str) -> None:
    result = infer_shapes(text)
    assert [d.code for d in result.diagnostics if d.code not in ("S201", "N703")] == []


@pytest.mark.parametrize("text", cases("warned"))
def test_what_the_examples_of_2017_do_is_read_with_a_warning(text: str) -> None:
    result = infer_shapes(text)
    assert [(d.severity, d.code) for d in result.diagnostics] == [("warning", "N408")]
    assert result.tensors["y"].shape.dims is not None


@pytest.mark.parametrize("text", cases("wrong"))
def test_what_breaks_the_rule_is_an_error_at_its_line(text: str) -> None:
    with pytest.raises(NnefError) as error:
        infer_shapes(text)
    assert wrong_line(text) in [text_position(d)[0] for d in error.value.diagnostics], str(error.value)


def test_the_page_lists_all_rules() -> None:
    numbers = {int(row) for row in re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)}
    assert numbers == set(range(1, 55))
    assert {int(rule.split()[0]) for rule in RULES} == numbers - {32, 50, 54}
