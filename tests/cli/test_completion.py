"""Completion in bash, zsh and fish, by the shells themselves: the line of the docs, then the Tab key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shapeinf.cli.main import COMMANDS

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the program `shapeinf` and two files."""
    program = tmp_path / "bin" / "shapeinf"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m shapeinf \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "model one.onnx").touch()
    (tmp_path / "notes.txt").touch()
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    source = Path(__file__).resolve().parents[2]
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(source)}


def shell(name: str, script: str, folder: Path) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: its completion is not tried")
    words = {"zsh": [path, "-f", "-c"], "fish": [path, "--no-config", "-c"]}.get(name, [path, "--norc", "-c"])
    done = subprocess.run(
        [*words, script], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def completions(words: list[str], folder: Path) -> list[str]:
    """What bash offers for the last word, by the function that the script defines."""
    quoted = " ".join(f"'{word}'" for word in ["shapeinf", *words])
    script = (
        'eval "$(_SHAPEINF_COMPLETE=bash_source shapeinf)"\n'
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}\n_shapeinf_completion shapeinf\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return shell("bash", script, folder).split("\n")[:-1]


def test_bash_completes_commands_and_options(folder: Path) -> None:
    assert set(COMMANDS) <= set(completions([""], folder))
    assert completions(["sum"], folder) == ["summary"]
    assert set(completions(["memory", "--ali"], folder)) == {"--aliases"}
    assert set(completions(["infer", "--declared", ""], folder)) == {"trust", "check", "ignore"}
    assert set(completions(["ops", "mis"], folder)) == {"missing"}


def test_fish_completes_commands_options_and_files(folder: Path) -> None:
    script = "_SHAPEINF_COMPLETE=fish_source shapeinf | source\ncomplete -C '{}'\n"
    assert "rebatch\tMake a fixed axis dynamic." in shell("fish", script.format("shapeinf reb"), folder)
    assert "--aliases" in shell("fish", script.format("shapeinf memory --ali"), folder)
    assert "one.onnx" in shell("fish", script.format("shapeinf infer mod"), folder)


def test_zsh_loads_the_script(folder: Path) -> None:
    script = (
        "autoload -Uz compinit && compinit -u -d zcompdump\n"
        'eval "$(_SHAPEINF_COMPLETE=zsh_source shapeinf)"\n'
        "print -r -- ${_comps[shapeinf]}\n"
    )
    assert shell("zsh", script, folder).strip() == "_shapeinf_completion"


@pytest.mark.parametrize("name", SHELLS)
def test_what_the_scripts_ask_for_has_commands_and_their_texts(folder: Path, name: str) -> None:
    shell(name, "true", folder)
    request = {**environment(folder), "_SHAPEINF_COMPLETE": f"{name}_complete", "COMP_WORDS": "shapeinf rebat"}
    request["COMP_CWORD"] = "rebat" if name == "fish" else "1"
    done = subprocess.run([folder / "bin" / "shapeinf"], env=request, capture_output=True, text=True, check=True)
    assert "rebatch" in done.stdout
    assert name == "bash" or COMMANDS["rebatch"].summary in done.stdout
