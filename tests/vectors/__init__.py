"""Test vectors that others wrote: published test data, models with recorded shapes, repros of reported defects.

They are in `vectors.tar.xz`, which is unpacked on first use. The folder SHAPEINF_CONFORMANCE, or else
`../shared/conformance` beside the project, replaces it: tests run on other vectors of the same form, too.

The data is derived from test suites under the Apache License 2.0 (TensorFlow, onnx, NNEF-Tools, tract, minimalloc) and
from the text models of KuiperInfer; the models of networks were exported for this project, with random weights.
`tools/make_vectors.py` writes the archive.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ARCHIVE = Path(__file__).with_name("vectors.tar.xz")
BESIDE = PROJECT.parent / "shared" / "conformance"


def vectors_folder() -> Path:
    """The folder of the vectors; one that does not exist if they cannot be unpacked, and their tests are skipped."""
    if named := os.environ.get("SHAPEINF_CONFORMANCE"):
        return Path(named)
    if BESIDE.is_dir():
        return BESIDE
    folder = PROJECT / "build" / f"vectors-{hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:12]}"
    if not folder.is_dir():
        try:
            unpack(folder)
        except OSError as error:
            warnings.warn(f"{ARCHIVE.name} cannot be unpacked, its tests are skipped: {error}", stacklevel=2)
    return folder


def unpack(folder: Path) -> None:
    """Unpack the archive; the processes of one run of pytest may do so at the same time, and the first one wins."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(temporary, filter="data")
        try:
            os.replace(temporary, folder)
        except OSError:
            if not folder.is_dir():
                raise
        else:
            os.mkdir(temporary)  # what the context manager removes


ROOT = vectors_folder()


def vectors(relative: str) -> Any:
    """The parsed JSON of a vector file; None, with a warning, if the file does not exist."""
    path = ROOT / relative
    if not path.exists():
        warnings.warn(f"{relative} does not exist: its tests are skipped", stacklevel=2)
        return None
    return json.loads(path.read_text(encoding="utf8"))


def need(data: Any, relative: str) -> Any:
    """The data of a vector file; skips the test if it is None."""
    if data is None:
        pytest.skip(f"{relative} does not exist: set SHAPEINF_CONFORMANCE to its folder")
    return data
