"""Guards in each language: they find the violations that Python's exact integers find, or report an error."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapeinf import infer_shapes
from shapeinf.codegen import LANGUAGES, guard_module
from shapeinf.contract.stored import StoredClause, StoredContract, StoredPrecondition
from shapeinf.expr import Interval
from shapeinf.expr.dimension import Scope
from shapeinf.inputs.spec import unquote_name
from tests.codegen.running import EXACT, run_all, run_c
from tests.memory.exports.compiling import COMPILERS
from tests.properties.strategies import EXPRESSIONS, NAMES
from tests.vectors import ROOT

Sizes = dict[str, int]

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
LIMIT = 2**63
EXTREME = (2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 3037000500, 2**62, 2**63 - 1)


def run_guard(
    contract: StoredContract, language: str, folder: Path, bindings: Sequence[Sizes]
) -> list[list[str] | str]:
    """The conditions that a guard finds violated at each binding, or the name of an error."""
    module = guard_module(contract)
    texts = [condition.text for condition in module.conditions]
    rows = [[binding[parameter.name] for parameter in module.parameters] for binding in bindings]
    outcomes = run_all(module, folder, rows, [language])[language]
    return [o.violated if isinstance(o.violated, str) else [texts[number] for number in o.violated] for o in outcomes]


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
    """50 bindings a model: what a guard refuses is illegal; beyond an assumption, such as 2**53, nothing decides."""
    contract = infer_shapes(model).contract
    stored = infer_shapes(model).stored_contract
    bindings = draw_sizes(stored, 50, len(model.name), 2**62)  # the largest number of the grammar
    for binding, found in zip(bindings, run_guard(stored, "js", tmp_path, bindings), strict=True):
        assert found == expected(stored, binding)
        answer = contract.check(binding)
        beyond = any(p.kind == "assumption" and p.holds(binding) is False for p in contract.preconditions)
        assert answer.verdict is False or not found or beyond, (binding, found, str(answer))


@pytest.mark.parametrize("kind", COMPILERS)
@pytest.mark.parametrize("model", ["convnet", "decoder"])
def test_c_finds_what_exact_integers_find(kind: str, model: str, tmp_path: Path) -> None:
    stored = infer_shapes(f"examples/{model}.onnx").stored_contract
    bindings = draw_sizes(stored, 400, 3)
    module = guard_module(stored)
    texts = [condition.text for condition in module.conditions]
    rows = [[binding[parameter.name] for parameter in module.parameters] for binding in bindings]
    for binding, outcome in zip(bindings, run_c(module, tmp_path, rows, kind), strict=True):
        right = [texts.index(text) for text in expected(stored, binding)]
        assert outcome.violated in (right, "overflow"), binding


# -- expressions -------------------------------------------------------------------------------------------------------


def contract_of(expressions: Sequence[str], names: Sequence[str]) -> StoredContract:
    """A contract whose conditions are that expressions are 0, or at least 0."""
    preconditions = tuple(
        StoredPrecondition("value", f"c{k}", (), f"n{k}", "Op", "text", "", (StoredClause(text, k % 2 == 0),))
        for k, text in enumerate(expressions)
    )
    return StoredContract("0", "", dict.fromkeys(names, Interval(None, None)), preconditions, False)


@settings(max_examples=5, deadline=None)
@given(
    st.lists(EXPRESSIONS, min_size=1, max_size=6),
    st.lists(st.fixed_dictionaries({n: st.integers(-40, 40) | st.sampled_from(EXTREME) for n in NAMES}), min_size=20),
)
def test_expressions_in_every_language(build: list[Any], bindings: list[Sizes]) -> None:
    scope = Scope()
    contract = contract_of([str(make(scope)) for make, _ in build], list(NAMES))
    wanted = [expected(contract, binding) for binding in bindings]
    with tempfile.TemporaryDirectory() as folder:
        for language in ("c", "js"):
            for found, right in zip(run_guard(contract, language, Path(folder), bindings), wanted, strict=True):
                assert found == right or (found == "overflow" and language not in EXACT)


@pytest.mark.parametrize("language", LANGUAGES)
def test_division_by_zero_and_numbers_past_64_bits(language: str, tmp_path: Path) -> None:
    """An error in each language, never a wrong number; the integers of JavaScript and Python have any size."""
    contract = contract_of(["a // b", "a * a * a - 8", f"{2**62}*8*b - a"], ["a", "b"])
    bindings = [{"a": 2, "b": 0}, {"a": 2, "b": 3}, {"a": 2**40, "b": 1}, {"a": -7, "b": 2}]
    violations = [expected(contract, binding) for binding in bindings[1:]]
    found = run_guard(contract, language, tmp_path, bindings)
    assert found == ["undefined", *(violations if language in EXACT else ["overflow"] * 3)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_contract_without_conditions_or_dims(language: str, tmp_path: Path) -> None:
    assert run_guard(contract_of([], []), language, tmp_path, [{}]) == [[]]
