"""Random graphs: of operators of all kinds, of shape arithmetic, and of loops, scans and branches.

onnxruntime must not contradict inference, and the contract must not accept sizes that it rejects.
`SHAPEINF_RANDOM_GRAPHS` is how many graphs of each kind the slow profile draws.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of this test")

ROOT = Path(__file__).parents[2]
FEW = 30
MANY = int(os.environ.get("SHAPEINF_RANDOM_GRAPHS", "6000"))
MOST_YES = 0.01
"""The share of sizes rejected by onnxruntime that the contract may accept without reservation."""


@pytest.mark.parametrize("kind", ["networks", "bodies", "conditions", "sizes", "limits"])
@pytest.mark.parametrize(("start", "stop"), [(0, FEW), pytest.param(FEW, MANY, marks=pytest.mark.slow, id="many")])
def test_onnxruntime_does_not_contradict(kind, start, stop):
    wrong, refused, yes, runs, graphs = [], 0, [], 0, stop - start
    while start < stop:
        lines, start = run_graphs(kind, start, stop)
        reports = [line for line in lines if not line.startswith(("graph ", "ran ", "runs "))]
        yes += [line for line in reports if ": yes: " in line]
        wrong += [line for line in reports if ": yes: " not in line]
        counts = [line.split()[1:] for line in lines if line.startswith("runs ")]
        runs += int(counts[-1][0]) if counts else 0
        refused += int(counts[-1][1]) if counts else 0
    assert not wrong, "\n".join(wrong)
    assert len(yes) <= MOST_YES * refused, "\n".join(yes)
    assert runs > graphs


def run_graphs(kind, start, stop):
    """The printed lines, and the number of the next graph: onnxruntime may crash or hang."""
    command = [sys.executable, "-m", "tests.differential.random_graphs", kind, str(start), str(stop)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20_000)
    lines = done.stdout.splitlines()
    if done.returncode == 0:
        return lines, stop
    assert done.returncode < 0, done.stderr  # a signal; an exception is a defect of shapeinf
    assert not lines[-1].startswith("ran "), f"inference crashes: {lines[-1]}"
    return lines, 1 + max(int(line.split()[1]) for line in lines if line.startswith("graph "))
