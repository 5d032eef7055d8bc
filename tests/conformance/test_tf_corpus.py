"""Graphs of real models in TensorFlow's files, scored against the shapes of real runs.

The scorer is in the folder of the graphs. No size may be wrong; of the sizes that those of the inputs determine, the
shares in FLOORS must be exact. A seeded sample of small graphs always runs; the test of all graphs is slow.
"""

import importlib.util
import json
import random

import pytest

from tests.vectors import PROJECT, ROOT, need

FOLDER = ROOT / "tf_graphs"
TRUTHS = {path.name.removesuffix(".truth.json"): path for path in sorted(FOLDER.glob("*.truth.json"))}

SMALL = 40_000
"""The largest size in bytes of the truth of a small graph."""
SMALL_GRAPHS = sorted(name for name, path in TRUTHS.items() if path.stat().st_size < SMALL)
SAMPLE = sorted(random.Random(15).sample(SMALL_GRAPHS, min(12, len(SMALL_GRAPHS))))

FLOORS = {"sym": 95.0, "const": 99.5, "inner": 95.0}
"""Percent of dims that are exact: those that vary with the inputs, those that do not, and those inside bodies."""

WRONG = ("const_wrong", "sym_wrong", "dd_wrong", "rank_wrong")


def load_file(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scorer():
    path = FOLDER / "score_tf.py"
    return load_file(need(path if path.exists() else None, "tf_graphs/score_tf.py"))


@pytest.fixture(scope="module")
def infer():
    return load_file(PROJECT / "tools" / "conformance.py").infer_tf


def score(scorer, infer, name):
    """The counts of a graph, and what is wrong in it."""
    truth = json.loads(TRUTHS[name].read_text(encoding="utf8"))
    answers = infer(scorer.model_path(str(TRUTHS[name]), truth), scorer.inputs_of(truth))
    counts, wrong, _ = scorer.score(truth, answers)
    return counts, wrong


@pytest.mark.parametrize("name", SAMPLE or ["-"])
def test_nothing_is_wrong_in_a_small_graph(scorer, infer, name):
    _, wrong = score(scorer, infer, name)
    assert not wrong


@pytest.mark.slow
def test_the_corpus(scorer, infer):
    totals, all_wrong = {}, {}
    for name in TRUTHS:
        counts, wrong = score(scorer, infer, name)
        for key, count in counts.items():
            totals[key] = totals.get(key, 0) + count
        if wrong:
            all_wrong[name] = wrong
    assert not all_wrong
    assert not [key for key in totals if key.removeprefix("inner_") in WRONG and totals[key]]
    assert not {kind: share for kind, share in shares(totals).items() if share < FLOORS[kind]}


def shares(totals):
    """The percent of exact dims of each kind."""
    inner = totals["inner_const"] + totals["inner_sym"], totals["inner_const_right"] + totals["inner_sym_right"]
    parts = {kind: (totals[kind], totals[f"{kind}_right"]) for kind in ("sym", "const")} | {"inner": inner}
    return {kind: 100 * right / max(1, total) for kind, (total, right) in parts.items()}
