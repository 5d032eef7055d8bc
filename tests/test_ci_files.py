"""The hook for pre-commit and the action for GitHub: their files are valid, and what they run works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shapeinf.cli.check import check_command
from tests.checks.models import join_model, reshape_model

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: the files for CI are not read")

ROOT = Path(__file__).resolve().parent.parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"
ACTION = ROOT / "action.yml"
NAMES = ["fine.onnx", "fixed [1].onnx"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with two models, one with a warning, and another file."""
    (tmp_path / "fine.onnx").write_bytes(join_model("Add", "n", "n").SerializeToString())
    (tmp_path / "fixed [1].onnx").write_bytes(reshape_model(4, 2, 3).SerializeToString())
    (tmp_path / "notes.txt").write_text("no model\n")
    run(tmp_path, "git", "init", "-q")
    run(tmp_path, "git", "add", ".")
    return tmp_path


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull, **variables}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
    )


# -- pre-commit ------------------------------------------------------------------------------------------------------


def hook() -> dict[str, Any]:
    (only,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    return dict(only)


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("model.onnx", True),
        ("zoo/net/graph.nnef", True),
        ("net.nnef.tgz", True),
        ("net.pnnx.param", True),
        ("net.ncnn.param", False),
        ("saved/saved_model.pb", True),
        ("data/input_0.pb", False),
        ("onnx.py", False),
        ("weights.bin", False),
    ],
)
def test_the_hook_runs_for_models(path: str, matches: bool) -> None:
    assert bool(re.search(hook()["files"], path)) == matches


def test_the_entry_of_the_hook_takes_files(project: Path) -> None:
    program, *arguments = hook()["entry"].split()
    assert program == "shapeinf"
    result = run(project, sys.executable, "-m", "shapeinf.cli", *arguments, *NAMES)
    assert result.returncode == 1, result.stderr
    assert "fixed [1].onnx: 1 warning" in result.stdout
    assert result.stdout.endswith("2 models checked: 1 without findings, 1 with findings (1 warning)\n")


def write_config(project: Path, repository: dict[str, Any]) -> None:
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [repository]}))


