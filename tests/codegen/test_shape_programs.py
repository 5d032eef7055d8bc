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
from shapeinf.errors import ExportError, NoSizeError, ShapeInferenceError
from shapeinf.program import EvaluatedShapes
from tests.codegen.running import EXACT, Binding, Outcome, run_all, run_python
from tests.vectors import PROJECT, ROOT

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
        fits: whether all numbers fit 64 bits.
        numbers: the numbers in the order of a module, without upper bounds of axes.
    """

    fits: bool
    numbers: list[int | None]


def expected(result: Result, module: ShapeModule, bindings: Sequence[Binding]) -> list[Expected | None]:
    """What `Result.program` has; None for sizes that violate a constraint of this inference.

    For these `Result.program` may infer the model again, which changes bounds at the other bindings too.
    """
    names = [parameter.name for parameter in module.parameters]
    program = result.program()
    legal = program._binder.bind({name: [b[i] for b in bindings] for i, name in enumerate(names)}, {}).valid
    chosen = [binding for binding, is_legal in zip(bindings, legal, strict=True) if is_legal]
    shapes = program.masked({name: [b[i] for b in chosen] for i, name in enumerate(names)})
    rows = iter(evaluated(shapes, module, len(chosen)))
    return [next(rows) if is_legal else None for is_legal in legal]


def evaluated(shapes: EvaluatedShapes, module: ShapeModule, count: int) -> list[Expected]:
    """The numbers of a module at legal sizes."""
    assert module.shapes is not None and shapes.valid.all()
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
        size: list[int | None] = [None] * count
        with suppress(NoSizeError):
            size = add(shapes.bytes(tensor.name))
        rows += [size if tensor.bytes.exact is not None else [None] * count, size]
    rows.append(add(shapes.peak))
    return [Expected(*row[:1], list(row[1])) for row in zip(fits.tolist(), zip(*rows, strict=True), strict=True)]


def assert_outcome(language: str, outcome: Outcome, right: Expected | None) -> bool:
    """Whether there are numbers; they are those of `Result.program`, and an error is one of its errors too."""
    if isinstance(outcome.numbers, str):
        assert outcome.numbers in ("illegal", "outside", "overflow", "undefined")
        if outcome.numbers in ("illegal", "outside"):
            assert right is None
        elif language in EXACT:
            assert right is not None and not right.fits
        return False
    assert right is not None and right.fits
    for number, wanted in zip(outcome.numbers, right.numbers, strict=True):
        assert wanted is None or number == wanted
    return True


def compare(
    result: Result, folder: Path, count: int, languages: Sequence[str] = LANGUAGES, more: Sequence[Binding] = ()
) -> list[Outcome]:
    """Compare random bindings, and `more`, the outcomes of which are returned for the last language."""
    module = shape_module(result, "m")
    bindings = [*draw_bindings(module, count, count), *more]
    bindings = bindings if module.parameters else [[]]
    right = expected(result, module, bindings)
    outcomes: list[Outcome] = []
    for language, outcomes in run_all(module, folder, bindings, languages).items():
        answered = 0
        for binding, outcome, wanted in zip(bindings, outcomes, right, strict=True):
            try:
                answered += assert_outcome(language, outcome, wanted)
            except AssertionError as error:
                raise AssertionError(f"{language} at {binding}: {str(outcome)[:200]}") from error
        assert answered > len(bindings) // 50, f"{language} has numbers at {answered} of {len(bindings)} bindings"
    return outcomes[count:]


@pytest.mark.parametrize("language", LANGUAGES)
def test_5000_bindings_of_an_example(language: str, tmp_path: Path) -> None:
    compare(infer_shapes("examples/convnet.onnx"), tmp_path, 5000, [language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_sizes_that_depend_on_data(language: str, tmp_path: Path) -> None:
    """At 3 rows at most 12 elements are not zero."""
    result = infer_shapes(onnx.parser.parse_model(SELECT))
    (outcome,) = compare(result, tmp_path, 400, [language], [[3, 2]])
    places = slice(2 * 2 + 2 + 2 + 2, 2 * 2 + 2 + 2 + 2 + 6)
    assert outcome.numbers[places] == [2, 2, None, 12, None, 192]


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the corpus of models is not there")
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_models_of_the_corpus(model: Path, tmp_path: Path) -> None:
    compare(infer_shapes(model), tmp_path, 60)


def test_a_bound_dim_has_one_size() -> None:
    module = shape_module(infer_shapes("examples/convnet.onnx", bind={"batch": 2}), "m")
    assert {parameter.name: str(parameter.bounds) for parameter in module.parameters}["batch"] == "2..2"
    (outcome, other) = run_python(module, Path(), [[2, 64, 64], [1, 64, 64]])
    assert outcome.numbers[0] == 2 and other.numbers == other.violated == "outside"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("g (float[n, 4] x, int64[2] s) => (float[a, b] y) { y = Expand(x, s) }", {"values": {"s": [3, 4]}}),
        ("g (float[n, 4] x) => (float[n, n] y) { y = Transpose<perm = [0, 2]>(x) }", {}),
    ],
)
def test_what_no_program_states(text: str, options: dict[str, Any]) -> None:
    """Shapes for the user's values of inputs, and those of a model with errors."""
    result = infer_shapes(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), **options)
    with pytest.raises(ShapeInferenceError, match="no program is written"):
        shape_module(result)


def test_another_suffix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"the suffix must be one of \.h, \.mjs, \.rs, \.py"):
        infer_shapes("examples/convnet.onnx").save_program(tmp_path / "shapes.js")


def test_the_wheel_has_every_asset() -> None:
    tables = pytest.importorskip("tomllib").loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert tables["setuptools"]["package-data"]["shapeinf.codegen"] == ["assets/*"]
