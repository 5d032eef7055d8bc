"""Guards in C and JavaScript: they find the violations that Python's exact integers find, or report an error."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.codegen import GUARD_LANGUAGES, condition_program, guard_text
from shapeinf.contract.stored import StoredClause, StoredContract, StoredPrecondition
from shapeinf.expr import Interval
from shapeinf.expr.dimension import Scope
from shapeinf.inputs.spec import unquote_name
from tests.memory.exports.compiling import COMPILERS, compiled
from tests.properties.strategies import EXPRESSIONS, NAMES
from tests.vectors import ROOT

Sizes = dict[str, int]

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
LIMIT = 2**63
EXTREME = (2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 3037000500, 2**62, 2**63 - 1)
SCRIPT = """\
import { check } from "./guard.mjs";
import { readFileSync } from "fs";
const result = (sizes) => {
  try {
    return check(Object.fromEntries(sizes.map(([name, size]) => [name, BigInt(size)]))).map((v) => v.condition);
  } catch (error) {
    return error.constructor.name;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync("sizes.json")).map(result)));
"""


def run_node(source: str, folder: Path, bindings: Sequence[Sizes]) -> list[list[str] | str]:
    """The conditions that a module finds violated at each binding, or the name of an error."""
    if shutil.which("node") is None:
        warnings.warn("node is not there: guards in JavaScript are not tested", stacklevel=2)
        pytest.skip("node is not there")
    (folder / "guard.mjs").write_text(source, encoding="utf-8")
    (folder / "run.mjs").write_text(SCRIPT, encoding="utf-8")
    sizes = [[(name, str(size)) for name, size in binding.items()] for binding in bindings]
    (folder / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    done = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: list[list[str] | str] = json.loads(done.stdout)
    return results


def run_c(contract: StoredContract, folder: Path, bindings: Sequence[Sizes], kind: str) -> list[list[str] | int]:
    """The conditions that a header finds violated at each binding, or the number of an error."""
    names = [unquote_name(label) for label in contract.dims]
    texts = [condition.text for condition in condition_program(contract).conditions]
    passed = "".join(f"(int64_t)v[{i}], " for i in range(len(names)))
    reads = "".join(f' && scanf("%lld", &v[{i}]) == 1' for i in range(len(names)))
    statements = [
        f"long long v[{len(names) + 1}]; unsigned char marks[M_CONDITIONS + 1]; int i;",
        'while (scanf("%lld", &v[' + str(len(names)) + "]) == 1" + reads + ") {",
        f'printf("%lld", (long long)m_check({passed}marks));',
        f"if (m_check({passed}NULL) >= 0)",
        'for (i = 0; i < M_CONDITIONS; ++i) { printf(" %d", marks[i]); }',
        'puts(""); }',
    ]
    program = compiled(guard_text(contract, "c", "m"), statements, folder, kind)
    lines = "".join(f"0 {' '.join(str(binding[name]) for name in names)}\n" for binding in bindings)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    results: list[list[str] | int] = []
    for line in done.stdout.splitlines():
        count, *marks = map(int, line.split())
        violated = [text for text, mark in zip(texts, marks, strict=False) if mark]
        results.append(count if count < 0 else violated)
        assert count < 0 or count == len(violated)
    assert len(results) == len(bindings)
    return results


def expected(contract: StoredContract, binding: Sizes) -> list[str]:
    return [precondition.text for precondition in contract.violations(binding)]


def draw_sizes(contract: StoredContract, count: int, seed: int, largest: int = LIMIT - 1) -> list[Sizes]:
    """Random and extreme sizes within the ranges of a contract; dims are often of one size."""
    rng = random.Random(seed)

    def draw_size(bounds: Interval) -> int:
        low, most = bounds.lo or 0, largest if bounds.hi is None else bounds.hi
        near = [low, low + 1, low + rng.randrange(12), rng.randrange(1, 700), 32 * rng.randrange(1, 30)]
        return min(max(low, rng.choice(near if rng.random() < 0.9 else EXTREME)), most)

    def draw() -> Sizes:
        common = draw_size(Interval(1, None))
        return {
            unquote_name(label): common if rng.random() < 0.3 and common in bounds else draw_size(bounds)
            for label, bounds in contract.dims.items()
        }

    return [draw() for _ in range(count)]


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not MODELS, reason="the corpus of models is not there")
@pytest.mark.parametrize(
    "model", [pytest.param(m, id=m.name, marks=[] if i % 16 == 5 else [pytest.mark.slow]) for i, m in enumerate(MODELS)]
)
def test_a_violation_is_one_for_the_contract(model: Path, tmp_path: Path) -> None:
    """50 bindings a model: what JavaScript refuses is illegal; beyond an assumption, such as 2**53, nothing decides."""
    contract = infer_shapes(model).contract
    stored = infer_shapes(model).stored_contract
    bindings = draw_sizes(stored, 50, len(model.name), 2**62)  # the largest number of the grammar
    for binding, found in zip(bindings, run_node(guard_text(stored, "js"), tmp_path, bindings), strict=True):
        assert found == expected(stored, binding)
        answer = contract.check(binding)
        beyond = any(p.kind == "assumption" and p.holds(binding) is False for p in contract.preconditions)
        assert answer.verdict is False or not found or beyond, (binding, found, str(answer))


@pytest.mark.parametrize("kind", COMPILERS)
@pytest.mark.parametrize("model", ["convnet", "decoder"])
def test_c_finds_what_exact_integers_find(kind: str, model: str, tmp_path: Path) -> None:
    stored = infer_shapes(f"examples/{model}.onnx").stored_contract
    bindings = draw_sizes(stored, 400, 3)
    for binding, found in zip(bindings, run_c(stored, tmp_path, bindings, kind), strict=True):
        assert found == expected(stored, binding) or found == -1, binding


def test_the_example_of_the_docs(tmp_path: Path) -> None:
    stored = infer_shapes("examples/convnet.onnx").stored_contract
    sizes = {"batch": 1, "height": 255, "width": 256}
    wrong: list[Any] = [{**sizes, "batch": 0}, {"batch": 1}, {**sizes, "other": 1}]
    results = run_node(guard_text(stored, "js"), tmp_path, [sizes, *wrong])
    assert results == [["height % 2 == 0"], "RangeError", "TypeError", "TypeError"]


# -- expressions -------------------------------------------------------------------------------------------------------


def contract_of(expressions: Sequence[str], names: Sequence[str]) -> StoredContract:
    """A contract whose conditions are that expressions are 0, or at least 0."""
    preconditions = tuple(
        StoredPrecondition("value", f"c{k}", (), f"n{k}", "Op", "text", "", (StoredClause(text, k % 2 == 0),))
        for k, text in enumerate(expressions)
    )
    return StoredContract("0", "", dict.fromkeys(names, Interval(None, None)), preconditions, False)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(EXPRESSIONS, min_size=1, max_size=6),
    st.lists(st.fixed_dictionaries({n: st.integers(-40, 40) | st.sampled_from(EXTREME) for n in NAMES}), min_size=20),
)
def test_expressions_in_every_language(build: list[Any], bindings: list[Sizes]) -> None:
    scope = Scope()
    contract = contract_of([str(make(scope)) for make, _ in build], list(NAMES))
    wanted = [expected(contract, binding) for binding in bindings]
    with tempfile.TemporaryDirectory() as folder:
        assert run_node(guard_text(contract, "js"), Path(folder), bindings) == wanted
        for found, right in zip(run_c(contract, Path(folder), bindings, "c99"), wanted, strict=True):
            assert found in (right, -1)


def test_division_by_zero_and_numbers_past_64_bits(tmp_path: Path) -> None:
    """An error in each language, never a wrong number; JavaScript's integers have no limit."""
    contract = contract_of(["a // b", "a * a * a - 8", f"{2**62}*8*b - a"], ["a", "b"])
    bindings = [{"a": 2, "b": 0}, {"a": 2, "b": 3}, {"a": 2**40, "b": 1}, {"a": -7, "b": 2}]
    scripts = run_node(guard_text(contract, "js"), tmp_path, bindings)
    assert scripts == ["RangeError", *(expected(contract, binding) for binding in bindings[1:])]
    assert run_c(contract, tmp_path, bindings, "c99") == [-3, -1, -1, -1]


