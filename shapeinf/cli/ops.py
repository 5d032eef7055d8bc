"""`shapeinf ops list`, `show`, `missing` and `packages`: the operators that are installed."""

from __future__ import annotations

from collections.abc import Iterator

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.format_options import add_format_options, take_format_options
from shapeinf.cli.groups import CommandGroup
from shapeinf.cli.options import json_option
from shapeinf.cli.output import FAILURE, VIOLATION, echo, echo_json, echo_rows, fail_on
from shapeinf.cli.stdin import path_or_stdin, stdin_errors
from shapeinf.formats import load
from shapeinf.ops import default_registry
from shapeinf.report.operators import (
    DescriptionList,
    MissingList,
    ModelOperators,
    OperatorList,
    PackageList,
    describe_operator,
    list_operators,
    missing_operators,
)
from shapeinf.report.operators_text import (
    OPERATOR_COLUMNS,
    PACKAGE_COLUMNS,
    description_lines,
    missing_lines,
    operator_cells,
    package_cells,
)

_dialect_option = click.option("--dialect", metavar="NAME", help="Operators of one dialect, such as onnx or tf.")


@click.group(cls=CommandGroup)
def ops() -> None:
    """List installed operators by dialect, and operators of a model that have no rule.

    Exit codes: 0 listed, 1 a model has operators without a rule (`missing`) or an entry point is not used (`packages`),
    2 usage (such as an unknown operator or dialect), 3 a file cannot be read.
    """


@ops.command(
    name="list",
    short_help="List the operators with a rule.",
    epilog="Example: shapeinf ops list '*Conv*' --dialect onnx",
)
@click.argument("pattern", default="*", metavar="[PATTERN]")
@_dialect_option
@json_option
def list_command(pattern: str, dialect: str | None, json_wanted: bool) -> None:
    """List the operators with a rule, and the versions at which each of them changes.

    PATTERN is a glob for their names, in any case: '*conv*', 'com.microsoft.*'.

    Exit codes: 0 listed, 2 usage (such as an unknown dialect).
    """
    with readable_errors():
        operators = list_operators(default_registry(), pattern, dialect)
        if not operators:
            part = f"; '*{pattern}*' matches a part of a name" if "*" not in pattern else ""
            echo(f"note: no operator matches {pattern!r}{part}", err=True)
        if json_wanted:
            echo_json(OperatorList(tuple(operators)))
        else:
            echo_rows(OPERATOR_COLUMNS, operator_cells(operators))


@ops.command(short_help="Show the signature of an operator.", epilog="Example: shapeinf ops show Conv --dialect onnx")
@click.argument("operator")
@_dialect_option
@click.option(
    "--version", type=click.IntRange(min=1), metavar="N", help="The version of the opset; the newest by default."
)
@json_option
def show(operator: str, dialect: str | None, version: int | None, json_wanted: bool) -> None:
    """Show the signature of OPERATOR in each dialect: inputs, outputs, attributes with their defaults, and its rule.

    OPERATOR may begin with its domain: com.microsoft.FusedMatMul.

    Exit codes: 0 shown, 2 usage (such as an unknown operator or dialect).
    """
    with readable_errors():
        descriptions = describe_operator(default_registry(), operator, dialect, version or 0)
        if json_wanted:
            echo_json(DescriptionList(tuple(descriptions)))
            return
        for number, description in enumerate(descriptions):
            if number:
                echo("")
            echo(*description_lines(description))


@ops.command(
    short_help="List the operators of a model without a rule.", epilog="Example: shapeinf ops missing model.onnx"
)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path())
@add_format_options
@json_option
def missing(models: tuple[str, ...], json_wanted: bool, **format_options: object) -> None:
    """List the operators of each MODEL without a rule, with the number of their nodes and the nearest names.

    Exit codes: 0 all operators have a rule, 1 some operators have no rule, 2 usage, 3 a file cannot be read; the other
    models are still listed.
    """
    codes: list[int] = []
    results = _missing_operators(models, format_options, codes)
    if json_wanted:
        echo_json(MissingList(tuple(results)))
    else:
        for operators in results:
            echo(*missing_lines(operators))
    if any(codes):
        raise click.exceptions.Exit(max(codes))


def _missing_operators(
    models: tuple[str, ...], format_options: dict[str, object], codes: list[int]
) -> Iterator[ModelOperators]:
    """The operators without a rule of the models that can be read; `codes` gets the exit code of each model."""
    options = take_format_options(format_options)
    for model in models:
        try:
            with readable_errors():
                with stdin_errors(model):
                    graph = load(path_or_stdin(model), options)
                operators = missing_operators(default_registry(), graph)
        except SystemExit as end:  # its message is printed
            codes.append(int(end.code or FAILURE))
            continue
        codes.append(VIOLATION if operators else 0)
        yield ModelOperators(model, tuple(operators))


@ops.command(short_help="List the packages that provide operators.", epilog="Example: shapeinf ops packages")
@json_option
def packages(json_wanted: bool) -> None:
    """List the entry points of the group shapeinf.opdefs: the packages that provide operators.

    An entry point that cannot be loaded, or adds to no dialect, is listed with the reason.

    Exit codes: 0 all entry points are used, 1 some entry points are not used, 2 usage.
    """
    with readable_errors():
        entries = default_registry().entries()
        if json_wanted:
            echo_json(PackageList(tuple(entries)))
        else:
            echo_rows(PACKAGE_COLUMNS, package_cells(entries))
    fail_on(any(entry.problem for entry in entries))
