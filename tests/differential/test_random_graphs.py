"""Random graphs of shape arithmetic and of loops, scans and branches: onnxruntime must not contradict what we infer."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")

ROOT = Path(__file__).parents[2]
FEW = 120


@pytest.mark.parametrize("kind", ["bodies", "sizes"])
@pytest.mark.parametrize(("start", "stop"), [(0, FEW), pytest.param(FEW, 6000, marks=pytest.mark.slow, id="many")])
def test_onnxruntime_does_not_contradict(kind, start, stop):
    wrong, runs, graphs = [], 0, stop - start
    while start < stop:
        lines, start = tried(kind, start, stop)
        wrong += [line for line in lines if not line.startswith(("graph ", "runs "))]
        counts = [int(line.split()[1]) for line in lines if line.startswith("runs ")]
        runs += counts[-1] if counts else 0
    assert not wrong, "\n".join(wrong)
    assert runs > graphs


def tried(kind, start, stop):
    """The lines that are printed, and the graph to go on with: onnxruntime may die of one."""
    command = [sys.executable, "-m", "tests.differential.random_graphs", kind, str(start), str(stop)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000)
    lines = done.stdout.splitlines()
    if done.returncode == 0:
        return lines, stop
    assert done.returncode < 0, done.stderr  # a signal; an exception is an error of ours
    return lines, 1 + max(int(line.split()[1]) for line in lines if line.startswith("graph "))
