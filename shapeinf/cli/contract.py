"""`shapeinf contract MODEL`."""

from __future__ import annotations

from pathlib import Path

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import json_option, parse_sizes
from shapeinf.cli.output import echo, echo_lines, fail_on
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.codegen import LANGUAGES, Language, guard_text
from shapeinf.contract import Contract
from shapeinf.contract.nearest import nearest_texts
from shapeinf.contract.stored import contract_text
from shapeinf.formats.files import write_text


@click.command(name="contract", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.option(
    "--stored",
    is_flag=True,
    help="Read the contract that `infer --contract` stored with MODEL, without an inference; MODEL may be the file of "
    "the contract itself.",
)
@click.option(
    "--at",
    "points",
    multiple=True,
    callback=parse_sizes,
    metavar="NAME=N,...",
    help="Answer whether the graph runs with these sizes; if not, print the nearest legal sizes. Repeatable.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(LANGUAGES),
    help="Write a guard: a header of C and C++, or a module of another language, with a function that checks sizes.",
)
@json_option
@output_option("Write the contract or the guard to OUT instead of standard output.")
@model_options(without=("strict",))
def contract_command(
    model: str,
    options: ModelOptions,
    stored: bool,
    points: list[dict[str, int]],
    form: Language | None,
    json_wanted: bool,
    output: str | None,
) -> None:
    """Show the contract of MODEL: the conditions under which its graph runs, each with the node that requires it.

    A guard has a function `check` of the sizes of all dims, which returns the violated conditions. The guard needs no
    library, and its arithmetic is exact: an overflow is an error.

    Exit codes: 0 written, and the graph runs with all sizes of --at, 1 the graph does not run with some of these sizes,
    or this is not known, 2 usage, 3 a file cannot be read or written.
    """
    check_outputs(output=output)
    if (form is not None) + json_wanted + bool(points) > 1:
        raise click.UsageError("--at, --json and --format are three forms of the output: choose one")
    with readable_errors():
        read = Contract.load(model) if stored else None
        result = None if stored else options.infer(model)
        contract = read if result is None else result.contract
        assert contract is not None
        answers = [contract.check(sizes) for sizes in points]
        if form is None and not json_wanted:
            text = str(contract)
        else:
            record = read if result is None else result.stored_contract
            assert record is not None
            text = contract_text(record) if form is None else guard_text(record, form, Path(model).stem)
        if output is not None:
            with saving(output):
                write_text(output, f"{text.rstrip()}\n")
        elif not points:
            echo_lines(text.rstrip())
        if read is not None and read.mismatch:
            echo(f"note: {read.mismatch}", err=True)
        for sizes, answer in zip(points, answers, strict=True):
            echo(f"{', '.join(f'{name}={size}' for name, size in sizes.items())}: {answer}")
            if answer.verdict is False and isinstance(contract, Contract):
                echo(*(f"  legal: {text}" for text in nearest_texts(contract, sizes)))
    fail_on(any(answer.verdict is not True for answer in answers))
