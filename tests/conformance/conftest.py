"""Test vectors written by others, in the folder SHAPEINF_CONFORMANCE, by default ../shared/conformance."""

import json
import os
import warnings
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOT = Path(os.environ.get("SHAPEINF_CONFORMANCE", PROJECT.parent / "shared" / "conformance"))


def vectors(relative):
    """The parsed JSON of a vector file; None, with a warning, if the file does not exist."""
    path = ROOT / relative
    if not path.exists():
        warnings.warn(f"{relative} does not exist: its tests are skipped", stacklevel=2)
        return None
    return json.loads(path.read_text(encoding="utf8"))


def need(data, relative):
    """The data of a vector file; skips the test if it is None."""
    if data is None:
        pytest.skip(f"{relative} does not exist: set SHAPEINF_CONFORMANCE to its folder")
    return data
