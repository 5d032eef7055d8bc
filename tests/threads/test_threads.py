"""Several threads: first use in a fresh process, queries of a shared result, additions of shared dims."""

import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shapeinf import infer_shapes
from shapeinf.contract import Contract
from shapeinf.expr import Scope
from shapeinf.formats import FORMATS
from shapeinf.memory import Memory
from shapeinf.memory.peak import Peak
from shapeinf.program import EvaluatedShapes, ShapeProgram
from shapeinf.result import Result
from shapeinf.sharing import cached_property, hold_locks, synchronized
from tests.threads.worker import run_at_once

ROOT = Path(__file__).parents[2]
MODELS = sorted(str(path) for path in (ROOT / "examples").rglob("*") if FORMATS.is_model_path(str(path)))
PROCESSES = [1, pytest.param(40, marks=pytest.mark.slow)]
USUAL, OFTEN = "0.005", "0.000001"
"""Seconds between two switches of threads: Python's own, and as often as it can."""


def differences(*arguments):
    """The output of a fresh process."""
    worker = ROOT / "tests" / "threads" / "worker.py"
    done = subprocess.run(
        [sys.executable, worker, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("processes", PROCESSES)
@pytest.mark.parametrize("interval", [USUAL, OFTEN])
@pytest.mark.parametrize("models", [MODELS[:1], MODELS], ids=["one", "all"])
def test_first_use(processes, interval, models):
    for _ in range(processes):
        assert not differences("first", interval, *models)


@pytest.mark.parametrize("processes", PROCESSES)
@pytest.mark.parametrize("interval", [USUAL, OFTEN])
def test_a_result_that_all_threads_query(processes, interval):
    for _ in range(processes):
        assert not differences("shared", interval, *MODELS)


@pytest.fixture
def often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(float(OFTEN))
    yield
    sys.setswitchinterval(before)


def test_equal_dims_are_the_same_object_in_all_threads(often):
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")

    def work(_):
        dims = [(n * i + m) // (j + 2) + (m * j) % (i + 3) for i in range(1, 12) for j in range(1, 12)]
        return [*map(id, dims), id(scope.symbol("late")), [str(dim) for dim in dims]]

    results = run_at_once(work)
    assert all(each == results[0] for each in results)


def test_new_unknowns_are_different_in_all_threads(often):
    scope = Scope()
    names = [name for names in run_at_once(lambda _: [scope.fresh("x").name for _ in range(300)]) for name in names]
    assert len(set(names)) == len(names)


def test_a_graph_that_all_threads_share(often):
    graph = infer_shapes(MODELS[0]).graph
    expected = {name: str(info) for name, info in infer_shapes(graph).tensors.items()}
    results = run_at_once(lambda _: {name: str(info) for name, info in infer_shapes(graph).tensors.items()})
    assert all(each == expected for each in results)


# -- locks

SHARED = [Result, Contract, Memory, Peak, ShapeProgram, EvaluatedShapes]


@pytest.mark.parametrize("owner", SHARED, ids=lambda owner: owner.__name__)
def test_every_public_query_takes_the_lock(owner):
    """A query waits while another thread holds the lock."""
    methods = [name for name in vars(owner) if not name.startswith("_")]
    members = [vars(owner)[name] for name in methods]
    functions = [m.fget if isinstance(m, property) else getattr(m, "function", m) for m in members]
    assert not [name for name, f in zip(methods, functions, strict=True) if not hasattr(f, "__wrapped__")]


def test_the_lock_of_a_result_keeps_others_out():
    result = infer_shapes(MODELS[0])
    with result.engine.lock:
        assert result.contract.check(batch=1, height=4, width=4).verdict  # it is re-entrant
        reader = threading.Thread(target=lambda: str(result.contract))
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
    reader.join(30)
    assert not reader.is_alive()


def test_two_results_in_both_orders(often):
    locks = [infer_shapes(MODELS[0]).engine.lock for _ in range(2)]

    def work(number):
        for _ in range(200):
            with hold_locks(*(locks if number % 2 else reversed(locks))):
                pass
        return number

    assert run_at_once(work) == list(range(8))


def test_a_generator_cannot_be_synchronized():
    def numbers(self):
        yield 1

    with pytest.raises(TypeError, match="is a generator"):
        synchronized(type("Numbers", (), {"numbers": numbers}))


def test_threads_share_computed_results(often):
    computed = []

    @synchronized
    class Slow:
        def __init__(self):
            self._lock = threading.RLock()

        @cached_property
        def value(self):
            computed.append(sum(range(20_000)))
            return object()

    slow = Slow()
    assert len(set(map(id, run_at_once(lambda _: slow.value)))) == len(computed) == 1


def test_pickled_dims_calculate_by_themselves():
    scope = Scope()
    n, m = scope.symbol("n"), scope.symbol("m")
    _ = n + 1, m * 2
    a, b = pickle.loads(pickle.dumps((n, m)))
    assert [str(a + 1), str(b + 1), str(a * 2), str((a + b) // 2)] == ["n + 1", "m + 1", "2*n", "(n + m)//2"]
    assert a + b is b + a
    assert a.scope is not scope
