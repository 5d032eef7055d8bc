"""`shapeinf expression EXPRESSION [SHAPE...]`."""

from __future__ import annotations

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.options import json_option
from shapeinf.cli.output import echo, echo_json
from shapeinf.report.expression_report import expression_lines, report_expression


@click.command()
@click.argument("expression", metavar="EXPRESSION")
@click.argument("shapes", metavar="[SHAPE]...", nargs=-1)
@click.option(
    "--kuiper",
    is_flag=True,
    help="Read the subset of KuiperInfer, and show its numbers of tokens and nodes and its log.",
)
@json_option
def expression(expression: str, shapes: tuple[str, ...], kuiper: bool, json_wanted: bool) -> None:
    """Show the tokens, tree and reverse Polish order of an expression of a PNNX network.

    Each SHAPE, such as '[N,3,224,224]' or '[N,8]i64', is the shape of an input: of @0, @1 and so on. With shapes, the
    type of the value is inferred, and the contents of numbers and lists.

    Exit codes: 0 parsed, 1 the expression is not defined for these shapes, 2 usage (such as a malformed expression).
    """
    with readable_errors():
        report = report_expression(expression, shapes, as_kuiper=kuiper)
        if json_wanted:
            echo_json(report)
        else:
            echo(*expression_lines(report))
