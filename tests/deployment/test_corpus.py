"""The models of the corpus: Triton reads what is written, and our checks find nothing in it at any of its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from shapeinf import BindError, Result, infer_shapes
from shapeinf.checks import (
    PROFILE_FORMS,
    CheckedModel,
    check_profile,
    check_serving,
    numeric_runs,
    profile_text,
    read_profiles,
    read_serving_config,
)
from shapeinf.deployment import CheckedProfile, make_profile, make_serving_config
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import ExportError
from tests.deployment.triton import parse_config
from tests.vectors import ROOT

MODELS = sorted((ROOT / "models" / "dev").glob("*.onnx"))
EACH = [
    pytest.param(model, id=model.name, marks=[] if number % 20 == 3 else [pytest.mark.slow])
    for number, model in enumerate(MODELS)
]

pytestmark = pytest.mark.skipif(not MODELS, reason="the corpus of models is not there")


def ranges_of(result: Result) -> Iterator[dict[str, Any]]:
    """Four sizes of each dim, then single sizes at which all known preconditions hold."""
    yield {
        name: (bounds.lo or 1, min(bounds.hi or 1 << 20, (bounds.lo or 1) + 3)) for name, bounds in result.dims.items()
    }
    labels = input_symbols(result.engine.inference)
    for binding in islice(numeric_runs.tested_bindings(CheckedModel(result)), 3):
        yield {label: binding[symbol.name] for symbol, label in labels.items() if symbol.name in binding}


def profiles_of(model: Path, result: Result) -> Iterator[CheckedProfile]:
    for ranges in ranges_of(result):
        try:
            yield make_profile(model, ranges)
        except BindError as error:
            assert any(code in str(error) for code in ("C152", "C153")), error


@pytest.mark.parametrize("model", EACH)
def test_profiles(model: Path, tmp_path: Path) -> None:
    """A range with an illegal size is refused, never written."""
    result = infer_shapes(model, declared="check")
    for checked in islice(profiles_of(model, result), 1):
        for form in PROFILE_FORMS:
            try:
                (tmp_path / form).write_text(profile_text([checked.profile], form), encoding="utf-8")
            except ExportError:
                assert form != "json"
                continue
            assert read_profiles(str(tmp_path / form)) == [checked.profile]
        diagnostics = check_profile(CheckedModel(result), checked.profile)
        assert [d.code for d in diagnostics if d.code in ("C150", "C151", "C152", "C153")] == []


@pytest.mark.parametrize("model", EACH)
def test_serving_configs(model: Path, tmp_path: Path) -> None:
    """The graph runs at each batch from 1 to the largest one."""
    result = infer_shapes(model, declared="check")
    written = make_serving_config(model, 8)
    path = tmp_path / "config.pbtxt"
    path.write_text(str(written), encoding="utf-8")
    config = read_serving_config(str(path))
    assert config == written.config
    assert check_serving(CheckedModel(result), config) == []
    for batch in range(1, config.max_batch_size + 1):
        shapes = {
            port.name: [batch, *(size for size in port.dims[1:])] for port in config.inputs if config.max_batch_size
        }
        assert numeric_runs.run_at_shapes(CheckedModel(result), shapes) == []
    message = parse_config(str(written))
    assert message.max_batch_size == config.max_batch_size
    assert [port.name for port in message.input] == [port.name for port in config.inputs]
    assert [port.name for port in message.output] == [port.name for port in config.outputs]
