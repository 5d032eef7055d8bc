"""Profiles of hypothesis, and parts of the suite.

By default the examples are a seeded slice, smaller in the quick part; HYPOTHESIS_PROFILE=nightly is for large runs.
"""

from __future__ import annotations

import gc
import os
import random
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser, node  # noqa: F401  (fixtures of all tests that open pages)
from tests.parts import THOROUGH, is_thorough

collect_ignore = [
    "differential/pnnx/networks.py",  # classes of torch, for the program that records them
    "differential/pnnx/raw_functions.py",
    "differential/torch_export/drawing.py",  # modules of torch, for the program that records their exports
    "differential/torch_export/kinds.py",
    "differential/torch_export/running.py",
    "differential/tf/definition_cases.py",  # objects of TensorFlow, for a sweep and for what records a part of it
    "failures/record_tensorflow.py",  # need runtimes, for the program that records their messages
    "failures/record_torch.py",
    "typing/user_script.py",  # registers operators; a test runs it in a process of its own
]

settings.register_profile(
    "ci", max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=40)
settings.register_profile("nightly", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print as into a pipe: pytest-xdist sets COLUMNS, and a developer may set the other variables."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=["quick", "thorough"], help="run one part of the suite (tests/parts.py)")
    parser.addoption("--cases", type=int, metavar="N", help="run at most N cases of each parametrized test")
    parser.addoption("--cases-seed", default="0", metavar="TEXT", help="draws the cases (default: 0)")


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples in the quick part, unless a profile is chosen."""
    if config.getoption("--part") == "quick" and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    part = config.getoption("--part")
    ignored = collection_path.is_file() and part is not None and is_thorough(collection_path) != (part == "thorough")
    return True if ignored else None


@pytest.hookimpl(trylast=True)  # after the selection by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep at most so many cases of a test; a seed draws the same ones in each process."""
    most, seed = config.getoption("--cases"), config.getoption("--cases-seed")
    if most is None:
        return
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    drawn = {
        id(item)
        for test, its_items in cases.items()
        for item in random.Random(f"{seed} {test}").sample(its_items, min(most, len(its_items)))
    }
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in drawn])
    items[:] = [item for item in items if id(item) in drawn]


def pytest_collection_finish() -> None:
    """The objects of collected tests, which are millions, are no garbage: a full collection of them takes seconds."""
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str | None:
    if config.getoption("--part") != "quick":
        return None
    return f"the quick part; `make test-all` also runs {', '.join(THOROUGH)}"
