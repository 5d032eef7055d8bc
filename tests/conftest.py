"""Hypothesis profiles: a seeded slice by default, nightly-sized runs with HYPOTHESIS_PROFILE=nightly."""

import os

import pytest
from hypothesis import HealthCheck, settings

collect_ignore = [
    "differential/pnnx/networks.py",  # classes of torch, for the program that records them
    "differential/tf/definition_cases.py",  # objects of TensorFlow, for a sweep and for what records a part of it
    "typing/user_script.py",  # registers operators; a test runs it in a process of its own
]

settings.register_profile(
    "ci", max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands print as into a pipe: pytest-xdist sets COLUMNS, and a developer may set the other variables."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
