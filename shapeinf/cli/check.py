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
from shapeinf.cli.codes import FINDINGS
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.listing import say, show_finding, terminal
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import echo_json, echo_lines
from shapeinf.diagnostics import Diagnostic
from shapeinf.inputs.spec import SpecError
from shapeinf.report import findings_as_github, findings_as_json, findings_as_markdown, summary


def _read_shapes(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Shapes:
    try:
        return parse_shapes(",".join(texts)) if texts else {}
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _shapes(corner: str, what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of trtexec for one corner of a profile."""
    return click.option(
        f"--{corner}Shapes",
        corner,
        multiple=True,
        callback=_read_shapes,
        metavar="NAME:SHAPE,...",
        help=f"The {what} shapes of inputs, as trtexec takes them: ids:1x128,mask:1x128.",
    )


def _profiles(path: str | None, corners: dict[str, Shapes]) -> list[Profile]:
    found = [] if path is None else read_profiles(path)
    if any(corners.values()):
        found.append(Profile.of(corners["min"], corners["opt"], corners["max"]))
    return found


@click.command(name="check", short_help="Check what a model declares and what a deployment asks.")
@click.argument("model", type=click.Path())
@model_options(without=("declared", "strict"))
@click.option("--json", "form", flag_value="json", help="Print JSON; its field `schema` names the version.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table, for a pull request.")
@click.option("--github", "form", flag_value="github", help="Print workflow commands that GitHub shows at the file.")
@click.option(
    "--profile",
    type=click.Path(),
    metavar="FILE",
    help='JSON with the shapes of one or several profiles: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}.',
)
@_shapes("min", "smallest")
@_shapes("opt", "usual")
@_shapes("max", "largest")
@click.option("--triton", type=click.Path(), metavar="CONFIG", help="A serving config of Triton, `config.pbtxt`.")
def check_command(
    model: str,
    given: ModelOptions,
    form: str | None,
    profile: str | None,
    triton: str | None,
    **corners: Shapes,
) -> None:
    """Check what MODEL declares, and what a deployment asks of it, against what its graph does.

    Exit codes: 0 fine (notes do not count), 1 findings, 2 usage, 3 could not run.
    """
    with readable_errors():
        result = given.evolve(declared="check").infer(model)
        ranges = {**given.dims, **given.options.bind}
        findings = check(result, ranges)
        for one in _profiles(profile, corners):
            findings += check_profile(CheckedModel(result, ranges), one)
        if triton is not None:
            findings += check_serving(CheckedModel(result, ranges), read_serving_config(triton))
        findings = sorted(findings, key=lambda one: not one.fails)
        show(model, findings, form)
    if any(one.fails for one in findings):
        raise click.exceptions.Exit(FINDINGS)


def show(model: str, findings: Sequence[Diagnostic], form: str | None) -> None:
    """Print findings in a form; for people by default."""
    if form == "json":
        echo_json(findings_as_json(model, findings))
    elif form == "markdown":
        echo_lines(findings_as_markdown(model, findings))
    elif form == "github":
        if findings:
            echo_lines(findings_as_github(model, findings))
    else:
        console = terminal()
        for one in findings:
            show_finding(console, one)
            say(console, "")
        say(console, summary(findings))
