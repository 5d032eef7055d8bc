"""The arena as formulas: at every binding they equal what the planner computes there."""

from __future__ import annotations

import json
import lzma
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shapeinf import infer_shapes
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Scope
from shapeinf.formats.tflite.reader import read
from shapeinf.memory.runtimes.guarded_sizes import GuardedSize, Guards
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.result import Result
from tests.formats.tflite.files import ADD, CONCATENATION, Node, Subgraph, Tensor
from tests.memory.litert.models import dense, flattened, written
from tests.vectors import PROJECT, ROOT

N = "x.shape[0]"
DRAWS = 20
FOLDER = ROOT / "tflite" / "dev"
MODELS = sorted(path.name.removesuffix(".truth.json") for path in FOLDER.glob("*.truth.json"))
QUICK = 6


def bytes_at(memory: PlannedArena, sizes: dict[str, int]) -> int:
    """The bytes that the formula is of, as the runtime plans them."""
    parts = memory.parts(sizes)
    return parts["head"] if "head" in parts else memory.plan(sizes).arena


@pytest.mark.parametrize("runtime", ["litert", "tflite-micro"])
@pytest.mark.parametrize("build", [dense, flattened])
def test_formulas_are_exact(tmp_path: Path, build: Any, runtime: str) -> None:
    memory = infer_shapes(str(build(tmp_path))).memory(runtime=runtime)
    formula = memory.formula()
    assert formula.pieces and not formula.reason
    for size in (*range(1, 40), 63, 64, 65, 1000, 1023, 1024, 1025, 5000):
        assert formula.at({N: size}) == bytes_at(memory, {N: size}), size


def test_ranges_with_other_orders(tmp_path: Path) -> None:
    """A result that grows with n, and one of 256 bytes: the larger is placed first."""
    tensors = [
        Tensor("x", (1, 4), signature=(-1, 4)),
        Tensor("c", (1, 64), data=bytes(256)),
        Tensor("a", (1, 4), signature=(-1, 4)),
        Tensor("b", (1, 64)),
        Tensor("y", (1, 4), signature=(-1, 4)),
        Tensor("z", (1, 64)),
    ]
    nodes = [Node(ADD, [0, 0], [2]), Node(ADD, [1, 1], [3]), Node(ADD, [2, 0], [4]), Node(ADD, [3, 1], [5])]
    path = written(tmp_path / "two.tflite", Subgraph(tensors, [0], [4, 5], nodes))
    memory = infer_shapes(str(path)).memory(runtime="litert")
    formula = memory.formula()
    assert len(formula.pieces) > 1 and not formula.reason
    assert [formula.at({N: n}) for n in range(1, 70)] == [memory.plan({N: n}).arena for n in range(1, 70)]
    ranges = sorted((piece.first, piece.last) for piece in formula.pieces)
    assert ranges[0][0] == 1 and ranges[-1][1] is None
    assert all(last is not None and last + 1 == first for (_, last), (first, _) in pairwise(ranges))


def test_several_dims_need_one_order(tmp_path: Path) -> None:
    """Whether a or b is larger depends on both dims; with a size for one of them there are formulas."""
    tensors = [
        Tensor("x", (1, 4), signature=(-1, 4)),
        Tensor("w", (1, 4), signature=(-1, 4)),
        Tensor("a", (1, 4), signature=(-1, 4)),
        Tensor("b", (1, 4), signature=(-1, 4)),
        Tensor("y", (2, 4), signature=(-1, 4)),
    ]
    nodes = [Node(ADD, [0, 0], [2]), Node(ADD, [1, 1], [3]), Node(CONCATENATION, [2, 3], [4])]
    path = written(tmp_path / "two.tflite", Subgraph(tensors, [0, 1], [4], nodes))
    memory = infer_shapes(str(path), inputs={"x": ["n", 4], "w": ["m", 4]}).memory(runtime="litert")
    formula = memory.formula()
    assert not formula.pieces and "specify all dims but one" in formula.reason
    formula = memory.formula({"m": 5})
    assert [formula.at({"m": 5, "n": n}) for n in range(1, 30)] == [
        memory.plan({"m": 5, "n": n}).arena for n in range(1, 30)
    ]


def test_the_largest_size_and_the_bound(tmp_path: Path) -> None:
    memory = infer_shapes(str(dense(tmp_path))).memory(runtime="litert")
    largest = memory.formula().largest("14144")
    assert (largest.value, largest.bytes, largest.proven) == (63, 14144, True)
    assert memory.plan({N: 64}).arena > 14144
    assert memory.formula().bound() is None and memory.formula({N: (1, 63)}).bound() == 14144
    assert memory.formula().largest(100).value is None


def test_an_arena_with_a_delegate_has_no_formula(tmp_path: Path) -> None:
    memory = infer_shapes(str(PROJECT / "examples" / "detector.tflite")).memory(runtime="litert-xnnpack")
    assert not memory.formula().pieces and "delegate" in memory.formula().reason


def test_comparisons_are_guards() -> None:
    guards = Guards()
    n = Scope().symbol("n")
    a, b = GuardedSize(8, 2 * n, guards), GuardedSize(8, n + 4, guards)
    assert a == b and not a < b and a <= b and a - 1 < b and bool(a) and -a < 0
    assert {str(dim) for dim in guards.dims} >= {"n - 4", "4 - n", "1 - 2*n"}


def cases() -> list[Any]:
    """All models as parameters; all but a slice, the same in every run, are slow."""
    quick = random.Random(3).sample(MODELS, min(QUICK, len(MODELS)))
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in MODELS] or ["none"]


def inferred(name: str) -> Result:
    """The result with the symbols of the corpus."""
    truth = json.loads((FOLDER / f"{name}.truth.json").read_text(encoding="utf-8"))
    graph = read(lzma.decompress((FOLDER / f"{name}.tflite.xz").read_bytes()))
    keys = {tuple(map(int, record["tensor"].split(":"))): record["dims"] for record in truth["inputs"]}
    named = {graph.model.names[key]: dims for key, dims in keys.items()}
    return infer_shapes(graph, inputs={value: dims for value, dims in named.items() if value in graph.inputs})


@pytest.mark.skipif(not MODELS, reason="the models do not exist: set SHAPEINF_CONFORMANCE to their folder")
@pytest.mark.parametrize("name", cases())
def test_formulas_of_real_models(name: str) -> None:
    memory = inferred(name).memory(runtime="litert")
    formula = memory.formula()
    rng = random.Random(name)
    for _ in range(DRAWS if formula.pieces and memory.labels else 0):
        sizes = {label: rng.choice([rng.randint(1, 9), 32 * rng.randint(1, 8)]) for label in memory.labels.values()}
        try:
            planned = memory.plan(sizes).arena
        except ShapeInferenceError:  # sizes with which the model does not run
            continue
        assert formula.at(sizes) in (None, planned), sizes
