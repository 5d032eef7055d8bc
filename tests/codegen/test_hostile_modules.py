"""Names of dims, tensors, nodes and texts are data in the text of each language, and its errors are typed."""

from __future__ import annotations

import ast
import builtins
import json
import keyword
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.codegen import LANGUAGES, ShapeModule, module_text, shape_module
from shapeinf.codegen.names import identifiers
from shapeinf.codegen.rust import KEYWORDS
from shapeinf.codegen.shape_module import Amount, Condition, Parameter, Shapes, TensorSizes
from shapeinf.codegen.shape_module import Test as Clause
from shapeinf.codegen.typescript import typescript_types
from shapeinf.expr import DimSize, Interval, evaluate
from shapeinf.expr.dimension import Scope
from shapeinf.expr.many_bindings import Ints, run
from shapeinf.expr.straight_line import lower
from tests.codegen.running import EXACT, load_python, require, run_all
from tests.properties.strategies import EXPRESSIONS, NAMES

HOSTILE = [
    "*/ #error",
    "\n#error",
    '"; process.exit(1); //',
    "\u2028x",
    "${1}`",
    "\\",
    "\\\n",
    "??/",
    "__proto__",
    "constructor",
    "toString",
    "'''",
    '"""',
    "{}{0}{x!r}%s",
    "self",
    "Self",
    "fn",
    "class",
    "int",
    "0",
    "é",
    "\u0663",
    "x.0",
    "x:0",
    "X.0",
    "",
    " ",
    "s",
    "r",
    "\x00",
    "\ud800",
    "</script>",
    "\u202e",
]
HOSTILE += [*keyword.kwlist, *sorted(KEYWORDS), *dir(builtins)]
COMPILED = settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""Examples are not made smaller: each compiles three programs."""
EXTREME = st.sampled_from([0, 1, 2**31, 2**53, 2**62, 2**63 - 1])


def module_of(names: Sequence[str], texts: Sequence[str]) -> ShapeModule:
    """A module with these names of dims and of tensors; a condition is violated where a dim is not 3."""
    scope = Scope()
    unique = list(dict.fromkeys(names))
    symbols = [scope.fresh(f"d{i}") for i, _ in enumerate(unique)]
    program = lower([*(symbol - 3 for symbol in symbols), *symbols])
    tests, sizes = program.outputs[: len(unique)], program.outputs[len(unique) :]
    text = dict(enumerate(texts))
    return ShapeModule(
        text.get(0, ""),
        text.get(1, ""),
        tuple(Parameter(name, Interval(1, None)) for name in unique),
        program,
        tuple(symbols.index(symbol) for symbol in program.symbols),
        tuple(
            Condition(f"{k} {name}", text.get(k, name), name, name, (Clause(tests[k], True),))
            for k, name in enumerate(unique)
        ),
        tuple(texts),
        Shapes(
            (),
            tuple(TensorSizes(n, n, (Amount(r, r),), Amount(r, r)) for n, r in zip(unique, sizes, strict=True)),
            (None, *range(len(unique))),
            sizes[0],
            False,
            {name: name for name in texts},
        ),
    )


def assert_data(module: ShapeModule, languages: Sequence[str]) -> None:
    count = len(module.parameters)
    legal, illegal = [3] * count, [4, *[3] * (count - 1)]
    with tempfile.TemporaryDirectory() as folder:
        for language, outcomes in run_all(module, Path(folder), [legal, illegal], languages).items():
            assert [outcome.violated for outcome in outcomes] == [[], [0]], language
            assert [outcome.numbers for outcome in outcomes] == [[3] * (4 * count + 1), "illegal"], language
            assert module_text(module, language).isascii()  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_names(language: str) -> None:
    assert_data(module_of(HOSTILE, HOSTILE), [language])


@pytest.mark.slow
@COMPILED
@given(st.lists(st.text(max_size=12), min_size=20, max_size=40), st.lists(st.text(max_size=40), max_size=20))
def test_any_name_is_data_in_every_language(names: list[str], texts: list[str]) -> None:
    assert_data(module_of(names, texts), LANGUAGES)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=40), st.lists(st.text(max_size=40), max_size=20))
def test_any_name_is_data_in_python(names: list[str], texts: list[str]) -> None:
    assert_data(module_of(names, texts), ["python"])


@given(st.lists(st.text(max_size=12)), st.booleans())
def test_identifiers_are_unique(names: list[str], python: bool) -> None:
    words = keyword.kwlist if python else KEYWORDS
    parts = list(identifiers(names, words).values())
    assert len({part.lower() for part in parts}) == len(set(names))
    assert all(part.isidentifier() and part.isascii() and part not in words for part in parts)


# -- expressions -------------------------------------------------------------------------------------------------------


def expression_module(dims: Sequence[DimSize]) -> ShapeModule:
    """A module without conditions, in which the k-th dim is the only axis of tensor k."""
    program = lower(dims)
    amounts = [Amount(register, register) for register in program.outputs]
    tensors = tuple(TensorSizes(f"t{k}", None, (amount,), amount) for k, amount in enumerate(amounts))
    return ShapeModule(
        "m",
        "",
        tuple(Parameter(name, Interval(None, None)) for name in NAMES),
        program,
        tuple(NAMES.index(symbol.name) for symbol in program.symbols),
        (),
        (),
        Shapes((), tensors, (), program.outputs[0], False, {}),
    )


@COMPILED
@given(
    st.lists(EXPRESSIONS, min_size=20, max_size=30),
    st.lists(st.tuples(*[st.integers(-40, 40) | EXTREME] * len(NAMES)), min_size=100, max_size=200),
)
def test_expressions(build: list[Any], bindings: list[tuple[int, ...]]) -> None:
    """Every number is that of Python; it is an error where one of the results does not fit 64 bits, at the latest."""
    scope = Scope()
    dims = [make(scope) for make, _ in build]
    module = expression_module(dims)
    columns = [[binding[number] for binding in bindings] for number in module.arguments]
    values = [[evaluate(d, dict(zip(NAMES, binding, strict=True))) for d in dims] for binding in bindings]
    fits = [all(-(2**63) <= value < 2**63 for value in row) for row in values]
    numpy_values = run(module.program, list(map(as_array, columns)), len(bindings))
    assert [bool(any(flags[i] for flags in numpy_values.overflow.values())) for i in range(len(bindings))] == [
        not fit for fit in fits
    ]
    with tempfile.TemporaryDirectory() as folder:
        for language, outcomes in run_all(module, Path(folder), bindings).items():
            for outcome, row, fit in zip(outcomes, values, fits, strict=True):
                if isinstance(outcome.numbers, str):
                    assert outcome.numbers == "overflow" and (language not in EXACT or not fit)
                else:
                    numbers = [
                        *(None if language == "c" and v == UNKNOWN else v for v in row for _ in range(4)),
                        row[0],
                    ]
                    assert fit and outcome.numbers == numbers, language


UNKNOWN = -5
"""What stands for an unknown number in C; sizes of tensors are not negative."""


def as_array(column: list[int]) -> Ints:
    return np.array(column, dtype=np.int64)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dim_that_divides_by_zero(language: str, tmp_path: Path) -> None:
    scope = Scope()
    module = expression_module([scope.symbol("x") // scope.symbol("y"), scope.symbol("z") * 2**40])
    bindings = [[-7, 2, 1], [7, 0, 1], [-(2**63), -1, 1], [1, 1, 2**40]]
    numbers = [outcome.numbers for outcome in run_all(module, tmp_path, bindings, [language])[language]]
    assert numbers == [[*[-4] * 4, *[2**40] * 4, -4], "undefined", "overflow", "overflow"]


# -- calls -------------------------------------------------------------------------------------------------------------

CALLS = """\
import * as module from "./shapes.mjs";
const legal = { batch: 1, height: 64, width: 64 };
const batches = [1.5, "1", 2 ** 53, 0, -1n, 2n ** 63n, 2n ** 60n];
const calls = [
  null, 3, {}, { batch: 1, height: 64 }, { ...legal, other: 1 }, ...batches.map((batch) => ({ ...legal, batch })),
  { ...legal, height: 63 },
];
const name = (f, sizes) => { try { f(sizes); return "none"; } catch (error) { return error.constructor.name; } };
console.log(JSON.stringify(calls.map((sizes) => name(module.computeShapes, sizes))));
console.log(JSON.stringify(module.check({ batch: 1, height: 63, width: 64 }).map((violation) => violation.text)));
"""
VIOLATION = (
    "height % 2 == 0 does not hold at batch=1, height=63, width=64, required by Concat 'joined/Concat': "
    "axis 2 must be equal in all inputs of a concatenation"
)


def test_errors_of_javascript(tmp_path: Path) -> None:
    node = require("node")
    infer_shapes("examples/convnet.onnx").save_program(tmp_path / "shapes.mjs")
    (tmp_path / "calls.mjs").write_text(CALLS, encoding="utf-8")
    done = subprocess.run([node, "calls.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    names, texts = map(json.loads, done.stdout.splitlines())
    ends = ["RangeError", "RangeError", "OverflowError", "OverflowError", "IllegalSizesError"]
    assert names == [*["TypeError"] * 8, *ends]
    assert texts == [VIOLATION]


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"batch": 1, "height": 64}, "TypeError"),
        ({"batch": 1, "height": 64, "width": 64, "other": 1}, "TypeError"),
        ({"batch": 1.0, "height": 64, "width": 64}, "TypeError"),
        ({"batch": True, "height": 64, "width": 64}, "TypeError"),
        ({"batch": 0, "height": 64, "width": 64}, "OutsideError"),
        ({"batch": 2**63, "height": 64, "width": 64}, "OverflowError"),
        ({"batch": 2**60, "height": 64, "width": 64}, "OverflowError"),
        ({"batch": 1, "height": 63, "width": 64}, "IllegalSizesError"),
    ],
)
def test_errors_of_python(sizes: dict[str, Any], error: str) -> None:
    names = load_python(shape_module(infer_shapes("examples/convnet.onnx")))
    with pytest.raises(Exception) as caught:
        names["compute_shapes"](**sizes)
    assert type(caught.value).__name__ == error


def test_the_module_of_python() -> None:
    """It imports nothing; its functions take the dims by name, and a violation has the sizes in its text."""
    module = shape_module(infer_shapes("examples/convnet.onnx"))
    tree = ast.parse(module_text(module, "python"))
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = load_python(module)
    assert [violation.text for violation in names["check"](batch=1, height=63, width=64)] == [VIOLATION]
    shapes = names["compute_shapes"](batch=2, height=64, width=32)
    assert shapes.tensors["half"].dims == (2, 8, 32, 16)
    assert [output.name for output in shapes.outputs] == ["mask"]


def test_types_for_typescript() -> None:
    """A declaration for each export of the module, with the names of its dims and tensors."""
    module = module_of(HOSTILE, HOSTILE)
    types = typescript_types(module)
    assert types.isascii()
    for name in HOSTILE:
        assert f"  readonly {json.dumps(name)}: Size;\n" in types
        assert f"    readonly {json.dumps(name)}: Tensor;\n" in types
    exported = ("OverflowError", "IllegalSizesError", "dims", "digest", "check", "computeShapes")
    text = module_text(module, "js")
    for name in exported:
        for form in (types, text):
            assert any(f"export {kind} {name}" in form for kind in ("class", "const", "function")), name
