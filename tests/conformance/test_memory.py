"""Public benchmarks of planners: minimalloc CSVs with the capacity in the name, and arenas of other planners.

`memory/*.NUMBER.csv` are large; `baseline.json` has the arenas of cheap greedy planners for them, and
`omnimalloc_results.json` those of omnimalloc, as multiples of the capacity. The names of `memory/small/*.NUMBER.csv`
contain the optimum.
"""

from __future__ import annotations

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.memory.planning import (
    PLANNERS,
    best,
    greedy_by_size,
    load_problem,
    plan_from_csv,
    problem_from_csv,
    thorough,
    to_csv,
)
from shapeinf.memory.planning.packing import Blocks, pack
from tests.memory.planning_cases import faults
from tests.vectors import ROOT, need, vectors

FOLDER = ROOT / "memory"
LARGE = sorted(FOLDER.glob("*.*.csv"))
SMALL = sorted((FOLDER / "small").glob("*.*.csv"))
BASELINE = vectors("memory/baseline.json")
OMNIMALLOC = vectors("memory/omnimalloc_results.json")
FITS = ("first", "best")
THROUGH_OMNIMALLOC = 1.16


def capacity(path):
    return int(path.name.split(".")[-2])


def greedy_arenas(path):
    """The arenas of other cheap greedy planners by name, in bytes."""
    capacities = {}
    for entry in need(BASELINE, "memory/baseline.json"):
        if entry["file"] == path.name:
            capacities |= {key: value for key, value in entry.items() if key.endswith(("_first", "_best"))}
    for name, (ratio, _) in (OMNIMALLOC or {}).get(path.name, {}).items():
        if name.startswith("greedy") or name == "best_fit":
            capacities[name] = round(ratio * capacity(path))
    return capacities


def test_vectors_exist():
    need(BASELINE, "memory/baseline.json")
    assert LARGE and SMALL


@pytest.mark.parametrize("path", [*LARGE, *SMALL], ids=lambda path: path.name)
def test_every_planner_is_valid(path):
    problem = load_problem(path)
    for name in PLANNERS.keys() - {"thorough"}:
        assert not faults(problem, PLANNERS[name](problem)), name


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_best_is_no_worse_than_the_best_of_the_cheap_greedies(path):
    capacities = greedy_arenas(path)
    if not capacities:
        pytest.skip(f"{path.name}: no baseline")
    # the results of omnimalloc are rounded to 4 digits of the capacity
    assert best(load_problem(path)).arena <= min(capacities.values()) + capacity(path) * 5e-5


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_greedy_planners_match_those_of_others(path):
    """Independent implementations of the same order and the same gaps return the same arena, to the byte."""
    published = greedy_arenas(path)
    problem = load_problem(path)
    blocks = Blocks.from_problem(problem)
    requests = problem.requests
    orders = {
        "size": lambda i: -requests[i].size,
        "area": lambda i: -requests[i].size * (requests[i].upper - requests[i].lower),
        "dur": lambda i: (requests[i].lower - requests[i].upper, -requests[i].size),
        "start": lambda i: (requests[i].lower, -requests[i].size),
    }
    ours = {}
    for key, order in orders.items():
        sequence = np.array(sorted(range(len(requests)), key=order))
        ours |= {f"{key}_{fit}": blocks.arena(pack(blocks, sequence, fit)) for fit in FITS}
    theirs = {key: value for key, value in published.items() if key in ours}
    assert {key: ours[key] for key in theirs} == theirs
    if "size_first" in published:
        assert greedy_by_size(problem).arena == published["size_first"]


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_best_reaches_the_optimum_of_small_problems(path):
    assert best(load_problem(path)).arena == capacity(path)


@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_live_sets_match_the_vectors(path):
    for entry in need(BASELINE, "memory/baseline.json"):
        if entry["file"] == path.name:
            problem = load_problem(path)
            assert (len(problem.requests), problem.most_alive) == (entry["n"], entry["max_live"])


@pytest.mark.parametrize("path", [*LARGE, *SMALL], ids=lambda path: path.name)
def test_files_read_back(path):
    text = path.read_text()
    problem = problem_from_csv(text)
    assert to_csv(problem).split() == text.split()
    plan = greedy_by_size(problem)
    assert plan_from_csv(to_csv(plan)).slots == plan.slots


@pytest.mark.slow
@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_thorough(path):
    """The arena is at most that of omnimalloc's search after three seconds; this search is bounded by steps."""
    plan = thorough(load_problem(path))
    assert not faults(load_problem(path), plan)
    assert plan.arena <= THROUGH_OMNIMALLOC * capacity(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", LARGE, ids=lambda path: path.name)
def test_through_omnimalloc(path):
    """omnimalloc's search is bounded by time, so the plan of `thorough` is used if it is smaller."""
    pytest.importorskip("omnimalloc", reason="omnimalloc is not installed: pip install 'shapeinf[omnimalloc]'")
    from shapeinf.memory.planning.planners import omnimalloc

    plan = omnimalloc(load_problem(path))
    assert not faults(load_problem(path), plan)
    assert plan.arena <= THROUGH_OMNIMALLOC * capacity(path)


@pytest.mark.parametrize(
    ("relations", "expected"),
    [(["past_sequence_length + sequence_length <= 4096"], 135_266_304), ([], 270_499_584)],
)
def test_a_cache_with_and_without_its_relation(relations, expected):
    """The plan for the range needs no more than the most bytes in use at once, which were computed by hand."""
    path = FOLDER / "kv.onnx"
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    dims = {"past_sequence_length": (0, 4095), "sequence_length": (1, 4096)}
    memory = infer_shapes(path, dims=dims, bind={"b": 1}, min_dim=0, assume=relations).memory()
    plan = memory.plan()
    assert plan.arena == expected
    assert memory.verify_plan(plan) == []
    assert memory.verify_plan(plan, {"past_sequence_length": 96, "sequence_length": 4000}) == []
