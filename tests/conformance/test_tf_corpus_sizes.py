"""Graphs of real models in TensorFlow's files, with the sizes of runs: contract, concrete inference and program.

TensorFlow ran each graph at three bindings of the symbols of its inputs. At these, the contract must not reject the
graph, and inference with numbers and the shape program must return the shapes of the run, or bounds that include them.
"""

import json
import random

import pytest

from shapeinf import infer_shapes
from shapeinf.engine.input_symbols import input_symbols
from tests.vectors import ROOT

FOLDER = ROOT / "tf_graphs"
TRUTHS = {path.name.removesuffix(".truth.json"): path for path in sorted(FOLDER.glob("*.truth.json"))}
SAMPLE = set(random.Random(16).sample(sorted(TRUTHS), min(8, len(TRUTHS))))


def cases():
    if not TRUTHS:
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{FOLDER} is not there"))]
    return [
        pytest.param(path, id=name, marks=() if name in SAMPLE else pytest.mark.slow) for name, path in TRUTHS.items()
    ]


class Run:
    """A graph of the corpus at one of its bindings."""

    def __init__(self, path, truth, number):
        """`number` is the index of the binding."""
        self.path = path.parent / truth["file"]
        self.truth = truth
        self.number = number
        self.binding = truth["bindings"][number]

    def inputs(self):
        """The concrete shapes of the inputs."""
        return {
            entry["name"]: entry["shapes"][self.number]
            if entry.get("shapes")
            else [self.binding.get(dim, dim) for dim in entry["dims"]]
            for entry in self.truth["inputs"]
        }

    def differences(self, shapes, kind):
        """The axes of these shapes that differ from those of the run; a dim of None is not compared."""
        for name, record in self.truth[kind].items():
            dims = shapes.get(name)
            if dims is None or record.get("rv") or record["dt"] in ("resource", "variant"):
                continue
            if len(dims) != len(record["d"]):
                yield name, "rank", dims, record["d"]
                continue
            for axis, (dim, real) in enumerate(zip(dims, record["d"], strict=True)):
                if not self.holds(dim, real):
                    yield name, axis, dim, real

    def holds(self, dim, real):
        """Whether a dim, a number or bounds, includes all sizes of an axis in the run."""
        real = real[self.number] if isinstance(real, list) else real
        if real is None:
            return True  # the node did not run
        least, most = real if isinstance(real, list) else (real, real)
        low, high = dim if isinstance(dim, tuple) else (dim, dim)
        return (low is None or low <= least) and (high is None or high >= most)


def runs(path):
    truth = json.loads(path.read_text(encoding="utf8"))
    return [Run(path, truth, number) for number in range(len(truth["bindings"]))]


def infer_named(run):
    """The result for inputs with names."""
    shapes = {entry["name"]: entry["dims"] for entry in run.truth["inputs"] if entry["dims"] is not None}
    return infer_shapes(run.path, inputs=shapes)


def numbers(result, tensors):
    """Shapes as numbers, and bounds of unknown sizes."""
    return {
        name: None if info.shape.dims is None else [bounds(result, dim) for dim in info.shape.dims]
        for name, info in tensors.items()
    }


def bounds(result, dim):
    interval = (dim, dim) if isinstance(dim, int) else result.interval(dim)
    return tuple(interval) if isinstance(interval, tuple) else (interval.lo, interval.hi)


@pytest.mark.parametrize("path", cases())
def test_the_contract_accepts_what_ran(path):
    first, *_ = each = runs(path)
    result = infer_named(first)
    names = set(input_symbols(result.engine.inference).values())
    for run in each:
        answer = result.contract.check({name: size for name, size in run.binding.items() if name in names})
        assert answer.verdict is not False, answer


@pytest.mark.parametrize("path", cases())
def test_inference_with_numbers_gives_the_shapes_of_the_run(path):
    for run in runs(path):
        result = infer_shapes(run.path, inputs=run.inputs())
        assert not [d for d in result.diagnostics if d.severity == "error"]
        assert not list(run.differences(numbers(result, result.tensors), "tensors"))
        assert not list(run.differences(numbers(result, result.body_tensors), "inner"))


@pytest.mark.parametrize("path", cases())
def test_the_program_gives_the_shapes_of_the_run(path):
    first, *_ = each = runs(path)
    program = infer_named(first).program()
    for run in each:
        others = dict.fromkeys(program.needed, 2)  # of signatures that did not run
        shapes = program({**others, **{name: size for name, size in run.binding.items() if name in program.inputs}})
        answers = {
            name: shapes[name][0].tolist() if shapes[name].ndim > 1 else shapes[name].tolist() for name in shapes
        }
        assert not list(run.differences(answers, "tensors"))
