"""Vectors that this project did not write; their root is SHAPEINF_CONFORMANCE, else ../shared/conformance."""

import json
import os
import warnings
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOT = Path(os.environ.get("SHAPEINF_CONFORMANCE", PROJECT.parent / "shared" / "conformance"))


def vectors(relative):
    """The parsed JSON of a vector file; None, with a warning, when the suite is not there."""
    path = ROOT / relative
    if not path.exists():
        warnings.warn(f"conformance vectors are not there, their tests are skipped: {relative}", stacklevel=2)
        return None
    return json.loads(path.read_text(encoding="utf8"))


def need(data, relative):
    if data is None:
        pytest.skip(f"{relative} is not there: set SHAPEINF_CONFORMANCE to the folder that holds it")
    return data
