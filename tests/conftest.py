"""Profiles of hypothesis, and parts of the suite.

By default the examples are a seeded slice, smaller in the quick part; HYPOTHESIS_PROFILE=nightly is for large runs.
"""

from __future__ import annotations

import os
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


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples in the quick part, unless a profile is chosen."""
    if config.getoption("--part") == "quick" and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    part = config.getoption("--part")
    ignored = collection_path.is_file() and part is not None and is_thorough(collection_path) != (part == "thorough")
    return True if ignored else None


def pytest_report_header(config: pytest.Config) -> str | None:
    if config.getoption("--part") != "quick":
        return None
    return f"the quick part; `make test-all` also runs {', '.join(THOROUGH)}"
