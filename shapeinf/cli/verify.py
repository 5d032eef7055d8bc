"""`shapeinf verify MODEL`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import click
import numpy as np

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import check_bindings, json_option, parse_sizes
from shapeinf.cli.output import FAILURE, echo_json, echo_lines, fail_on
from shapeinf.cli.sections import SectionedCommand
from shapeinf.formats.files import open_regular
from shapeinf.runtime import RUNTIMES, MemoryVerification, Verification, verify, verify_memory
from shapeinf.runtime.memory_verification import MEASURED


def _parse_files(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """All `--input NAME=FILE` of a command line."""
    files = {}
    for text in values:
        name, equals, path = text.rpartition("=")
        if not equals or not name or not path:
            raise click.BadParameter(f"{text!r}: expected NAME=FILE.npy", param=parameter)
        files[name] = path
    return files


def _load_arrays(files: dict[str, str]) -> dict[str, Any]:
    arrays = {}
    for name, path in files.items():
        try:
            with open_regular(path) as file:
                array = np.load(file, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise click.UsageError(f"--input {name}: {path} is not an .npy file of one array: {error}") from None
        if not isinstance(array, np.ndarray):
            raise click.UsageError(f"--input {name}: {path} holds several arrays: save one array with numpy.save")
        arrays[name] = array
    return arrays


@click.command(name="verify", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.option(
    "--runtime",
    type=click.Choice(list(RUNTIMES)),
    help="The runtime that runs MODEL; by default onnxruntime, tensorflow or torch, by its format.",
)
@model_options(without=("strict",))
@click.option(
    "--at",
    multiple=True,
    callback=parse_sizes,
    metavar="NAME=N,...",
    help="Run MODEL at these sizes, in addition to the sizes of --bind. Repeatable: each is a run.",
)
@click.option(
    "--input",
    "files",
    multiple=True,
    callback=_parse_files,
    metavar="NAME=FILE.npy",
    help="Values of an input; by default floats are random and integers are 0 or 1. Repeatable.",
)
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Seed of the random inputs.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Stop a run that takes longer."
)
@click.option(
    "--memory",
    is_flag=True,
    help="Measure the peak of a run in onnxruntime, in a process of its own, and compare it with the peak that "
    "`shapeinf memory --runtime onnxruntime` predicts.",
)
@click.option(
    "--optimize",
    type=click.Choice(["off", "all"]),
    help="With --memory: whether the session optimizes MODEL; all by default.",
)
@json_option
def verify_command(
    model: str,
    runtime: str | None,
    options: ModelOptions,
    at: list[dict[str, int]],
    files: dict[str, str],
    seed: int,
    timeout: float | None,
    memory: bool,
    optimize: Literal["off", "all"] | None,
    json_wanted: bool,
) -> None:
    """Run MODEL and compare the type of every tensor with the inferred one.

    MODEL is an ONNX file (onnxruntime, openvino), a model of TensorFlow (tensorflow), a program of torch.export
    (torch), or a network of PNNX (torch, ncnn). A second run writes the outputs into buffers of exactly the inferred
    sizes, where the runtime allows this. Dims without a size get a small size. The model runs in this process (ncnn in
    a separate one): run only models that you trust.

    Exit codes: 0 all types are as inferred, 1 some types are not as inferred (with --memory: a run takes more memory
    than predicted), 2 usage, 3 the runtime is not installed or refuses the model (its message is printed), or a file
    cannot be read.
    """
    if optimize and not memory:
        raise click.UsageError("--optimize needs --memory")
    if memory and runtime not in (None, MEASURED):
        raise click.UsageError(f"--memory measures {MEASURED} only: no peak of {runtime} is predicted")
    with readable_errors():
        for sizes in at or [{}]:
            check_bindings(options.dims, {**options.inference.bind, **sizes})
        graph = options.read(model)
        settings: dict[str, Any] = {
            "at": at or [{}],
            "arrays": _load_arrays(files),
            "seed": seed,
            "timeout": timeout,
            "options": options.options_for(graph),
        }
        verification: Verification | MemoryVerification
        if memory:
            verification = verify_memory(graph, optimize=optimize or "all", **settings)
        else:
            verification = verify(graph, runtime=runtime, **settings)
        if json_wanted:
            echo_json(attrs.evolve(verification, model=model))
        else:
            echo_lines(str(verification))
    fail_on(verification.mismatches)
    if verification.refused:
        raise click.exceptions.Exit(FAILURE)
