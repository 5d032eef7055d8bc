"""`shapeinf verify MODEL`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from shapeinf.cli import options
from shapeinf.cli.codes import FAILED, FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo_json, echo_lines
from shapeinf.inputs.spec import SpecError, parse_bindings
from shapeinf.runtime import RUNTIMES, verify


def _sets(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[dict[str, int]]:
    """All `--at batch=1,seq=8` of a command line."""
    try:
        return [parse_bindings(text) for text in values]
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _files(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """All `--input NAME=FILE` of a command line."""
    found = {}
    for text in values:
        name, equals, path = text.rpartition("=")
        if not equals or not name or not path:
            raise click.BadParameter(f"{text!r}: expected NAME=FILE.npy", param=parameter)
        found[name] = path
    return found


def _arrays(files: dict[str, str]) -> dict[str, Any]:
    found = {}
    for name, path in files.items():
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise click.UsageError(f"--input {name}: {path} is no .npy file of one array: {error}") from None
        if not isinstance(array, np.ndarray):
            raise click.UsageError(f"--input {name}: {path} holds several arrays; save one with numpy.save")
        found[name] = array
    return found


@click.command(name="verify", short_help="Run a model and compare every tensor with inference.")
@click.argument("model", type=click.Path())
@click.option(
    "--runtime",
    type=click.Choice(list(RUNTIMES)),
    default="onnxruntime",
    show_default=True,
    help="The runtime that runs MODEL.",
)
@model_options(without=("strict", "dialect", "expand"))
@click.option(
    "--at",
    multiple=True,
    callback=_sets,
    metavar="NAME=N,...",
    help="One run at these sizes, besides those of --bind. May be repeated: a run each.",
)
@click.option(
    "--input",
    "files",
    multiple=True,
    callback=_files,
    metavar="NAME=FILE.npy",
    help="Values of an input; by default numbers are random, integers 0 or 1. May be repeated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random inputs.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="The most that one run may take."
)
@json_option
def verify_command(
    model: str,
    runtime: Any,
    given: ModelOptions,
    at: list[dict[str, int]],
    files: dict[str, str],
    seed: int,
    timeout: float | None,
    json_wanted: bool,
) -> None:
    """Run MODEL, an ONNX file, and compare the type of every tensor with what is inferred.

    Then run it into buffers that are exactly as large as inference says. Dims without a size get a small one. The model
    runs in this process: run only models that you trust.

    Exit codes: 0 all is as inferred, 1 something is not, 2 usage, 3 could not run (the runtime is not installed or
    refuses the model: its words are printed; or the file cannot be read).
    """
    with readable_errors():
        sets = at or [{}]
        for one in sets:
            options.check_bindings(given.dims, {**given.options.bind, **one})
        graph = given.read(model)
        found = verify(
            graph,
            at=sets,
            arrays=_arrays(files),
            runtime=runtime,
            seed=seed,
            timeout=timeout,
            options=given.options_for(graph),
        )
        if json_wanted:
            echo_json({"model": model, **found.as_json()})
        else:
            echo_lines(str(found))
    if found.mismatches:
        raise click.exceptions.Exit(FINDINGS)
    if found.refused:
        raise click.exceptions.Exit(FAILED)