def run_hook(project: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"]
    return run(project, *command, PRE_COMMIT_HOME=str(project / ".cache"), PRE_COMMIT_COLOR="never")


def test_pre_commit_runs_the_hook(project: Path) -> None:
    """In this environment, without an installation of its own."""
    entry = f"{sys.executable} -m shapeinf.cli {hook()['entry'].partition(' ')[2]}"
    write_config(project, {"repo": "local", "hooks": [{**hook(), "language": "system", "entry": entry}]})
    result = run_hook(project)
    assert (result.returncode, "fixed [1].onnx: 1 warning" in result.stdout) == (1, True), result.stdout + result.stderr
    assert "2 models checked" in result.stdout
    (project / "pyproject.toml").write_text('[tool.shapeinf]\nignore = ["C101"]\n')
    result = run_hook(project)
    assert (result.returncode, "Passed" in result.stdout) == (0, True), result.stdout + result.stderr


@pytest.mark.slow
def test_pre_commit_installs_the_hook(project: Path) -> None:
    """From a commit of this repository, with packages of the index."""
    head = run(ROOT, "git", "rev-parse", "HEAD").stdout.strip()
    if not head or HOOKS.name not in run(ROOT, "git", "ls-tree", "--name-only", "HEAD").stdout.split():
        pytest.skip("this is no git repository with the hook")
    write_config(project, {"repo": str(ROOT), "rev": head, "hooks": [{"id": hook()["id"]}]})
    result = run_hook(project)
    if "InstallationError" in result.stdout or "CalledProcessError" in result.stdout:
        pytest.skip(f"pre-commit cannot install here: {result.stdout[-400:]}")
    assert (result.returncode, "fixed [1].onnx: 1 warning" in result.stdout) == (1, True), result.stdout + result.stderr


# -- the action ------------------------------------------------------------------------------------------------------


def action() -> dict[str, Any]:
    return dict(yaml.safe_load(ACTION.read_text(encoding="utf-8")))


def check_step() -> dict[str, Any]:
    return next(step for step in action()["runs"]["steps"] if step.get("name") == "Check")


REAL = f'exec "{sys.executable}" -m shapeinf.cli "$@"'
STUB = 'for argument in "$@"; do echo "<$argument>"; done'
"""A `shapeinf` that prints its arguments."""


def run_action(project: Path, program: str = REAL, /, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step that checks, with inputs by name (`_` for `-`), as the runner of GitHub runs it."""
    values = {name: str(spec["default"]) for name, spec in action()["inputs"].items()}
    values.update((name.replace("_", "-"), text) for name, text in inputs.items())
    variables = {
        variable: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], template)
        for variable, template in check_step()["env"].items()
    }
    tools = project / ".tools"
    tools.mkdir(exist_ok=True)
    command = tools / "shapeinf"
    command.write_text(f"#!/bin/sh\n{program}\n")
    command.chmod(0o755)
    variables["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check_step()["run"]]
    return run(project, *script, **variables)


def test_every_input_is_described_and_reaches_the_step() -> None:
    inputs = action()["inputs"]
    assert all(spec["description"].endswith(".") and "default" in spec for spec in inputs.values())
    text = ACTION.read_text(encoding="utf-8")
    assert {name for name in inputs if f"${{{{ inputs.{name} }}}}" in text} == set(inputs)
    options = set(re.findall(r"--([a-z]+)", check_step()["run"]))
    assert options <= {option.lstrip("-") for parameter in check_command.params for option in parameter.opts}


def test_no_input_is_part_of_a_script() -> None:
    assert not [step["run"] for step in action()["runs"]["steps"] if "${{" in step.get("run", "")]


def test_the_action_annotates(project: Path) -> None:
    result = run_action(project)
    assert result.returncode == 1, result.stderr
    assert result.stdout.startswith("::warning file=fixed [1].onnx,title=C101")


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({}, ["--github", "--", "."]),
        ({"paths": "a b.onnx\n*.onnx\n"}, ["--github", "--", "a b.onnx", "*.onnx"]),
        ({"paths": "--help\n-o"}, ["--github", "--", "--help", "-o"]),
        ({"select": "C1,S1", "ignore": "C101"}, ["--select=C1,S1", "--ignore=C101", "--github", "--", "."]),
        ({"exclude": "a b\n*.nnef"}, ["--exclude=a b", "--exclude=*.nnef", "--github", "--", "."]),
        ({"config": "c.toml", "baseline": "b.json"}, ["--baseline=b.json", "--config=c.toml", "--github", "--", "."]),
        ({"sarif_file": "o p.sarif"}, ["--sarif", "--output=o p.sarif", "--", "."]),
    ],
)
def test_inputs_become_arguments(project: Path, inputs: dict[str, str], arguments: list[str]) -> None:
    result = run_action(project, STUB, **inputs)
    assert result.stdout.splitlines() == ["<check>", *(f"<{argument}>" for argument in arguments)]


def test_the_action_writes_sarif(project: Path) -> None:
    result = run_action(project, sarif_file="out dir.sarif")
    assert (result.returncode, result.stdout) == (1, "")
    assert json.loads((project / "out dir.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize("name", ["paths", "select", "ignore", "exclude", "baseline", "config", "sarif_file"])
@pytest.mark.parametrize("text", ["$(touch owned)", "`touch owned`", '"; touch owned; "', "'; touch owned #", "*"])
def test_inputs_are_never_run(project: Path, name: str, text: str) -> None:
    result = run_action(project, STUB, **{name: text})
    assert any(line.endswith(f"{text}>") for line in result.stdout.splitlines()), result
    assert not (project / "owned").exists()


def test_a_path_that_looks_like_an_option_is_a_path(project: Path) -> None:
    assert run_action(project, paths="--output=owned").returncode == 3
    assert not (project / "owned").exists()


# -- pins ------------------------------------------------------------------------------------------------------------

OWN = "shapeinf/shapeinf@"
"""The action of this repository in its docs: the commit of a release is known after the release."""


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ACTION, ROOT / "docs" / "check-in-ci.md"]
)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    """A tag can be moved to another commit, and a workflow runs whatever it names."""
    used = re.findall(r"uses: *(\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        pinned = re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) and re.fullmatch(r" *# v[0-9.]+", comment)
        assert pinned or action.startswith(OWN), action
