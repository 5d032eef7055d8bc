"""The options of `shapeinf check` that describe a deployment: profiles of TensorRT, a config of Triton, resizing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import click

from shapeinf.checks import (
    Profile,
    check_profile,
    check_resize,
    check_run_time_sizes,
    check_serving,
    check_sizes,
    parse_shapes,
    read_profiles,
    read_serving_config,
)
from shapeinf.checks.many import DeploymentCheck
from shapeinf.checks.profile_files import Shapes
from shapeinf.cli.options import parse_sizes
from shapeinf.cli.sections import Command
from shapeinf.errors import SpecError

_CORNERS = {"min": "minimum", "opt": "optimum", "max": "maximum"}


@attrs.frozen
class Deployment:
    """The options that describe a deployment of one model.

    `points` are sizes of dims, `corners` shapes of inputs by corner and input.
    """

    points: list[dict[str, int]]

    profile: str | None
    triton: str | None
    resize: bool
    corners: dict[str, Shapes]

    def typed_options(self) -> list[str]:
        """The names of the options that are typed."""
        named: dict[str, object] = {"--at": self.points or None, "--profile": self.profile, "--triton": self.triton}
        named["--resize"] = self.resize or None
        named.update((f"--{corner}Shapes", shapes or None) for corner, shapes in self.corners.items())
        return [name for name, value in named.items() if value is not None]

    def checks(self) -> tuple[DeploymentCheck, ...]:
        """The checks of a model, in the order of their reports."""
        profiles = [] if self.profile is None else read_profiles(self.profile)
        if any(self.corners.values()):
            profiles.append(Profile.complete(self.corners["min"], self.corners["opt"], self.corners["max"]))
        checks: list[DeploymentCheck] = [_sizes_check(sizes) for sizes in self.points]
        checks += [_profile_check(profile) for profile in profiles]
        if self.triton is not None:
            config = read_serving_config(self.triton)
            checks.append(lambda model: check_serving(model, config))
        return (*checks, check_resize, check_run_time_sizes) if self.resize else tuple(checks)


def _sizes_check(sizes: dict[str, int]) -> DeploymentCheck:
    return lambda model: check_sizes(model, sizes)


def _profile_check(profile: Profile) -> DeploymentCheck:
    return lambda model: check_profile(model, profile)


def _read_shapes(_: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Shapes:
    try:
        return parse_shapes(",".join(texts)) if texts else {}
    except SpecError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _corner_option(corner: str) -> Callable[[Command], Command]:
    """The option of trtexec for one corner of a profile."""
    return click.option(
        f"--{corner}Shapes",
        corner,
        multiple=True,
        callback=_read_shapes,
        metavar="NAME:SHAPE,...",
        help=f"The {_CORNERS[corner]} shapes of inputs, in the grammar of trtexec: ids:1x128,mask:1x128.",
    )


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--at",
        "points",
        multiple=True,
        callback=parse_sizes,
        metavar="NAME=N,...",
        help="Check that the graph runs with these sizes; if not, print the nearest legal sizes. Repeatable.",
    ),
    click.option(
        "--profile",
        type=click.Path(),
        metavar="FILE",
        help='JSON with the shapes of one or several profiles: {"x": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}.',
    ),
    *map(_corner_option, _CORNERS),
    click.option("--triton", type=click.Path(), metavar="CONFIG", help="A serving config of Triton, `config.pbtxt`."),
    click.option(
        "--resize",
        is_flag=True,
        help="Report what prevents other sizes of the inputs than the sizes in the file, and sizes that only a run "
        "decides.",
    ),
)


def deployment_options(command: Command) -> Command:
    """Add the options of `Deployment` to a command, which receives them as its argument `deployment`."""

    @functools.wraps(command)
    def run(
        points: list[dict[str, int]], profile: str | None, triton: str | None, resize: bool, **arguments: Any
    ) -> None:
        corners = {corner: arguments.pop(corner) for corner in _CORNERS}
        command(deployment=Deployment(points, profile, triton, resize, corners), **arguments)

    decorated: Command = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
