"""The entry point: one group, one file a sub-command, exit codes.

0 fine, 1 findings, 2 usage (also an unknown dim or input name), 3 the model could not be read or run.
"""

from __future__ import annotations

import click

from shapeinf.cli.bind import bind
from shapeinf.cli.check import check_command
from shapeinf.cli.diff import diff
from shapeinf.cli.explain import explain
from shapeinf.cli.infer import infer
from shapeinf.cli.memory import memory_command
from shapeinf.cli.plan import plan
from shapeinf.cli.rebatch import rebatch
from shapeinf.cli.verify import verify_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shapeinf")
def main() -> None:
    """Shape inference for model graphs: symbolic, explained, sound."""


main.add_command(check_command)
main.add_command(explain)
main.add_command(infer)
main.add_command(bind)
main.add_command(diff)
main.add_command(memory_command)
main.add_command(plan)
main.add_command(rebatch)
main.add_command(verify_command)
