"""Every command on hostile files ends in an answer or one message, in 10 seconds and 1 GB, in a process of its own."""

import random

import click
import pytest

from shapeinf.cli.main import main
from tests.formats.damage.cases import SUFFIXES, case
from tests.limits.commands import HARD_SECONDS, SECONDS, arguments, failure, outcomes
from tests.limits.hostile import HOSTILE
from tests.vectors import ROOT as VECTORS

FINDINGS = VECTORS / "findings3"
MODELS = {".onnx", ".nnef", ".param", ".pbtxt", ".pb", ".json"}
MUTATED = 500
"""The damaged files of each form."""
SLICE = 16
"""The damaged files of the seeded slice, each with one command."""

COMMANDS = [name for name in main.list_commands(click.Context(main)) if arguments(name, "m", "f")]


def check(commands, seconds=SECONDS):
    wrong = [(outcome, why) for outcome in outcomes(commands) if (why := failure(outcome, seconds))]
    lines = [f"{' '.join(outcome['args'])}: {why}\n{outcome['end']}" for outcome, why in wrong[:10]]
    assert not wrong, "\n\n".join([f"{len(wrong)} commands", *lines])


def write_cases(family, numbers, folder):
    """The paths of damaged files."""
    for number in numbers:
        data = case(family, number)
        path = folder / f"m{number}.{SUFFIXES[family]}"
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        yield str(path)


def test_every_command_has_arguments_or_a_reason():
    assert len(COMMANDS) == len(main.list_commands(click.Context(main))) - 1


def test_a_slice_of_damaged_files(tmp_path):
    """Families and commands in turn."""
    commands = []
    for number in range(SLICE):
        family = list(SUFFIXES)[number % len(SUFFIXES)]
        (path,) = write_cases(family, [number], tmp_path)
        commands.append(arguments(random.Random(number).choice(COMMANDS), path, str(tmp_path)))
    check(commands, HARD_SECONDS)


@pytest.mark.parametrize("name", HOSTILE)
def test_models_of_exponential_work_end(name, tmp_path):
    """The command for which a file was made."""
    command, build, suffix = HOSTILE[name]
    path = tmp_path / f"m.{suffix}"
    path.write_bytes(build())
    check([arguments(command, str(path), str(tmp_path))], HARD_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_all_commands_on_models_of_exponential_work(command, tmp_path):
    paths = []
    for name, (_, build, suffix) in HOSTILE.items():
        paths.append(tmp_path / f"{name}.{suffix}")
        paths[-1].write_bytes(build())
    check(arguments(command, str(path), str(tmp_path)) for path in paths)


@pytest.mark.slow
@pytest.mark.parametrize("family", SUFFIXES)
def test_all_commands_on_damaged_files(family, tmp_path):
    paths = write_cases(family, range(MUTATED), tmp_path)
    check(arguments(command, path, str(tmp_path)) for path in paths for command in COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_all_commands_on_the_findings(command, tmp_path):
    if not FINDINGS.is_dir():
        pytest.skip(f"no folder {FINDINGS}")
    paths = sorted(path for path in FINDINGS.rglob("*") if path.suffix in MODELS and path.is_file())
    check(arguments(command, str(path), str(tmp_path)) for path in paths)
