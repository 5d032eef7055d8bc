"""`shapeinf check MODEL...`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import click
from click.core import ParameterSource

from shapeinf.checks import (
    Baseline,
    CheckConfig,
    ModelCheck,
    ModelChecker,
    ModelPaths,
    check_selectors,
    find_models,
    find_project_file,
    read_baseline,
)
from shapeinf.cli.config import read_config_file
from shapeinf.cli.deployment import Deployment, deployment_options
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options, read_graph
from shapeinf.cli.options import check_bindings
from shapeinf.cli.output import FAILURE, VIOLATION, LateProgress, echo, echo_diagnostic, echo_lines
from shapeinf.cli.sections import Command, SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats.files import write_text
from shapeinf.inputs.config import Config
from shapeinf.report import check_total, render_checks, severity_counts
from shapeinf.schemas import json_text
from shapeinf.texts import format_count

if TYPE_CHECKING:
    from shapeinf.report.check_report import Form

TEXT: Form = "text"
_FORMS = "shapeinf.check.forms"
"""The key of the forms of the report in the context of the command."""


def _read_selectors(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """The codes of all texts, separated by commas; None where the option is not typed."""
    try:
        return check_selectors(code.strip() for text in texts for code in text.split(",")) if texts else None
    except ShapeInferenceError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _selector_option(name: str, help: str) -> Callable[[Command], Command]:
    return click.option(f"--{name}", multiple=True, callback=_read_selectors, metavar="CODE,...", help=help)


def _form_option(form: Form, help: str) -> Callable[[Command], Command]:
    """The option of a form; the command finds those that are typed in the context."""

    def note_form(context: click.Context, _: click.Parameter, typed: bool) -> None:
        if typed:
            context.meta.setdefault(_FORMS, []).append(form)

    return click.option(f"--{form}", is_flag=True, callback=note_form, expose_value=False, help=help)


def _typed_form() -> Form | None:
    """The form that the command line names; None for text."""
    forms: list[Form] = click.get_current_context().meta.get(_FORMS, [])
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} are two forms of one report: choose one")
    return forms[0] if forms else None


@click.command(name="check", cls=SectionedCommand)
@click.argument("models", nargs=-1, required=True, type=click.Path(), metavar="MODEL...")
@_selector_option("select", "Report these codes or prefixes only, such as C1,S101 or ALL. Repeatable.")
@_selector_option("ignore", "Do not report these codes or prefixes; longer prefixes take precedence. Repeatable.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Paths that are not checked. Repeatable.")
@click.option("--baseline", type=click.Path(), metavar="FILE", help="Do not report the findings in FILE.")
@click.option("--write-baseline", type=click.Path(), metavar="FILE", help="Write all findings to FILE, for --baseline.")
@click.option("--isolated", is_flag=True, help="Do not read [tool.shapeinf] of a pyproject.toml.")
@model_options(without=("declared", "strict"), merge=False)
@_form_option("json", "Print JSON; its field `schema` names the form and its version.")
@_form_option("markdown", "Print Markdown tables, for a pull request.")
@_form_option("github", "Print workflow commands, which GitHub shows at the files.")
@_form_option("sarif", "Print a SARIF 2.1.0 log, for code hosts and editors.")
@output_option("Write the report to OUT instead of standard output.")
@deployment_options
def check_command(
    models: tuple[str, ...],
    options: ModelOptions,
    config: CheckConfig | None,
    isolated: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    exclude: tuple[str, ...],
    baseline: str | None,
    write_baseline: str | None,
    output: str | None,
    deployment: Deployment,
) -> None:
    """Check the declarations of models, or the profiles and the serving config of a model, against the graphs.

    A MODEL is a file, a folder (searched for models), or a quoted glob pattern. Settings are read from the table
    [tool.shapeinf] of the nearest pyproject.toml, or from the file of --config.

    Exit codes: 0 no errors or warnings, 1 errors or warnings, 2 usage, 3 a file cannot be read or written; the other
    models are still checked.
    """
    form = _typed_form()
    if write_baseline is not None and (form is not None or output is not None):
        raise click.UsageError(
            "--write-baseline writes no report, and cannot be combined with the form of a report: choose one"
        )
    check_outputs(output=output, write_baseline=write_baseline)
    with readable_errors():
        settings = _settings(config, isolated, select, ignore, baseline)
        named = _find_models(models, settings, exclude)
        if not named.single and deployment.typed_options():
            raise click.UsageError(
                f"{deployment.typed_options()[0]} describes a deployment of one model: name one file"
            )
        checker = ModelChecker(
            settings,
            _typed_config(options, settings),
            options.inference.format_options,
            None if settings.baseline is None or write_baseline else read_baseline(settings.baseline),
            deployment.checks(),
            strict=named.single,
            read=read_graph,
        )
        checks = _run(checker, named, form, stream=output is None and not write_baseline)
        notes = _notes(checker, checks, named)
        if write_baseline:
            _write_baseline(write_baseline, checks)
        else:
            _report(checks, notes, form or TEXT, output, named.single and bool(checks))
    unchecked = any(not check.checked for check in checks)
    failing = any(check.fails for check in checks) and not write_baseline
    raise click.exceptions.Exit(FAILURE if unchecked else VIOLATION if failing else 0)


def _settings(
    config: CheckConfig | None,
    isolated: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    baseline: str | None,
) -> CheckConfig:
    """The config of --config, else of the project, with the options of the command line."""
    if config is None:
        path = None if isolated else find_project_file()
        config = CheckConfig() if path is None else read_config_file(path)
    return attrs.evolve(
        config,
        select=config.select if select is None else select,
        ignore=(*config.ignore, *(ignore or ())),
        baseline=config.baseline if baseline is None else baseline,
    )


def _typed_config(options: ModelOptions, settings: CheckConfig) -> Config:
    """The assumptions of the command line."""
    context = click.get_current_context()
    typed = [n for n in context.params if context.get_parameter_source(n) is not ParameterSource.DEFAULT]
    config = options.as_config(typed)
    merged = settings.inference.merge(config)
    check_bindings(merged.dims, merged.bind)
    return config


def _find_models(paths: Sequence[str], settings: CheckConfig, exclude: Sequence[str]) -> ModelPaths:
    """The models of the command line; its patterns are relative to the current directory."""
    named = find_models(paths, settings.exclude, settings.folder)
    if not exclude:
        return named
    remaining = find_models(named.paths, exclude)
    return attrs.evolve(remaining, excluded=named.excluded + remaining.excluded, single=named.single)


def _run(checker: ModelChecker, named: ModelPaths, form: Form | None, stream: bool) -> list[ModelCheck]:
    """The checks of all models; in text form, each is printed when it is done."""
    checks = []
    for path in named.paths:
        with LateProgress() as progress:
            checker.progress = progress
            # The error of a single model in text form ends the command with its own message and exit code.
            check = checker.check(path) if named.single and form is None else checker.check_safely(path)
        checks.append(check)
        if form is None and stream:
            _print(check, named.single)
    for error in checker.unused_options():
        raise error
    return checks


def _print(check: ModelCheck, single: bool) -> None:
    if check.diagnostics and not single:
        echo(f"{check.path}: {severity_counts(check.diagnostics)}")
    for diagnostic in check.diagnostics:
        echo_diagnostic(diagnostic)
        echo("")


def _notes(checker: ModelChecker, checks: Sequence[ModelCheck], named: ModelPaths) -> list[str]:
    """Remarks on the run: stale entries of the baseline, names of the config that no model has, no models at all."""
    notes = [f"no longer in the model, remove it from the baseline: {entry}" for entry in checker.stale_entries(checks)]
    unused = checker.unused_in_config()
    notes += [f"{checker.config.path}: {option}: no checked model has this name" for option in unused]
    if named.excluded and not named.paths:
        notes.append("all models are excluded: nothing is checked")
    return notes


def _write_baseline(path: str, checks: Sequence[ModelCheck]) -> None:
    if os.path.exists(path):
        read_baseline(path)  # a file that is not a baseline is not overwritten
    baseline = Baseline(path).add({check.path: check.diagnostics for check in checks if check.checked})
    write_text(path, f"{json_text(baseline)}\n")
    for check in checks:
        if not check.checked:
            _print(check, single=False)
    echo(f"wrote {format_count(len(baseline.known), 'finding')} to {path}", err=True)


def _report(checks: Sequence[ModelCheck], notes: Sequence[str], form: Form, output: str | None, single: bool) -> None:
    """Print or write the report; notes for which its form has no place go to standard error."""
    if output is not None:
        text = render_checks(form, checks, notes, single=single)
        write_text(output, f"{text}\n" if text else "")
        echo(f"{check_total(checks, single=single)}; the report is in {output}", err=True)
    elif form == TEXT:
        echo(check_total(checks, single=single))  # each model is printed already
    elif text := render_checks(form, checks, notes, single=single):
        echo_lines(text)
    if form == TEXT or (single and form not in ("json", "sarif")):
        echo(*(f"note: {note}" for note in notes), err=True)
