"""Triton's own definition of a model config, from the package tritonclient, without its client and so without gRPC."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@cache
def _definition() -> Any:
    package = importlib.util.find_spec("tritonclient")
    if package is None:
        return None
    folder = Path((package.submodule_search_locations or [os.curdir])[0])
    spec = importlib.util.spec_from_file_location("model_config_pb2", folder / "grpc" / "model_config_pb2.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parse_config(text: str) -> Any:
    """The ModelConfig of a text, read by protobuf; skips the test where tritonclient is not installed."""
    definition = _definition()
    if definition is None:
        pytest.skip("tritonclient is not installed: configs are not read by Triton's own definition")
    from google.protobuf import text_format

    return text_format.Parse(text, definition.ModelConfig())
