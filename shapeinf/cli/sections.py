"""The help of a command: its own options first, then those that it shares with others, under headings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

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
    """A command whose help has a section for its own options, and one for each kind of shared options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections: that of the command's own options is the first."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Options", *SECTIONS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                section = parameter.section if isinstance(parameter, SharedOption) else "Options"
                sections[section].append(record)
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)
