"""The template of a package with operators: its own tests pass where it is installed, and only there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = ROOT / "examples" / "plugin"


def run(*arguments: object, path: list[Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """A run of this Python with these folders on its path, in which no package of the same name is installed."""
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, ROOT]))}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A copy: building writes into its folder."""
    return Path(shutil.copytree(TEMPLATE, tmp_path / "plugin", ignore=shutil.ignore_patterns("build", "*.egg-info")))


def declared_entry_points(template: Path) -> str:
    """The entry points of its pyproject.toml in the form of an installed package."""
    text = (template / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split('[project.entry-points."shapeinf.opdefs"]\n')[1].split("\n\n")[0]
    return "[shapeinf.opdefs]\n" + section.replace('"', "") + "\n"


def metadata(template: Path, folder: Path) -> Path:
    """A folder with the metadata of the package, as an installer writes them."""
    info = folder / "acme_shapes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-shapes\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(declared_entry_points(template), encoding="utf-8")
    return folder


def test_the_tests_of_the_template_pass_with_its_metadata(template: Path, tmp_path: Path) -> None:
    site = metadata(template, tmp_path / "site")
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", template, path=[site, template / "src"], folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_the_command_line_knows_the_operators(template: Path, tmp_path: Path) -> None:
    """With the package `PatchMerge` has a shape; without its metadata it is an unknown operator."""
    site = metadata(template, tmp_path / "site")
    text = (template / "tests" / "test_acme.py").read_text(encoding="utf-8").split('MODEL = """')[1].split('"""')[0]
    (tmp_path / "m.onnxtxt").write_text(text, encoding="utf-8")
    command = ("-m", "shapeinf.cli", "infer", "m.onnxtxt")
    done = run(*command, path=[site, template / "src"], folder=tmp_path)
    assert "[batch, H//4, W//4, 96]" in done.stdout and not done.stderr
    done = run(*command, path=[template / "src"], folder=tmp_path)
    assert "S201" in done.stdout and "PatchMerge" in done.stdout


def test_a_broken_template_is_named_and_onnx_works(template: Path, tmp_path: Path) -> None:
    site = metadata(template, tmp_path / "site")
    (template / "src" / "acme_shapes" / "onnx_operators.py").write_text("1 / 0\n", encoding="utf-8")
    model = ROOT / "examples" / "convnet.onnx"
    done = run("-m", "shapeinf.cli", "infer", model, path=[site, template / "src"], folder=tmp_path)
    assert done.returncode == 0
    assert "[batch, 16, height, width]" in done.stdout
    assert "S401" in done.stdout and "'onnx.acme' of the package acme-shapes 1.0 cannot be loaded" in done.stdout


@pytest.mark.slow
def test_the_template_is_installed_by_pip(template: Path, tmp_path: Path) -> None:
    options = ["--no-index", "--no-build-isolation", "--no-deps", "--disable-pip-version-check"]
    done = run("-m", "pip", "install", *options, "--target", tmp_path / "site", template, path=[], folder=tmp_path)
    for missing in ("No module named pip", "No module named 'setuptools'", "invalid command 'bdist_wheel'"):
        if missing in done.stdout + done.stderr:
            pytest.skip(f"this environment cannot build wheels without a network: {missing}")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", template, path=[tmp_path / "site"], folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
