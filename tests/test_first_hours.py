"""The page of first hours names tests that exist; what of it concerns the metadata of the package."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dev" / "first-hours.md"
TESTS = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
NAMED = sorted(set(TESTS.findall(PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda text: text)
def test_a_test_that_the_page_names_exists(path: str, name: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)


def test_every_row_has_a_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith("| what was wrong")]
    assert len(rows) > 40
    assert [row for row in rows if not TESTS.search(row.rsplit(" | ", 1)[1])] == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python reads TOML from 3.11 on")
def test_the_metadata_of_the_package() -> None:
    import tomllib

    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "Apache-2.0" and "LICENSE" in project["license-files"]
    assert not [classifier for classifier in project["classifiers"] if classifier.startswith("License")]
    assert {"Documentation", "Changelog", "Issues"} <= set(project["urls"])
    assert all(url.startswith("https://") for url in project["urls"].values())


def test_the_source_archive_has_docs_and_examples() -> None:
    """As far as MANIFEST.in says so: no file of these folders has a kind that it leaves out."""
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line.startswith("recursive-include ")]
    included = {folder: set(kinds) for _, folder, *kinds in words}
    for folder in ("docs", "examples"):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        kinds = {f"*{path.suffix}" for path in files if path.suffix != ".pyc"}
        assert kinds <= included[folder], folder
