"""`shapeinf diff A B`."""

from __future__ import annotations

import click

from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, json_option, model_options
from shapeinf.cli.output import echo, echo_json
from shapeinf.edit.comparison import diff as differences

SCHEMA = "shapeinf.diff/1"


@click.command(short_help="Compare the shapes and contracts of two models.")
@click.argument("before", metavar="A", type=click.Path())
@click.argument("after", metavar="B", type=click.Path())
@model_options(without=("strict", "format_options"))
@json_option
def diff(before: str, after: str, given: ModelOptions, json_wanted: bool) -> None:
    """Compare the shapes and contracts of two models, of any formats; what is said of dims is said of both.

    Exit codes: 0 no difference, 1 differences, 2 usage, 3 could not run (a file that cannot be read).
    """
    with readable_errors():
        found = differences(given.infer(before), given.infer(after))
        if json_wanted:
            records = [
                {"how": d.how, "what": d.part, "name": d.name, "before": d.before, "after": d.after} for d in found
            ]
            echo_json({"schema": SCHEMA, "before": before, "after": after, "differences": records})
        else:
            echo(*(map(str, found) if found else ["no difference"]))
    if found:
        raise click.exceptions.Exit(FINDINGS)
