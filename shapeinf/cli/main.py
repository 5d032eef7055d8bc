"""The entry point: a group with a module for every command; `output` has the exit codes."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from io import TextIOWrapper
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from shapeinf import __version__
from shapeinf.cli.groups import CommandGroup
from shapeinf.cli.output import FAILURE, INTERRUPTED
from shapeinf.cli.streams import end_on_failed_output, open_missing_streams
from shapeinf.compilation import build_name
from shapeinf.texts import escape_unprintable, shell_word


class Entry(NamedTuple):
    """A command in the help: its module and function, a line that describes it, and an example of its use."""

    function: str
    summary: str
    example: str


GROUPS = {
    "Look at a model": {
        "summary": Entry(
            "summary.summary_command", "Show what is in a model on one screen.", "summary model.onnx --bind batch=1"
        ),
        "infer": Entry("infer.infer", "Infer the shape of every tensor.", "infer model.onnx --dim batch=1..8"),
        "explain": Entry(
            "explain.explain",
            "Explain the size of an axis or a dim, or list unknown sizes.",
            "explain model.onnx logits.1",
        ),
        "view": Entry("view.view", "Show the inferred shapes in netron or Model Explorer.", "view model.onnx"),
        "ops": Entry(
            "ops.ops", "List operators, or the operators of a model without a rule.", "ops missing model.onnx"
        ),
        "report": Entry(
            "report.report_command",
            "Write one HTML page about a model, with live sizes.",
            "report model.onnx -o report.html",
        ),
        "page": Entry(
            "page.page_command",
            "Write a page in which a browser infers dropped models.",
            "page -o site --pyodide node_modules/pyodide",
        ),
        "diff": Entry("diff.diff", "Compare the shapes and contracts of two models.", "diff old.onnx new.onnx"),
    },
    "Check a model": {
        "check": Entry(
            "check.check_command",
            "Check declarations, deployments, and whether sizes are legal.",
            "check models/ --baseline known.json",
        ),
        "guards": Entry(
            "guards.guards_command",
            "Compare guards of torch.export with what the operators need.",
            "guards program.pt2",
        ),
        "scan": Entry(
            "scan.scan",
            "Scan thousands of models into a Parquet dataset.",
            "scan models/ -o results --bind batch=8",
        ),
    },
    "Change a model": {
        "bind": Entry(
            "bind.bind", "Freeze, re-range or rename dims.", "bind model.onnx batch=1 seq=1..512 -o bound.onnx"
        ),
        "rebatch": Entry("rebatch.rebatch", "Make a fixed axis dynamic.", "rebatch fixed.onnx -o dynamic.onnx"),
        "clean": Entry(
            "clean.clean_command",
            "Remove, fold and fuse nodes of an ONNX model, with a proof.",
            "clean model.onnx -o clean.onnx",
        ),
    },
    "Deploy a model": {
        "profile": Entry(
            "profile.profile_command",
            "Write optimization profiles of TensorRT.",
            "profile model.onnx --dim batch=1..8 --opt batch=4 --format trtexec",
        ),
        "contract": Entry(
            "contract.contract_command",
            "Show conditions and legal sizes; write a guard of sizes.",
            "contract model.onnx --format js -o guard.mjs",
        ),
        "program": Entry(
            "program.program_command",
            "Write all shapes as a program in C, JavaScript, Rust or Python.",
            "program model.onnx -o shapes.mjs",
        ),
        "triton": Entry(
            "triton.triton_command",
            "Write a serving config of Triton.",
            "triton model.onnx --max-batch 8 -o config.pbtxt",
        ),
    },
    "Memory and cost": {
        "memory": Entry(
            "memory.memory_command",
            "Compute how much memory a model needs at run time.",
            "memory model.onnx --bind batch=1,seq=128 --memory-limit 64MiB",
        ),
        "cost": Entry(
            "cost.cost_command",
            "Count what a model computes, and the bytes that it moves.",
            "cost model.onnx --bind batch=1,seq=128 --by module",
        ),
        "plan": Entry(
            "plan.plan",
            "Place all tensors in one arena, or verify a plan.",
            "plan model.onnx --dim batch=1..8 --dim seq=1..512 -o plan.json",
        ),
    },
    "Run": {
        "verify": Entry(
            "verify.verify_command",
            "Run a model and compare every tensor with inference.",
            "verify model.onnx --at batch=1,seq=8 --at batch=2,seq=5",
        ),
        "why": Entry(
            "why.why_command",
            "Name the condition that failed, from the error of a runtime.",
            "why 'Non-zero status code returned' model.onnx --at batch=2,seq=7",
        ),
        "expression": Entry(
            "expression.expression",
            "Parse and evaluate an expression of a PNNX network.",
            "expression 'add(@0,@1)' '[N,8]' '[8]'",
        ),
    },
}
"""The commands in the order of the help, by heading."""

COMMANDS = {name: entry for entries in GROUPS.values() for name, entry in entries.items()}


class Commands(CommandGroup):
    """A group that imports a command when it is used, without the packages of the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        entry = COMMANDS[cmd_name]
        module, attribute = entry.function.split(".")
        command: click.Command = getattr(importlib.import_module(f"shapeinf.cli.{module}"), attribute)
        command.epilog = f"Example: shapeinf {entry.example}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a command line. Raises UsageError for an unknown one."""
        name = args[0]
        if name not in COMMANDS and not ctx.resilient_parsing and os.path.exists(name):
            example = f"shapeinf summary {shell_word(name)}"
            raise click.UsageError(f"{name} is a file: name a command before it, such as: {example}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their headings, without importing them."""
        width = max(map(len, COMMANDS))
        for heading, entries in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<{width}}", entry.summary) for name, entry in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin with `incomplete`, without importing the commands."""
        names = [CompletionItem(n, help=e.summary) for n, e in COMMANDS.items() if n.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run a command line."""
        try:
            return super().main(*arguments, **settings)
        except OSError:  # standard error does not take the message of an error
            sys.exit(FAILURE)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of a command line; `--help` and `--version` print while it is made."""
        open_missing_streams()
        try:
            return super().make_context(info_name, args, parent, **extra)
        except OSError as error:
            end_on_failed_output(error)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its usage errors may hold names of a file, and Ctrl-C ends it without a message."""
        for stream in (sys.stdout, sys.stderr):  # names may have characters that the terminal lacks
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        from shapeinf.solver.budget import total_budget  # the help needs no engine

        try:
            with total_budget():
                return super().invoke(ctx)
        except click.ClickException as error:
            error.message = escape_unprintable(error.message)  # type: ignore[misc]
            raise
        except (KeyboardInterrupt, click.Abort):
            raise click.exceptions.Exit(INTERRUPTED) from None
        except OSError as error:
            end_on_failed_output(error)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`shapeinf COMMAND --help` describes a command.",
)
@click.version_option(__version__, message=f"%(prog)s %(version)s (Python {platform.python_version()}, {build_name()})")
def main() -> None:
    """Shape inference for model graphs: symbolic, explained, sound.

    shapeinf reads models of ONNX, TensorFlow (GraphDef, SavedModel, TensorFlow.js), TensorFlow Lite, torch.export, NNEF
    and PNNX.
    """
