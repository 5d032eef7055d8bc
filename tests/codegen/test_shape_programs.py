"""Shape programs in every language equal `Result.program`, or end in an error where a number does not fit 64 bits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
import pytest

from shapeinf import Result, infer_shapes
from shapeinf.codegen import LANGUAGES, ShapeModule, shape_module
from shapeinf.errors import NoSizeError
from tests.codegen.running import EXACT, RUNNERS, Binding, Outcome, run_all
from tests.vectors import ROOT

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
EXTREME = (1, 2**31 - 1, 2**31, 2**32, 3037000500, 2**53, 2**53 + 1, 2**62, 2**63 - 1)
SELECT = """
<ir_version: 8, opset_import: ["" : 17]>
select (float[n, 4] x, int64[m] y) => (int64[2, count] places, float[n, 4] z) { places = NonZero(x) z = Relu(x) }
"""


def draw_bindings(module: ShapeModule, count: int, seed: int) -> list[list[int]]:
    """Random and extreme sizes, some below the range of their dim; dims are often of one size."""
    rng = random.Random(seed)

    def draw_size() -> int:
        near = (rng.randrange(1, 12), rng.randrange(1, 700), 32 * rng.randrange(1, 40), rng.randrange(1 << 40))
        return rng.choice([*near, *near, rng.choice(EXTREME), 0])

    def draw() -> list[int]:
        common, mixed = draw_size(), rng.random()
        return [common if rng.random() < mixed else rng.choice([draw_size(), 64]) for _ in module.parameters]

    return [draw() for _ in range(count)]


@attrs.frozen
class Expected:
    """What `Result.program` has of one binding.

    Args:
        covered: whether the constraints of this inference hold; where they do not, another one may have shapes.
        legal: whether the sizes are legal.
        fits: whether all numbers fit 64 bits.
        numbers: the numbers in the order of a module, without upper bounds of axes.
    """

    covered: bool
    legal: bool
    fits: bool
    numbers: list[int | None]


def expected(result: Result, module: ShapeModule, bindings: Sequence[Binding]) -> list[Expected]:
    assert module.shapes is not None
    names = [parameter.name for parameter in module.parameters]
    columns = {name: [b[i] for b in bindings] for i, name in enumerate(names)}
    program = result.program()
    shapes = program.masked(columns)
    count = len(bindings) if columns else 1
    fits = np.ones(count, dtype=bool)
    rows: list[list[int | None]] = []

    def add(values: Any) -> Any:
        nonlocal fits
        fits &= ~np.broadcast_to(values.mask, values.shape)
        return values.filled(-1).tolist()

    for tensor in module.shapes.tensors:
        axes: list[list[int | None]] = [[None] * count for _ in tensor.dims or ()]
        with suppress(NoSizeError):
            axes = [add(column) for column in shapes[tensor.name].T]
        rows += [row for axis in axes for row in (axis, axis)]
        try:
            size = add(shapes.bytes(tensor.name))
        except NoSizeError:
            size = [None] * count
        exact = tensor.bytes.exact is not None
        rows += [size if exact else [None] * count, size]
    rows.append(add(shapes.peak))
    flags = (program._binder.bind(columns, {}).valid.tolist(), shapes.valid.tolist(), fits.tolist())
    return [Expected(*row[:3], list(row[3])) for row in zip(*flags, zip(*rows, strict=True), strict=True)]


def assert_outcome(language: str, outcome: Outcome, right: Expected) -> bool:
    """Whether there are numbers; they are those of `Result.program`, and an error is one of its errors too."""
    if isinstance(outcome.numbers, str):
        assert outcome.numbers in ("illegal", "outside", "overflow", "undefined")
        if outcome.numbers in ("illegal", "outside"):
            assert not right.covered or not right.legal
        elif language in EXACT:
            assert not right.fits
        return False
    assert right.covered and right.legal and right.fits
    for number, wanted in zip(outcome.numbers, right.numbers, strict=True):
        assert wanted is None or number == wanted
    return True


def compare(result: Result, folder: Path, count: int, languages: Sequence[str] = LANGUAGES) -> None:
    module = shape_module(result, "m")
    bindings = draw_bindings(module, count, count)
    right = expected(result, module, bindings) if module.parameters else expected(result, module, []) * count
    for language, outcomes in run_all(module, folder, bindings, languages).items():
        answered = 0
        for binding, outcome, wanted in zip(bindings, outcomes, right, strict=True):
            try:
                answered += assert_outcome(language, outcome, wanted)
            except AssertionError as error:
                raise AssertionError(f"{language} at {binding}: {str(outcome)[:200]}") from error
        assert answered > count // 50, f"{language} has numbers at {answered} of {count} bindings"


@pytest.mark.parametrize("language", LANGUAGES)
def test_5000_bindings_of_an_example(language: str, tmp_path: Path) -> None:
    compare(infer_shapes("examples/convnet.onnx"), tmp_path, 5000, [language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_sizes_that_depend_on_data(language: str, tmp_path: Path) -> None:
    compare(infer_shapes(onnx.parser.parse_model(SELECT)), tmp_path, 400, [language])


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the corpus of models is not there")
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_models_of_the_corpus(model: Path, tmp_path: Path) -> None:
    compare(infer_shapes(model), tmp_path, 60)


def test_bounds_of_sizes_that_depend_on_data(tmp_path: Path) -> None:
    module = shape_module(infer_shapes(onnx.parser.parse_model(SELECT)), "m")
    for language, runner in RUNNERS.items():
        (outcome,) = runner(module, tmp_path, [[3, 2]])
        assert isinstance(outcome.numbers, list), language
        places = outcome.numbers[2 * 2 + 2 + 2 + 2 :][:6]
        assert places == [2, 2, None, 12, None, 192], language
