"""Every command reads a model of ONNX in its text and JSON forms as in binary form."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import onnx
import pytest
from click.testing import CliRunner

from shapeinf.cli.main import main
from tests.differential.random_graphs import bodies, sizes
from tests.limits.commands import arguments

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = {
    "convnet": lambda: onnx.load(EXAMPLES / "convnet.onnx"),
    "decoder": lambda: onnx.load(EXAMPLES / "decoder.onnx"),
    "bodies": lambda: bodies.drawn(3),
    "other bodies": lambda: bodies.drawn(5),
    "sizes": lambda: sizes.drawn(4),
}
FORMS = {"onnxtxt": "onnxtxt", "json": "json", "textproto": "textproto"}
"""The forms of text, by suffix."""
COMMANDS = [
    name
    for name in main.list_commands(click.Context(main))
    if arguments(name, "m", "f") is not None and name != "expression"  # it reads no model
]


@cache
def binary(name: str, command: str, folder: Path) -> tuple[int, str, dict[str, bytes]]:
    """The outcome of a command on a model in binary form."""
    return run(command, write_model(name, folder / f"{name}-{command}", "onnx"))


def write_model(name: str, folder: Path, suffix: str) -> Path:
    """A model in a form, in a folder of its own."""
    folder.mkdir()
    onnx.save(MODELS[name](), folder / f"m.{suffix}", format=FORMS.get(suffix))
    return folder / f"m.{suffix}"


def run(command: str, path: Path) -> tuple[int, str, dict[str, bytes]]:
    """The exit code, the output without what names the form, and the files that were written."""
    done = CliRunner().invoke(main, arguments(command, str(path), str(path.parent)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    text = done.output.replace(str(path.parent), "").replace(path.name, "m.onnx")
    written = {p.name: p.read_bytes() for p in path.parent.iterdir() if p != path and p.is_file()}
    if command == "report":
        written = {name: _without_tables(data).replace(path.name.encode(), b"m.onnx") for name, data in written.items()}
    return done.exit_code, re.sub(r"[\d.]+ m?s\b", "", text), written


def _without_tables(page: bytes) -> bytes:
    """A page without the tables of its script: they number constants and shapes in the order of the file.

    So do the registers of its program, which the policy of the page has a digest of.
    """
    return re.sub(
        rb'(?m)^<script type="application/json".*$|^  r\[\d+\] = .*$|sha256-[^\']+|data-shape="\d+"', b"", page
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the models in binary form."""
    return tmp_path_factory.mktemp("binary")


@pytest.mark.filterwarnings("ignore:The onnxtxt format is experimental")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_form_is_read_as_the_binary_one(command: str, suffix: str, name: str, tmp_path: Path, folder: Path) -> None:
    expected = binary(name, command, folder)
    try:
        path = write_model(name, tmp_path / "m", suffix)
    except Exception as error:  # onnx's own parsers have no common base
        pytest.skip(f"onnx does not write the model in this form: {error}")
    code, text, written = run(command, path)
    endings = {name.replace(suffix, "onnx"): data for name, data in written.items()}
    assert (code, text) == expected[:2]
    if (command, suffix) != ("clean", "onnxtxt"):  # a text of onnx has lists in place of raw data
        assert endings == expected[2]
