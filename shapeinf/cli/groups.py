"""Groups of commands: an unknown command is a usage error with the nearest names."""

from __future__ import annotations

import click

from shapeinf.cli.output import USAGE, echo_lines


class CommandGroup(click.Group):
    """A group whose unknown commands are reported with the nearest names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a command, print the help; that is a usage error."""
        if not args and not ctx.resilient_parsing:
            echo_lines(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a command line. Raises UsageError for an unknown one."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            from shapeinf.errors import UnknownNameError

            raise click.UsageError(str(UnknownNameError("command", name, known)), ctx)
        return super().resolve_command(ctx, args)
