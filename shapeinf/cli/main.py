"""The entry point: one group, one file a sub-command, exit codes.

0 fine, 1 findings, 2 usage (also an unknown dim or input name), 3 the model could not be read or run.
"""

from __future__ import annotations

import click

from shapeinf.cli.check import check_command
from shapeinf.cli.infer import infer


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shapeinf")
def main() -> None:
    """Shape inference for model graphs: symbolic, explained, sound."""


main.add_command(check_command)
main.add_command(infer)
