"""The help of a command: its own options first, then those that it shares with others, under headings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from shapeinf.cli.output import echo_lines

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

Command = Callable[..., None]
"""The function of a command, before or after options are added to it."""

SECTIONS = INFERENCE, LIFETIMES, RUNTIME, FORMAT = (
    "Dims, inputs and inference",
    "Lifetimes of tensors",
    "Memory in a runtime",
    "Formats of models",
)


class SharedOption(click.Option):
    """An option of several commands, which their help shows under a heading."""

    def __init__(self, *arguments: Any, section: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """The default and the range, in words; upper ends are limits on numbers, which no user meets."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.type, click.IntRange):
            extra["range"] = f"{self.type.min} or more"
        return extra


def section_options(section: str) -> functools.partial[Any]:
    """`click.option` for the options of a section."""
    return functools.partial(click.option, cls=SharedOption, section=section)


class SectionedCommand(click.Command):
    """A command whose help describes its own options, and lists the shared ones by name; `--help-all` describes all."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with `--help-all` where there are shared options."""
        parameters = super().get_params(ctx)
        if not any(isinstance(parameter, SharedOption) for parameter in parameters):
            return parameters
        return [*parameters, _HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections: that of the command's own options is the first."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Options", *SECTIONS)}
        names: dict[str, list[str]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                section = parameter.section if isinstance(parameter, SharedOption) else "Options"
                sections[section].append(record)
                names.setdefault(section, []).append(_long_name(parameter))
        for section, records in sections.items():
            if not records:
                continue
            with formatter.section(section):
                if section == "Options" or ctx.meta.get(_ALL):
                    formatter.write_dl(records)
                else:
                    formatter.write_text(", ".join(names[section]))


_ALL = "shapeinf.help.all"
"""The key in the context of a command whose help describes all options."""


def _long_name(option: click.Parameter) -> str:
    """The first long name of an option, else its first name."""
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


def _print_all(ctx: click.Context, _: click.Parameter, typed: bool) -> None:
    if typed:
        ctx.meta[_ALL] = True
        echo_lines(ctx.get_help())
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_all,
    help="Describe all options, and exit.",
)
