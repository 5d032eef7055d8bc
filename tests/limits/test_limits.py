"""Models whose sizes grow, in processes with little memory: every query ends within ten seconds.

`python -m tests.limits.child START STOP` runs other models, by their seeds, and prints the time of each query.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from tests.limits.graphs import LEAST_DIMS, MOST_NODES, random_model

ROOT = Path(__file__).parents[2]
WALL = 3600


def child_lines(start, stop):
    """The lines that a child prints; where it dies, the last one has the seed of that model."""
    command = [sys.executable, "-m", "tests.limits.child", str(start), str(stop)]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=WALL, check=False)
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    ended = [] if child.returncode == 0 else [{**lines[-1], "wrong": [f"the process died ({child.returncode})"]}]
    return [*lines, *ended]


def check_seeds(start, stop):
    lines = child_lines(start, stop)
    assert not [line for line in lines if line.get("wrong")]
    assert len([line for line in lines if "times" in line]) == stop - start


def test_a_slice():
    check_seeds(0, 4)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 50))
def test_all(start):
    check_seeds(start, start + 50)


def test_a_seed_is_a_model_of_many_names_whose_ends_are_known():
    for seed in range(4):
        model = random_model(seed)
        assert model == random_model(seed) != random_model(seed + 1)
        assert 20 <= len(model.graph.node) <= MOST_NODES
        result = infer_shapes(model)
        assert len(result.engine.scope.names()) >= LEAST_DIMS
        assert not [note for note in result.diagnostics if note.severity == "error"]
        assert any(len(result.tensors[value.name].shape.symbols()) > 1 for value in model.graph.output)
