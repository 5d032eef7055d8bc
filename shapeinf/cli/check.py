"""`shapeinf check MODEL`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from shapeinf.checks import (
    CheckedModel,
    Profile,
    check,
    check_profile,
    check_serving,
    parse_shapes,
    read_profiles,
    read_serving_config,
)
from shapeinf.checks.profile import Shapes
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import echo, echo_diagnostic, echo_json, echo_lines, fail_on, readable_errors
from shapeinf.diagnostics import Diagnostic
from shapeinf.errors import SpecError
from shapeinf.report import as_github_commands, as_markdown, check_as_json, severity_counts


def _read_shapes(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Shapes:
    try:
        return parse_shapes(",".join(texts)) if texts else {}
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _corner_option(corner: str, adjective: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of trtexec for one corner of a profile."""
    return click.option(
        f"--{corner}Shapes",
        corner,
        multiple=True,
        callback=_read_shapes,
        metavar="NAME:SHAPE,...",
        help=f"The {adjective} shapes of inputs, in the grammar of trtexec: ids:1x128,mask:1x128.",
    )


def _read_profiles(path: str | None, corners: dict[str, Shapes]) -> list[Profile]:
    profiles = [] if path is None else read_profiles(path)
    if any(corners.values()):
        profiles.append(Profile.complete(corners["min"], corners["opt"], corners["max"]))
    return profiles


@click.command(name="check", short_help="Check declarations of a model and deployments of it.")
@click.argument("model", type=click.Path())
@model_options(without=("declared", "strict"))
@click.option(
    "--json", "form", flag_value="json", help="Print JSON; its field `schema` names the form and its version."
)
@click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table, for a pull request.")
@click.option("--github", "form", flag_value="github", help="Print workflow commands, which GitHub shows at the file.")
@click.option(
    "--profile",
    type=click.Path(),
    metavar="FILE",
    help='JSON with the shapes of one or several profiles: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}.',
)
@_corner_option("min", "minimum")
@_corner_option("opt", "optimum")
@_corner_option("max", "maximum")
@click.option("--triton", type=click.Path(), metavar="CONFIG", help="A serving config of Triton, `config.pbtxt`.")
def check_command(
    model: str,
    options: ModelOptions,
    form: str | None,
    profile: str | None,
    triton: str | None,
    **corners: Shapes,
) -> None:
    """Check the declarations of MODEL, and profiles and serving configs for it, against its graph.

    Exit codes: 0 no errors or warnings, 1 errors or warnings, 2 usage, 3 a file cannot be read.
    """
    with readable_errors():
        result = options.evolve(declared="check").infer(model)
        ranges = {**options.dims, **options.inference.bind}
        diagnostics = check(result, ranges)
        for shapes in _read_profiles(profile, corners):
            diagnostics += check_profile(CheckedModel(result, ranges), shapes)
        if triton is not None:
            diagnostics += check_serving(CheckedModel(result, ranges), read_serving_config(triton))
        diagnostics = sorted(diagnostics, key=lambda diagnostic: not diagnostic.fails)
        _print(model, diagnostics, form)
    fail_on(any(diagnostic.fails for diagnostic in diagnostics))


def _print(model: str, diagnostics: Sequence[Diagnostic], form: str | None) -> None:
    if form == "json":
        echo_json(check_as_json(model, diagnostics))
    elif form == "markdown":
        echo_lines(as_markdown(model, diagnostics))
    elif form == "github":
        if diagnostics:
            echo_lines(as_github_commands(model, diagnostics))
    else:
        for diagnostic in diagnostics:
            echo_diagnostic(diagnostic)
            echo("")
        echo(severity_counts(diagnostics))