@pytest.mark.parametrize("language", GUARD_LANGUAGES)
def test_a_contract_without_conditions_or_dims(language: Any, tmp_path: Path) -> None:
    empty = contract_of([], [])
    if language == "js":
        assert run_node(guard_text(empty, language), tmp_path, [{}]) == [[]]
    else:
        assert run_c(empty, tmp_path, [{}], "c++") == [[]]


HOSTILE = ["*/ #error", "\n#error", '"; process.exit(1); //', "\u2028x", "${1}", "\\", "??/", "__proto__"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str, tmp_path: Path) -> None:
    """Names of dims, nodes and texts are data in the text of each language."""
    clauses = (StoredClause("`" + name + "` - 3" if "`" not in name else "3", True),)
    precondition = StoredPrecondition("value", name, (name,), name, name, name, "", clauses)
    label = "`" + name + "`"
    undecided = StoredPrecondition("guard", name, (name,), name, name, name, name, ())
    contract = StoredContract("0", name, {label: Interval(1, None)}, (precondition, undecided), False)
    bindings = [{name: 3}, {name: 4}]
    folder = tmp_path
    assert run_node(guard_text(contract, "js", name), folder, bindings) == [[], [name]]
    text = guard_text(contract, "c", "m")
    assert text.isascii()
    assert run_c(contract, folder, bindings, "c99") == [[], [name]]
