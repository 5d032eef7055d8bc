"""`shapeinf profile MODEL`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import click

from shapeinf.checks import PROFILE_FORMS, ProfileForm, profile_text
from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.options import dim_ranges, parse_sizes
from shapeinf.cli.output import VIOLATION, echo, echo_lines
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.deployment import CheckedProfile, make_profile
from shapeinf.errors import BindError, MissingSizeError
from shapeinf.formats.files import write_text
from shapeinf.inputs.reader import RangeLike
from shapeinf.texts import shell_word

T = TypeVar("T")


def _ranges(context: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> list[dict[str, RangeLike]]:
    """All `--dim NAME=LO..HI`: each text by itself, since a name may be repeated."""
    return [{**dim_ranges(context, parameter, [text])} for text in texts]


@click.command(name="profile", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@click.option(
    "--dim",
    "ranges",
    multiple=True,
    callback=_ranges,
    metavar="NAME=LO..HI",
    help="The range or the size of a dim, by the name that shapes show. A second range of the same dim is for the "
    "second profile. A dim without a range has the range that the graph requires.",
)
@click.option(
    "--opt",
    "optima",
    multiple=True,
    callback=parse_sizes,
    metavar="NAME=N,...",
    help="The size of a dim to optimize for; by default the middle of its range. A second size is for the second "
    "profile.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(PROFILE_FORMS),
    default="json",
    show_default=True,
    help="The options of trtexec, the options of ONNX Runtime's TensorRT provider, or JSON for `check --profile`.",
)
@output_option("Write the profiles to OUT instead of standard output.")
@model_options(without=("dims", "bind", "declared", "strict"))
def profile_command(
    model: str,
    options: ModelOptions,
    ranges: list[dict[str, RangeLike]],
    optima: list[dict[str, int]],
    form: ProfileForm,
    output: str | None,
) -> None:
    """Write optimization profiles of TensorRT for MODEL: the min, opt and max shape of each dynamic input.

    The graph runs with every size in a profile, as far as that can be proved or tested: a range with an illegal size is
    refused, and the nearest legal sizes are printed. Sizes that must be multiples, or equal, are so at min, opt and
    max; a warning has the condition. `shapeinf check MODEL --profile OUT` reads the JSON form.

    Exit codes: 0 written, 1 the graph cannot run with a size in the ranges (nothing is written), 2 usage (such as a dim
    without an upper bound), 3 a file cannot be read or written.
    """
    check_outputs(output=output)
    with readable_errors():
        graph = options.read(model)
        inference = options.options_for(graph)
        try:
            profiles = [
                make_profile(graph, dims, opt, options=inference)
                for dims, opt in _split_profiles(ranges, [{n: s} for sizes in optima for n, s in sizes.items()])
            ]
        except BindError as error:
            echo_lines(str(error), err=True)
            raise click.exceptions.Exit(VIOLATION) from None
        except MissingSizeError as error:
            missing = " ".join(f"--dim {shell_word(f'{name}=1..N')}" for name in error.names)
            raise click.UsageError(f"a profile needs an upper bound of every dim: add {missing}") from None
        text = profile_text([each.profile for each in profiles], form)
        if output is not None:
            with saving(output):
                write_text(output, f"{text}\n")
        else:
            echo_lines(text)
        _print_notes(profiles)


def _split_profiles(
    ranges: Sequence[Mapping[str, RangeLike]], optima: Sequence[Mapping[str, int]]
) -> list[tuple[dict[str, RangeLike], dict[str, int]]]:
    """The ranges and sizes of each profile: the N-th of a name, or the only one of a name for all profiles."""
    dims, sizes = _by_name(ranges), _by_name(optima)
    count = max((len(values) for values in dims.values()), default=1)
    numbers = [(name, len(own)) for name, own in dims.items()] + [(name, len(own)) for name, own in sizes.items()]
    for name, number in numbers:
        if number not in (1, count):
            raise click.UsageError(f"{name} has {number} values for {count} profiles: specify one, or {count}")

    return [(_choose(number, dims), _choose(number, sizes)) for number in range(count)]


def _choose(number: int, values: Mapping[str, Sequence[T]]) -> dict[str, T]:
    return {name: own[number if len(own) > 1 else 0] for name, own in values.items()}


def _by_name(entries: Sequence[Mapping[str, T]]) -> dict[str, list[T]]:
    named: dict[str, list[T]] = {}
    for entry in entries:
        for name, value in entry.items():
            named.setdefault(name, []).append(value)
    return named


def _print_notes(profiles: Sequence[CheckedProfile]) -> None:
    """The sizes of each profile, on standard error, and what is not proved."""
    for number, each in enumerate(profiles):
        title = f"profile {number}" if len(profiles) > 1 else "profile"
        echo(f"{title}: {'; '.join(map(str, each.dims)) or 'no input is dynamic'}", err=True)
        if not each.proved:
            echo(f"note: {title}: sizes between min and max are tested, not proved", err=True)
        for diagnostic in each.notes:
            echo_lines(diagnostic.render(), err=True)
